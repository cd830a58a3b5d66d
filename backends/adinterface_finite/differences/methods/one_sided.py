"""Slopes at the edge of the domain of f: from the point to one side, extrapolated in h."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..extrapolation import size_of_step, windows
from ..steps import decide
from .line_state import LineState
from .method import Array, Slopes, unit_of
from .sampling import Sampling


def one_sided_slopes(
    rounds: Sampling, states: Sequence[LineState], found: Slopes, epsilon: float
) -> None:
    """One-sided slopes along these lines. epsilon: the precision of the values of f."""
    sides = [(state, _side(state)) for state in states]
    if not any(side for _, side in sides):
        return
    base = rounds.evaluations.here().copy()
    if rounds.not_finite is None:
        rounds.not_finite = rounds.find_not_finite()
    base[rounds.not_finite] = 0.0
    for state, side in sides:
        if side:
            state.count += rounds.owed()
            _along(rounds, state, side, base, found, epsilon)


def _side(state: LineState) -> int:
    """1 ahead, -1 behind, 0 if f is finite on neither side or on both."""
    if state.sides:
        return state.one_side()
    ahead, behind = state.room
    return 1 if ahead >= behind else -1


def _along(
    rounds: Sampling, state: LineState, side: int, base: Array, found: Slopes, epsilon: float
) -> None:
    """base: f at the point itself."""
    row, limit = state.line - rounds.chosen.start, max(state.room)
    if limit < state.unit:
        state.unit *= 2.0 ** math.floor(math.log2(limit / state.unit))
    seen = {exponent: (distance, values) for exponent, _, distance, values in state.sides}
    wanted = [e for e in (0, -1, -2) if e not in seen][: max(0, rounds.most - state.count)]
    found.values[row], found.errors[row] = np.nan, np.inf
    while True:
        for exponent in wanted:
            distance, values = _look(rounds, state, side * state.unit * size_of_step(exponent))
            if np.isfinite(values).all() and distance:
                seen[exponent] = distance, values
        if len(seen) < 2:
            break
        exponents = tuple(sorted(seen, reverse=True))
        slopes = np.array([[(seen[e][1] - base) / seen[e][0] for e in exponents]])
        # Twice, for their roundings count over half of the distance of a central slope.
        sizes = 2 * np.array([[np.maximum(np.abs(seen[e][1]), np.abs(base)) for e in exponents]])
        steps = state.unit * np.array([[size_of_step(e) for e in exponents]])
        rounding = rounds.rounding(sizes, steps, epsilon)
        estimate = rounds.extrapolated(windows(exponents, 1, 1), slopes, rounding, steps)
        found.values[row], found.errors[row] = estimate.value[0], estimate.error[0]
        found.floors[row], found.rates[row] = estimate.floor[0], sizes[0].max(axis=0) / state.scale
        found.units[row] = unit_of(sizes[0], steps[0, 0])
        left = rounds.most - state.count
        known = [np.array([each]) for each in (True, 1, 2 * left)]
        (following,) = decide(exponents, 1, 1, slopes, rounding, estimate, epsilon, *known)
        if following is None or left < 1 or following in seen:
            break
        wanted = [following]


def _look(rounds: Sampling, state: LineState, t: float) -> tuple[Any, Array]:
    """How far a point really is, and f there."""
    leaves, distance = rounds.lines.at(rounds.fresh(), state.line, t)
    (vector,) = rounds.evaluations.vectors([leaves])
    values = np.array(np.atleast_1d(vector), rounds.evaluations.form.dtype)
    values[rounds.not_finite] = 0.0
    state.count += 1
    return distance, values
