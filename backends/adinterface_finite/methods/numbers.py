"""Estimates of an f with one real output, line by line in Python's numbers: NumPy's take longer than many an f."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import evaluation
from ..extrapolation import Number, estimator
from ..steps import ASIDE, BEGIN, BELOW, SMALLEST, coarse, grain, next_step
from .looks import Looks
from .method import Row, Slopes
from .track import Track

_NOTHING = Number(math.nan, math.inf, 0.0, 0, 0.0, math.inf)


class Numbers:
    """What is estimated along the lines of a sweep. Methods get the sweep: to hold it would make a cycle of references."""

    #: f has one real output.
    single = True

    def __init__(self, sweep: Looks):
        self.power, self.order, self.most = sweep.power, sweep.order, sweep.most
        #: Whether f's values may be rounded to some decimal place: nobody has told how noisy they are.
        self.may_be_rounded = sweep.options.noise is None
        self._reckon_with(sweep, sweep.epsilon())

    def _reckon_with(self, sweep: Looks, epsilon: float) -> None:
        """The precision of f's values, relative, is known better."""
        absolute = sweep.options.absolute
        self.epsilon, self.limit, self.part = epsilon, sweep.limit(epsilon), 0.5 * sweep.gain * epsilon
        self.least = 0.0 if absolute is None else 0.5 * sweep.gain * absolute

    def to_the_end(self, sweep: Looks, track: Track, number: evaluation.Number, begun: tuple[float, Any] | None) -> None:
        """Evaluate f along one line until there is enough. begun: f at the first point, and how far that is, if known."""
        move, unit, order, length = track.move, track.unit, self.order, track.unit**self.order
        exponents, slopes, sizes, roundings = track.exponents, track.slopes, track.sizes, track.rounding
        wanted: Sequence[int] = BEGIN
        while wanted:
            again: list[tuple[Track, int]] = []
            for exponent in wanted:
                t = unit * 2.0**exponent
                up, ahead = number(move, t) if begun is None else begun
                down, behind = number(move, -t)
                begun = None
                slope = (up - down) / (ahead - behind) if ahead != behind else 0.0 * (up - down)
                if slope - slope != 0.0 or sweep.dead is not None:  # it is not finite, nor is one of both values
                    sweep.see([(track, exponent)], [up], [down], ([ahead], [behind]), again, exponent - 1 in wanted)
                    continue
                size, other = abs(up), abs(down)
                if other > size:
                    size = other
                noise = self.part * size
                if noise < self.least:
                    noise = self.least
                rounding = noise / (length * 2.0 ** (order * exponent) or SMALLEST)
                if exponents and exponent > exponents[-1]:
                    track.take(exponent, slope, size, rounding)
                    continue
                track.count += 2  # as `take` does below all other steps
                exponents.append(exponent)
                slopes.append(slope)
                sizes.append(size)
                roundings.append(rounding)
            wanted = [e for _, e in again if e not in exponents] if again else self.judge(sweep, track)

    def slopes(self, tracks: Sequence[Track]) -> Slopes:
        """Of all lines."""
        rows: list[Row] = []
        for track in tracks:
            value, error, floor, _, _, _ = track.number or _NOTHING
            rows.append((value, error, floor, max(track.sizes, default=0.0)))
        return Slopes.of_numbers(rows)

    def served(self, track: Track) -> int:
        """The place of the largest step that served."""
        return 0 if track.number is None else track.number.first

    def next(self, sweep: Looks, ready: Sequence[Track]) -> list[tuple[Track, int]]:
        """The steps of the next round, for the lines that were evaluated."""
        return [(track, exponent) for track in ready for exponent in self.judge(sweep, track)]

    def judge(self, sweep: Looks, track: Track) -> Sequence[int]:
        """Estimate the derivative along one line, and choose the steps to take next."""
        exponents, slopes = tuple(track.exponents), track.slopes
        rounding: list[Any] = track.rounding
        steps, left = len(exponents), self.most - track.count
        if steps < 2:
            if not steps:
                return ()
            # The one slope is the derivative, of which nothing else is known.
            track.number = _NOTHING._replace(value=slopes[0])
            return (exponents[0] - BELOW,) if left >= 2 else ()
        estimate, powers = estimator(exponents, self.power, self.order)
        if sweep.level.error > self.epsilon:
            self._reckon_with(sweep, sweep.level.error)
            rounding[:] = self._rounding(sweep, track, powers)
        elif None in rounding:
            rounding[:] = self._rounding(sweep, track, powers)
        if steps > 2 and self.may_be_rounded:
            if track.grain is None:
                track.grain = 0.5 * grain(track.sizes)
            if track.grain:
                rounding = self._with_grain(sweep, track, rounding, powers)
        track.number = found = estimate(slopes, rounding)
        if left < 2:
            return ()
        value, error, floor, _, _, alike = found
        last, before = slopes[-1], slopes[-2]
        if last == 0.0 and not any(slopes):
            return sweep.following(track, None, exponents, False, error)
        exponent = next_step(
            exponents, self.power, self.limit, track.unit * 2.0 ** exponents[0] < track.scale, track.bad, left,
            abs(last), abs(before - last), abs(slopes[0] - slopes[1]), 2 * rounding[-1], 2 * rounding[1],
            abs(value), error, floor, alike,
        )  # fmt: skip
        if exponent is None and steps == 2 and self.may_be_rounded and grain(track.sizes):
            exponent = exponents[-1] + ASIDE  # rounded values may lie on a straight line by chance
        return sweep.following(track, exponent, exponents, True, error)

    def _rounding(self, sweep: Looks, track: Track, powers: Sequence[float]) -> list[Any]:
        """The rounding errors of the slopes, by f's values and the steps. powers: of the steps, in units of the track's."""
        length, noises = track.unit**sweep.order, [max(self.part * size, self.least) for size in track.sizes]
        return [noise / (length * power or SMALLEST) for noise, power in zip(noises, powers)]

    def _with_grain(self, sweep: Looks, track: Track, rounding: list[Any], powers: Sequence[float]) -> list[Any]:
        """The same where f's values are rounded to `track.grain`."""
        assert track.grain is not None
        length = track.unit**sweep.order
        found = sweep.gain * coarse(track.grain, track.slopes, rounding, track.unit * 2.0 ** track.exponents[-1])
        if not found:
            return rounding
        return [max(noise, found / (length * power or SMALLEST)) for noise, power in zip(rounding, powers)]
