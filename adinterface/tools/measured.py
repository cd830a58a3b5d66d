"""What one backend did in a comparison, as data: its numbers, its times, and how far it is from the reference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..core.contract.auto import AutoBackend
from .numbers import Array


@dataclass(frozen=True)
class LeafDifference:
    """One leaf of a result against the same leaf of the reference.

    absolute: the largest difference of two numbers.
    scale: the largest number of the reference's leaf.
    kink: f has a kink here (its slopes ahead and behind differ), and both answers lie between these slopes.
    note: why the leaf cannot be compared, if so (it is missing, or has another shape); the difference is then infinite.
    """

    path: str
    absolute: float
    scale: float
    kink: bool = False
    note: str = ""

    @property
    def relative(self) -> float:
        """`absolute / scale`: 0 where there is no difference, infinite where the reference is zero and the other is not."""
        if self.absolute == 0:
            return 0.0
        return self.absolute / self.scale if self.scale else math.inf

    def __str__(self) -> str:
        return self.note or f"{self.absolute:.1e} ({self.relative:.1e})".replace("0.0e+00", "0") + " kink" * self.kink


@dataclass(frozen=True, eq=False)
class Measured:
    """What one backend did.

    result: what the operator returned; None if it raised `error`.
    leaves: the numbers of the result by path, as NumPy arrays of at least float64.
    first_seconds, later_seconds: time of the first call, and the median of later ones, until the numbers are there.
    evaluations: calls of f in the first call of the operator.
    peak_bytes: the most memory that was allocated at once during a call, as far as `tracemalloc` sees it.
    differences: for each leaf, against the reference.
    estimated: the largest error, relative to its leaf, that the engine estimates; None where it estimates none.
    """

    backend: AutoBackend
    result: Any = None
    error: Exception | None = None
    leaves: Mapping[str, Array] = field(default_factory=dict)
    first_seconds: float = math.nan
    later_seconds: float = math.nan
    evaluations: int = 0
    peak_bytes: int = 0
    differences: tuple[LeafDifference, ...] = ()
    estimated: float | None = None

    @property
    def name(self) -> str:
        """The backend as one writes it, without the options that have their default."""
        return label(self.backend)

    @property
    def worst(self) -> LeafDifference | None:
        """The leaf with the largest relative difference."""
        return max(self.differences, key=lambda d: (d.relative, d.absolute), default=None)


def label(backend: AutoBackend) -> str:
    """A backend as one writes it, without the options that have their default."""
    changed = backend.changed_options()
    options = [f"{option.name}={getattr(backend, option.name)!r}" for option in fields(backend) if option.name in changed]
    return f"{type(backend).__name__}({', '.join(options)})"


__all__ = ["LeafDifference", "Measured", "label"]
