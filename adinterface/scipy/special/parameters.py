"""Derivatives of special functions by their parameters.

Those of the incomplete gamma and beta functions are integrals of the density times the derivative
of its logarithm. That changes its sign once, so one of the two tails is free of cancellation.
Others are Richardson's extrapolation of central differences of the SciPy function (Ridders,
Accurate computation of F'(x) and F'(x)F''(x), Advances in Engineering Software, 1982), of the first
order only. Source of the formulas: NIST Digital Library of Mathematical Functions, 8.2, 8.8, 8.17.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from scipy import special

from .ufunc_rules import in_double, ruled

Numbers: TypeAlias = Any

#: Nodes and weights of an integral from zero to infinity (Takahasi and Mori, 1974).
_STEPS = np.linspace(-3.6, 4.7, 161)[:, None]
_NODES = np.exp(_STEPS - np.exp(-_STEPS))
_WEIGHTS = _NODES * (1 + np.exp(-_STEPS)) * (_STEPS[1] - _STEPS[0])
#: For how many numbers integrals are computed at once.
_BLOCK = 1_024


def later(
    functions: Sequence[Callable[..., Any]], *args: Any, factor: float = 1.0
) -> list[Callable[[], Any]]:
    """Partial derivatives that take long to compute: each is computed only if it is used."""
    return [lambda f=f: factor * f(*args) for f in functions]  # type: ignore[misc]


# Differences
# ------------------------------------------------------------------------------------------------

#: How many steps are tried, each half of the one before, and the largest error, relative to the
#: derivative or to the value for an argument that is doubled.
_ROUNDS, _LARGEST_ERROR = 11, 1e-8


def to_pole(parameter: Numbers) -> Numbers:
    """The distance to the nearest pole, at zero and the negative integers."""
    return np.abs(parameter - np.minimum(np.round(parameter), 0.0))


def by_difference(
    name: str, function: Callable[..., Any], place: int, room: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The derivative by the argument in this place; NaN where the differences do not converge.

    room: from the argument, the distance in which the function is smooth.
    """

    def derivative(*args: Numbers) -> Numbers:
        args = np.broadcast_arrays(*args)
        x = args[place]
        step = np.maximum(np.abs(x), 1.0) / 4
        if room is not None:
            step = np.minimum(step, 0.9 * room(x))
        best, least = np.full(x.shape, np.nan), np.full(x.shape, np.inf)
        before: list[Numbers] = []
        for _ in range(_ROUNDS):
            up, down = x + step, x - step
            ends = [function(*args[:place], end, *args[place + 1 :]) for end in (up, down)]
            rounding = 2.0**-52 * np.maximum(*np.abs(ends)) / step
            row = [(ends[0] - ends[1]) / (up - down)]
            for n, old in enumerate(before):
                row.append(row[n] + (row[n] - old) / (4.0 ** (n + 1) - 1))
                moved = np.maximum(np.abs(row[n + 1] - row[n]), np.abs(row[n + 1] - old))
                error = np.maximum(moved, rounding)
                better = error < least
                best, least = np.where(better, row[-1], best), np.where(better, error, least)
            before, step = row, step / 2
        size = np.abs(function(*args)) / np.maximum(np.abs(x), 1.0)
        return np.where(least <= _LARGEST_ERROR * np.maximum(np.abs(best), size), best, np.nan)

    return ruled(f"{name}, differentiated by argument {place},", in_double(derivative), None)


# Incomplete gamma
# ------------------------------------------------------------------------------------------------


def _in_blocks(function: Callable[..., Numbers]) -> Callable[..., Numbers]:
    """A function of vectors, of arrays of any shape; of the dtype of its arguments."""

    def call(*args: Numbers) -> Numbers:
        args = np.broadcast_arrays(*args)
        flat = [np.ravel(x) for x in args]
        starts = range(0, flat[0].size, _BLOCK)
        parts = [function(*[x[n : n + _BLOCK] for x in flat]) for n in starts]
        return np.concatenate([np.empty(0), *parts]).reshape(args[0].shape)

    return in_double(call)


def _bent(one: Numbers, other: Numbers, bend: Numbers, twice: bool) -> Numbers:
    """The factor of a derivative: of a function with this derivative of its logarithm, or with two
    of them, and the derivative of one by the other.
    """
    return one * other + bend if twice else one


def gamma_slope(twice: bool) -> Callable[..., Numbers]:
    """The first or the second derivative of gammainc(a, x) by a, for vectors."""

    def slope(a: Numbers, x: Numbers) -> Numbers:
        known, log = np.maximum(a, 1e-300), np.log(x)
        # There P(a, x) is written as P(a + 1, x) and a term of its own.
        raised = (a < 1) & (x < 1)
        rise = log - special.psi(known + 1)
        term = np.exp(known * log - x - special.gammaln(known + 1))
        term *= _bent(rise, rise, -special.polygamma(1, known + 1), twice)
        known = np.where(raised, known + 1, known)
        psi, bend = special.psi(known), -special.polygamma(1, known)
        sign = np.where(log <= psi, 1.0, -1.0)
        scale = 1 / (np.abs(known - x) + np.sqrt(x))
        logs = log - sign * scale * _NODES
        density = np.exp(known * logs - np.exp(logs) - special.gammaln(known))
        total = np.sum(density * _bent(logs - psi, logs - psi, bend, twice) * _WEIGHTS, axis=0)
        result = sign * scale * total + np.where(raised, term, 0.0)
        result = np.where((x == 0) | (x == np.inf) | (a == np.inf), 0.0, result)
        return np.where((a >= 0) & (x >= 0), result, np.nan)

    return _in_blocks(slope)


# Incomplete beta
# ------------------------------------------------------------------------------------------------


def _rise_of_psi(a: Numbers, b: Numbers) -> Numbers:
    """psi(a + b) - psi(a); by a Taylor series for a small b."""
    result = special.psi(a + b) - special.psi(a)
    near = b < 0.01 * a
    step, origin = b[near], a[near]
    result[near] = sum(
        special.polygamma(n, origin) * step**n / math.factorial(n) for n in range(1, 8)
    )
    return result


def beta_slope(by: tuple[int, ...]) -> Callable[..., Numbers]:
    """The derivative of betainc(a, b, x) by these parameters, one or two, for vectors."""
    swapped, crossed, twice = by[0] == 1, len(set(by)) == 2, len(by) == 2

    def slope(a: Numbers, b: Numbers, x: Numbers) -> Numbers:
        rest = 1 - x
        inside = (a > 0) & (b > 0) & (x > 0) & (x < 1)
        result = _by_first(b, a, rest, x) if swapped else _by_first(a, b, x, rest)
        edge = np.where((a > 0) & (b > 0) & ((x == 0) | (x == 1)), 0.0, np.nan)
        return np.where(inside, -result if swapped else result, edge)

    def _by_first(a: Numbers, b: Numbers, x: Numbers, rest: Numbers) -> Numbers:
        log = np.where(x < 0.5, np.log(x), np.log1p(-rest))
        log_rest = np.where(rest < 0.5, np.log(rest), np.log1p(-x))
        # There I(a, b) is written as I(a + 1, b) and a term of its own.
        raised = (a < 1) & (x * b < 1) & (x < 0.5)
        term = np.exp(a * log + b * log_rest - np.log(a) - special.betaln(a, b))
        term *= factor(a, b, log, log_rest, special.psi(a + b) - special.psi(a + 1), a + 1)
        a = np.where(raised, a + 1, a)
        rise = _rise_of_psi(a, b)
        lower = log + rise <= 0
        # the tail from 0 to x, or from 0 to 1 - x
        tail: list[Numbers] = [
            np.where(lower, *pair)
            for pair in ((a, b), (b, a), (x, rest), (rest, x), (log, log_rest))
        ]
        p, q, at, to, log_at = tail
        curved = np.abs(q - 1) * at / to
        bends = (q >= 1) & (curved * (1 + at / to) >= 1)
        width = np.abs(p - (q - 1) * at / to) + np.sqrt(curved * (1 + at / to))
        scale = 1 / np.where(bends, width, p)
        near, far = log_at - scale * _NODES, np.log(to - at * np.expm1(-scale * _NODES))
        density = np.exp(p * near + (q - 1) * far - special.betaln(p, q))
        logs = np.where(lower, near, far), np.where(lower, far, near)
        total = np.sum(density * factor(a, b, *logs, rise, a) * _WEIGHTS, axis=0)
        return np.where(lower, scale, -scale) * total + np.where(raised, term, 0.0)

    def factor(a: Numbers, b: Numbers, log: Any, log_rest: Any, rise: Any, own: Any) -> Numbers:
        one, together = log + rise, special.polygamma(1, a + b)
        if crossed:
            return _bent(one, log_rest + _rise_of_psi(b, a), together, twice)
        return _bent(one, one, together - special.polygamma(1, own), twice)

    return _in_blocks(slope)
