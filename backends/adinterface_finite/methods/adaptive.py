"""Central slopes at geometric steps, extrapolated: all lines in lockstep, each until its estimated error is small enough.

Steps start in the scale of x, grow where rounding or noise drowns the slope, shrink where f bends too much or is not finite.
Where f is finite on one side alone, at the edge of its domain, slopes are one-sided and extrapolated in h.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from typing import Any

import numpy as np

from adinterface.contract.backend import Arrays

from ..evaluation import Evaluate, Evaluations
from ..extrapolation import Estimate, Number, Windows, extrapolate, windows
from ..levels import enclosing
from ..points import Lines
from ..steps import RETREAT, START, decide, decide_number, grain, may_be_rounded, unit
from .method import Array, Method, Slopes

#: Numbers that are held at once.
MEMORY = 2**21
#: No bound that is met yet.
NEVER = 10**6
#: How far below the only step at which f is finite the next one is: it is near an edge, and what both lack is multiplied.
BELOW = 4
#: By how many roundings a straight line must rise within the smallest step to be none of rounded values.
MANY = 100.0
#: How far from the others one more step is taken along what looks like a straight line of rounded values.
ASIDE = -3
#: The first two steps.
BEGIN = (0, -1)
#: Up to so many lines of an f with one real output are estimated by themselves: NumPy's arrays begin to pay from there on.
FEW = 40
#: For slopes of which no others are taken, the unit of errors that are small enough is at least so much.
FINE = 2.2e-14
#: In place of the power of a step that is too small for one.
LEAST = 5e-324

#: What f gave at some points: numbers, or a stack of vectors.
Values = list[float] | Array


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
        return parts[0] if len(parts) == 1 else Slopes(*[np.concatenate(column) for column in zip(*parts)])

    def relative_error(self, order: int, epsilon: float) -> float:
        return min(1.0, (1e4 if order == 1 else 1e6) * epsilon)


class Sweep:
    """Some lines in lockstep: each round gives every unfinished line one more step."""

    #: Of the derivative; and the power of h in whose series the errors are.
    order, power = 1, 2
    #: How much of the rounding of f's values its differences have, and how much larger an error is small enough.
    gain, slack = 1.0, 1.0
    #: Whether what is evaluated for a line depends on others, or others on it.
    joint = False
    #: How many evaluations it may take beyond the usual ones.
    more = 0

    def __init__(self, method: Adaptive, evaluations: Evaluations, lines: Lines, chosen: range, fresh: Callable[[], Arrays]):
        self.method, self.evaluations, self.lines, self.chosen, self.fresh = method, evaluations, lines, chosen, fresh
        count = len(chosen)
        scales = [lines.scale(line) for line in chosen]
        self.scales = [usual for usual, _ in scales]
        factor = 1.0 if method.step is None else method.step / START
        self.units = [unit(usual * factor) for usual, _ in scales]
        #: How many powers of two below the first step the most cautious one is.
        self.caution = [min(0, round(math.log2(worst / usual))) if worst < usual else 0 for usual, worst in scales]
        #: By line, from the largest step to the smallest: their exponents, the slopes, and how large f's values were.
        self.exponents: list[list[int]] = [[] for _ in range(count)]
        self.D: list[list[Any]] = [[] for _ in range(count)]
        self.S: list[list[Any]] = [[] for _ in range(count)]
        self.counts = [0] * count
        self.bad = [NEVER] * count
        self.failures = [0] * count
        #: Values on a side that is finite although the other is not: (exponent, sign, distance, vector).
        self.sides: list[list[tuple[int, int, Any, Array]]] = [[] for _ in range(count)]
        self.room = [lines.room(line) for line in chosen]
        self.most = method.most + self.more
        self.dead: Array | None = None
        #: f is not known at the point itself.
        self.owes = not evaluations.at_hand
        self.allocated = False
        #: f at the first point of all, if a round begins behind it.
        self.begun: Any = None
        #: f has one real output, whose arithmetic is that of Python's numbers: NumPy's takes longer than many an f.
        self.single = False
        #: These are few lines of such an f.
        self.few = False
        #: Half of what f's values are rounded to, by line and output, as far as it was looked at.
        self.grain: dict[tuple[int, int], float] = {}
        #: The estimates of few lines.
        self.numbers: dict[int, Number] = {}

    def run(self) -> Slopes:
        both: Sequence[int] = range(len(self.chosen))
        one_sided: list[int] = []
        if self.lines.point.bounded:
            one_sided = [i for i in both if self._bound(i)]
            both = [i for i in both if i not in one_sided]
        if both or not self.allocated:
            self._march(both)
        if self.failures.count(0) < len(self.failures):
            one_sided += [i for i in both if not self.exponents[i] and self.sides[i]]
        for i in one_sided:
            self._one_sided(i)
        if self.evaluations.raised is not None and np.isnan(self.values).all(axis=1).any():
            raise self.evaluations.raised  # wherever it was looked at
        if self.dead is not None and self.dead.any():
            self.values[:, self.dead], self.errors[:, self.dead] = np.nan, np.inf
        return Slopes(self.values, self.errors, self.floors, self.sizes, np.array(self.counts))

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
        alone = len(self.chosen) <= FEW and not self.joint and self.evaluations.executor is None
        rest = self._one_by_one(lines) if alone else lines
        wanted = [(i, e) for i in rest for e in BEGIN]
        while wanted:
            again = self._evaluate(wanted)
            ready = sorted({i for i, _ in wanted} - {i for i, _ in again})
            wanted = [*again, *self._next(ready)]
        if self.few:
            self._collect()

    def _collect(self) -> None:
        """The numbers of few lines as arrays."""
        nothing = Number(math.nan, math.inf, 0.0, 0, 0.0, math.inf)
        found: Array = np.array([self.numbers.get(i, nothing)[:4] for i in range(len(self.chosen))])
        self.values, self.errors, self.floors, self.best = found[:, :1], found[:, 1:2], found[:, 2:3], found[:, 3]
        self.sizes = np.array([[max(sizes, default=0.0)] for sizes in self.S])

    def _one_by_one(self, lines: Sequence[int]) -> Sequence[int]:
        """Each line to its end, if f has one real output; the lines if it has others, or more.

        What is shared by the lines of a round would take longer here than what each does by itself.
        """
        with self.evaluations.near() as evaluate:
            for i in lines:
                wanted: list[int] = [*BEGIN]
                while wanted:
                    again: list[tuple[int, int]] = []
                    for exponent in wanted:
                        t = self.units[i] * 2.0**exponent
                        up, ahead = self._look(evaluate, i, t)
                        if not self.single:
                            return lines
                        down, behind = self._look(evaluate, i, -t)
                        if isfinite(up) and isfinite(down) and self.dead is None:
                            slope = self._slope((i, exponent), up, down, ahead, behind)
                            self._take(i, exponent, slope, max(abs(up), abs(down)))
                        else:
                            self._seen([(i, exponent)], [up], [down], [(ahead, behind)], again, exponent - 1 in wanted)
                    following = [(i, e) for i, e in again if e not in self.exponents[i]] if again else self._next_number(i)
                    wanted = [e for _, e in following]
        return ()

    def _look(self, evaluate: Evaluate, i: int, t: float) -> tuple[float, Any]:
        """f at this distance, and how far that really is."""
        leaves, distance = self.lines.at(self.fresh(), self.chosen.start + i, t)
        vector = self.evaluations.vector(evaluate, leaves)
        if not self.allocated:
            self._allocate()
        if self.single:
            return vector.item(), distance
        self.begun = vector
        return 0.0, distance

    def _evaluate(self, wanted: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """One more step for some lines; the steps to take instead where f was not finite."""
        up, down, apart = self._values(wanted)
        if not self.allocated:
            self._allocate()
        again: list[tuple[int, int]] = []
        self._seen(wanted, up, down, apart, again)
        return [(i, e) for i, e in again if e not in self.exponents[i]]

    def _seen(
        self,
        keys: Sequence[tuple[int, int]],
        up: Values,
        down: Values,
        apart: Sequence[tuple[Any, Any]],
        again: list[tuple[int, int]],
        smaller: bool | None = None,
    ) -> None:
        """Keep what was found at these steps; `again` gets the steps to take instead where f was not finite.

        smaller: whether the step below is taken too; None to look for it among these.
        """
        if self.dead is not None:
            up, down = self._without_dead(up), self._without_dead(down)
        finite_up, finite_down = self._finite(up), self._finite(down)
        if not (all(finite_up) and all(finite_down)) and self.dead is None and not self._alive(up, down):
            self.dead = self._dead()
            up, down = self._without_dead(up), self._without_dead(down)
            finite_up, finite_down = self._finite(up), self._finite(down)
        for n, (i, exponent) in enumerate(keys):
            if finite_up[n] and finite_down[n]:
                self._take(i, exponent, self._slope((i, exponent), up[n], down[n], *apart[n]), self._size(up[n], down[n]))
                continue
            self.counts[i] += 2 + self._owed()
            self.bad[i] = min(self.bad[i], exponent)
            for sign, good, values in ((1, finite_up[n], up[n]), (-1, finite_down[n], down[n])):
                if good:
                    self.sides[i].append((exponent, sign, apart[n][0 if sign == 1 else 1], np.array(values, ndmin=1)))
            if ((i, exponent - 1) in keys if smaller is None else smaller) or (again and again[-1][0] == i):
                continue  # the smaller of two steps of the first round says where to go
            lower = self._retreat(i, exponent)
            if lower is not None:
                again.append((i, lower))

    def _take(self, i: int, exponent: int, slope: Any, size: Any) -> None:
        """Keep what was found at one step: they go from the largest to the smallest."""
        self.counts[i] += 2
        exponents, place = self.exponents[i], 0
        for other in exponents:
            place += other > exponent
        exponents.insert(place, exponent)
        self.D[i].insert(place, slope)
        self.S[i].insert(place, size)

    def _owed(self) -> int:
        """One evaluation if f was evaluated at the point itself because of this line."""
        owed = self.owes and self.evaluations.at_hand
        self.owes = self.owes and not owed
        return int(owed)

    def _retreat(self, i: int, exponent: int) -> int | None:
        """A smaller step than one at which f was not finite; None if there are no more evaluations to spend."""
        self.failures[i] += 1
        left = self.most - self.counts[i]
        if left < 2 or (not self.exponents[i] and self.failures[i] > 1 and self._one_side(i)):
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

    def _alive(self, up: Values, down: Values) -> bool:
        """Whether each output was finite somewhere, so that f need not be evaluated at the point itself to know of it."""
        return any(self.exponents) or bool((np.isfinite(up) | np.isfinite(down)).reshape(len(up), -1).any(axis=0).all())

    def _dead(self) -> Array:
        """Outputs that are not finite at the point itself have no slope, and the others have theirs."""
        outputs, _ = self.evaluations.base()
        vector = np.atleast_1d(self.evaluations.layout(outputs).flat(outputs))
        return np.asarray(~np.isfinite(vector))

    def _points(self, wanted: Sequence[tuple[int, int]], distances: list[Any]) -> Iterator[list[Any]]:
        lines, first, fresh = self.lines, self.chosen.start, self.fresh
        for i, exponent in wanted:
            t = self.units[i] * 2.0**exponent
            for step in (t, -t):
                leaves, distance = lines.at(fresh(), first + i, step)
                distances.append(distance)
                yield leaves

    def _values(self, wanted: Sequence[tuple[int, int]]) -> tuple[Values, Values, list[tuple[Any, Any]]]:
        """f ahead and behind, and how far the point has moved."""
        distances: list[Any] = []
        begun, self.begun = self.begun, None
        ahead, behind = self._split(self.evaluations.vectors(self._points(wanted, distances), begun))
        return ahead, behind, list(zip(distances[0::2], distances[1::2]))

    def _split(self, vectors: list[Any]) -> tuple[Values, Values]:
        """Every other one: numbers, or stacks (rounds, outputs)."""
        layout = self.evaluations.layout(())
        if layout.alone:
            self.single = True
            numbers = [float(value) if layout.number else value.item() for value in vectors]
            return numbers[0::2], numbers[1::2]
        array = np.array(vectors, layout.dtype).reshape(len(vectors), layout.count)
        return array[0::2].copy(), array[1::2].copy()

    def _finite(self, values: Values) -> list[bool]:
        """Whether each of these is finite in all of its numbers."""
        if self.single:
            return [math.isfinite(value) for value in values]
        finite: Array = np.isfinite(values)
        return [bool(row.all()) for row in finite]

    def _without_dead(self, values: Values) -> Values:
        assert self.dead is not None
        if self.single:
            return [0.0] * len(values) if self.dead[0] else values
        values[:, self.dead] = 0.0  # type: ignore[call-overload]
        return values

    def _slope(self, key: tuple[int, int], up: Any, down: Any, ahead: Any, behind: Any) -> Any:
        """The derivative between two points, of a number or of a vector."""
        return (up - down) / (ahead - behind) if ahead != behind else 0.0 * up

    def _size(self, up: Any, down: Any) -> Any:
        return max(abs(up), abs(down)) if self.single else np.maximum(np.abs(up), np.abs(down))

    @property
    def limit(self) -> float:
        """In units of which an error is small enough: as small as rounding allows, if others are taken of these derivatives."""
        allowed = self.slack * self.epsilon
        return max(allowed, FINE) if self.order == 1 and enclosing() is None else allowed

    def _allocate(self) -> None:
        self.allocated = True
        layout = self.evaluations.layout(())
        self.single = layout.alone
        self.epsilon = max(layout.epsilon if self.method.noise is None else self.method.noise, self.evaluations.level.error)
        self.few = self.single and len(self.chosen) <= FEW
        if self.few:
            return
        shape, real = (len(self.chosen), layout.count), np.zeros(0, layout.dtype).real.dtype
        self.values = np.full(shape, np.nan, layout.dtype)
        self.errors = np.full(shape, np.inf, real)
        self.sizes, self.floors = np.zeros(shape, real), np.zeros(shape, real)
        #: The place of the largest step that served.
        self.best = np.zeros(len(self.chosen), dtype=int)

    # between rounds

    def _next(self, ready: Sequence[int]) -> list[tuple[int, int]]:
        """Estimates for the lines that were evaluated, and the steps of the next round."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for i in ready:
            if len(self.exponents[i]) > 1:
                groups.setdefault(tuple(self.exponents[i]), []).append(i)
            elif self.exponents[i]:
                self._take_alone(i)
                if self.counts[i] + 2 <= self.most:
                    groups.setdefault((), []).append(i)
        following = [(i, self.exponents[i][0] - BELOW) for i in groups.pop((), [])]
        self.epsilon = max(self.epsilon, self.evaluations.level.error)
        for exponents, group in groups.items():
            following.extend(self._judge(exponents, group))
        return following

    def _judge(self, exponents: tuple[int, ...], group: list[int]) -> list[tuple[int, int]]:
        found = windows(exponents, self.power, self.order)
        if self.few:
            return [step for i in group for step in self._judge_number(i, exponents, found)]
        rows, shape = np.array(group), (len(group), len(exponents), self.values.shape[1])
        slopes, sizes = (np.array([column[i] for i in group]).reshape(shape) for column in (self.D, self.S))
        steps = np.array([self.units[i] for i in group])[:, None] * np.array(found.powers)
        rounding = self._rounding_of(sizes, steps)
        grained = self._grained(sizes) if self.method.noise is None else None
        if grained is not None and len(exponents) > 2:
            rounding = self._with_grains(group, slopes, sizes, rounding, steps, grained)
        estimate = self._estimate(found, slopes, rounding, steps)
        self.values[rows], self.errors[rows], self.sizes[rows] = estimate.value, estimate.error, sizes.max(axis=1)
        self.floors[rows], self.best[rows] = estimate.floor, estimate.first.max(axis=1, initial=0)
        left = [self.most - self.counts[i] for i in group]
        if max(left) < 2:
            return []
        small = [bool(step < self.scales[i]) for i, step in zip(group, steps[:, 0].tolist())]
        bad = [self.bad[i] for i in group]
        chosen = decide(
            exponents, self.power, slopes, rounding, estimate, self.limit, small, bad, left
        )  # fmt: skip
        changes: list[bool] = np.asarray(slopes.any(axis=(1, 2))).tolist()
        following: list[tuple[int, int]] = []
        for n, (i, exponent) in enumerate(zip(group, chosen)):
            straight = exponent is None and len(exponents) == 2 and changes[n]
            if straight and grained is not None and self._rounded(n, sizes, grained):
                exponent = exponents[-1] + ASIDE  # rounded values may lie on a straight line by chance
            following.extend(self._following(i, exponent, exponents, left[n], changes[n]))
        return following

    def _grained(self, sizes: Array) -> Array | None:
        """Which lines and outputs have values that may be rounded to some digits; None if there are none."""
        found = may_be_rounded(sizes) if sizes.dtype == np.float64 else np.zeros(0, dtype=bool)
        return found if found.any() else None

    def _rounded(self, n: int, sizes: Array, grained: Array) -> bool:
        return any(grain(sizes[n, :, k].tolist()) for k in np.flatnonzero(grained[n]).tolist())

    def _with_grains(
        self, group: list[int], slopes: Array, sizes: Array, rounding: Array, steps: Array, grained: Array
    ) -> Array:
        """Rounding errors as rounded values have them."""
        for n, k in np.argwhere(grained).tolist():
            values, errors = slopes[n, :, k].tolist(), rounding[n, :, k].tolist()
            grains = self._grains((group[n], k), values, errors, sizes[n, :, k].tolist(), steps[n, -1])
            if grains:
                rounding[n, :, k] = np.maximum(errors, self.gain * grains / steps[n] ** self.order)
        return rounding

    def _take_alone(self, i: int) -> None:
        """The one slope that a line has is its derivative, of which nothing else is known."""
        if self.few:
            self.numbers[i] = Number(self.D[i][0], math.inf, 0.0, 0, 0.0, math.inf)
        else:
            self.values[i], self.sizes[i] = self.D[i][0], self.S[i][0]

    def _next_number(self, i: int) -> list[tuple[int, int]]:
        """As `_next`, for one line of an f with one output."""
        exponents = tuple(self.exponents[i])
        if len(exponents) > 1:
            self.epsilon = max(self.epsilon, self.evaluations.level.error)
            return self._judge_number(i, exponents, windows(exponents, self.power, self.order))
        if not exponents:
            return []
        self._take_alone(i)
        return [(i, exponents[0] - BELOW)] if self.counts[i] + 2 <= self.most else []

    def _judge_number(self, i: int, exponents: tuple[int, ...], found: Windows) -> list[tuple[int, int]]:
        slopes, unit = self.D[i], self.units[i]
        steps = [unit * power for power in found.powers]
        rounding = self._rounding(self.S[i], steps, self.order, self.gain)
        if len(slopes) > 2 and self.method.noise is None:
            grains = self._grains((i, 0), slopes, rounding, self.S[i], steps[-1])
            if grains:
                rounding = [max(noise, self.gain * grains / step**self.order) for noise, step in zip(rounding, steps)]
        self.numbers[i] = estimate = found.number(slopes, rounding)
        left = self.most - self.counts[i]
        if left < 2:
            return []
        small, limit = steps[0] < self.scales[i], self.limit
        exponent = decide_number(
            exponents, self.power, slopes, rounding, estimate, limit, small, self.bad[i], left
        )  # fmt: skip
        if exponent is None and len(slopes) == 2 and any(slopes) and self.method.noise is None and grain(self.S[i]):
            exponent = exponents[-1] + ASIDE  # rounded values may lie on a straight line by chance
        return self._following(i, exponent, exponents, left, any(slopes))

    def _grains(
        self,
        key: tuple[int, int],
        slopes: Sequence[float],
        rounding: Sequence[float],
        sizes: Sequence[float],
        smallest: float,
    ) -> float:
        """Half of what f's values are rounded to, if they are. A straight line is none that many roundings can hide in.

        key: the line and the output.
        """
        if key not in self.grain:
            self.grain[key] = 0.5 * grain(sizes)
        found = self.grain[key]
        if not found or abs(slopes[-1]) * smallest < MANY * found:
            return found
        bends = [abs(a - b) > 8 * (c + d) for a, b, c, d in zip(slopes, slopes[1:], rounding, rounding[1:])]
        return found if any(bends) else 0.0

    def _following(
        self, i: int, exponent: int | None, exponents: tuple[int, ...], left: int, changes: bool
    ) -> list[tuple[int, int]]:
        """The next steps of a line for which this was decided."""
        if exponent is None:
            return self._look_further(i) if len(exponents) == 2 and not changes else []
        return [(i, exponent)] if left >= 2 and exponent not in exponents else []

    def _look_further(self, i: int) -> list[tuple[int, int]]:
        """Where f did not change at all around a number that is close to zero, it may change at a distance of about 1."""
        if self.scales[i] >= 2.0**-10 or self.most < 8 or self.lines.point.scale is not None:
            return []
        exponent = round(math.log2(unit(1.0) / self.units[i]))
        if exponent >= self.bad[i]:
            return []
        self.exponents[i], self.D[i], self.S[i] = [], [], []  # what has been seen so far says nothing
        self.scales[i] = 1.0
        return [(i, exponent), (i, exponent - 1)]

    def _rounding(self, sizes: Sequence[Any], steps: Sequence[Any], order: int, gain: float) -> list[Any]:
        """The rounding errors of slopes, by f's values and the steps."""
        factor = 0.5 * gain * self.epsilon
        if order == 1 and self.method.absolute is None:
            return [factor * size / (step or LEAST) for size, step in zip(sizes, steps)]
        least = 0.5 * gain * (self.method.absolute or 0.0)
        return [max(factor * size, least) / (step**order or LEAST) for size, step in zip(sizes, steps)]

    def _rounding_of(self, sizes: Array, steps: Array) -> Array:
        """As `_rounding`, of (lines, steps, outputs)."""
        noise = 0.5 * self.gain * self.epsilon * sizes
        if self.method.absolute is not None:
            noise = np.maximum(noise, 0.5 * self.gain * self.method.absolute)
        return np.asarray(noise / (steps**self.order)[:, :, None])

    def _estimate(self, found: Windows, slopes: Array, rounding: Array, steps: Array) -> Estimate:
        """The slopes at no step."""
        return extrapolate(found, slopes, rounding, (steps[:, -1:] ** self.order)[:, :, None])

    # the edge of the domain

    def _one_sided(self, i: int) -> None:
        """Slopes from the point itself to one side, extrapolated in h."""
        ahead, behind = self.room[i]
        sign = self._one_side(i) if self.sides[i] else (1 if ahead >= behind else -1)
        if not sign:
            return
        outputs, _ = self.evaluations.base()
        self.counts[i] += self._owed()
        layout = self.evaluations.layout(outputs)
        base = np.array(np.atleast_1d(layout.flat(outputs)), layout.dtype)
        if not self.allocated:
            self._allocate()
            if self.few:
                self._collect()
        if self.dead is None:
            self.dead = self._dead()
        base[self.dead] = 0.0
        limit = max(ahead, behind)
        if limit < self.units[i]:
            self.units[i] *= 2.0 ** math.floor(math.log2(limit / self.units[i]))
        found = {e: (t, values) for e, _, t, values in self.sides[i]}
        wanted = [e for e in (0, -1, -2) if e not in found][: max(0, self.most - self.counts[i])]
        while wanted:
            for e in wanted:
                t = sign * self.units[i] * 2.0**e
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
            steps = self.units[i] * 2.0 ** np.array([exponents])
            rounding = self._rounding_of(2 * sizes, steps)
            estimate = self._estimate(windows(exponents, 1, 1), slopes, rounding, steps)
            self.values[i], self.errors[i], self.sizes[i] = estimate.value[0], estimate.error[0], sizes[0].max(axis=0)
            self.floors[i] = estimate.floor[0]
            left = self.most - self.counts[i]
            (following,) = decide(exponents, 1, slopes, rounding, estimate, self.epsilon, [True], [1], [2 * left])
            if following is not None and left > 0 and following not in found:
                wanted = [following]

