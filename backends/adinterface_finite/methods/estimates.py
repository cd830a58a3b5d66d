"""What the slopes along the lines of a sweep say: the derivatives, their errors, and which steps come next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..extrapolation import windows
from ..neighbours import without_kinks
from ..steps import ASIDE, BELOW, coarse, decide, grain, may_be_rounded
from .looks import Looks, Step
from .method import Array, Slopes
from .track import Track


class Estimates:
    """Arrays (lines, outputs). Methods get the sweep: to hold it would make a cycle of references."""

    def __init__(self, sweep: Looks):
        self.epsilon = sweep.epsilon()
        layout = sweep.evaluations.layout(())
        shape, real = (len(sweep.tracks), layout.count), np.zeros(0, layout.dtype).real.dtype
        self.values, self.errors = np.full(shape, np.nan, layout.dtype), np.full(shape, np.inf, real)
        self.sizes, self.floors = np.zeros(shape, real), np.zeros(shape, real)
        #: The place of the largest step that served.
        self.best = np.zeros(len(sweep.tracks), dtype=int)
        #: Half of what f's values are rounded to, by line and output, as far as it was looked at.
        self.grain: dict[tuple[int, int], float] = {}
        #: The lines of which some output looked rounded so far.
        self.rounded = np.full(len(sweep.tracks), sweep.options.noise is None and self.sizes.dtype == np.float64)
        self.first = sweep.chosen.start
        #: f at the point itself, if it judges the derivatives.
        self.here: Array | None = sweep.here()

    def slopes(self) -> Slopes:
        """Of all lines."""
        return Slopes(self.values, self.errors, self.floors, self.sizes)

    def served(self, track: Track) -> int:
        """The place of the largest step that served."""
        return int(self.best[track.line - self.first])

    def next(self, sweep: Looks, ready: Sequence[Track]) -> list[Step]:
        """The steps of the next round, for the lines that were evaluated."""
        groups: dict[tuple[float, tuple[int, ...]], list[Track]] = {}
        following: list[Step] = []
        for track in ready:
            if len(track.exponents) > 1:
                groups.setdefault((track.coarse, tuple(track.exponents)), []).append(track)
            elif track.exponents:  # its one slope is its derivative, of which nothing else is known
                i = track.line - self.first
                self.values[i], self.sizes[i] = track.slopes[0], track.sizes[0]
                if track.count + 2 <= sweep.most:
                    following.append((track, track.exponents[0] - BELOW))
        self.epsilon = max(self.epsilon, sweep.level.error)
        with np.errstate(all="ignore"):  # quotients of zeros are looked at nowhere
            for (exactness, exponents), group in groups.items():
                following.extend(self._judge(sweep, exactness, exponents, group))
        return following

    def _judge(self, sweep: Looks, exactness: float, exponents: tuple[int, ...], group: Sequence[Track]) -> list[Step]:
        """Estimate the derivatives along lines with the same steps, and choose the steps to take next.

        exactness: the precision in which f computes with what moves, which may be less than that of its value.
        """
        slopes, sizes, middles = (np.array(column) for column in zip(*[track.kept() for track in group]))
        rows = np.array([track.line - self.first for track in group])
        bad, left = np.array([track.bad for track in group]), sweep.most - np.array([track.count for track in group])
        found = windows(exponents, sweep.power, sweep.order)
        steps = np.array([track.unit for track in group])[:, None] * found.powers
        scales, exactly = np.array([track.scale for track in group]), sizes
        epsilon = max(self.epsilon, exactness)
        if sweep.order == 1:
            # f rounds what it makes of x, too, which is more where f itself is small.
            exactly = np.maximum(sizes, np.abs(slopes) * scales[:, None, None])
        rounding = sweep.rounding(exactly, steps, epsilon)
        residues = None if self.here is None else without_kinks(middles - self.here, steps)
        grained = self._grained(rows, sizes)
        if grained is not None and residues is not None and len(exponents) == 2:
            for n, k in np.argwhere(grained).tolist():
                if grain(sizes[n, :, k].tolist()):
                    residues[n, :, k] = 0.0  # two steps do not tell what is rounded from what is not smooth
        if grained is not None and len(exponents) > 2:
            rounding = self._with_grains(sweep, rows, slopes, sizes, rounding, steps, grained)
        estimate = sweep.extrapolated(found, slopes, rounding, steps, residues)
        self.values[rows], self.errors[rows], self.sizes[rows] = estimate.value, estimate.error, sizes.max(axis=1)
        self.floors[rows], self.best[rows] = estimate.floor, estimate.first.max(axis=1, initial=0)
        changes, errors = np.asarray(slopes.any(axis=(1, 2))), estimate.error.max(axis=1, initial=0.0)
        small = steps[:, 0] < scales
        chosen = decide(
            exponents, sweep.power, slopes, rounding, estimate, sweep.limit(epsilon), small, bad, left, residues, steps
        )
        if grained is not None and len(exponents) == 2:
            for n in np.flatnonzero(changes & grained.any(axis=1)).tolist():
                if chosen[n] is None and any(grain(sizes[n, :, k].tolist()) for k in np.flatnonzero(grained[n]).tolist()):
                    chosen[n] = exponents[-1] + ASIDE  # rounded values may lie on a straight line by chance
        following: list[Step] = []
        for track, exponent, change, error, rest in zip(group, chosen, changes.tolist(), errors.tolist(), left.tolist()):
            if rest >= 2 and (exponent is not None or not change):
                wanted = sweep.following(track, exponent, exponents, change, error)
                following.extend([(track, e) for e in wanted])
        return following

    def _grained(self, rows: Array, sizes: Array) -> Array | None:
        """Which lines and outputs have values that may be rounded to some digits; None if there are none."""
        if not self.rounded[rows].any():  # what was not rounded at some steps is not at more
            return None
        found = may_be_rounded(sizes)
        self.rounded[rows] = found.any(axis=1)
        return found if found.any() else None

    def _with_grains(
        self, sweep: Looks, rows: Array, slopes: Array, sizes: Array, rounding: Array, steps: Array, grained: Array
    ) -> Array:
        """Rounding errors as rounded values have them."""
        for n, k in np.argwhere(grained).tolist():
            key, values, errors = (int(rows[n]), k), slopes[n, :, k].tolist(), rounding[n, :, k].tolist()
            if key not in self.grain:
                self.grain[key] = 0.5 * grain(sizes[n, :, k].tolist())
            half = coarse(self.grain[key], values, errors, steps[n, -1])
            if half:
                rounding[n, :, k] = np.maximum(errors, sweep.gain * half / steps[n] ** sweep.order)
        return rounding
