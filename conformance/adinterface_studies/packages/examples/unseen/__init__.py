"""Examples that were written before any was run, to tell how much the others, and the code, had been tuned to each other.

`scipy_parts` and `statistics` hold other functions, methods and arguments of the packages that the other lists know,
`docstrings` calls of four packages as their own docstrings show them, drawn by lot, `sciences` functions of packages of single
sciences. How many were right at first stands in docs/packages.md.
"""

from __future__ import annotations

from ...example import Example
from . import docstrings, sciences, scipy_parts, statistics


def examples() -> list[Example]:
    return [*scipy_parts.examples(), *statistics.examples(), *docstrings.examples(), *sciences.examples()]
