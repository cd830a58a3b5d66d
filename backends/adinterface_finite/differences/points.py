"""The point of a call, and lines through it, along which f is evaluated (kinds in lines.py).

A line's numbers are NumPy numbers; f gets each leaf in its own library and dtype. A displaced leaf
is a new array, which f may keep or change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .evaluation import Arrays

DOUBLE, EPSILON = np.dtype(np.float64), 2.0**-52

#: What is smaller is as good as zero: small steps in its scale would not be numbers any more, of
#: which second derivatives take the squares.
TINY, SQUARED = 1e-290, 1e-150

#: How far a line without bounds may go, ahead and behind.
ANYWHERE = (math.inf, math.inf)

#: The lowest and the highest value that a number may take.
Bounds = tuple[float | None, float | None]

#: Makes a leaf for f of NumPy numbers. From a leaf to its numbers, the distance from 1 to the next
#: one in its dtype, and the way back, None for a NumPy leaf.
Native = Callable[[Any], Any]
Take = Callable[[Any], tuple[Any, float, Native | None]]


def taken(leaf: Any) -> tuple[Any, float, None]:
    """A NumPy leaf."""
    return leaf, float(np.finfo(leaf.dtype).eps), None


class BasePoint:
    """The leaves of a call, unchanged and as NumPy numbers."""

    def __init__(
        self,
        leaves: Arrays,
        take: Take = taken,
        *,
        scale: float | None = None,
        bounds: Bounds | None = None,
    ):
        self.leaves, self.scale = leaves, scale
        #: Whether there are bounds at all.
        self.bounded, self.low, self.high = bounds is not None, -math.inf, math.inf
        if bounds is not None:
            low, high = bounds
            self.low = -math.inf if low is None else low
            self.high = math.inf if high is None else high
            self.bounded = self.low > -math.inf or self.high < math.inf
        self.exactness: list[float] = []
        #: What makes a leaf for f of NumPy numbers; None for NumPy leaves. Which of those are
        #: arrays of double precision.
        self.natives: list[Native | None] = []
        self.doubles: list[bool] = []
        self.numbers: list[Any] = []
        #: How many numbers there are, and which leaves' are complex.
        self.count, self.complex = 0, []
        for leaf in leaves:
            double = type(leaf) is np.ndarray and leaf.dtype is DOUBLE  # most are
            numbers, exactness, native = (leaf, EPSILON, None) if double else take(leaf)
            self.exactness.append(exactness)
            self.natives.append(native)
            self.doubles.append(double)
            self.numbers.append(numbers)
            self.count += numbers.size
            self.complex.append(not double and numbers.dtype.kind == "c")

    def displaced(self, leaves: Sequence[Any], moved: dict[int, Any]) -> list[Any]:
        """These leaves, with those that have moved as f gets them."""
        there = list(leaves)
        for n, array in moved.items():
            native = self.natives[n]
            numbers = array[()] if isinstance(self.numbers[n], np.generic) else array
            there[n] = numbers if native is None else native(numbers)
        return there


class Facts(NamedTuple):
    """What the steps along a line depend on."""

    #: How far f may be looked at: usually, and in the worst case.
    usual: float
    worst: float
    #: The distance from 1 to the next number in the coarsest leaf that moves.
    exactness: float
    #: The shortest step that moves what moves at all, as its dtype has it.
    least: float
    #: How far the bounds allow a move, ahead and behind.
    room: tuple[float, float] = ANYWHERE


class Lines:
    """Some lines, by their numbers."""

    def __init__(self, point: BasePoint, count: int):
        self.point, self.count = point, count

    def owners(self) -> Sequence[tuple[int, int, int]]:
        """By leaf: its number, its first and last line. Number -1: lines that move several."""
        return [(-1, 0, self.count)] if self.count else []

    def facts(self, line: int) -> Facts:
        raise NotImplementedError

    def reach(self, line: int) -> tuple[float, float]:
        """The unit of a fixed step, max(1, |x|) along a number, and the exactness of `Facts`."""
        raise NotImplementedError

    def imaginary(self, leaves: Sequence[Any], line: int, step: float) -> list[Any] | None:
        """The leaves moved by an imaginary distance; None if they are not real or not NumPy's."""
        return None

    def moved(self, line: int, t: float) -> dict[int, Any]:
        """The numbers of the leaves that move, at the distance t."""
        raise NotImplementedError

    def distance(self, line: int, t: float, moved: dict[int, Any]) -> Any:
        """How far they have really moved, in the precision that the slope will have."""
        return t

    def at(self, leaves: Sequence[Any], line: int, t: float) -> tuple[list[Any], Any]:
        """The leaves at the distance t, with these for what does not move; the exact distance."""
        moved = self.moved(line, t)
        return self.point.displaced(leaves, moved), self.distance(line, t, moved)

    def points(
        self, wanted: Iterable[tuple[int, float]], fresh: Callable[[], Arrays], distances: list[Any]
    ) -> Iterator[Sequence[Any]]:
        """The leaves at these distances along these lines; `distances` gets the exact ones.

        fresh: gives the leaves for what does not move.
        """
        for line, t in wanted:
            leaves, distance = self.at(fresh(), line, t)
            distances.append(distance)
            yield leaves


class OtherLines(Lines):
    """Some lines of other lines, each by those and its number there."""

    def __init__(self, point: BasePoint, places: Sequence[tuple[Lines, int]]):
        super().__init__(point, len(places))
        self.places = places

    def facts(self, line: int) -> Facts:
        lines, own = self.places[line]
        return lines.facts(own)

    def reach(self, line: int) -> tuple[float, float]:
        lines, own = self.places[line]
        return lines.reach(own)

    def at(self, leaves: Sequence[Any], line: int, t: float) -> tuple[list[Any], Any]:
        lines, own = self.places[line]
        return lines.at(leaves, own, t)
