"""The state of one line: its steps, from the largest on, f there, and where f is not finite."""

from __future__ import annotations

import math
from typing import Any

from ..extrapolation import size_of_step
from ..points import Facts
from .method import Array

#: No exponent that is too large yet.
NEVER = 10**6
#: How many units in the last place a step moves x at least.
FEW = 8.0


class LineState:
    """One line. Its steps are `unit * size_of_step(exponent)`."""

    __slots__ = (
        "bad", "caution", "coarse", "count", "exponents", "failures", "least", "line", "middles",
        "room", "scale", "sides", "sizes", "slopes", "unit",
    )  # fmt: skip

    def __init__(self, line: int, facts: Facts, unit: float, coarse: float):
        #: Its place among the lines, the step `2**0`, the scale of x, and the precision in which f
        #: computes with x.
        self.line, self.unit, self.scale, self.coarse = line, unit, facts.usual, coarse
        #: How many powers of two below the first step the most cautious one is.
        self.caution = 0
        if facts.worst < facts.usual:
            self.caution = min(0, round(math.log2(facts.worst / facts.usual)))
        #: How far the bounds let it go, ahead and behind; the shortest step that moves x at all.
        self.room, self.least = facts.room, facts.least
        self.exponents: list[int] = []
        #: Of each step: the derivative, and how large f's values were, by output.
        self.slopes: list[Any] = []
        self.sizes: list[Any] = []
        #: Of each step: f at the point itself as the two points tell it, by output.
        self.middles: list[Any] = []
        #: How many evaluations it took, how often f was not finite, and the least exponent at which
        #: that was.
        self.count, self.failures, self.bad = 0, 0, NEVER
        #: Values on a side that is finite although the other is not: (exponent, sign, distance,
        #: vector).
        self.sides: list[tuple[int, int, Any, Array]] = []

    def take(self, exponent: int, *found: Any) -> None:
        """Keep what was found at one step, in the order of `kept`."""
        self.count += 2
        place = sum([other > exponent for other in self.exponents])
        self.exponents.insert(place, exponent)
        for values, value in zip(self.kept(), found):
            values.insert(place, value)

    def reaches(self, exponent: int) -> bool:
        """Whether points with this step differ from x after rounding."""
        return self.unit * size_of_step(exponent) >= FEW * self.least

    def kept(self) -> tuple[list[Any], ...]:
        """The record of each step, without its exponent."""
        return self.slopes, self.sizes, self.middles

    def begin_again(self, unit: float, scale: float) -> None:
        """With other steps: what has been seen so far says nothing."""
        self.unit, self.scale, self.caution, self.bad = unit, scale, 0, NEVER
        for values in (self.exponents, *self.kept()):
            values.clear()

    def one_side(self) -> int:
        """The side on which f was finite at all points; 0 if neither or both."""
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
