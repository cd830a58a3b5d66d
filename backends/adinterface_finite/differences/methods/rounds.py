"""Rounds of steps along lines until all are finished: derivatives and estimated errors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..extrapolation import size_of_step, windows
from ..neighbours import without_kinks
from ..steps import ASIDE, BEGIN, BELOW, coarse, decide, grain, may_be_rounded, noise_shown
from .line_state import LineState
from .method import Array, Slopes, unit_of
from .one_sided import one_sided_slopes
from .sampling import Sampling, Step

#: An error below this is small enough for a derivative of 1.
HIDDEN = 1e-4


class Rounds(Sampling):
    """Some lines in lockstep: each round gives every unfinished line one more step."""

    #: Whether what follows is there. It is made when the first value of f is.
    allocated = False
    #: What is known so far.
    found: Slopes
    #: The precision of f's values.
    epsilon: float
    #: Half of what f's values are rounded to, by line and output, as far as it was looked at.
    grains: dict[tuple[int, int], float]
    #: The noise of f's values that second differences showed, in the units of f.
    noise: Array
    #: The lines of which some output looked rounded so far. Not of complex outputs: the modulus may
    #: be a short number.
    rounded: Array
    #: f at the point itself, if it judges the derivatives.
    point: Array | None

    def run(self) -> Slopes:
        both, one_sided = self.states, []
        if self.lines.point.bounded:
            one_sided = [state for state in both if state.bound()]
            both = [state for state in both if state not in one_sided]
        if both:
            self.march(both)
        for state in both:
            if state.failures and not state.exponents and state.sides:
                one_sided.append(state)
        self.allocate()  # bounds may leave room on one side of every line
        found = self.found
        if one_sided:
            one_sided_slopes(self, one_sided, found, self.epsilon)
        if self.evaluations.raised is not None and np.isnan(found.values).all(axis=1).any():
            raise self.evaluations.raised  # wherever it was looked at
        if self.not_finite is not None and self.not_finite.any():
            found.values[:, self.not_finite], found.errors[:, self.not_finite] = np.nan, np.inf
        return found

    def march(self, states: Sequence[LineState]) -> None:
        """Rounds until every line has enough."""
        wanted = [(state, exponent) for state in states for exponent in BEGIN]
        while wanted:
            wanted = self._round(wanted)
        for n in np.flatnonzero((self.found.errors > HIDDEN).any(axis=1)):
            state = self.states[n]
            if state.exponents:
                self.found.units[n] = unit_of(
                    state.sizes, state.unit * size_of_step(state.exponents[0]), self.order
                )

    def _round(self, wanted: Sequence[Step]) -> list[Step]:
        """Evaluate f at these steps; the steps of the next round."""
        up, down, apart = self.values_at(wanted)
        failed: list[Step] = []
        self.see(wanted, up, down, apart, failed)
        self.allocate()
        again = [(state, exponent) for state, exponent in failed if exponent not in state.exponents]
        ready = sorted({state.line for state, _ in wanted} - {state.line for state, _ in again})
        return [*again, *self._next([self.states[line - self.chosen.start] for line in ready])]

    def allocate(self) -> None:
        """Make the arrays, as f's outputs are, if there are none yet."""
        if self.allocated:
            return
        self.allocated = True
        form = self.evaluations.form
        shape, real = (len(self.states), form.size), np.zeros(0, form.dtype).real.dtype
        values, errors = np.full(shape, np.nan, form.dtype), np.full(shape, np.inf, real)
        self.found = Slopes(values, errors, *[np.zeros(shape, real) for _ in range(3)])
        self.epsilon, self.grains, self.noise = self.precision(), {}, np.zeros(shape, real)
        self.rounded = np.full(
            len(self.states), self.options.noise is None and values.dtype == np.float64
        )
        self.point = self.here()

    def _next(self, ready: Sequence[LineState]) -> list[Step]:
        """The steps of the next round, for the lines that were evaluated."""
        groups: dict[tuple[float, tuple[int, ...]], list[LineState]] = {}
        following: list[Step] = []
        for state in ready:
            if len(state.exponents) > 1:
                groups.setdefault((state.coarse, tuple(state.exponents)), []).append(state)
            elif state.exponents:  # its only slope is the derivative, without an estimate
                i = state.line - self.chosen.start
                self.found.values[i] = state.slopes[0]
                self.found.rates[i] = state.sizes[0] / state.scale**self.order
                if state.count + 2 <= self.most:
                    following.append((state, state.exponents[0] - BELOW))
        self.epsilon = max(self.epsilon, self.level.error)
        with np.errstate(all="ignore"):  # quotients of zeros are looked at nowhere
            for (exactness, exponents), group in groups.items():
                following.extend(self._judge(exactness, exponents, group))
        return following

    def _judge(
        self, exactness: float, exponents: tuple[int, ...], group: Sequence[LineState]
    ) -> list[Step]:
        """Estimate derivatives along lines with the same steps, and choose the next steps.

        exactness: the precision in which f computes with the moving leaves, which may be less than
        that of its value.
        """
        slopes, sizes, middles = (
            np.array(column) for column in zip(*[state.kept() for state in group])
        )
        rows = np.array([state.line - self.chosen.start for state in group])
        own = slice(None) if len(group) == len(self.states) else rows
        found, inside = self.found, windows(exponents, self.power, self.order)
        steps = np.array([state.unit for state in group])[:, None] * inside.powers
        scales, exactly = np.array([state.scale for state in group]), sizes
        epsilon = max(self.epsilon, exactness)
        residues = None if self.point is None else without_kinks(middles - self.point, steps)
        if self.order == 1:
            # f rounds what it makes of x, too, which is more where f itself is small: by its slopes
            # here, ahead and behind.
            exactly = np.maximum(sizes, np.abs(slopes) * scales[:, None, None])
            if residues is not None:
                shares = (scales[:, None] / steps)[:, :, None]
                exactly = np.maximum(exactly, np.abs(residues) * shares)
        rounding = self.rounding(exactly, steps, epsilon)
        if self.order > 1 and len(exponents) > 2:
            powers = (steps**self.order)[:, :, None]
            self.noise[own] = np.maximum(self.noise[own], noise_shown(slopes, rounding, powers))
            rounding = np.maximum(rounding, self.noise[own][:, None] / powers)
        grained = self._grained(rows, sizes)
        if grained is not None and residues is not None and len(exponents) == 2:
            for n, k in np.argwhere(grained).tolist():
                if grain(sizes[n, :, k].tolist()):
                    # two steps do not tell what is rounded from what is not smooth
                    residues[n, :, k] = 0.0
        if grained is not None and len(exponents) > 2:
            rounding = self._with_grains(rows, slopes, sizes, rounding, steps, grained)
        estimate = self.extrapolated(inside, slopes, rounding, steps, residues)
        for kept, new in zip(found, estimate[:3]):
            kept[own] = new
        found.rates[own] = exactly.max(axis=1) / scales[:, None] ** self.order
        left = self.most - np.array([state.count for state in group])
        if left.max() < 2:
            return []
        bad, small = np.array([state.bad for state in group]), steps[:, 0] < scales
        limits = self.limit(epsilon), small, bad, left
        chosen = decide(
            exponents, self.power, self.order, slopes, rounding, estimate, *limits, residues, steps
        )
        if grained is not None and len(exponents) == 2:
            for n, k in np.argwhere(grained).tolist():
                if chosen[n] is None and slopes[n].any() and grain(sizes[n, :, k].tolist()):
                    # rounded values may lie on a straight line by chance
                    chosen[n] = exponents[-1] + ASIDE
        following: list[Step] = []
        for state, exponent, rest in zip(group, chosen, left.tolist()):
            if rest >= 2:
                following.extend([(state, e) for e in self.following(state, exponent, exponents)])
        return following

    def _grained(self, rows: Array, sizes: Array) -> Array | None:
        """Which lines and outputs have values that may be rounded; None if there are none."""
        if not self.rounded[rows].any():  # what was not rounded at some steps is not at more
            return None
        found = may_be_rounded(sizes)
        self.rounded[rows] = found.any(axis=1)
        return found if found.any() else None

    def _with_grains(
        self,
        rows: Array,
        slopes: Array,
        sizes: Array,
        rounding: Array,
        steps: Array,
        grained: Array,
    ) -> Array:
        """Rounding errors as rounded values have them."""
        for n, k in np.argwhere(grained).tolist():
            key, errors = (int(rows[n]), k), rounding[n, :, k].tolist()
            if key not in self.grains:
                self.grains[key] = 0.5 * grain(sizes[n, :, k].tolist())
            half = coarse(self.grains[key], slopes[n, :, k].tolist(), errors, steps[n, -1])
            if half:
                rounding[n, :, k] = np.maximum(errors, self.gain * half / steps[n] ** self.order)
        return rounding
