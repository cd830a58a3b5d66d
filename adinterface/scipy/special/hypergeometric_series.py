"""Hypergeometric functions and their derivatives by the parameters, exact to rounding, or NaN.

Each term of a series is differentiated along with the sum, in hyper-dual numbers. The rounding
error of a sum is estimated along with it. Where it exceeds the tolerance, the result is NaN.
Sources: NIST Digital Library of Mathematical Functions, 13.2, 13.4, 15.2, 15.8 (transformations)
and 15.10 (the differential equation); Pearson, Olver and Porter, Numerical methods for the
computation of the confluent and Gauss hypergeometric functions, 2017.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from .hyper_dual import EPSILON, PAIRS, Numbers, exponential, ones, over, product, times

#: How much of a result may be rounding; or, of a function's value, whatever is left of its
#: derivative.
_LOSS, _SHARE = 4e-10, 16 * EPSILON
#: What the rounding of a sum is taken for, in units of all that went into it.
_ROUNDING = 4 * EPSILON
#: The most terms of a series, and how many are taken at once.
_TERMS, _CHUNK = 6_000, 32
#: How far a series is summed before steps begin, the most of these, and from which parameters on
#: there are none.
_FAR, _STEPS, _LARGE = 0.7, 60, 1_000.0
#: Into how many parts an integral is divided.
_NODES = 600


class Sum(NamedTuple):
    """A function of z, its derivative by z, and how much of each is rounding; of rows as in
    `hyper_dual`.
    """

    value: Numbers
    slope: Numbers
    error: Numbers
    error_of_slope: Numbers

    @classmethod
    def unknown(cls, rows: int, count: int) -> Sum:
        return cls(*[np.full((rows, count), np.nan) for _ in range(4)])


def _moments(terms: Numbers, numbers: Numbers) -> list[Numbers]:
    """The sums of t(n), n t(n), |t(n)| and n |t(n)| along the second axis."""
    sizes, column = np.abs(terms), numbers.reshape(-1, *[1] * (terms.ndim - 2))
    return [np.sum(part, axis=1) for part in (terms, column * terms, sizes, column * sizes)]


def series(uppers: Sequence[Numbers], lower: Numbers, z: Numbers) -> Sum:
    """The sum of (uppers)_n / (lower)_n z^n / n! for arrays of one axis; NaN where it does not
    converge.
    """
    rows = 1 << (len(lower) - 1)
    result, places = Sum.unknown(rows, z.size), np.arange(z.size)
    negative = -np.min([part[0] for part in (*uppers, lower)], axis=0)
    term = ones(rows, z.size)
    sums = _moments(term[:, None], np.zeros(1))
    for first in range(1, _TERMS, _CHUNK):
        numbers = np.arange(first, first + _CHUNK, dtype=float)
        ratio = ones(rows, _CHUNK, z.size) * (z / numbers[:, None])
        for part in uppers:
            ratio = times(ratio, part, numbers[:, None] - 1)
        ratio = over(ratio, lower, numbers[:, None] - 1)
        terms = np.empty((rows, _CHUNK + 1, z.size))
        terms[:, 0] = term
        for n in range(_CHUNK):
            before, after = terms[:, n], terms[:, n + 1]
            np.multiply(ratio[0, n], before, out=after)
            for row, one, other in PAIRS[rows]:
                after[row] += ratio[one, n] * before[other]
        term = terms[:, -1]
        for total, more in zip(sums, _moments(terms[:, 1:], numbers)):
            total += more
        last = np.minimum(_largest_ratio(uppers, lower, z, numbers[-1]), 1.0)
        bound = (1 - last) * EPSILON / 4 * (np.abs(sums[0]) + _SHARE * np.abs(sums[0][0]))
        done = np.all(numbers[-1] * np.abs(term) * last <= bound, axis=0) & (numbers[-1] > negative)
        done |= ~np.isfinite(sums[2][0])
        if np.any(done):
            for into, total in zip(result, sums):
                into[:, places[done]] = total[:, done]
            if np.all(done):
                break
            on = ~done
            places, negative, z, term, lower = (
                places[on],
                negative[on],
                z[on],
                term[:, on],
                lower[:, on],
            )
            sums, uppers = [total[:, on] for total in sums], [part[:, on] for part in uppers]
    return Sum(
        result.value, result.slope, _ROUNDING * result.error, _ROUNDING * result.error_of_slope
    )


def _largest_ratio(uppers: Sequence[Numbers], lower: Numbers, z: Numbers, n: float) -> Numbers:
    """A bound on the ratio of successive terms from the n-th on; its factors (u + n) / (l + n) tend
    to 1.
    """
    lowers = [np.abs(lower[0] + n), np.full_like(z, n + 1)]
    quotients = [np.maximum(np.abs(part[0] + n) / low, 1.0) for part, low in zip(uppers, lowers)]
    largest: Numbers = np.abs(z) * np.prod(
        [*quotients, *[1 / low for low in lowers[len(uppers) :]]], axis=0
    )
    return largest


# Gauss's function
# ------------------------------------------------------------------------------------------------


def _near(a: Numbers, b: Numbers, c: Numbers, z: Numbers) -> Sum:
    total, safe = series((a, b), c, z), np.where(z == 0, 1.0, z)
    return Sum(total.value, total.slope / safe, total.error, total.error_of_slope / np.abs(safe))


def _stepped(a: Numbers, b: Numbers, c: Numbers, rest: Numbers) -> Sum:
    """The function at 1 - rest, between 1/2 and 1, by steps that halve the distance to 1.

    A second solution takes the same steps, perturbed by as much as rounding may be. The difference
    of both is the error.
    """
    rows = 1 << (len(c) - 1)
    result, places, left = Sum.unknown(rows, rest.size), np.arange(rest.size), 0.5
    start = _near(a, b, c, np.full(rest.shape, 0.5))
    value, slope = (
        np.stack([start[0], start[0] + start[2]], axis=1),
        np.stack([start[1], start[1] + start[3]], axis=1),
    )
    for _ in range(_STEPS):
        to = np.maximum(rest, left / 2)
        value, slope = _step(a, b, c, left, to, value, slope)
        done = (rest >= left / 2) | ~np.isfinite(value[0, 0])
        result.value[:, places[done]], result.slope[:, places[done]] = (
            value[:, 0, done],
            slope[:, 0, done],
        )
        result.error[:, places[done]] = np.abs(value[:, 1] - value[:, 0])[:, done]
        result.error_of_slope[:, places[done]] = np.abs(slope[:, 1] - slope[:, 0])[:, done]
        if np.all(done):
            break
        on, left = ~done, left / 2
        a, b, c, rest, places, value, slope = (
            a[:, on],
            b[:, on],
            c[:, on],
            rest[on],
            places[on],
            value[..., on],
            slope[..., on],
        )
    return result


def _step(
    a: Numbers, b: Numbers, c: Numbers, left: float, to: Numbers, value: Numbers, slope: Numbers
) -> tuple[Numbers, Numbers]:
    """From 1 - left to 1 - to, by the Taylor series that the differential equation gives; perturbs
    the second solution.
    """
    at, length, rows, count = 1 - left, left - to, len(value), to.size
    bend = c - (a + b) * at
    bend[0] -= at
    sums = _moments(np.stack([value, slope * length], axis=1), np.arange(2.0))
    known = 8 + np.max(np.abs([part[0] for part in (a, b, c)]), axis=0)
    terms, other = np.empty((rows, _CHUNK + 2, 2, count)), np.empty((rows, 2, count))
    terms[:, 0], terms[:, 1] = value, slope * length
    for first in range(0, _TERMS, _CHUNK):
        numbers = np.arange(first, first + _CHUNK, dtype=float)[:, None]
        scale = length / (at * left * (numbers + 2) * (numbers + 1))
        low = times(times(ones(rows, _CHUNK, count) * (scale * length), a, numbers), b, numbers)[
            :, :, None
        ]
        high = times(
            ones(rows, _CHUNK, count) * (scale * (numbers + 1)), bend, (1 - 2 * at) * numbers
        )[:, :, None]
        for k in range(_CHUNK):
            one, two, after = terms[:, k], terms[:, k + 1], terms[:, k + 2]
            np.multiply(low[0, k], one, out=after)
            np.multiply(high[0, k], two, out=other)
            after -= other
            for row, part, beside in PAIRS[rows]:
                after[row] += low[part, k] * one[beside] - high[part, k] * two[beside]
        for total, more in zip(sums, _moments(terms[:, 2:], numbers[:, 0] + 2)):
            total += more
        terms[:, :2] = terms[:, -2:]
        sizes = (first + _CHUNK) * np.sum(np.abs(terms[:, :2]), axis=1)
        small = sizes <= EPSILON / 8 * (np.abs(sums[0]) + _SHARE * np.abs(sums[0][0]))
        if np.all((small & (first + _CHUNK > known)) | ~np.isfinite(sums[2])):
            break
    else:
        sums[0] = np.full_like(sums[0], np.nan)
    for total, size in zip(sums[:2], sums[2:]):
        total[:, 1] += _ROUNDING * size[:, 1]
    return sums[0], sums[1] / length


def _transformations(
    a: Numbers, b: Numbers, c: Numbers, x: Numbers
) -> tuple[Numbers, Numbers, Numbers, Numbers, Numbers]:
    """a, b, z, 1 - z and e of four transformations that write the function as (1 - x)^e 2F1(a, b;
    c; z). DLMF 15.8.1.
    """
    mirrored, left = x / (x - 1), 1 / (1 - x)
    upper, other = np.stack([a, c - a, a, c - a]), np.stack([b, c - b, c - b, b])
    exponents = np.stack([np.zeros_like(a), c - a - b, -a, -b])
    return (
        upper,
        other,
        np.stack([x, x, mirrored, mirrored]),
        np.stack([1 - x, 1 - x, left, left]),
        exponents,
    )


def _ends(part: Numbers) -> Numbers:
    """Whether a series, and the series of its derivatives, are finite because of this parameter."""
    value = part[..., 0, :]
    ends: Numbers = (value <= 0) & (value == np.floor(value)) & ~np.any(part[..., 1:, :], axis=-2)
    return ends


def _risk(a: Numbers, b: Numbers, z: Numbers) -> Numbers:
    """A rough estimate of the cancellation in a series; infinite where it does not converge."""
    below = -np.minimum(a[:, 0], 0) - np.minimum(b[:, 0], 0)
    rising = np.where(z < 0, np.abs(z) * (2 + np.maximum(a[:, 0], 0) + np.maximum(b[:, 0], 0)), 0.0)
    ends = _ends(a) | _ends(b)
    risk = np.where(
        (a[:, 0] == 0) | (b[:, 0] == 0), -1.0, np.where(ends, 0.5, 1.0) * (below + rising)
    )
    return np.where((z > -_FAR) & (z < 1) | ends, risk, np.inf)


def hyp2f1(a: Numbers, b: Numbers, c: Numbers, x: Numbers) -> Numbers:
    """Gauss's function 2F1(a, b; c; x) for x < 1; NaN where the relative rounding error may exceed
    4e-10.

    Tries all four transformations, starting with the one with the least expected cancellation.
    """
    rows = np.full((1 << (len(a) - 1), x.size), np.nan)
    transformations = _transformations(a, b, c, x)
    risks = _risk(*transformations[:3])
    defined = (
        np.isfinite(a[0] + b[0] + c[0] + x) & (x < 1) & ~((c[0] <= 0) & (c[0] == np.floor(c[0])))
    )
    for turn in np.argsort(risks, axis=0, kind="stable"):
        lost = np.any(np.isnan(rows), axis=0)
        places = np.flatnonzero(defined & lost & np.isfinite(risks[turn, np.arange(x.size)]))
        if not places.size:
            break
        upper, other, z, rest, exponent = [
            np.moveaxis(transformation[turn[places], ..., places], 0, -1)
            for transformation in transformations
        ]
        params = [part[:, places] for part in (a, b, c)]
        value, error = _scaled(
            *_summed(upper, other, params[2], z, rest), params, exponent, np.log1p(-x[places])
        )
        value = _kept(value, error, params)
        rows[:, places] = np.where(np.isnan(rows[:, places]), value, rows[:, places])
    return rows


def _summed(
    a: Numbers, b: Numbers, c: Numbers, z: Numbers, rest: Numbers
) -> tuple[Numbers, Numbers]:
    """The function of z and its error; by steps where the series takes too many terms."""
    result = Sum.unknown(1 << (len(c) - 1), z.size)
    # The terms of a step rise for as many as the parameters are large.
    large = np.max(np.abs([part[0] for part in (a, b, c)]), axis=0) > _LARGE
    near = (z <= _FAR) | large | _ends(a) | _ends(b)
    for part, by, where in ((near, _near, z), (~near, _stepped, rest)):
        if np.any(part):
            for into, row in zip(result, by(a[:, part], b[:, part], c[:, part], where[part])):
                into[:, part] = row
    return result.value, result.error


def _scaled(
    value: Numbers, error: Numbers, params: Sequence[Numbers], exponent: Numbers, log: Numbers
) -> tuple[Numbers, Numbers]:
    """A function times exp(exponent log), and its error."""
    power = exponential([exponent], exponent[0] * log, [log], [[0.0]])
    size = (
        np.sum([np.abs(part[0]) for part in params], axis=0)
        * np.abs(log)
        * np.any(exponent, axis=0)
    )
    error = product(np.abs(power), error + EPSILON * size * np.abs(value))
    return product(power, value), error


def _kept(value: Numbers, error: Numbers, params: Sequence[Numbers]) -> Numbers:
    """What is right enough; NaN in place of the rest."""
    largest = np.max([np.any(part[1:], axis=0) * np.abs(part[0]) for part in params], axis=0)
    share = (
        _SHARE * np.abs(value[0]) / np.maximum(1.0, largest) * (np.arange(len(value)) > 0)[:, None]
    )
    return np.where(error <= np.maximum(_LOSS * np.abs(value), share), value, np.nan)


# Others
# ------------------------------------------------------------------------------------------------


def hyp1f1(a: Numbers, b: Numbers, x: Numbers) -> Numbers:
    """Kummer's function 1F1(a; b; x), by the series, or, mostly for negative x, as exp(x) 1F1(b -
    a; b; -x).
    """
    rows = np.full((1 << (len(a) - 1), x.size), np.nan)
    mirrored_first = (x < 0) & ~((a[0] <= 0) & (a[0] == np.floor(a[0])) & (b[0] > 0))
    defined = np.isfinite(a[0] + b[0] + x) & ~((b[0] <= 0) & (b[0] == np.floor(b[0])))
    for mirrored in (mirrored_first, ~mirrored_first):
        places = np.flatnonzero(defined & np.any(np.isnan(rows), axis=0))
        if not places.size:
            break
        chosen, params = mirrored[places], [part[:, places] for part in (a, b)]
        upper, z = (
            np.where(chosen, (b - a)[:, places], a[:, places]),
            np.where(chosen, -x[places], x[places]),
        )
        kummer_sum = series([upper], params[1], z)
        power = np.where(chosen, np.exp(x[places]), 1.0)
        value, error = (
            power * kummer_sum.value,
            power
            * (kummer_sum.error + EPSILON * np.abs(np.where(chosen, z, 0.0) * kummer_sum.value)),
        )
        value = _kept(value, error, params)
        rows[:, places] = np.where(np.isnan(rows[:, places]), value, rows[:, places])
    return rows


def hyp0f1(v: Numbers, x: Numbers) -> Numbers:
    """The limit function 0F1(v; x)."""
    limit_sum = series([], v, x)
    return _kept(limit_sum.value, limit_sum.error, [v])


def risk_of_hyp2f1(a: Numbers, b: Numbers, c: Numbers, x: Numbers) -> Numbers:
    """A rough estimate of the cancellation in the best transformation; for arrays of one shape."""
    a, b, c = [np.ravel(y)[None] for y in (a, b, c)]
    risks: Numbers = np.min(_risk(*_transformations(a, b, c, np.ravel(x))[:3]), axis=0)
    return risks.reshape(np.shape(x))


def hyperu(a: Numbers, b: Numbers, x: Numbers) -> Numbers:
    """Kummer's function of the second kind for a from 1/4 on and x > 0, by its integral; NaN
    elsewhere. DLMF 13.4.4.

    The integrand in the logarithm of the variable is positive and falls on both sides, so the
    trapezoidal rule converges geometrically. Where half of the nodes agree to 1e-6, all of them
    agree to rounding.
    """
    known = (a >= 0.25) & (x > 0)
    a, b, x = np.where(known, a, 1.0), np.where(known, b, 1.0), np.where(known, x, 1.0)
    low = np.minimum(0.0, np.log(a / x)) - 45 / a - 5
    high = np.log((800 + 20 * (np.abs(a) + np.abs(b))) / x)
    s = low + (high - low) * np.linspace(0.0, 1.0, _NODES + 1).reshape(-1, *[1] * np.ndim(a))
    logs = a * s + (b - a - 1) * np.logaddexp(0.0, s) - x * np.exp(s)
    top = np.max(logs, axis=0)
    terms = np.exp(logs - top)
    total, half = np.sum(terms, axis=0), 2 * np.sum(terms[::2], axis=0)
    value = np.exp(top - special.gammaln(a)) * total * (high - low) / _NODES
    return np.where(known & (np.abs(total - half) <= 1e-6 * total), value, np.nan)
