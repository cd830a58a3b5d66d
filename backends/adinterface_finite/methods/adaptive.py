"""Central slopes at geometric steps, extrapolated: all lines in lockstep, each until its estimated error is small enough.

Steps start in the scale of x, grow where rounding or noise drowns the slope, shrink where f bends too much or is not finite.
Where f is finite on one side alone, at the edge of its domain, slopes are one-sided and extrapolated in h.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adinterface.contract.backend import Arrays

from ..evaluation import Evaluations
from ..extrapolation import Estimate, extrapolate, windows
from ..points import Lines
from ..steps import RETREAT, START, decide, unit
from .method import Array, Method, Slopes

#: Numbers that are held at once.
MEMORY = 2**21
#: No bound that is met yet.
NEVER = 10**6


class Adaptive(Method):
    """noise: of f's values, relative; None takes the rounding of their dtype.

    step: the first step relative to a number's scale; None takes the usual one.
    """

    def __init__(self, most: int = 10, noise: float | None = None, absolute: float | None = None, step: float | None = None):
        self.most, self.noise, self.absolute, self.step = most, noise, absolute, step

    def slopes(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        parts: list[Slopes] = []
        start, size = 0, 1
        while start < lines.count:
            chosen = range(start, min(start + size, lines.count))
            sweep = Sweep(self, evaluations, lines, chosen, fresh)
            parts.append(sweep.run())
            start = chosen.stop
            size = max(1, MEMORY // (self.most * max(1, parts[0].values.shape[1])))
        return Slopes(*[np.concatenate(column) for column in zip(*parts)])

    def relative_error(self, order: int, epsilon: float) -> float:
        return min(1.0, (1e4 if order == 1 else 1e6) * epsilon)


class Sweep:
    """Some lines in lockstep: each round gives every unfinished line one more step."""

    #: Of the derivative; and the power of h in whose series the errors are.
    order, power = 1, 2
    #: How much of the rounding of f's values its differences have, and how much larger an error is small enough.
    gain, slack = 1.0, 1.0
    #: How many evaluations it may take beyond the usual ones.
    more = 0

    def __init__(self, method: Adaptive, evaluations: Evaluations, lines: Lines, chosen: range, fresh: Callable[[], Arrays]):
        self.method, self.evaluations, self.lines, self.chosen, self.fresh = method, evaluations, lines, chosen, fresh
        count = len(chosen)
        scales = [lines.scale(line) for line in chosen]
        self.scales = np.array([usual for usual, _ in scales])
        factor = 1.0 if method.step is None else method.step / START
        self.units = np.array([unit(usual * factor) for usual, _ in scales])
        #: How many powers of two below the first step the most cautious one is.
        self.caution = [min(0, round(math.log2(worst / usual))) if worst < usual else 0 for usual, worst in scales]
        self.exponents: list[list[int]] = [[] for _ in range(count)]
        self.slots: list[list[int]] = [[] for _ in range(count)]
        self.counts = np.zeros(count, dtype=int)
        self.bad = np.full(count, NEVER)
        self.failures = np.zeros(count, dtype=int)
        #: Values on a side that is finite although the other is not: (exponent, sign, distance, vector).
        self.sides: list[list[tuple[int, int, Any, Array]]] = [[] for _ in range(count)]
        self.room = [lines.room(line) for line in chosen]
        self.most = method.most + self.more
        self.levels = max(2, self.most // 2)
        self.dead: Array | None = None
        self.allocated = False

    def run(self) -> Slopes:
        count = len(self.chosen)
        one_sided = [i for i in range(count) if self._bound(i)]
        both = [i for i in range(count) if i not in set(one_sided)]
        if both or not self.allocated:
            self._march(both)
        one_sided += [i for i in both if not self.exponents[i] and self.sides[i]]
        for i in one_sided:
            self._one_sided(i)
        if self.evaluations.raised is not None and np.isnan(self.values).all(axis=1).any():
            raise self.evaluations.raised  # wherever it was looked at
        if self.dead is not None and self.dead.any():
            self.values[:, self.dead], self.errors[:, self.dead] = np.nan, np.inf
        return Slopes(self.values, self.errors, self.floors, self.sizes, self.counts)

    def _bound(self, i: int) -> bool:
        """Keep the first step inside the bounds; whether they leave room on one side alone."""
        ahead, behind = self.room[i]
        near, far = min(ahead, behind), max(ahead, behind)
        if near >= self.units[i]:
            if near < math.inf:
                self.bad[i] = math.floor(math.log2(near / self.units[i])) + 1
            return False
        if near < self.units[i] * 2.0**-6 and far > near:
            return True
        self.units[i] *= 2.0 ** math.floor(math.log2(near / self.units[i]))
        self.bad[i] = 1
        return False

    # rounds

    def _march(self, lines: Sequence[int]) -> None:
        """Rounds until every line has enough."""
        wanted = [(i, e) for i in lines for e in (0, -1)]
        while wanted:
            again = self._evaluate(wanted)
            ready = sorted({i for i, _ in wanted} - {i for i, _ in again})
            wanted = [*again, *self._next(ready)]

    def _evaluate(self, wanted: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """One more step for some lines; the steps to take instead where f was not finite."""
        up, down, apart = self._values(wanted)
        if not self.allocated:
            self._allocate(up.shape[1], up.dtype)
        if self.dead is not None:
            up[:, self.dead] = down[:, self.dead] = 0.0
        finite_up, finite_down = _finite(up), _finite(down)
        if not (all(finite_up) and all(finite_down)) and self.dead is None:
            self.dead = dead = self._dead()
            up[:, dead] = down[:, dead] = 0.0
            finite_up, finite_down = _finite(up), _finite(down)
        with np.errstate(all="ignore"):
            slopes = self._slopes(up, down, apart)
            sizes = np.maximum(np.abs(up), np.abs(down))
        again: list[tuple[int, int]] = []
        for n, (i, exponent) in enumerate(wanted):
            self.counts[i] += 2
            if finite_up[n] and finite_down[n]:
                exponents, slot = self.exponents[i], len(self.slots[i])
                place = next((k for k, other in enumerate(exponents) if other < exponent), slot)
                exponents.insert(place, exponent)
                self.slots[i].insert(place, slot)
                self.D[i, slot], self.S[i, slot] = slopes[n], sizes[n]
                continue
            self.bad[i] = min(self.bad[i], exponent)
            for sign, good, values in ((1, finite_up[n], up[n]), (-1, finite_down[n], down[n])):
                if good:
                    self.sides[i].append((exponent, sign, apart[n][0 if sign == 1 else 1], values.copy()))
            if (i, exponent - 1) in wanted or (again and again[-1][0] == i):
                continue  # the smaller of two steps of the first round says where to go
            lower = self._retreat(i, exponent)
            if lower is not None:
                again.append((i, lower))
        return [(i, e) for i, e in again if e not in self.exponents[i]]

    def _retreat(self, i: int, exponent: int) -> int | None:
        """A smaller step than one at which f was not finite; None if there are no more evaluations to spend."""
        self.failures[i] += 1
        left = self.most - self.counts[i]
        if left < 2 or (not self.exponents[i] and self.failures[i] > 2 and self._one_side(i) and left >= 2):
            return None
        if self.exponents[i]:
            return self.exponents[i][-1] - 1
        jump = RETREAT if self.failures[i] == 1 else 2 * RETREAT
        lower = min(exponent - jump, self.caution[i]) if self.failures[i] == 1 else exponent - jump
        return lower

    def _one_side(self, i: int) -> int:
        """The side on which f is finite wherever it was looked at; 0 if neither or both are."""
        signs = {sign for _, sign, _, _ in self.sides[i]}
        return signs.pop() if len(signs) == 1 else 0

    def _dead(self) -> Array:
        """Outputs that are not finite at the point itself have no slope, and the others have theirs."""
        outputs, _ = self.evaluations.base()
        vector = np.atleast_1d(self.evaluations.layout(outputs).flat(outputs))
        return np.asarray(~np.isfinite(vector))

    def _points(self, wanted: Sequence[tuple[int, int]], distances: list[Any]) -> Iterator[list[Any]]:
        lines, first, fresh = self.lines, self.chosen.start, self.fresh
        for i, exponent in wanted:
            t = float(self.units[i]) * 2.0**exponent
            for step in (t, -t):
                leaves, distance = lines.at(fresh(), first + i, step)
                distances.append(distance)
                yield leaves

    def _values(self, wanted: Sequence[tuple[int, int]]) -> tuple[Array, Array, list[tuple[Any, Any]]]:
        """f ahead and behind, (rounds, outputs), and how far the point has moved."""
        distances: list[Any] = []
        vectors = self.evaluations.vectors(self._points(wanted, distances))
        layout = self.evaluations.layout(())
        array = np.array(vectors, layout.dtype).reshape(len(vectors), layout.count)
        return array[0::2].copy(), array[1::2].copy(), list(zip(distances[0::2], distances[1::2]))

    def _slopes(self, up: Array, down: Array, apart: list[tuple[Any, Any]]) -> Array:
        lengths = np.array([a - b for a, b in apart])[:, None]
        return np.where(lengths == 0, 0.0, (up - down) / np.where(lengths == 0, 1.0, lengths))

    def _allocate(self, outputs: int, dtype: Any) -> None:
        self.allocated = True
        count, real = len(self.chosen), np.zeros(0, dtype).real.dtype
        self.D = np.zeros((count, self.levels + 1, outputs), dtype)
        self.S = np.zeros((count, self.levels + 1, outputs), real)
        self.values = np.full((count, outputs), np.nan, dtype)
        self.errors = np.full((count, outputs), np.inf, real)
        self.sizes, self.floors = np.zeros((count, outputs), real), np.zeros((count, outputs), real)
        #: The place of the largest step that served.
        self.best = np.zeros(count, dtype=int)
        layout = self.evaluations.layout(())
        self.epsilon = max(layout.epsilon if self.method.noise is None else self.method.noise, self.evaluations.level.error)

    # between rounds

    def _next(self, ready: Sequence[int]) -> list[tuple[int, int]]:
        """Estimates for the lines that were evaluated, and the steps of the next round."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for i in ready:
            if len(self.exponents[i]) > 1:
                groups.setdefault(tuple(self.exponents[i]), []).append(i)
            elif self.exponents[i]:
                self.values[i] = self.D[i, self.slots[i][0]]
                self.sizes[i] = self.S[i, self.slots[i][0]]
                if self.counts[i] + 2 <= self.most:
                    groups.setdefault((), []).append(i)
        following = [(i, self.exponents[i][-1] - 1) for i in groups.pop((), [])]
        self.epsilon = max(self.epsilon, self.evaluations.level.error)
        for exponents, group in groups.items():
            following.extend(self._judge(exponents, group))
        return following

    def _judge(self, exponents: tuple[int, ...], group: list[int]) -> list[tuple[int, int]]:
        rows = np.array(group)
        places = np.array([self.slots[i] for i in group])
        slopes, sizes = self.D[rows[:, None], places], self.S[rows[:, None], places]
        steps = self.units[rows, None] * 2.0 ** np.array(exponents)
        estimate, rounding = self._estimate(windows(exponents, self.power, self.order), slopes, sizes, steps)
        self.values[rows], self.errors[rows], self.sizes[rows] = estimate.value, estimate.error, sizes.max(axis=1)
        self.floors[rows], self.best[rows] = estimate.floor, estimate.first.max(axis=1, initial=0)
        left = [self.most - int(self.counts[i]) for i in group]
        if max(left) < 2:
            return []
        small = (steps[:, 0] < self.scales[rows]).tolist()
        bad = self.bad[rows].tolist()
        chosen = decide(
            exponents, self.power, slopes, rounding, estimate, self.slack * self.epsilon, small, bad, left
        )  # fmt: skip
        following: list[tuple[int, int]] = []
        for n, (i, exponent) in enumerate(zip(group, chosen)):
            if exponent is None and len(exponents) == 2 and not slopes[n].any():
                following.extend(self._look_further(i))
            if exponent is not None and left[n] >= 2 and exponent not in exponents:
                following.append((i, exponent))
        return following

    def _look_further(self, i: int) -> list[tuple[int, int]]:
        """Where f did not change at all around a number that is close to zero, it may change at a distance of about 1."""
        if self.scales[i] >= 2.0**-10 or self.most < 8 or self.lines.point.scale is not None:
            return []
        exponent = round(math.log2(unit(1.0) / self.units[i]))
        if exponent >= self.bad[i]:
            return []
        self.exponents[i], self.slots[i] = [], []  # what has been seen so far says nothing
        self.scales[i] = 1.0
        return [(i, exponent), (i, exponent - 1)]

    def _estimate(self, found: Any, slopes: Array, sizes: Array, steps: Array) -> tuple[Estimate, Array]:
        """The slopes at no step, and the rounding errors of those that there are."""
        lengths = steps[:, :, None] ** self.order
        noise = 0.5 * self.gain * self.epsilon * sizes
        if self.method.absolute is not None:
            noise = np.maximum(noise, 0.5 * self.gain * self.method.absolute)
        rounding = noise / lengths
        estimate = extrapolate(found, slopes, rounding, lengths[:, -1:])
        return estimate, rounding

    # the edge of the domain

    def _one_sided(self, i: int) -> None:
        """Slopes from the point itself to one side, extrapolated in h."""
        ahead, behind = self.room[i]
        sign = self._one_side(i) if self.sides[i] else (1 if ahead >= behind else -1)
        if not sign:
            return
        outputs, _ = self.evaluations.base()
        layout = self.evaluations.layout(outputs)
        base = np.array(np.atleast_1d(layout.flat(outputs)), layout.dtype)
        if not self.allocated:
            self._allocate(len(base), base.dtype)
        if self.dead is None:
            self.dead = self._dead()
        base[self.dead] = 0.0
        limit = max(ahead, behind)
        if limit < self.units[i]:
            self.units[i] *= 2.0 ** math.floor(math.log2(limit / self.units[i]))
        found = {e: (t, values) for e, _, t, values in self.sides[i]}
        wanted = [e for e in (0, -1, -2) if e not in found][: max(0, self.most - int(self.counts[i]))]
        while wanted:
            for e in wanted:
                t = sign * float(self.units[i]) * 2.0**e
                leaves, distance = self.lines.at(self.fresh(), self.chosen.start + i, t)
                (vector,) = self.evaluations.vectors([leaves])
                values = np.array(np.atleast_1d(vector), layout.dtype)
                values[self.dead] = 0.0
                self.counts[i] += 1
                if np.isfinite(values).all() and distance:
                    found[e] = distance, values
            wanted = []
            if len(found) < 2:
                break
            exponents = tuple(sorted(found, reverse=True))
            slopes = np.array([[(found[e][1] - base) / found[e][0] for e in exponents]])
            sizes = np.array([[np.maximum(np.abs(found[e][1]), np.abs(base)) for e in exponents]])
            steps = float(self.units[i]) * 2.0 ** np.array([exponents])
            estimate, rounding = self._estimate(windows(exponents, 1, 1), slopes, 2 * sizes, steps)
            self.values[i], self.errors[i], self.sizes[i] = estimate.value[0], estimate.error[0], sizes[0].max(axis=0)
            self.floors[i] = estimate.floor[0]
            left = self.most - int(self.counts[i])
            (following,) = decide(exponents, 1, slopes, rounding, estimate, self.epsilon, [True], [1], [4 * left])
            if following is not None and left > 0 and following not in found:
                wanted = [following]


def _finite(vectors: Array) -> list[bool]:
    """Whether each of these is finite in all of its numbers."""
    finite: Array = np.isfinite(vectors)
    return [bool(row.all()) for row in finite]
