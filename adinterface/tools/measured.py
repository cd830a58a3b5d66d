"""What one backend did in a comparison, as data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from ..core.contract.auto import AutoBackend, AutoFiniteDifferences, changed_options
from ..core.contract.errors import BackendError
from ..core.contract.registry import auto_class, find, is_installed, names
from .evidence import decide
from .numbers import Array


@dataclass(frozen=True)
class LeafDifference:
    """One leaf of a result against the same leaf of the reference.

    absolute: the largest difference of two numbers.
    scale: the largest number of the reference's leaf.
    kink: f has a kink here (its slopes ahead and behind differ), and each answer is one of them or
        their mean.
    note: why the leaf cannot be compared, if so (it is missing, or has another shape); the
        difference is then infinite.
    rounding: how much the leaf changes if what f is given or captures is a few roundings off; known
        where results differ.
    """

    path: str
    absolute: float
    scale: float
    kink: bool = False
    note: str = ""
    rounding: float = 0.0

    @property
    def undecided(self) -> bool:
        """Whether rounding explains the difference, so that either result may be right."""
        return (
            self.rounding > 0
            and self.absolute > 0
            and not self.note
            and decide(self.absolute, self.rounding) != "wrong"
        )

    @property
    def mark(self) -> str:
        """What there is to say of the difference: `kink`, `undecided`, or nothing."""
        return "kink" if self.kink else "undecided" * self.undecided

    @property
    def relative(self) -> float:
        """`absolute / scale`; 0 without a difference, infinite where only the reference is zero."""
        if self.absolute == 0:
            return 0.0
        return self.absolute / self.scale if self.scale else math.inf

    def __str__(self) -> str:
        return (
            self.note
            or f"{self.absolute:.1e} ({self.relative:.1e})".replace("0.0e+00", "0")
            + f" {self.mark}".rstrip()
        )


@dataclass(frozen=True, eq=False)
class Measured:
    """What one backend did.

    result: what the operator returned; None if it raised `error`.
    leaves: the numbers of the result by path, as NumPy arrays of at least float64.
    first_seconds, later_seconds: time of the first call, and the median of later ones, until the
        numbers are there.
    evaluations: calls of f in the first call of the operator.
    differences: for each leaf, against the reference.
    estimated: the largest error, relative to its leaf, that the engine estimates; None where it
        estimates none.
    kinks: the leaves where f has a kink, and each number is one that engines give there; looked for
        where results differ.
    roundings: how much each leaf changes if what f is given or captures is a few roundings off;
        empty unless results differ.
    """

    backend: AutoBackend
    result: Any = None
    error: Exception | None = None
    leaves: Mapping[str, Array] = field(default_factory=dict)
    first_seconds: float = math.nan
    later_seconds: float = math.nan
    evaluations: int = 0
    differences: tuple[LeafDifference, ...] = ()
    estimated: float | None = None
    kinks: frozenset[str] = frozenset()
    roundings: Mapping[str, float] = field(default_factory=dict)

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
    changed = changed_options(backend)
    options = [
        f"{option.name}={getattr(backend, option.name)!r}"
        for option in fields(backend)
        if option.name in changed
    ]
    return f"{type(backend).__name__}({', '.join(options)})"


def listed(call: str, backends: Any, *, empty: bool = False) -> list[AutoBackend]:
    """The backends that a call got as a list.

    Raises BackendError for anything else, without `empty` for an empty one, too.
    """
    if isinstance(backends, AutoBackend):
        raise BackendError(f"{call}: backends must be a list; write [{label(backends)}].")
    chosen = (
        list(backends) if isinstance(backends, Iterable) and not isinstance(backends, str) else None
    )
    if chosen is None or not (chosen or empty):
        name = AutoFiniteDifferences.__name__
        raise BackendError(
            f"{call}: backends must be a list of backend values, such as [{name}()]."
        )
    for backend in chosen:
        if not isinstance(backend, AutoBackend):
            find(backend)  # raises, and says what to write
    return chosen


def installed() -> list[AutoBackend]:
    """The backends of engines with arrays of their own, by name."""
    classes = [auto_class(name) for name in names() if is_installed(name)]
    return [cls() for cls in classes if cls is not None]


__all__ = ["LeafDifference", "Measured", "installed", "label", "listed"]
