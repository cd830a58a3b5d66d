"""Estimates of an f with many outputs, or of complex or longer numbers: of all lines with the same steps at once, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..extrapolation import windows
from ..steps import ASIDE, BEGIN, BELOW, NONE, coarse, decide, grain, may_be_rounded
from .looks import Apart, Looks, Step, Values
from .method import Array, Slopes
from .track import NEVER, Track

#: Some steps, f ahead and behind, and how far that is.
Round = tuple[list[Step], Values, Values, Apart]


class Group(NamedTuple):
    """Lines with the same steps, all of them finite: their rows; and (lines, steps, outputs), as in their tracks."""

    rows: Array
    exponents: tuple[int, ...]
    slopes: Array
    sizes: Array

    def some(self, places: list[int]) -> Group:
        """Of these lines alone."""
        if len(places) == len(self.rows):
            return self
        return Group(self.rows[places], self.exponents, self.slopes[places], self.sizes[places])

    def grown(self, wanted: Sequence[int], slopes: Array, sizes: Array) -> Group:
        """With more steps. slopes, sizes: (lines times steps, outputs)."""
        shape = len(self.rows), len(wanted), -1
        place = sum([exponent > wanted[0] for exponent in self.exponents])
        exponents = (*self.exponents[:place], *wanted, *self.exponents[place:])
        old = self.slopes, self.sizes
        new = [np.concatenate((a[:, :place], b.reshape(shape), a[:, place:]), axis=1) for a, b in zip(old, (slopes, sizes))]
        return Group(self.rows, exponents, *new)


class Stacks:
    """What is estimated along the lines of a sweep, as `Numbers`: arrays (lines, outputs)."""

    #: f has one real output.
    single = False

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
        self.first = sweep.chosen.start
        #: By line, as in its track.
        self.units = np.array([track.unit for track in sweep.tracks])
        self.scales = np.array([track.scale for track in sweep.tracks])

    def slopes(self, tracks: Sequence[Track]) -> Slopes:
        """Of all lines."""
        return Slopes(self.values, self.errors, self.floors, self.sizes)

    def served(self, track: Track) -> int:
        """The place of the largest step that served."""
        return int(self.best[track.line - self.first])

    def next(self, sweep: Looks, ready: Sequence[Track]) -> list[Step]:
        """The steps of the next round, for the lines that were evaluated."""
        groups: dict[tuple[int, ...], list[Track]] = {}
        following: list[Step] = []
        for track in ready:
            if len(track.exponents) > 1:
                groups.setdefault(tuple(track.exponents), []).append(track)
            elif track.exponents:  # its one slope is its derivative, of which nothing else is known
                i = track.line - self.first
                self.values[i], self.sizes[i] = track.slopes[0], track.sizes[0]
                if track.count + 2 <= sweep.most:
                    following.append((track, track.exponents[0] - BELOW))
        self.epsilon = max(self.epsilon, sweep.level.error)
        for exponents, group in groups.items():
            following.extend(self._judge(sweep, exponents, group))
        return following

    def in_groups(self, sweep: Looks, tracks: Sequence[Track]) -> tuple[list[Step], Round | None]:
        """Rounds of lines along which f is finite, without a look at single ones.

        Gives the steps that are left, and what was found in the last round if not all of that is finite.
        """
        nothing: Array = np.zeros((len(tracks), 0, self.values.shape[1]))
        rows = np.array([track.line - self.first for track in tracks])
        groups: list[tuple[Group, tuple[int, ...]]] = [(Group(rows, (), nothing, nothing), BEGIN)]
        rest: list[Step] = []
        while groups:
            steps, (up, down, apart) = self._look(sweep, groups)
            if not (sweep.all_finite(up) and sweep.all_finite(down)):
                for group, _ in groups:
                    self._leave(sweep, group)
                return rest, (list(steps), up, down, apart)
            slopes = np.array(sweep.derivatives((), up, down, apart)).reshape(len(up), -1)
            sizes = np.maximum(np.abs(up), np.abs(down)).reshape(len(up), -1)
            self.epsilon = max(self.epsilon, sweep.level.error)
            place = 0
            following: list[tuple[Group, tuple[int, ...]]] = []
            for group, wanted in groups:
                here = slice(place, place + len(group.rows) * len(wanted))
                place = here.stop
                following.extend(self._parts(sweep, group.grown(wanted, slopes[here], sizes[here]), rest))
            groups = following
        return rest, None

    def _look(self, sweep: Looks, groups: Sequence[tuple[Group, tuple[int, ...]]]) -> tuple[Iterable[Step], Any]:
        """The steps that groups take next, and f there."""
        exponents = [exponent for group, wanted in groups for exponent in [*wanted] * len(group.rows)]
        rows = np.concatenate([np.repeat(group.rows, len(wanted)) for group, wanted in groups])
        tracks = [sweep.tracks[row] for row in rows.tolist()]
        if not sweep.single or sweep.evaluations.executor is not None:
            steps = list(zip(tracks, exponents))
            return steps, sweep.values_at(steps)
        # Of thousands of points: a tuple for each would be one more thing for the garbage collector to look at.
        lengths: list[float] = np.ldexp(self.units[rows], exponents).tolist()
        return zip(tracks, exponents), sweep.numbers_at([track.move for track in tracks], lengths)

    def _parts(self, sweep: Looks, group: Group, rest: list[Step]) -> list[tuple[Group, tuple[int, ...]]]:
        """The lines of a group that take one more step, by that step; `rest` gets those that begin again elsewhere."""
        count, exponents = len(group.rows), group.exponents
        left = sweep.most - 2 * len(exponents)
        chosen, changes, _ = self._reckon(sweep, group, np.full(count, NEVER), np.full(count, left))
        by_step: dict[int, list[int]] = {}
        for exponent in dict.fromkeys(chosen):
            places = np.flatnonzero(np.equal(chosen, exponent)).tolist()
            by_step.setdefault(NONE if exponent in exponents or left < 2 else exponent, []).extend(places)
        ended = sorted(by_step.pop(NONE, []))
        for n in ended:
            track = sweep.tracks[group.rows[n]]
            track.count, track.exponents = 2 * len(exponents), list(exponents)
        if len(exponents) == 2 and left >= 2 and not all(changes):
            for n in ended:
                track = sweep.tracks[group.rows[n]]
                if not changes[n]:
                    rest.extend([(track, e) for e in sweep.following(track, None, exponents, False, 0.0)])
        return [(group.some(places), (exponent,)) for exponent, places in by_step.items()]

    def _leave(self, sweep: Looks, group: Group) -> None:
        """From now on the lines of this group are by themselves."""
        for row, slopes, sizes in zip(group.rows.tolist(), group.slopes, group.sizes):
            track = sweep.tracks[row]
            track.count = 2 * len(group.exponents)
            track.exponents, track.slopes, track.sizes = list(group.exponents), list(slopes), list(sizes)

    def _judge(self, sweep: Looks, exponents: tuple[int, ...], group: list[Track]) -> list[Step]:
        """As `_reckon`, of lines by themselves."""
        shape = len(group), len(exponents), self.values.shape[1]
        slopes = np.array([track.slopes for track in group]).reshape(shape)
        sizes = np.array([track.sizes for track in group]).reshape(shape)
        rows, bad = np.array([track.line - self.first for track in group]), np.array([track.bad for track in group])
        left = sweep.most - np.array([track.count for track in group])
        self.scales[rows] = [track.scale for track in group]
        chosen, changes, errors = self._reckon(sweep, Group(rows, exponents, slopes, sizes), bad, left)
        following: list[Step] = []
        for track, exponent, change, error, rest in zip(group, chosen, changes, errors, left.tolist()):
            if rest >= 2 and (exponent != NONE or not change):
                wanted = sweep.following(track, None if exponent == NONE else exponent, exponents, change, error)
                following.extend([(track, e) for e in wanted])
        return following

    def _reckon(self, sweep: Looks, group: Group, bad: Array, left: Array) -> tuple[list[int], list[bool], list[float]]:
        """Estimate the derivatives along lines with the same steps, and choose the steps to take next.

        Of each line: the exponent of that, NONE if there are enough; whether f changes along it; and the largest error.
        """
        rows, exponents, slopes, sizes = group
        found = windows(exponents, sweep.power, sweep.order)
        steps = self.units[rows, None] * found.powers
        rounding = sweep.rounding(sizes, steps, self.epsilon)
        grained = self._grained(sizes) if sweep.options.noise is None else None
        if grained is not None and len(exponents) > 2:
            rounding = self._with_grains(sweep, rows, slopes, sizes, rounding, steps, grained)
        estimate = sweep.extrapolated(found, slopes, rounding, steps)
        self.values[rows], self.errors[rows], self.sizes[rows] = estimate.value, estimate.error, sizes.max(axis=1)
        self.floors[rows], self.best[rows] = estimate.floor, estimate.first.max(axis=1, initial=0)
        changes, errors = np.asarray(slopes.any(axis=(1, 2))), estimate.error.max(axis=1, initial=0.0)
        if left.max() < 2:
            return [NONE] * len(rows), changes.tolist(), errors.tolist()
        small, limit = steps[:, 0] < self.scales[rows], sweep.limit(self.epsilon)
        chosen = decide(exponents, sweep.power, slopes, rounding, estimate, limit, small, bad, left)
        if grained is not None and len(exponents) == 2:
            for n in np.flatnonzero((chosen == NONE) & changes & grained.any(axis=1)).tolist():
                if any(grain(sizes[n, :, k].tolist()) for k in np.flatnonzero(grained[n]).tolist()):
                    chosen[n] = exponents[-1] + ASIDE  # rounded values may lie on a straight line by chance
        return chosen.tolist(), changes.tolist(), errors.tolist()

    def _grained(self, sizes: Array) -> Array | None:
        """Which lines and outputs have values that may be rounded to some digits; None if there are none."""
        found = may_be_rounded(sizes) if sizes.dtype == np.float64 else np.zeros(0, dtype=bool)
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
