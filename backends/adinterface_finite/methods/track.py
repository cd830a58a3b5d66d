"""What is known along one line: the steps that were taken, from the largest to the smallest, and where f is not finite."""

from __future__ import annotations

import math
from typing import Any

from ..extrapolation import Number
from ..points import Move
from .method import Array

#: No exponent that is too large yet.
NEVER = 10**6


class Track:
    """One line of a sweep. Steps are `unit * 2**exponent`."""

    __slots__ = (
        "bad", "caution", "count", "exponents", "failures", "grain", "line", "move", "number", "room", "rounding", "scale",
        "sides", "sizes", "slopes", "unit",
    )  # fmt: skip

    def __init__(self, line: int, unit: float, usual: float, worst: float, room: tuple[float, float], move: Move):
        #: Its place among the lines, the step `2**0`, the scale of x, and where its points are.
        self.line, self.unit, self.scale, self.move = line, unit, usual, move
        #: How many powers of two below the first step the most cautious one is.
        self.caution = min(0, round(math.log2(worst / usual))) if worst < usual else 0
        #: How far the bounds let it go, ahead and behind.
        self.room = room
        self.exponents: list[int] = []
        #: Of each step: the derivative, and how large f's values were; numbers, or vectors for an f of many outputs.
        self.slopes: list[Any] = []
        self.sizes: list[Any] = []
        #: How many evaluations it took, how often f was not finite, and the least exponent at which that was.
        self.count, self.failures, self.bad = 0, 0, NEVER
        #: Values on a side that is finite although the other is not: (exponent, sign, distance, vector).
        self.sides: list[tuple[int, int, Any, Array]] = []
        #: Of an f with one output: the rounding errors of the slopes, None where nobody has asked; the estimate; and half of
        #: what f's values are rounded to: 0 if they are not, None before that was looked at.
        self.rounding: list[float | None] = []
        self.number: Number | None = None
        self.grain: float | None = None

    def take(self, exponent: int, slope: Any, size: Any, rounding: float | None = None) -> None:
        """Keep what was found at one step."""
        self.count += 2
        exponents = self.exponents
        if not exponents or exponent < exponents[-1]:
            exponents.append(exponent)
            self.slopes.append(slope)
            self.sizes.append(size)
            self.rounding.append(rounding)
            return
        place = 0 if exponent > exponents[0] else sum([other > exponent for other in exponents])
        exponents.insert(place, exponent)
        self.slopes.insert(place, slope)
        self.sizes.insert(place, size)
        self.rounding.insert(place, rounding)

    def forget(self) -> None:
        """Begin again elsewhere: what has been seen so far says nothing."""
        for kept in (self.exponents, self.slopes, self.sizes, self.rounding):
            kept.clear()

    def one_side(self) -> int:
        """The side on which f is finite wherever it was looked at; 0 if neither or both are."""
        signs = {sign for _, sign, _, _ in self.sides}
        return signs.pop() if len(signs) == 1 else 0

    def bound(self) -> bool:
        """Keep the first step inside the bounds; whether they leave room on one side alone."""
        near, far = min(self.room), max(self.room)
        if near >= self.unit:
            if near < math.inf:
                self.bad = math.floor(math.log2(near / self.unit)) + 1
            return False
        if near < self.unit * 2.0**-6 and far > near:
            return True
        self.unit *= 2.0 ** math.floor(math.log2(near / self.unit))
        self.bad = 1
        return False
