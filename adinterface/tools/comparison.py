"""The result of `compare`: the measurements, the tolerances, and the presentation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..core.contract.auto import AutoBackend, AutoFiniteDifferences, SecondOrder
from ..core.contract.library import epsilon
from ..core.contract.registry import find
from .evidence import CAUTION, Outcome, decide
from .measured import LeafDifference, Measured
from .numbers import distances, largest_of
from .verdict import Verdict

_UNDECIDED = (
    "undecided: results change as much if the arguments, and what f captures, are a few roundings"
    " off. Compare at another point, or in float64; check_gradient tells which gradient is right."
)


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(Verdict):
    """What `compare` found.

    True if all backends agree. Prints as a table, and plots.

    operator: the operator's name.
    backends: what each backend did, in the order given.
    reference: the backend that the others are compared with; None if all of them failed.
    dtype: the coarsest floating dtype in the call, which decides how exactly the backends must
        agree.
    order: how many derivatives the operator takes, which decides it too.
    note: why backends cannot be compared here, such as that f draws random numbers; empty
        otherwise.
    """

    operator: str
    backends: tuple[Measured, ...]
    reference: Measured | None
    dtype: str
    order: int = 1
    note: str = ""

    def __getitem__(self, backend: AutoBackend) -> Measured:
        """What this backend did; KeyError if it was not compared."""
        for measured in self.backends:
            if measured.backend == backend:
                return measured
        raise KeyError(backend)

    @property
    def verdict(self) -> Outcome:
        """`"right"` if the backends agree.

        `"undecided"` if rounding explains each difference, or f draws; else `"wrong"`.
        """
        if self.agree():
            return "right"
        hidden = self.note or all(difference.undecided for _, difference, _ in self.disagreements())
        return "undecided" if hidden and not any(m.error for m in self.backends) else "wrong"

    @property
    def advice(self) -> str:
        """Why differences cannot be judged here, and what to do; empty if they can."""
        unknown = any(difference.undecided for _, difference, _ in self.disagreements())
        return self.note or _UNDECIDED * unknown

    def agree(self, *, rtol: float | None = None, atol: float | None = None) -> bool:
        """Whether no backend failed, and every leaf is within tolerance of the reference.

        The tolerance is `atol + rtol * scale`, where scale is the largest number of the reference's
        leaf. Leaves at a kink of f, where each engine's result is acceptable, agree.

        rtol: None takes eps^(3/5) of the call's coarsest dtype (4e-10 for float64, 7e-5 for
            float32). If one side is finite differences, 100 times the error that its method is
            known for where that is more: 4e-10 for adaptive ones, 2e-8 for their second
            derivatives; or the error that they estimate of this call. At most eps^(2/5) (5e-7,
            2e-3) and eps^(3/10) (2e-5, 8e-3), which fixed steps take.
        atol: None takes 100 eps of the largest number of the whole result; with finite differences
            ten times that error, at most 10 eps^(2/3), and 10 eps^(1/2) for second derivatives.
        """
        return (
            not any(m.error for m in self.backends)
            and next(self.disagreements(rtol=rtol, atol=atol), None) is None
        )

    def disagreements(
        self, *, rtol: float | None = None, atol: float | None = None
    ) -> Iterator[tuple[Measured, LeafDifference, float]]:
        """The leaves that do not agree: backend, leaf, and the difference that would be allowed.

        See `agree`.
        """
        for measured in self.backends:
            for difference in measured.differences:
                allowed = self._allowed(measured, difference, rtol, atol)
                if (
                    not difference.kink
                    and decide(difference.absolute, allowed / CAUTION) == "wrong"
                ):
                    yield measured, difference, allowed

    def _allowed(
        self, measured: Measured, difference: LeafDifference, rtol: float | None, atol: float | None
    ) -> float:
        assert self.reference is not None
        eps = epsilon(self.dtype)
        relative, absolute = eps**0.6, 100 * eps
        both = (measured.backend, self.reference.backend)
        if any(map(takes_differences, both)):
            error = max([known_error(backend, self.order, eps) for backend in both])
            most, most_absolute = (
                (eps**0.4, 10 * eps ** (2 / 3)) if self.order == 1 else (eps**0.3, 10 * eps**0.5)
            )
            seen = max([each.estimated or 0.0 for each in (measured, self.reference)])
            relative = min(max(relative, 100 * error, seen), most)
            absolute = min(max(absolute, 10 * error), most_absolute)
        if atol is None:
            largest = max(map(largest_of, self.reference.leaves.values()), default=0.0)
            atol = absolute * (largest if 0 < largest < math.inf else 1.0)
        scale = difference.scale if math.isfinite(difference.scale) else 0.0
        return atol + (relative if rtol is None else rtol) * scale

    def against(self, backend: AutoBackend) -> Comparison:
        """The same measurements with another backend as the reference.

        Kinks are not looked for again.

        Raises KeyError if this backend was not compared, ValueError if it failed.
        """
        reference = self[backend]
        if reference.error is not None:
            raise ValueError(
                f"{reference.name} raised {type(reference.error).__name__}, so nothing can be"
                " compared with it."
            )
        return with_reference(self, reference)

    # shown

    def __repr__(self) -> str:
        from .compare_table import as_text  # here, because few programs print it

        return f"{as_text(self.operator, self.backends, self.reference)}\n{self.advice}".rstrip(
            "\n"
        )

    def plot(self, figure: Any = None) -> Any:
        """Draw the relative difference of each leaf, and the times, on log axes.

        figure: a Matplotlib figure to draw on; None makes a new one with pyplot. Returns the
        figure. Raises MissingEngineError if Matplotlib is not installed.
        """
        from .compare_plot import draw  # here, because few programs draw

        return draw(self.operator, self.backends, self.reference, figure)


def with_reference(report: Comparison, reference: Measured) -> Comparison:
    """The same measurements with the differences against one of them."""
    compared: list[Measured] = []
    for measured in report.backends:
        apart = (
            () if measured is reference or measured.error else tuple(_against(measured, reference))
        )
        compared.append(replace(measured, differences=apart))
    chosen = next(new for new, old in zip(compared, report.backends) if old is reference)
    return replace(report, backends=tuple(compared), reference=chosen)


def _against(measured: Measured, reference: Measured) -> Iterator[LeafDifference]:
    for path in dict.fromkeys([*reference.leaves, *measured.leaves]):
        mine, other = (each.leaves.get(path) for each in (measured, reference))
        if mine is None or other is None:
            note = "missing" if mine is None else "the reference has none"
        elif mine.shape != other.shape:
            note = f"shape {mine.shape}, the reference has {other.shape}"
        else:
            apart = largest_of(distances(mine, other))
            kink = apart > 0 and path in measured.kinks & reference.kinks
            rounding = max([each.roundings.get(path, 0.0) for each in (measured, reference)])
            yield LeafDifference(path, apart, largest_of(other), kink, rounding=rounding)
            continue
        yield LeafDifference(path, math.inf, 0.0 if other is None else largest_of(other), note=note)


def engines_of(backend: AutoBackend) -> list[AutoBackend]:
    """The backend, or those of the outer and of the inner derivative."""
    pair = (backend.outer, backend.inner) if isinstance(backend, SecondOrder) else ()
    return [each for part in pair for each in engines_of(part)] or [backend]


def takes_differences(backend: AutoBackend) -> bool:
    """Whether some of the derivatives of a backend are finite differences."""
    return any(isinstance(each, AutoFiniteDifferences) for each in engines_of(backend))


def known_error(backend: AutoBackend, order: int, eps: float) -> float:
    """How exact a backend says that its derivatives are, relative to the largest number.

    0 if they are as exact as f.
    """
    return max([find(each).relative_error(order, eps) for each in engines_of(backend)])
