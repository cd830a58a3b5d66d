"""The lines along which differences are taken: along numbers of the leaves, tangents, or both."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from .evaluation import Array, Arrays
from .points import ANYWHERE, TINY, BasePoint, Facts, Lines, OtherLines

#: Of so many numbers the places are kept: to make them for each call would take as long as some
#: evaluations of f.
KNOWN = 1_000

_Places = tuple[
    Sequence[tuple[int, Any, complex]],
    Sequence[tuple[int, int, bool]],
    Sequence[tuple[int, int, int]],
    bool,
]


def _places(shapes: Sequence[tuple[int, ...]]) -> _Places:
    """As `Coordinates` describes them; each shape is followed by whether the leaf is doubled."""
    places: list[tuple[int, Any, complex]] = []
    spans: list[tuple[int, int, bool]] = []
    owners: list[tuple[int, int, int]] = []
    for n, (*shape, twice) in enumerate(shapes):
        size, start = math.prod(shape), len(places)
        indices: Sequence[Any] = range(size) if len(shape) == 1 else list(np.ndindex(*shape))
        for unit in (1.0, 1.0j) if twice else (1.0,):
            places.extend(zip(repeat(n), indices, repeat(unit)))
        spans.append((start, size, bool(twice)))
        if size:
            owners.append((n, start, len(places)))
    return places, spans, owners, any(twice for _, _, twice in spans)


_known_places = functools.lru_cache(maxsize=64)(_places)


class Coordinates(Lines):
    """Along each real number of the leaves in order; a doubled complex leaf along 1, then i."""

    def __init__(self, point: BasePoint, doubled: Sequence[bool]):
        shapes = tuple([(*numbers.shape, twice) for numbers, twice in zip(point.numbers, doubled)])
        every = (_known_places if point.count <= KNOWN else _places)(shapes)
        #: Each line's leaf, the place of its number there, and 1 or i. For each leaf its first
        #: line, how many numbers it has, and whether they come again along i. The leaves that have
        #: lines. Whether any leaf is doubled.
        self.places, self.spans, self._owners, self.doubled = every
        self.point, self.count = point, len(self.places)

    def owners(self) -> Sequence[tuple[int, int, int]]:
        return self._owners

    def part(self, n: int, values: Array, holomorphic: bool = False) -> Array:
        """Derivatives along all lines, on the last axis, by one leaf, in its shape.

        Of a complex leaf those along 1 and along i together, unless the derivatives are by it as a
        whole.
        """
        start, size, doubled = self.spans[n]
        part = values[..., start : start + size]
        if not holomorphic:
            part = np.real(part)
            if doubled:
                part = part + 1j * np.real(values[..., start + size : start + 2 * size])
        return part.reshape((*part.shape[:-1], *self.point.numbers[n].shape))

    def facts(self, line: int) -> Facts:
        n, index, unit = self.places[line]
        point = self.point
        x, exactness = point.numbers[n].item(index), point.exactness[n]
        size, own = float(abs(x)), float(x.real if unit == 1.0 else x.imag)
        usual = point.scale or (size if TINY < size < math.inf else 1.0)
        room = (point.high - own, own - point.low) if point.bounded and unit == 1.0 else ANYWHERE
        return Facts(usual, usual, exactness, exactness * abs(own), room)

    def reach(self, line: int) -> tuple[float, float]:
        n, index, _ = self.places[line]
        return max(1.0, float(abs(self.point.numbers[n].item(index)))), self.point.exactness[n]

    def imaginary(self, leaves: Sequence[Any], line: int, step: float) -> list[Any] | None:
        n = self.places[line][0]
        known = self.point.natives[n] is None and self.point.numbers[n].dtype.name == "float64"
        return self.point.displaced(leaves, self.moved(line, 1j * step)) if known else None

    def moved(self, line: int, t: complex) -> dict[int, Any]:
        n, index, unit = self.places[line]
        numbers = self.point.numbers[n]
        moved = np.array(numbers, np.complex128 if type(t) is complex else numbers.dtype, order="K")
        moved[index] += t if unit == 1.0 else t * unit
        return {n: moved}

    def distance(self, line: int, t: float, moved: dict[int, Any]) -> Any:
        n, index, unit = self.places[line]
        return _distance(moved[n][index], self.point.numbers[n][index], unit)

    def points(
        self, wanted: Iterable[tuple[int, float]], fresh: Callable[[], Arrays], distances: list[Any]
    ) -> Iterator[Sequence[Any]]:
        point, alone = self.point, len(self.point.leaves) == 1
        for line, t in wanted:
            n, index, _ = self.places[line]
            leaves: Sequence[Any]
            if point.doubles[n]:
                moved = point.numbers[n].copy("K")
                at = moved.item(index)
                moved[index] = now = at + t
                leaves, distance = (moved,), now - at
                if not alone:
                    there = fresh()
                    leaves = (*there[:n], moved, *there[n + 1 :])
            else:
                leaves, distance = self.at(fresh(), line, t)
            distances.append(distance)
            yield leaves


def both(
    leaves: Sequence[Any],
    first: Lines,
    line: int,
    t: float,
    then: Coordinates,
    other: int,
    h: float,
) -> list[Any]:
    """The leaves displaced along one line, and one number of them also along a coordinate."""
    point, moved = first.point, first.moved(line, t)
    n, index, unit = then.places[other]
    if n not in moved:
        moved[n] = np.array(point.numbers[n], order="K")
    moved[n][index] += h if unit == 1.0 else h * unit
    return point.displaced(leaves, moved)


def _distance(now: Any, at: Any, unit: complex) -> Any:
    """How far a number has really moved, in the precision that the slope will have."""
    if unit == 1.0j:
        return _distance(now.imag, at.imag, 1.0)
    if isinstance(now, np.longdouble):
        return now - at
    if type(now) is np.float64:
        return float(now) - float(at)
    return float(np.real(now)) - float(np.real(at))


class Directions(Lines):
    """Along tangents: stacks, a leading axis on each, as NumPy's numbers."""

    def __init__(self, point: BasePoint, stacks: Sequence[Any]):
        super().__init__(point, len(stacks[0]))
        self.stacks = stacks
        #: Where a tangent moves one number alone: its leaf, its place, and by how much.
        self.alone: list[tuple[int, Any, Any] | None] = [None] * self.count
        flat = [
            np.asarray(stack).reshape(self.count, math.prod(np.shape(stack)[1:]))
            for stack in stacks
        ]
        moved = [np.count_nonzero(stack, axis=1) for stack in flat]
        for line in np.flatnonzero(sum(moved) == 1) if flat else ():
            n = next(n for n, counts in enumerate(moved) if counts[line])
            place = int(np.flatnonzero(flat[n][line])[0])
            index = np.unravel_index(place, np.shape(stacks[n])[1:])
            self.alone[line] = n, index, flat[n][line][place]
        #: Whether each moves anything at all.
        self.moves = np.asarray(sum(moved) > 0) if flat else np.zeros(self.count, dtype=bool)

    def moving(self) -> Lines:
        """Those that move anything."""
        if self.moves.all():
            return self
        return OtherLines(self.point, [(self, n) for n in np.flatnonzero(self.moves).tolist()])

    def tangents(self, line: int) -> list[Any]:
        return [stack[line] for stack in self.stacks]

    def _moving(self, line: int) -> list[tuple[Array, Array, float]]:
        """Of each leaf that moves: the numbers that do, by how much, and the exactness."""
        found: list[tuple[Array, Array, float]] = []
        for numbers, tangent, exactness in zip(
            self.point.numbers, self.tangents(line), self.point.exactness
        ):
            places = np.flatnonzero(tangent)
            if places.size:
                found.append((np.ravel(numbers)[places], np.ravel(tangent)[places], exactness))
        return found

    def facts(self, line: int) -> Facts:
        point, exactness = self.point, max([each for _, _, each in self._moving(line)])
        scales, ahead, behind = [], math.inf, math.inf
        for x, along, _ in self._moving(line):
            lengths, sizes = np.abs(along).astype("float64"), np.abs(x).astype("float64")
            if point.bounded and x.dtype.kind != "c":
                above, below = (point.high - x) / lengths, (x - point.low) / lengths
                ahead = min(ahead, np.where(along > 0, above, below).min())
                behind = min(behind, np.where(along > 0, below, above).min())
            usual = np.where((sizes > TINY) & np.isfinite(sizes), sizes, 1.0)
            scales.append((usual if point.scale is None else point.scale) / lengths)
        every = np.concatenate(scales)
        size, worst = float(np.median(every)), float(every.min())
        return Facts(size, worst, exactness, exactness * size, (float(ahead), float(behind)))

    def reach(self, line: int) -> tuple[float, float]:
        moving = self._moving(line)
        scale = max([1.0, *[float(np.abs(x).max()) for x, _, _ in moving]])
        length = max([float(np.abs(along).max()) for _, along, _ in moving])
        return scale / length, max([exactness for _, _, exactness in moving])

    def moved(self, line: int, t: float) -> dict[int, Any]:
        found: dict[int, Any] = {}
        for n, (numbers, tangent) in enumerate(zip(self.point.numbers, self.tangents(line))):
            if np.any(tangent):
                wide = numbers.astype("float32") if numbers.dtype.itemsize < 4 else numbers
                found[n] = np.asarray(wide + t * tangent).astype(numbers.dtype)
        return found

    def distance(self, line: int, t: float, moved: dict[int, Any]) -> Any:
        alone = self.alone[line]
        if alone is None:
            return t
        n, index, v = alone
        if not np.isreal(v) or moved[n].dtype.kind == "c":
            return t
        return _distance(moved[n][index], self.point.numbers[n][index], 1.0) / v
