"""Examples of functions of packages that compute with NumPy."""

from __future__ import annotations

from ..example import Example
from . import learning, linear, models, optimal, special, statistics, statsmodels


def examples() -> list[Example]:
    """All of them; each name once."""
    found = [
        *statistics.examples(),
        *special.examples(),
        *linear.examples(),
        *statsmodels.examples(),
        *learning.examples(),
        *models.examples(),
        *optimal.examples(),
    ]
    return list({example.name: example for example in found}.values())
