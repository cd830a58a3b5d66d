"""The lines along which differences are taken: along each real number of the leaves, along tangents, some of both, and both."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from .evaluation import Array, Arrays
from .points import TINY, BasePoint, Lines

#: Of so many numbers the places are kept: to make them for each call would take as long as some evaluations of f.
KNOWN = 1_000

_Places = tuple[Sequence[tuple[int, Any, complex]], Sequence[tuple[int, int, bool]], Sequence[tuple[int, int, int]], bool]


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
    """Along each real number of the leaves, in their order; a complex leaf that is doubled first along 1, then along i."""

    def __init__(self, point: BasePoint, doubled: Sequence[bool]):
        shapes = tuple([(*numbers.shape, twice) for numbers, twice in zip(point.numbers, doubled)])
        every = (_known_places if point.count <= KNOWN else _places)(shapes)
        #: Each line's leaf, the place of its number there, and 1 or i. For each leaf its first line, how many numbers it has,
        #: and whether they come again along i. The leaves that have lines. Whether any leaf is doubled.
        self.places, self.spans, self._owners, self.doubled = every
        self.point, self.count = point, len(self.places)

    def owners(self) -> Sequence[tuple[int, int, int]]:
        return self._owners

    def part(self, n: int, values: Array, holomorphic: bool = False) -> Array:
        """Derivatives along all lines, on the last axis, by one leaf, in its shape.

        Of a complex leaf those along 1 and along i together, unless the derivatives are by it as a whole.
        """
        start, size, doubled = self.spans[n]
        part = values[..., start : start + size]
        if not holomorphic:
            part = np.real(part)
            if doubled:
                part = part + 1j * np.real(values[..., start + size : start + 2 * size])
        return part.reshape((*part.shape[:-1], *self.point.numbers[n].shape))

    def number(self, line: int) -> float:
        n, index, unit = self.places[line]
        x = self.point.numbers[n][index]
        return float(x.imag if unit == 1.0j else x.real) if self.point.numbers[n].dtype.kind == "c" else float(x)

    def scale(self, line: int) -> tuple[float, float]:
        n, index, _ = self.places[line]
        size = self.point.scale
        if size is None:
            size = float(abs(self.point.numbers[n].item(index)))
            if not TINY < size < math.inf:
                size = 1.0
        return size, size

    def reach(self, line: int) -> float:
        n, index, _ = self.places[line]
        return max(1.0, float(abs(self.point.numbers[n].item(index))))

    def exactness(self, line: int) -> float:
        return self.point.exactness[self.places[line][0]]

    def least(self, line: int) -> float:
        return self.exactness(line) * abs(self.number(line))

    def room(self, line: int) -> tuple[float, float]:
        return self.point.room(self.number(line), self.places[line][2])

    def imaginary(self, leaves: Sequence[Any], line: int, step: float) -> list[Any] | None:
        n, index, _ = self.places[line]
        numbers, there = self.point.numbers[n], list(leaves)
        if self.point.natives[n] is not None or numbers.dtype.name != "float64":
            return None
        moved = numbers.astype("complex128")
        if isinstance(moved, np.ndarray):
            moved[index] += 1j * step
        else:
            moved = moved + 1j * step
        there[n] = moved
        return there

    def numbers_at(self, line: int, t: float) -> dict[int, Any]:
        n, index, unit = self.places[line]
        moved = np.array(self.point.numbers[n], order="K")
        moved[index] = moved[index] + (t if unit == 1.0 else t * unit)
        return {n: moved}

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

    def at(self, leaves: Sequence[Any], line: int, t: float) -> tuple[list[Any], Any]:
        n, index, unit = self.places[line]
        point, there = self.point, list(leaves)
        numbers = point.numbers[n]
        step = t if unit == 1.0 else t * unit
        if type(numbers) is np.ndarray:
            moved = numbers.copy("K")
            at = numbers[index]
            moved[index] = at + step
            now = moved[index]
        else:
            at = numbers
            moved = now = type(numbers)(numbers + step)
        there[n] = point.native(n, moved)
        return there, _distance(now, at, unit)


def both(leaves: Sequence[Any], first: Lines, line: int, t: float, then: Coordinates, other: int, h: float) -> list[Any]:
    """The leaves displaced along one line, and one number of them also along a coordinate."""
    point, there = first.point, list(leaves)
    moved = first.numbers_at(line, t)
    n, index, unit = then.places[other]
    numbers = moved.get(n)
    if numbers is None:
        numbers = np.array(point.numbers[n], order="K")
    numbers[index] = numbers[index] + (h if unit == 1.0 else h * unit)
    for k, array in {**moved, n: numbers}.items():
        there[k] = point.native(k, array[()] if isinstance(point.numbers[k], np.generic) else array)
    return there


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
        flat = [np.asarray(stack).reshape(self.count, math.prod(np.shape(stack)[1:])) for stack in stacks]
        moved = [np.count_nonzero(stack, axis=1) for stack in flat]
        for line in np.flatnonzero(sum(moved) == 1) if flat else ():
            n = next(n for n, counts in enumerate(moved) if counts[line])
            place = int(np.flatnonzero(flat[n][line])[0])
            self.alone[line] = n, np.unravel_index(place, np.shape(stacks[n])[1:]), flat[n][line][place]
        #: Whether each moves anything at all.
        self.moves = np.asarray(sum(moved) > 0) if flat else np.zeros(self.count, dtype=bool)

    def moving(self) -> Lines:
        """Those that move anything."""
        return self if self.moves.all() else SelectedLines(self, np.flatnonzero(self.moves).tolist())

    def tangents(self, line: int) -> list[Any]:
        return [stack[line] for stack in self.stacks]

    def reach(self, line: int) -> float:
        scale, length = 1.0, 0.0
        for numbers, tangent in zip(self.point.numbers, self.tangents(line)):
            moves = np.abs(tangent)
            length = max(length, float(np.max(moves, initial=0.0)))
            sizes = np.abs(numbers).astype("float64")
            scale = max(scale, float(np.max(sizes, where=moves != 0, initial=0.0)))
        return scale / length

    def exactness(self, line: int) -> float:
        return max([e for e, tangent in zip(self.point.exactness, self.tangents(line)) if np.any(tangent)], default=2.0**-52)

    def least(self, line: int) -> float:
        return self.exactness(line) * self.scale(line)[0]

    def scale(self, line: int) -> tuple[float, float]:
        distances: list[Any] = []
        for numbers, tangent in zip(self.point.numbers, self.tangents(line)):
            moves = np.abs(tangent).astype("float64")
            sizes = np.abs(numbers).astype("float64")
            sizes = np.where((sizes > TINY) & np.isfinite(sizes), sizes, 1.0)
            if self.point.scale is not None:
                sizes = np.full(np.shape(sizes), self.point.scale)
            distances.append((sizes[moves > 0] / moves[moves > 0]).ravel() if np.ndim(moves) else _scalar(sizes, moves))
        every = np.concatenate(distances) if distances else np.ones(0)
        return (float(np.median(every)), float(every.min())) if every.size else (1.0, 1.0)

    def room(self, line: int) -> tuple[float, float]:
        if not self.point.bounded:
            return math.inf, math.inf
        ahead = behind = math.inf
        for numbers, tangent in zip(self.point.numbers, self.tangents(line)):
            if numbers.dtype.kind == "c":
                continue
            for x, v in zip(np.ravel(numbers), np.ravel(tangent)):
                if v:
                    up, down = (self.point.high - x) / abs(v), (x - self.point.low) / abs(v)
                    ahead, behind = min(ahead, up if v > 0 else down), min(behind, down if v > 0 else up)
        return float(ahead), float(behind)

    def at(self, leaves: Sequence[Any], line: int, t: float) -> tuple[list[Any], Any]:
        point, there = self.point, list(leaves)
        alone = self.alone[line]
        if alone is not None:
            n, index, v = alone
            numbers = point.numbers[n]
            moved = np.array(numbers, order="K")
            moved[index] = numbers[index] + t * v
            distance = _distance(moved[index], numbers[index], 1.0) / v if np.isreal(v) and moved.dtype.kind != "c" else t
            there[n] = point.native(n, moved[()] if isinstance(numbers, np.generic) else moved)
            return there, distance
        for n, moved in self.numbers_at(line, t).items():
            there[n] = point.native(n, moved[()] if isinstance(point.numbers[n], np.generic) else moved)
        return there, t

    def numbers_at(self, line: int, t: float) -> dict[int, Any]:
        found: dict[int, Any] = {}
        for n, (numbers, tangent) in enumerate(zip(self.point.numbers, self.tangents(line))):
            if np.any(tangent):
                wide = numbers.astype("float32") if numbers.dtype.itemsize < 4 else numbers
                found[n] = np.asarray(wide + t * tangent).astype(numbers.dtype)
        return found


def _scalar(sizes: Any, moves: Any) -> Any:
    return np.atleast_1d(sizes / moves) if moves > 0 else np.ones(0)


class SelectedLines(Lines):
    """Some of the lines."""

    def __init__(self, lines: Lines, chosen: Sequence[int]):
        super().__init__(lines.point, len(chosen))
        self.lines, self.chosen = lines, chosen

    def scale(self, line: int) -> tuple[float, float]:
        return self.lines.scale(self.chosen[line])

    def reach(self, line: int) -> float:
        return self.lines.reach(self.chosen[line])

    def exactness(self, line: int) -> float:
        return self.lines.exactness(self.chosen[line])

    def least(self, line: int) -> float:
        return self.lines.least(self.chosen[line])

    def room(self, line: int) -> tuple[float, float]:
        return self.lines.room(self.chosen[line])

    def at(self, leaves: Sequence[Any], line: int, t: float) -> tuple[list[Any], Any]:
        return self.lines.at(leaves, self.chosen[line], t)


class ConcatenatedLines(Lines):
    """Lines followed by other lines."""

    def __init__(self, *groups: Lines):
        super().__init__(groups[0].point, sum(group.count for group in groups))
        self.places = [(group, line) for group in groups for line in range(group.count)]

    def scale(self, line: int) -> tuple[float, float]:
        group, own = self.places[line]
        return group.scale(own)

    def reach(self, line: int) -> float:
        group, own = self.places[line]
        return group.reach(own)

    def exactness(self, line: int) -> float:
        group, own = self.places[line]
        return group.exactness(own)

    def least(self, line: int) -> float:
        group, own = self.places[line]
        return group.least(own)

    def room(self, line: int) -> tuple[float, float]:
        group, own = self.places[line]
        return group.room(own)

    def at(self, leaves: Sequence[Any], line: int, t: float) -> tuple[list[Any], Any]:
        group, own = self.places[line]
        return group.at(leaves, own, t)
