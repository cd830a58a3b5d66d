"""Derivatives of special functions by their parameters, from the series and continued fractions
that define them.

Each term is differentiated along with the sum, in hyper-dual numbers. The result is NaN where the
sum cancels too much. Functions take such parameters first, and arrays of one axis. Sources: Moore,
Algorithm AS 187: Derivatives of the incomplete gamma integral, Applied Statistics, 1982; Boik and
Robison-Cox, Derivatives of the incomplete beta function, Journal of Statistical Software, 1998;
NIST Digital Library of Mathematical Functions, 8.7, 8.9, 8.17, 10.32 and 25.11.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from .hyper_dual import (
    EPSILON,
    Numbers,
    composed,
    exponential,
    inverse,
    line,
    ones,
    over,
    product,
    times,
)

#: How many terms are taken at most, and how much of a sum may be lost to rounding.
_TERMS, _LOSS = 6_000, 1e-10


def _sum(step: Callable[[Numbers, int], Numbers], term: Numbers) -> Numbers:
    """The sum of terms, each made of the one before; NaN where it does not converge, or cancels."""
    total, largest = term, np.abs(term)
    for n in range(1, _TERMS):
        term = step(term, n)
        total, size = total + term, np.abs(term)
        largest = np.maximum(largest, size)
        if n % 8 == 0 and not np.any(size > EPSILON / 4 * np.abs(total) + 1e-300):
            break
    lost = (size > EPSILON * 16 * np.abs(total) + 1e-300) | (
        largest * EPSILON > _LOSS * np.abs(total) + 1e-300
    )
    return np.where(lost, np.nan, total)


def _fraction(first: Numbers, step: Callable[[int], tuple[Numbers, Numbers]]) -> Numbers:
    """1 / (b0 + a1 / (b1 + a2 / (b2 + ...))) by Lentz's method: `first` is b0, step(n) is (a,
    b).
    """
    d = inverse(first)
    c, total = 1e300 * ones(*first.shape), d
    for n in range(1, _TERMS):
        a, b = step(n)
        d = inverse(product(a, d) + b)
        c = b + product(a, inverse(c))
        change = product(c, d)
        total = product(total, change)
        moved = np.abs(change - ones(*first.shape))
        # What is left of the derivatives' change is rounding: of the size of its parts, which
        # cancel.
        if n % 8 == 0 and not np.any(moved > 4 * EPSILON * product(np.abs(c), np.abs(d))):
            return total
    return np.where(np.any(moved > 1e-12, axis=0), np.nan, total)


# Incomplete gamma
# ------------------------------------------------------------------------------------------------


def gammainc(a: Numbers, x: Numbers) -> Numbers:
    """The derivatives by a of the lower function. Do not use its value."""
    inside = (a[0] >= 0) & (x > 0) & (x < np.inf) & (a[0] < np.inf)
    low = inside & (x <= a[0] + 1)
    result = np.zeros((1 << (len(a) - 1), x.size))
    for part, by in ((low, _gamma_by_series), (inside & ~low, _gamma_by_fraction)):
        if np.any(part):
            result[:, part] = by(a[:, part], x[part])
    result[:, (a[0] < 0) | (x < 0) | np.isnan(a[0] + x)] = np.nan
    return result


def _gamma_front(a: Numbers, x: Numbers) -> Numbers:
    """x^a exp(-x) / gamma(a + 1)."""
    log, one = np.log(x), a[0] + 1
    bend = -special.polygamma(1, one)
    return exponential(
        [a], a[0] * log - x - special.gammaln(one), [log - special.psi(one)], [[bend]]
    )


def _gamma_by_series(a: Numbers, x: Numbers) -> Numbers:
    front = _gamma_front(a, x)
    return product(front, _sum(lambda term, n: over(term * x, a, n), ones(*front.shape)))


def _gamma_by_fraction(a: Numbers, x: Numbers) -> Numbers:
    # gamma(a) is gamma(a + 1) / a, which has no pole at zero
    front = times(_gamma_front(a, x), a, 0.0)
    fraction = _fraction(
        line(a, -1.0, x + 1), lambda n: (line(a, n, -n * n), line(a, -1.0, x + 2 * n + 1))
    )
    return -product(front, fraction)


# Incomplete beta
# ------------------------------------------------------------------------------------------------


def betainc(a: Numbers, b: Numbers, x: Numbers) -> Numbers:
    """The derivatives by a and b, NaN where a first one is lost in rounding. Do not use its
    value.
    """
    inside = (a[0] > 0) & (b[0] > 0) & (x > 0) & (x < 1)
    swapped = inside & (x > (a[0] + 1) / (a[0] + b[0] + 2))
    result, error = np.zeros((2, 1 << (len(a) - 1), x.size))
    for part, sign, one, other, at, log_of_rest in (
        (inside & ~swapped, 1, a, b, x, np.log1p(-x)), (swapped, -1, b, a, 1 - x, np.log(x))
    ):  # fmt: skip
        if np.any(part):
            fraction, error[:, part] = _beta_by_fraction(
                one[:, part], other[:, part], at[part], log_of_rest[part]
            )
            result[:, part] = sign * fraction
    if len(a) == 2:
        share = (
            16
            * EPSILON
            * special.betainc(a[0], b[0], x)
            / np.maximum(1.0, a[0] * a[1] + b[0] * b[1])
        )
        result[1, error[1] > np.maximum(4 * _LOSS * np.abs(result[1]), share)] = np.nan
    result[:, ~((a[0] > 0) & (b[0] > 0) & (x >= 0) & (x <= 1))] = np.nan
    return result


def _rise_of_psi(b: Numbers, a: Numbers) -> tuple[Numbers, Numbers]:
    """psi(a + b) - psi(b), and the size of its terms; by a Taylor series for a small a."""
    result, size = (
        special.psi(a + b) - special.psi(b),
        np.abs(special.psi(a + b)) + np.abs(special.psi(b)),
    )
    near = a < 0.01 * b
    step, origin = a[near], b[near]
    result[near] = size[near] = sum(
        special.polygamma(n, origin) * step**n / math.factorial(n) for n in range(1, 8)
    )
    return result, size


def _beta_by_fraction(
    a: Numbers, b: Numbers, x: Numbers, log_of_rest: Numbers
) -> tuple[Numbers, Numbers]:
    """The function with its derivatives, and a bound on the rounding error of first ones."""
    log, both = np.log(x), a + b
    of_one, of_both, together = (
        special.psi(a[0] + 1),
        special.psi(both[0]),
        special.polygamma(1, both[0]),
    )
    rise, size = _rise_of_psi(b[0], a[0])
    bends = [
        [together - special.polygamma(1, a[0] + 1), together],
        [together, together - special.polygamma(1, b[0])],
    ]
    logs = a[0] * log + b[0] * log_of_rest - special.betaln(a[0], b[0]) - np.log(a[0])
    front = exponential([a, b], logs, [log - of_one + of_both, log_of_rest + rise], bends)
    one = ones(*front.shape)

    def step(n: int) -> tuple[Numbers, Numbers]:
        m = n // 2
        if n % 2:
            return over(over(times(times(one * -x, a, m), both, m), a, 2 * m), a, 2 * m + 1), one
        return over(over(times(one * (x * m), b, -m), a, 2 * m - 1), a, 2 * m), one

    fraction = _fraction(one, step)
    sizes = [np.abs(log) + np.abs(of_one) + np.abs(of_both), np.abs(log_of_rest) + size]
    sized = composed([a, b], 0 * x, sizes, 2 * [[0.0, 0.0]])
    return product(front, fraction), 4 * EPSILON * front[0] * (
        sized * np.abs(fraction[0]) + np.abs(fraction)
    )


# Mixtures
# ------------------------------------------------------------------------------------------------


def _poisson(rate: Numbers) -> tuple[Numbers, Numbers]:
    """Counts along a new first axis, and their probabilities; all but 1e-16 of the total. NaN where
    there are too many.
    """
    known = rate[np.isfinite(rate)]
    size = min(int(np.max(known + 12 * np.sqrt(np.abs(known)), initial=0.0)) + 40, _TERMS)
    counts = np.arange(size).reshape(-1, *[1] * rate.ndim)
    weights = np.exp(special.xlogy(counts, rate) - rate - special.gammaln(counts + 1))
    return counts, np.where(rate + 12 * np.sqrt(np.abs(rate)) + 40 > size + 1, np.nan, weights)


def _mixed(
    function: Callable[..., Numbers], rate: Numbers, a: Numbers, *others: Numbers
) -> Numbers:
    """The mean of a function of a + j and the others, where j is a Poisson count."""
    counts, weights = _poisson(rate)

    def each(y: Numbers) -> Numbers:
        return np.repeat(y[..., None, :], len(counts), axis=-2).reshape(*y.shape[:-1], -1)

    raised = each(a)
    raised[0] += np.repeat(np.ravel(counts), rate.size)
    rows = function(raised, *map(each, others))
    result: Numbers = np.sum(weights * rows.reshape(-1, *weights.shape), axis=1)
    return result


def noncentral_gamma(a: Numbers, rate: Numbers, x: Numbers) -> Numbers:
    """The derivatives by a of the mixture of incomplete gamma functions P(a + j, x)."""
    return _mixed(gammainc, rate[0], a, x)


def noncentral_beta(a: Numbers, b: Numbers, rate: Numbers, x: Numbers) -> Numbers:
    """The derivatives by a and b of the mixture of incomplete beta functions I(a + j, b, x)."""
    return _mixed(betainc, rate[0], a, b, x)


# Zeta
# ------------------------------------------------------------------------------------------------

#: B(2n) / (2n)! for n > 0.
_BERNOULLI = [float(b) / math.factorial(2 * n) for n, b in enumerate(special.bernoulli(24)[::2])][
    1:
]


def zeta(s: Numbers, q: Numbers) -> Numbers:
    """Hurwitz's function and its derivatives by s, for s > -3; the rest of its sum by the formula
    of Euler and Maclaurin.
    """

    def power(base: Numbers, shift: float) -> Numbers:
        return exponential([s], -(s[0] + shift) * np.log(base), [-np.log(base)], [[0.0]])

    rest = q + 12
    total = (
        np.sum([power(q + n, 0.0) for n in range(12)], axis=0)
        + over(power(rest, -1.0), s, -1.0)
        + power(rest, 0.0) * 0.5
    )
    rising = line(s, 1.0, 0.0)
    for n, factor in enumerate(_BERNOULLI):
        total = total + product(rising, power(rest, 2 * n + 1.0)) * factor
        rising = times(times(rising, s, 2 * n + 1.0), s, 2 * n + 2.0)
    return np.where((s[0] > -3) & (q > 0), total, np.nan)


# Bessel
# ------------------------------------------------------------------------------------------------


def kve(v: Numbers, z: Numbers) -> Numbers:
    """The scaled modified function of the second kind, and its derivatives by the order, for z > 0.

    An integral of exp(z (1 - cosh t)) cosh(v t), for which the trapezoidal rule converges
    geometrically.
    """
    known = np.where(z > 0, z, np.nan)
    end = np.arccosh(1 + 40 / known)
    for _ in range(8):  # where the first factor has made up for the second
        end = np.arccosh(1 + (40 + np.abs(v[0]) * end) / known)
    t = np.linspace(0.0, 1.0, 1001)[:, None] * end
    weights = np.exp(known * (1 - np.cosh(t))) * end / 1000
    weights[0] /= 2
    even, odd = weights * np.cosh(v[0] * t), weights * np.sinh(v[0] * t)
    return composed(
        [v], np.sum(even, axis=0), [np.sum(t * odd, axis=0)], [[np.sum(t * t * even, axis=0)]]
    )
