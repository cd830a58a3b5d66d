"""Examples of functions of packages that compute with NumPy."""

from __future__ import annotations

from ..example import Example
from . import learning, linear, models, optimal, special, statistics, statsmodels, unseen


def examples(held_out: bool = False) -> list[Example]:
    """All of them, or those alone that were written before they were run; each name once."""
    lists = (statistics, special, linear, statsmodels, learning, models, optimal)
    found = [] if held_out else [example for each in lists for example in each.examples()]
    return list({example.name: example for example in [*found, *unseen.examples()]}.values())
