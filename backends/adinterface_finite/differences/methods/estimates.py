"""From slopes at several steps to derivatives with estimated errors, and to the steps of the next round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..extrapolation import windows
from ..neighbours import without_kinks
from ..steps import ASIDE, BELOW, coarse, decide, grain, may_be_rounded, noise_shown
from .line_state import LineState
from .method import Array, Slopes
from .sampling import Sampling, Step


class Estimates:
    """Arrays (lines, outputs). Methods take the `Rounds` as an argument: an attribute would make a cycle of references."""

    def __init__(self, rounds: Sampling):
        self.epsilon = rounds.epsilon()
        form = rounds.evaluations.form
        shape, real = (len(rounds.states), form.size), np.zeros(0, form.dtype).real.dtype
        self.values, self.errors = np.full(shape, np.nan, form.dtype), np.full(shape, np.inf, real)
        self.rates, self.floors = np.zeros(shape, real), np.zeros(shape, real)
        #: Half of what f's values are rounded to, by line and output, as far as it was looked at.
        self.grain: dict[tuple[int, int], float] = {}
        #: The noise of f's values that second differences showed, in the units of f.
        self.noise = np.zeros(shape, real)
        #: The lines of which some output looked rounded so far. Not of complex outputs: the modulus may be a short number.
        self.rounded = np.full(len(rounds.states), rounds.options.noise is None and self.values.dtype == np.float64)
        self.first = rounds.chosen.start
        #: f at the point itself, if it judges the derivatives.
        self.here: Array | None = rounds.here()

    def slopes(self) -> Slopes:
        """Of all lines."""
        return Slopes(self.values, self.errors, self.floors, self.rates)

    def next(self, rounds: Sampling, ready: Sequence[LineState]) -> list[Step]:
        """The steps of the next round, for the lines that were evaluated."""
        groups: dict[tuple[float, tuple[int, ...]], list[LineState]] = {}
        following: list[Step] = []
        for state in ready:
            if len(state.exponents) > 1:
                groups.setdefault((state.coarse, tuple(state.exponents)), []).append(state)
            elif state.exponents:  # its only slope is the derivative, without an estimate
                i = state.line - self.first
                self.values[i], self.rates[i] = state.slopes[0], state.sizes[0] / state.scale**rounds.order
                if state.count + 2 <= rounds.most:
                    following.append((state, state.exponents[0] - BELOW))
        self.epsilon = max(self.epsilon, rounds.level.error)
        with np.errstate(all="ignore"):  # quotients of zeros are looked at nowhere
            for (exactness, exponents), group in groups.items():
                following.extend(self._judge(rounds, exactness, exponents, group))
        return following

    def _judge(self, rounds: Sampling, exactness: float, exponents: tuple[int, ...], group: Sequence[LineState]) -> list[Step]:
        """Estimate the derivatives along lines with the same steps, and choose the steps to take next.

        exactness: the precision in which f computes with the moving leaves, which may be less than that of its value.
        """
        slopes, sizes, middles = (np.array(column) for column in zip(*[state.kept() for state in group]))
        rows = np.array([state.line - self.first for state in group])
        bad, left = np.array([state.bad for state in group]), rounds.most - np.array([state.count for state in group])
        found = windows(exponents, rounds.power, rounds.order)
        steps = np.array([state.unit for state in group])[:, None] * found.powers
        scales, exactly = np.array([state.scale for state in group]), sizes
        epsilon = max(self.epsilon, exactness)
        residues = None if self.here is None else without_kinks(middles - self.here, steps)
        if rounds.order == 1:
            # f rounds what it makes of x, too, which is more where f itself is small: by its slopes here, ahead and behind.
            exactly = np.maximum(sizes, np.abs(slopes) * scales[:, None, None])
            if residues is not None:
                exactly = np.maximum(exactly, np.abs(residues) * (scales[:, None] / steps)[:, :, None])
        rounding = rounds.rounding(exactly, steps, epsilon)
        if rounds.order > 1 and len(exponents) > 2:
            powers = (steps**rounds.order)[:, :, None]
            self.noise[rows] = np.maximum(self.noise[rows], noise_shown(slopes, rounding, powers))
            rounding = np.maximum(rounding, self.noise[rows][:, None] / powers)
        grained = self._grained(rows, sizes)
        if grained is not None and residues is not None and len(exponents) == 2:
            for n, k in np.argwhere(grained).tolist():
                if grain(sizes[n, :, k].tolist()):
                    residues[n, :, k] = 0.0  # two steps do not tell what is rounded from what is not smooth
        if grained is not None and len(exponents) > 2:
            rounding = self._with_grains(rounds, rows, slopes, sizes, rounding, steps, grained)
        estimate = rounds.extrapolated(found, slopes, rounding, steps, residues)
        self.values[rows], self.errors[rows], self.floors[rows] = estimate.value, estimate.error, estimate.floor
        self.rates[rows] = exactly.max(axis=1) / scales[:, None] ** rounds.order
        known = (rounds.limit(epsilon), steps[:, 0] < scales, bad, left)
        chosen = decide(exponents, rounds.power, rounds.order, slopes, rounding, estimate, *known, residues, steps)
        if grained is not None and len(exponents) == 2:
            for n, k in np.argwhere(grained & np.asarray(slopes.any(axis=(1, 2)))[:, None]).tolist():
                if chosen[n] is None and grain(sizes[n, :, k].tolist()):
                    chosen[n] = exponents[-1] + ASIDE  # rounded values may lie on a straight line by chance
        following: list[Step] = []
        for state, exponent, rest in zip(group, chosen, left.tolist()):
            if rest >= 2:
                following.extend([(state, e) for e in rounds.following(state, exponent, exponents)])
        return following

    def _grained(self, rows: Array, sizes: Array) -> Array | None:
        """Which lines and outputs have values that may be rounded to some digits; None if there are none."""
        if not self.rounded[rows].any():  # what was not rounded at some steps is not at more
            return None
        found = may_be_rounded(sizes)
        self.rounded[rows] = found.any(axis=1)
        return found if found.any() else None

    def _with_grains(
        self, rounds: Sampling, rows: Array, slopes: Array, sizes: Array, rounding: Array, steps: Array, grained: Array
    ) -> Array:
        """Rounding errors as rounded values have them."""
        for n, k in np.argwhere(grained).tolist():
            key, values, errors = (int(rows[n]), k), slopes[n, :, k].tolist(), rounding[n, :, k].tolist()
            if key not in self.grain:
                self.grain[key] = 0.5 * grain(sizes[n, :, k].tolist())
            half = coarse(self.grain[key], values, errors, steps[n, -1])
            if half:
                rounding[n, :, k] = np.maximum(errors, rounds.gain * half / steps[n] ** rounds.order)
        return rounding
