"""The classes that the arguments of random programs are made of; a program imports them from
here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Pair(NamedTuple):
    left: Any
    right: Any


@dataclass
class Layer:
    weight: Any
    bias: Any
    name: Any = field(default="layer", metadata={"static": True})


class Switch:
    """A mutable setting with one integer: a static value that is compared by its contents."""

    def __init__(self, power: int):
        self.power = power

    def raised(self, x: Any) -> Any:
        return x**self.power
