"""Second derivatives from one joint stencil around the point, not from gradients around many.

Along each line second differences at several steps are extrapolated as slopes are. For two lines u
and v,

    f(+u+v) + f(-u-v) - f(+u) - f(-u) - f(+v) - f(-v) + 2 f  =  2 h_u h_v f_uv + O(h^4),

a series in h^2 where both steps shrink together, takes two evaluations beyond those along the
lines, and the Hessian is symmetric. Source of the formula: M. Abramowitz, I. Stegun, Handbook of
Mathematical Functions, 25.3.27.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .evaluation import Arrays, Evaluations
from .extrapolation import Estimate, extrapolate, size_of_step, windows
from .lines import Coordinates, Directions, both
from .methods.line_state import LineState
from .methods.method import Array, Options, Slopes
from .methods.rounds import Rounds
from .methods.sampling import Apart, Step
from .points import Facts, Lines, OtherLines
from .steps import ENOUGH, SMALLEST

#: A second derivative is exact enough at this multiple of the error of an exact enough slope; where
#: it is small compared with those along its two lines, at this fraction of them.
SLACK, BESIDE = 50.0, 1e-12
#: The second difference at a step that is good for mixed derivatives is off by this part at most.
NEAR = 0.2


class Second(NamedTuple):
    """Derivatives along lines: the first ones, (lines, outputs), and the second ones."""

    first: Array
    slopes: Slopes


def along(
    options: Options, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]
) -> Second:
    """Second derivatives along each line: (lines, outputs)."""
    bends = Bends(options, evaluations, lines, range(lines.count), fresh)
    bends.run()
    return Second(bends.first, bends.found)


def hessian(
    options: Options, evaluations: Evaluations, lines: Coordinates, fresh: Callable[[], Arrays]
) -> Second:
    """The Hessian of a scalar function: (lines, lines)."""
    bends = Bends(options, evaluations, lines, range(lines.count), fresh)
    bends.run()
    matrix, errors, units = (
        np.diag(each[:, 0]) for each in (bends.found.values, bends.found.errors, bends.found.units)
    )
    rows, columns = np.tril_indices(lines.count, -1)
    pairs = list(zip(rows.tolist(), columns.tolist()))
    if pairs:
        mixed = Mixed(bends, pairs, lambda at, i, u, j, v: both(at, lines, i, u, lines, j, v)).run()
        matrix[rows, columns] = matrix[columns, rows] = mixed.values[:, 0]
        errors[rows, columns] = errors[columns, rows] = mixed.errors[:, 0]
        units[rows, columns] = units[columns, rows] = mixed.units[:, 0]
    roots = np.sqrt(bends.found.rates)
    return Second(bends.first, Slopes(matrix, errors, errors, roots * roots.T, units))


def product(
    options: Options,
    evaluations: Evaluations,
    lines: Coordinates,
    fresh: Callable[[], Arrays],
    *,
    stacks: Sequence[Any],
) -> Second:
    """The Hessian times one direction, and the gradient: (lines, 1). stacks: of `Directions`."""
    direction = Directions(lines.point, stacks)
    together = OtherLines(lines.point, [*[(lines, n) for n in range(lines.count)], (direction, 0)])
    bends = Bends(options, evaluations, together, range(together.count), fresh)
    bends.run()
    pairs = [(lines.count, j) for j in range(lines.count)]
    mixed = Mixed(bends, pairs, lambda at, i, u, j, v: both(at, direction, 0, u, lines, j, v)).run()
    return Second(bends.first[:-1], mixed)


class Bends(Rounds):
    """Second differences along several lines at once, with the slopes of the same evaluations."""

    order, gain = 2, 4.0
    slack, more = SLACK, 6

    def run(self) -> Slopes:
        #: f at the point.
        self.middle: Array = self.evaluations.here()
        #: By line and exponent: f ahead and behind, and the two distances.
        self.seen: dict[tuple[int, int], tuple[Any, Any, float, float]] = {}
        self.march(self.states)
        #: The first derivatives: (lines, outputs).
        self.first = self._firsts()
        return self.found

    def values_at(self, wanted: Sequence[Step]) -> tuple[Array, Array, Apart]:
        up, down, apart = super().values_at(wanted)
        for (state, exponent), above, below, ahead, behind in zip(wanted, up, down, *apart):
            self.seen[state.line, exponent] = above, below, float(ahead), float(behind)
        return up, down, apart

    def derivatives(self, steps: Sequence[Step], up: Array, down: Array, apart: Apart) -> Array:
        return np.array([self._bend(*each) for each in zip(up, down, *apart)])

    def _bend(self, up: Any, down: Any, ahead: Any, behind: Any) -> Any:
        if ahead == behind:
            return 0.0 * up
        ahead, behind = float(ahead), float(behind)
        moved = ahead - behind
        # the slope's part, if rounding made the distances unequal
        tilt = (up - down) / moved * (ahead + behind)
        return (up - 2 * self.middle + down - tilt) / ((moved / 2) ** 2 or SMALLEST)

    def _firsts(self) -> Array:
        values, epsilon = self.found.values.copy(), self.epsilon
        for state in self.states:
            exponents = tuple(state.exponents)
            if len(exponents) < 2:
                continue
            # Large steps are taken where second differences are small compared with rounding, which
            # slopes do not show.
            small = tuple([e for e in exponents if e <= 2])
            exponents = small if len(small) > 1 else exponents[-2:]
            estimate = self._first(state, exponents)
            # Where f is odd around the point its second differences vanish at any step: the slopes
            # need smaller ones.
            for _ in range(self.more // 2):
                if not np.any(
                    estimate.error > ENOUGH * self.limit(epsilon) * np.abs(estimate.value)
                ):
                    break
                exponents = (*exponents, exponents[-1] - 1)
                self.at([(state.line, exponents[-1])])
                estimate = self._first(state, exponents)
            values[state.line] = estimate.value[0]
        return values

    def _first(self, state: LineState, exponents: tuple[int, ...]) -> Estimate:
        parts = [self.seen[state.line, e] for e in exponents]
        slopes = [(up - down) / (a - b) if a != b else 0 * up for up, down, a, b in parts]
        sizes = [np.maximum(abs(up), abs(down)) for up, down, _, _ in parts]
        absolute = self.options.absolute
        steps = [state.unit * size_of_step(e) for e in exponents]
        lengths = np.array(steps)[None, :, None]
        noise = np.maximum(0.5 * self.epsilon * np.array([sizes]), 0.5 * (absolute or 0.0))
        inside, last = windows(exponents, 2, 1), lengths[:, -1:]
        return extrapolate(inside, np.array([slopes]), noise / lengths, last, lengths[:, :, 0])

    def top(self, state: LineState) -> int:
        """The largest exponent of good steps for mixed derivatives: the second difference is near
        the second derivative there. At most the first exponent. It is even, so that steps from it
        on have the same ratios along all lines.
        """
        value = self.found.values[state.line]
        steps = [(e, bend) for e, bend in zip(state.exponents, state.slopes) if e <= 0]
        near = [e for e, bend in steps if np.all(abs(bend - value) <= NEAR * abs(value))]
        largest = max(near or [e for e, _ in steps], default=0)
        return largest - largest % 2

    def at(self, keys: Sequence[tuple[int, int]]) -> None:
        """See that f is known at these lines and exponents."""
        missing = [key for key in dict.fromkeys(keys) if key not in self.seen]
        if missing:
            self.values_at([(self.states[line], exponent) for line, exponent in missing])


#: From the leaves that do not move to the leaves displaced along one line by a distance, and along
#: another by another.
Move = Callable[[Arrays, int, float, int, float], list[Any]]


class Mixed(Rounds):
    """Mixed derivatives of a scalar f along pairs of lines, in lockstep as the lines were."""

    order, gain, slack, more = 2, 4.0, SLACK, 2

    def __init__(self, bends: Bends, pairs: Sequence[tuple[int, int]], move: Move):
        self.bends, self.pairs, self.move = bends, pairs, move
        super().__init__(
            bends.options, bends.evaluations, PairsOf(bends, pairs), range(len(pairs)), bends.fresh
        )
        tops = self.tops = [bends.top(state) for state in bends.states]
        units = np.array([state.unit for state in bends.states]) * 2.0 ** np.array(tops)
        first, second = np.array([i for i, _ in pairs], int), np.array([j for _, j in pairs], int)
        limits = np.array([state.bad for state in bends.states]) - np.array(tops)
        curved = np.abs(bends.found.values[:, 0])
        beside = BESIDE * np.sqrt(curved[first]) * np.sqrt(curved[second])
        self.beside: list[float] = beside.tolist()
        lengths = np.sqrt(units[first]) * np.sqrt(units[second])
        limits = np.minimum(limits[first], limits[second])
        for state, length, limit in zip(self.states, lengths.tolist(), limits.tolist()):
            state.unit, state.bad = length, limit

    def run(self) -> Slopes:
        self.march(self.states)
        return self.found

    def _keys(self, n: int, exponent: int) -> tuple[tuple[int, int], tuple[int, int]]:
        i, j = self.pairs[n]
        return (i, self.tops[i] + exponent), (j, self.tops[j] + exponent)

    def values_at(self, wanted: Sequence[Step]) -> tuple[Array, Array, Apart]:
        bends = self.bends
        bends.at([key for state, exponent in wanted for key in self._keys(state.line, exponent)])

        def points() -> Iterator[list[Any]]:
            for state, exponent in wanted:
                (i, a), (j, b) = self._keys(state.line, exponent)
                u = bends.states[i].unit * size_of_step(a)
                v = bends.states[j].unit * size_of_step(b)
                for sign in (1, -1):
                    yield self.move(self.fresh(), i, sign * u, j, sign * v)

        up, down = self.split(self.evaluations.vectors(points()))
        # Where a line itself is not finite, its corners are not used.
        for n, (state, exponent) in enumerate(wanted):
            keys = self._keys(state.line, exponent)
            if not all(np.isfinite(value).all() for key in keys for value in bends.seen[key][:2]):
                up[n] = down[n] = np.nan
        return up, down, (np.ones(len(wanted)), -np.ones(len(wanted)))

    def derivatives(self, steps: Sequence[Step], up: Array, down: Array, apart: Apart) -> Array:
        with np.errstate(all="ignore"):
            return np.array([self._mixed(*each) for each in zip(steps, up, down)])

    def _mixed(self, step: Step, up: Any, down: Any) -> Any:
        here, (state, exponent) = self.bends.middle, step
        (up_i, down_i, a_i, b_i), (up_j, down_j, a_j, b_j) = (
            self.bends.seen[key] for key in self._keys(state.line, exponent)
        )
        change = (up - up_i - up_j + here) + (down - down_i - down_j + here)
        area = a_i * a_j + b_i * b_j
        return change / area if area else 0.0 * up

    def following(
        self, state: LineState, exponent: int | None, exponents: tuple[int, ...]
    ) -> Sequence[int]:
        enough = self.found.errors[state.line].max() <= self.beside[state.line]
        return () if enough else super().following(state, exponent, exponents)

    def one_sided(self, state: LineState) -> bool:
        return False


class PairsOf(Lines):
    """Pairs of lines in the form that `Rounds` takes."""

    def __init__(self, bends: Bends, pairs: Sequence[tuple[int, int]]):
        super().__init__(bends.lines.point, len(pairs))
        self.bends, self.pairs = bends, pairs

    def facts(self, line: int) -> Facts:
        one, other = [self.bends.states[n] for n in self.pairs[line]]
        exactness = max([self.bends.lines.facts(n).exactness for n in self.pairs[line]])
        size = float(np.sqrt(one.scale * other.scale))
        least = float(np.sqrt(one.least) * np.sqrt(other.least))
        return Facts(size, size, exactness, least)
