"""Estimates of an f with one real output, line by line in Python's numbers: NumPy's take longer than many an f."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..evaluation import Evaluate
from ..extrapolation import Number, estimator
from ..steps import ASIDE, BEGIN, BELOW, SMALLEST, coarse, grain, next_step
from .looks import Looks
from .method import Slopes
from .track import Track

_NOTHING = Number(math.nan, math.inf, 0.0, 0, 0.0, math.inf)


class Numbers:
    """What is estimated along the lines of a sweep. Methods get the sweep: to hold it would make a cycle of references."""

    #: f has one real output.
    single = True

    def __init__(self, sweep: Looks):
        self._reckon_with(sweep, sweep.epsilon())

    def _reckon_with(self, sweep: Looks, epsilon: float) -> None:
        """The precision of f's values, relative, is known better."""
        self.epsilon, self.limit = epsilon, sweep.limit(epsilon)
        self.part = 0.5 * sweep.gain * epsilon

    def to_the_end(self, sweep: Looks, track: Track, evaluate: Evaluate, begun: tuple[float, Any] | None) -> None:
        """Evaluate f along one line until there is enough. begun: f at the first point, and how far that is, if known."""
        move, unit, number = track.move, track.unit, sweep.evaluations.number
        wanted: Sequence[int] = BEGIN
        while wanted:
            again: list[tuple[Track, int]] = []
            for exponent in wanted:
                t = unit * 2.0**exponent
                up, ahead = number(evaluate, move, t) if begun is None else begun
                down, behind = number(evaluate, move, -t)
                begun = None
                slope = (up - down) / (ahead - behind) if ahead != behind else 0.0 * (up - down)
                if slope - slope == 0.0 and sweep.dead is None:  # it is finite, and so are both values
                    above, below = abs(up), abs(down)
                    track.take(exponent, slope, above if above > below else below)
                else:
                    sweep.see([(track, exponent)], [up], [down], [(ahead, behind)], again, exponent - 1 in wanted)
            wanted = [e for _, e in again if e not in track.exponents] if again else self.judge(sweep, track)

    def slopes(self, tracks: Sequence[Track]) -> Slopes:
        """Of all lines."""
        found = [track.number or _NOTHING for track in tracks]
        sizes = [max(track.sizes) if track.sizes else 0.0 for track in tracks]
        rows = np.array([(value, error, floor, size) for (value, error, floor, _, _, _), size in zip(found, sizes)])
        return Slopes(rows[:, :1], rows[:, 1:2], rows[:, 2:3], rows[:, 3:])

    def served(self, track: Track) -> int:
        """The place of the largest step that served."""
        return 0 if track.number is None else track.number.first

    def next(self, sweep: Looks, ready: Sequence[Track]) -> list[tuple[Track, int]]:
        """The steps of the next round, for the lines that were evaluated."""
        return [(track, exponent) for track in ready for exponent in self.judge(sweep, track)]

    def judge(self, sweep: Looks, track: Track) -> Sequence[int]:
        """Estimate the derivative along one line, and choose the steps to take next."""
        exponents, slopes = tuple(track.exponents), track.slopes
        steps, left = len(exponents), sweep.most - track.count
        if steps < 2:
            if not steps:
                return ()
            # The one slope is the derivative, of which nothing else is known.
            track.number = _NOTHING._replace(value=slopes[0])
            return (exponents[0] - BELOW,) if left >= 2 else ()
        if sweep.level.error > self.epsilon:
            self._reckon_with(sweep, sweep.level.error)
        estimate, powers = estimator(exponents, sweep.power, sweep.order)
        rounding = self._rounding(sweep, track, powers)
        track.number = found = estimate(slopes, rounding)
        if left < 2:
            return ()
        exponent = None
        changes = slopes[-1] != 0.0 or any(slopes)
        if changes:
            exponent = next_step(
                exponents, sweep.power, self.limit, track.unit * 2.0 ** exponents[0] < track.scale, track.bad, left,
                abs(slopes[-1]), abs(slopes[-2] - slopes[-1]), abs(slopes[0] - slopes[1]), 2 * rounding[-1], 2 * rounding[1],
                abs(found.value), found.error, found.floor, found.alike,
            )  # fmt: skip
            if exponent is None and steps == 2 and sweep.options.noise is None and grain(track.sizes):
                exponent = exponents[-1] + ASIDE  # rounded values may lie on a straight line by chance
        return sweep.following(track, exponent, exponents, changes, found.error)

    def _rounding(self, sweep: Looks, track: Track, powers: Sequence[float]) -> list[float]:
        """The rounding errors of the slopes, by f's values and the steps. powers: of the steps, in units of the track's."""
        part, length, options = self.part, track.unit**sweep.order, sweep.options
        noises = [part * size for size in track.sizes]
        if options.absolute is not None:
            least = 0.5 * sweep.gain * options.absolute
            noises = [max(noise, least) for noise in noises]
        rounding = [noise / (length * power or SMALLEST) for noise, power in zip(noises, powers)]
        if len(powers) < 3 or options.noise is not None:
            return rounding
        if track.grain is None:
            track.grain = 0.5 * grain(track.sizes)
        if track.grain:
            found = sweep.gain * coarse(track.grain, track.slopes, rounding, track.unit * 2.0 ** track.exponents[-1])
            if found:
                rounding = [max(noise, found / (length * power or SMALLEST)) for noise, power in zip(rounding, powers)]
        return rounding
