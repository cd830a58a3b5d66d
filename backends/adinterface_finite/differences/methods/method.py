"""The interface of methods: slopes along lines, with estimated errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..evaluation import Arrays, Evaluations
from ..points import Lines

Array = np.ndarray[Any, Any]


#: Of how many points f's values are held at once before the number of f's outputs is known; and how
#: many numbers after that.
FEW, MEMORY = 32, 2**21


class Slopes(NamedTuple):
    """Derivatives along lines, their estimated errors, facts on f's values: (lines, outputs)."""

    values: Array
    errors: Array
    #: The part of them that rounding and noise make, which is what differences of these derivatives
    #: have to deal with.
    floors: Array
    #: The largest value of each output that was met along each line, for a change of x by its scale
    #: (to the order).
    rates: Array
    #: With what an error is compared where rounding hides all derivatives of an output; 0 where
    #: errors are small anyway.
    units: Array

    @classmethod
    def joined(cls, parts: Sequence[Slopes]) -> Slopes:
        """Of some lines one after another."""
        return cls(*[np.concatenate(column) for column in zip(*parts)])


def unit_of(sizes: Sequence[Array], step: float, order: int = 1) -> Array:
    """The units of `Slopes`: 1, or the slope that f's change over the largest step shows.

    sizes: of f's values at several steps.
    """
    return np.asarray(np.maximum(1.0, np.ptp(sizes, axis=0) / step**order))


class Options(NamedTuple):
    """most: evaluations of each line.

    noise: of the values of f, relative; None takes the rounding of their dtype. absolute: their
    absolute noise. step: the first, relative to a number's scale.
    """

    most: int
    noise: float | None
    absolute: float | None
    step: float | None


def in_parts(
    evaluations: Evaluations, lines: Lines, points: int, compute: Callable[[range], Slopes]
) -> Slopes:
    """`compute` for groups of lines, so that f's values at these points fit into memory.

    The first group is small, to find the number of outputs of f.
    """
    if not lines.count:
        nothing = np.zeros((0, evaluations.form.size), evaluations.form.dtype)
        return Slopes(nothing, *[nothing.real] * 4)
    parts: list[Slopes] = []
    start = 0
    while start < lines.count:
        size = FEW // points
        if evaluations.known:
            size = MEMORY // (points * max(1, evaluations.form.size))
        stop = min(start + max(1, size), lines.count)
        parts.append(compute(range(start, stop)))
        start = stop
    return parts[0] if len(parts) == 1 else Slopes.joined(parts)


class Method(ABC):
    """From evaluations of f to slopes."""

    #: Whether estimated errors tell how f is, so that large ones are worth a warning.
    estimates = True
    #: Those of second differences; None for a method without.
    options: Options | None = None

    @abstractmethod
    def slopes(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        """The derivatives along these lines. `fresh()` gives the leaves that do not move."""

    @abstractmethod
    def relative_error(self, order: int, epsilon: float) -> float:
        """The expected error of such derivatives, relative to the largest, from f's precision."""
