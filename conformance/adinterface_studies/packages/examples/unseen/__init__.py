"""Examples that were written before any was run, to tell how much the others, and the code, had been tuned to each other.

`scipy_parts` and `statistics` have other functions, methods and arguments of the packages that the other lists know.
`docstrings` has calls of four packages, chosen at random, as their own docstrings show them. `sciences` has functions of
packages of single sciences. docs/packages.md says how many were right at first.
"""

from __future__ import annotations

from ...example import Example
from . import docstrings, sciences, scipy_parts, statistics


def examples() -> list[Example]:
    return [*scipy_parts.examples(), *statistics.examples(), *docstrings.examples(), *sciences.examples()]
