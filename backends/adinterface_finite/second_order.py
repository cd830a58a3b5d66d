"""Second derivatives from one joint stencil: f is evaluated around the point once, not a gradient around each of many points.

Along each line second differences at several steps are extrapolated as slopes are. For two lines u and v,

    f(+u+v) + f(-u-v) - f(+u) - f(-u) - f(+v) - f(-v) + 2 f  =  2 h_u h_v f_uv + O(h^4),

a series in h^2 where both steps shrink together, takes two evaluations beyond those along the lines, and the Hessian is
symmetric. Source of the formula: M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 25.3.27.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adinterface.contract.backend import Arrays

from .evaluation import Evaluations
from .extrapolation import extrapolate, windows
from .methods.adaptive import LEAST, Adaptive, Sweep, Values
from .methods.method import Slopes
from .points import Lines

#: A second derivative is exact enough at this many times the error of a slope that is; and where it is small beside those
#: along its two lines, at this part of them.
SLACK, BESIDE = 50.0, 1e-12


class Bends(Sweep):
    """Second differences along lines in lockstep, with the slopes that the same evaluations give."""

    order, gain = 2, 4.0
    slack, more, joint = SLACK, 6, True

    def run(self) -> Slopes:
        outputs, _ = self.evaluations.base()
        layout = self.evaluations.layout(outputs)
        #: f at the point.
        self.middle: Any
        self.here = self.middle = np.array(np.atleast_1d(layout.flat(outputs)), layout.dtype)
        #: By line and exponent: f ahead and behind, and the two distances.
        self.seen: dict[tuple[int, int], tuple[Any, Any, float, float]] = {}
        self._march(range(len(self.chosen)))
        return Slopes(self.values, self.errors, self.floors, self.sizes, np.array(self.counts))

    def _values(self, wanted: Sequence[tuple[int, int]]) -> tuple[Values, Values, list[tuple[Any, Any]]]:
        up, down, apart = super()._values(wanted)
        for key, above, below, (ahead, behind) in zip(wanted, up, down, apart):
            self.seen[key] = above, below, float(ahead), float(behind)
        if self.single:
            self.middle = self.here.item()
        return up, down, apart

    def _slope(self, key: tuple[int, int], up: Any, down: Any, ahead: Any, behind: Any) -> Any:
        if ahead == behind:
            return 0.0 * up
        ahead, behind = float(ahead), float(behind)
        moved = ahead - behind
        tilt = (up - down) / moved * (ahead + behind)  # what a slope makes of distances that rounding left unequal
        return (up - 2 * self.middle + down - tilt) / ((moved / 2) ** 2 or LEAST)

    def slopes(self) -> Slopes:
        """The first derivatives."""
        values, errors, floors = self.values.copy(), self.errors.copy(), self.errors.copy()
        for i, exponents in enumerate(self.exponents):
            if len(exponents) < 2:
                continue
            parts = [self.seen[i, e] for e in exponents]
            slopes = [(up - down) / (a - b) if a != b else 0 * up for up, down, a, b in parts]
            sizes = [self._size(up, down) for up, down, _, _ in parts]
            steps = [self.units[i] * 2.0**e for e in exponents]
            found = windows(tuple(exponents), 2, 1)
            if self.single:
                number = found.number(slopes, self._rounding(sizes, steps, 1, 1.0))
                values[i], errors[i], floors[i] = number.value, number.error, number.floor
                continue
            lengths = np.array(steps)[None, :, None]
            estimate = extrapolate(found, np.array([slopes]), 0.5 * self.epsilon * np.array([sizes]) / lengths, lengths[:, -1:])
            values[i], errors[i], floors[i] = estimate.value[0], estimate.error[0], estimate.floor[0]
        return Slopes(values, errors, floors, self.sizes, np.array(self.counts))

    def top(self, i: int) -> int:
        """The exponent from which on steps are good for mixed derivatives: the largest that served, but not beyond the first.

        Where f is a square along the line, any step serves there.
        """
        exponents = self.exponents[i]
        return min(exponents[int(self.best[i])], 0) if len(exponents) > 1 else exponents[0] if exponents else 0

    def at(self, keys: Sequence[tuple[int, int]]) -> None:
        """See that f is known at these lines and exponents."""
        missing = [key for key in dict.fromkeys(keys) if key not in self.seen]
        if missing:
            self._values(missing)


#: From the leaves that stand still to those moved along one line by a distance, and along another by another.
Move = Callable[[Arrays, int, float, int, float], list[Any]]


class Mixed(Sweep):
    """Mixed derivatives of a scalar f along pairs of lines, in lockstep as the lines were."""

    order, gain, slack, more, joint = 2, 4.0, SLACK, 2, True

    def __init__(self, bends: Bends, pairs: Sequence[tuple[int, int]], move: Move):
        self.bends, self.pairs, self.move = bends, pairs, move
        super().__init__(bends.method, bends.evaluations, PairsOf(bends, pairs), range(len(pairs)), bends.fresh)
        tops = self.tops = [bends.top(i) for i in range(len(bends.chosen))]
        units = np.array(bends.units) * 2.0 ** np.array(tops)
        first, second = np.array([i for i, _ in pairs], int), np.array([j for _, j in pairs], int)
        self.units = (np.sqrt(units[first]) * np.sqrt(units[second])).tolist()
        limits = np.array(bends.bad) - np.array(tops)
        self.bad = np.minimum(limits[first], limits[second]).tolist()
        curved = np.abs(bends.values[:, 0])
        self.beside = (BESIDE * np.sqrt(curved[first]) * np.sqrt(curved[second])).tolist()

    def run(self) -> Slopes:
        self._march(range(len(self.pairs)))
        return Slopes(self.values, self.errors, self.floors, self.sizes, np.array(self.counts))

    def _keys(self, n: int, exponent: int) -> tuple[tuple[int, int], tuple[int, int]]:
        i, j = self.pairs[n]
        return (i, self.tops[i] + exponent), (j, self.tops[j] + exponent)

    def _values(self, wanted: Sequence[tuple[int, int]]) -> tuple[Values, Values, list[tuple[Any, Any]]]:
        bends = self.bends
        bends.at([key for n, exponent in wanted for key in self._keys(n, exponent)])

        def points() -> Iterator[list[Any]]:
            for n, exponent in wanted:
                (i, a), (j, b) = self._keys(n, exponent)
                u, v = bends.units[i] * 2.0**a, bends.units[j] * 2.0**b
                for sign in (1, -1):
                    yield self.move(self.fresh(), i, sign * u, j, sign * v)

        up, down = self._split(self.evaluations.vectors(points()))
        # Where a line itself is not finite, the corners beside it are no use.
        for n, (m, exponent) in enumerate(wanted):
            if not all(np.isfinite(value).all() for key in self._keys(m, exponent) for value in bends.seen[key][:2]):
                up[n] = down[n] = np.nan
        return up, down, [(1.0, -1.0)] * len(wanted)

    def _slope(self, key: tuple[int, int], up: Any, down: Any, ahead: Any, behind: Any) -> Any:
        here = self.bends.middle
        (up_i, down_i, a_i, b_i), (up_j, down_j, a_j, b_j) = (self.bends.seen[key] for key in self._keys(*key))
        change = (up - up_i - up_j + here) + (down - down_i - down_j + here)
        area = a_i * a_j + b_i * b_j
        return change / area if area else 0.0 * up

    def _judge(self, exponents: tuple[int, ...], group: list[int]) -> list[tuple[int, int]]:
        following = super()._judge(exponents, group)
        errors = {n: self.numbers[n].error if self.few else self.errors[n, 0] for n, _ in following}
        return [(n, e) for n, e in following if not errors[n] <= self.beside[n]]

    def _one_side(self, i: int) -> int:
        return 0


class PairsOf(Lines):
    """Pairs of lines as lines, as far as a sweep asks."""

    def __init__(self, bends: Bends, pairs: Sequence[tuple[int, int]]):
        super().__init__(bends.lines.point, len(pairs))
        self.bends, self.pairs = bends, pairs

    def scale(self, line: int) -> tuple[float, float]:
        i, j = self.pairs[line]
        size = float(np.sqrt(self.bends.scales[i] * self.bends.scales[j]))
        return size, size

    def reach(self, line: int) -> float:
        raise NotImplementedError

    def exactness(self, line: int) -> float:
        raise NotImplementedError

    def at(self, leaves: Sequence[Any], line: int, t: float) -> tuple[list[Any], Any]:
        raise NotImplementedError


def bends_of(method: Adaptive, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Bends:
    """Second differences along all of these lines."""
    return Bends(method, evaluations, lines, range(lines.count), fresh)
