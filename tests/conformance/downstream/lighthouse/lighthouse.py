"""Where is the lighthouse? A small model that does not know which engine differentiates it."""

from dataclasses import dataclass
from typing import Any

from adinterface import array_namespace


@dataclass
class Lighthouse:
    """Its place along the shore and its distance from it."""

    along: float
    out: float
    name: str = "unknown"


def loss(lighthouse: Lighthouse, flashes: Any) -> Any:
    """Negative log-likelihood of the places on the shore where its flashes were seen (a Cauchy
    distribution).
    """
    xp = array_namespace(flashes)
    scaled = (flashes - lighthouse.along) / lighthouse.out
    return xp.mean(xp.log(1.0 + scaled * scaled)) + xp.log(lighthouse.out + 0.0 * flashes[0])


def shifted(lighthouse: Lighthouse, flashes: Any) -> Any:
    """Sets an item in place, which not every engine takes."""
    flashes = flashes + 0.0
    flashes[0] = 0.0
    return loss(lighthouse, flashes)
