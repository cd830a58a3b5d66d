"""Slopes at the edge of f's domain: from the point itself to one side, extrapolated in h."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..extrapolation import size_of_step, windows
from ..steps import decide
from .looks import Looks
from .method import Array, Slopes
from .track import Track


def one_sided(sweep: Looks, tracks: Sequence[Track], found: Slopes, epsilon: float) -> None:
    """Slopes along these lines instead of what was found. epsilon: the precision of f's values."""
    sides = [(track, _side(track)) for track in tracks]
    if not any(side for _, side in sides):
        return
    outputs, _ = sweep.evaluations.base()
    layout = sweep.evaluations.layout(outputs)
    base = np.array(np.atleast_1d(layout.flat(outputs)), layout.dtype)
    if sweep.dead is None:
        sweep.dead = sweep.find_dead()
    base[sweep.dead] = 0.0
    for track, side in sides:
        if side:
            track.count += sweep.owed()
            _along(sweep, track, side, base, found, epsilon)


def _side(track: Track) -> int:
    """1 ahead, -1 behind, 0 if f is finite on neither side or on both."""
    if track.sides:
        return track.one_side()
    ahead, behind = track.room
    return 1 if ahead >= behind else -1


def _along(sweep: Looks, track: Track, side: int, base: Array, found: Slopes, epsilon: float) -> None:
    """base: f at the point itself."""
    row, limit = track.line - sweep.chosen.start, max(track.room)
    if limit < track.unit:
        track.unit *= 2.0 ** math.floor(math.log2(limit / track.unit))
    seen = {exponent: (distance, values) for exponent, _, distance, values in track.sides}
    wanted = [e for e in (0, -1, -2) if e not in seen][: max(0, sweep.most - track.count)]
    found.values[row], found.errors[row] = np.nan, np.inf
    while True:
        for exponent in wanted:
            distance, values = _look(sweep, track, side * track.unit * size_of_step(exponent))
            if np.isfinite(values).all() and distance:
                seen[exponent] = distance, values
        if len(seen) < 2:
            break
        exponents = tuple(sorted(seen, reverse=True))
        slopes = np.array([[(seen[e][1] - base) / seen[e][0] for e in exponents]])
        sizes = np.array([[np.maximum(np.abs(seen[e][1]), np.abs(base)) for e in exponents]])
        steps = track.unit * np.array([[size_of_step(e) for e in exponents]])
        rounding = sweep.rounding(2 * sizes, steps, epsilon)
        estimate = sweep.extrapolated(windows(exponents, 1, 1), slopes, rounding, steps)
        found.values[row], found.errors[row] = estimate.value[0], estimate.error[0]
        found.floors[row], found.sizes[row] = estimate.floor[0], sizes[0].max(axis=0)
        left = sweep.most - track.count
        known = [np.array([each]) for each in (True, 1, 2 * left)]
        (following,) = decide(exponents, 1, slopes, rounding, estimate, epsilon, *known)
        if following is None or left < 1 or following in seen:
            break
        wanted = [following]


def _look(sweep: Looks, track: Track, t: float) -> tuple[Any, Array]:
    """How far a point really is, and f there."""
    leaves, distance = track.move(t)
    (vector,) = sweep.evaluations.vectors([leaves])
    values = np.array(np.atleast_1d(vector), sweep.evaluations.layout(()).dtype)
    values[sweep.dead] = 0.0
    track.count += 1
    return distance, values
