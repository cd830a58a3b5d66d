"""Derivatives of special functions by their parameters, from the series and continued fractions that define them.

Each term is differentiated along with the sum. The result is NaN where the sum cancels too much. Sources: Moore, Algorithm
AS 187: Derivatives of the incomplete gamma integral, Applied Statistics, 1982; Boik and Robison-Cox, Derivatives of the
incomplete beta function, Journal of Statistical Software, 1998; NIST Digital Library of Mathematical Functions, 8.7, 8.9,
8.17, 10.32 and 25.11.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import special

Numbers: TypeAlias = np.ndarray[Any, Any]

_EPSILON = 2.0**-52
#: How many terms are taken at most, and how much of a sum may be lost to rounding.
_TERMS, _LOSS = 6_000, 1e-10


class Jet:
    """A function of p parameters up to its second derivatives: `first` has p rows, `second` p times p."""

    __slots__ = ("first", "second", "value")

    def __init__(self, value: Numbers, first: Numbers, second: Numbers):
        self.value: Numbers = value
        self.first: Numbers = first
        self.second: Numbers = second

    @classmethod
    def variable(cls, value: Numbers, place: int, count: int, slope: float = 1.0) -> Jet:
        jet = cls.constant(value, count)
        jet.first[place] = slope
        return jet

    @classmethod
    def constant(cls, value: Numbers, count: int) -> Jet:
        return cls(value, np.zeros((count, *value.shape)), np.zeros((count, count, *value.shape)))

    def __add__(self, other: Any) -> Jet:
        if isinstance(other, Jet):
            return Jet(self.value + other.value, self.first + other.first, self.second + other.second)
        return Jet(self.value + other, self.first, self.second)

    def __mul__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value * other, self.first * other, self.second * other)
        cross = self.first[:, None] * other.first[None]
        return Jet(
            self.value * other.value,
            self.first * other.value + self.value * other.first,
            self.second * other.value + self.value * other.second + cross + np.swapaxes(cross, 0, 1),
        )

    def inverse(self) -> Jet:
        result = 1 / self.value
        first = -self.first * result**2
        return Jet(result, first, -self.second * result**2 + 2 * self.first[:, None] * self.first[None] * result**3)

    def sizes(self) -> Jet:
        return Jet(np.abs(self.value), np.abs(self.first), np.abs(self.second))

    def parts(self) -> Numbers:
        """All numbers, one derivative a row."""
        shape = self.value.shape
        return np.concatenate([self.value[None], self.first, self.second.reshape(-1, *shape)])


def exponential(value: Numbers, first: Numbers, second: Numbers) -> Jet:
    """exp of the function with these derivatives."""
    result = np.exp(value)
    return Jet(result, result * first, result * (second + first[:, None] * first[None]))


def _sum(ratio: Callable[[int], Jet], like: Numbers, count: int) -> Jet:
    """1 + ratio(1) + ratio(1) ratio(2) + ...; NaN where it does not converge, or cancels."""
    term = Jet.constant(np.ones_like(like), count)
    total = term
    largest = np.abs(total.parts())
    for n in range(1, _TERMS):
        term = term * ratio(n)
        total = total + term
        parts, size = total.parts(), np.abs(term.parts())
        largest = np.maximum(largest, size)
        if n % 8 == 0 and not np.any(size > _EPSILON / 4 * np.abs(parts) + 1e-300):
            break
    lost = (size > _EPSILON * 16 * np.abs(parts) + 1e-300) | (largest * _EPSILON > _LOSS * np.abs(parts) + 1e-300)
    return Jet(
        np.where(lost[0], np.nan, total.value),
        np.where(lost[1 : count + 1], np.nan, total.first),
        np.where(lost[count + 1 :].reshape(total.second.shape), np.nan, total.second),
    )


def _fraction(first: Jet, step: Callable[[int], tuple[Jet, Jet]], count: int) -> Jet:
    """1 / (b0 + a1 / (b1 + a2 / (b2 + ...))) by Lentz's method: `first` is b0, step(n) is (a, b)."""
    d = first.inverse()
    c, total = Jet.constant(np.full_like(first.value, 1e300), count), d
    for n in range(1, _TERMS):
        a, b = step(n)
        d = (a * d + b).inverse()
        c = b + a * c.inverse()
        change = c * d
        total = total * change
        moved = (change + -1.0).parts()
        # What is left of the derivatives' change is rounding: of the size of its parts, which cancel.
        if n % 8 == 0 and not np.any(np.abs(moved) > 4 * _EPSILON * (c.sizes() * d.sizes()).parts()):
            return total
    slow = np.any(np.abs(moved) > 1e-12, axis=0)
    return Jet(*[np.where(slow, np.nan, part) for part in (total.value, total.first, total.second)])


# Incomplete gamma ----------------------------------------------------------------------------------------------------


def gammainc(a: Numbers, x: Numbers) -> Jet:
    """The derivatives by a of the lower function. Do not use its value."""
    a, x = np.broadcast_arrays(a, x)
    inside = (a >= 0) & (x > 0) & (x < np.inf) & (a < np.inf)
    low = inside & (x <= a + 1)
    high = inside & ~low
    result = Jet.constant(np.zeros(a.shape), 1)
    for part, of_series in ((low, True), (high, False)):
        if np.any(part):
            part_jet = _gamma_by_series(a[part], x[part]) if of_series else _gamma_by_fraction(a[part], x[part])
            result.first[:, part], result.second[:, :, part] = part_jet.first, part_jet.second
    undefined = (a < 0) | (x < 0) | np.isnan(a + x)
    result.first[:, undefined] = np.nan
    result.second[:, :, undefined] = np.nan
    return result


def _gamma_by_series(a: Numbers, x: Numbers) -> Jet:
    log = np.log(x)
    slope, bend = log - special.psi(a + 1), -special.polygamma(1, a + 1)
    front = exponential(a * log - x - special.gammaln(a + 1), slope[None], bend[None, None])
    return front * _sum(lambda n: (Jet.variable(a + n, 0, 1)).inverse() * x, a, 1)


def _gamma_by_fraction(a: Numbers, x: Numbers) -> Jet:
    log, one = np.log(x), a + 1  # gamma(a) is gamma(a + 1) / a, which has no pole at zero
    slope, bend = log - special.psi(one), -special.polygamma(1, one)
    front = exponential(a * log - x - special.gammaln(one), slope[None], bend[None, None]) * Jet.variable(a, 0, 1)

    def step(n: int) -> tuple[Jet, Jet]:
        return Jet.variable(n * (a - n), 0, 1, n), Jet.variable(x + 2 * n + 1 - a, 0, 1, -1.0)

    return front * _fraction(Jet.variable(x + 1 - a, 0, 1, -1.0), step, 1) * -1.0


# Incomplete beta -----------------------------------------------------------------------------------------------------


def betainc(a: Numbers, b: Numbers, x: Numbers) -> Jet:
    """The derivatives by a and b, NaN where the first ones are lost in rounding. Do not use its value."""
    a, b, x = np.broadcast_arrays(a, b, x)
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1)
    swapped = inside & (x > (a + 1) / (a + b + 2))
    straight = inside & ~swapped
    result = Jet.constant(np.zeros(a.shape), 2)
    error = np.zeros_like(result.first)
    if np.any(straight):
        part_jet, error[:, straight] = _beta_by_fraction(a[straight], b[straight], x[straight], np.log1p(-x[straight]))
        result.first[:, straight], result.second[:, :, straight] = part_jet.first, part_jet.second
    if np.any(swapped):
        y = 1 - x[swapped]
        part_jet, lost = _beta_by_fraction(b[swapped], a[swapped], y, np.log(x[swapped]))
        error[:, swapped] = lost[::-1]
        result.first[:, swapped], result.second[:, :, swapped] = -part_jet.first[::-1], -part_jet.second[::-1, ::-1]
    share = 16 * _EPSILON * special.betainc(a, b, x) / np.maximum(1.0, np.stack([a, b]))
    result.first[error > np.maximum(4 * _LOSS * np.abs(result.first), share)] = np.nan
    undefined = ~((a > 0) & (b > 0) & (x >= 0) & (x <= 1))
    result.first[:, undefined] = np.nan
    result.second[:, :, undefined] = np.nan
    return result


def _rise_of_psi(b: Numbers, a: Numbers) -> tuple[Numbers, Numbers]:
    """psi(a + b) - psi(b), and the size of its terms; by a Taylor series for a small a."""
    result, size = special.psi(a + b) - special.psi(b), np.abs(special.psi(a + b)) + np.abs(special.psi(b))
    near = a < 0.01 * b
    step, origin = a[near], b[near]
    result[near] = size[near] = sum(special.polygamma(n, origin) * step**n / math.factorial(n) for n in range(1, 8))
    return result, size


def _beta_by_fraction(a: Numbers, b: Numbers, x: Numbers, log_of_rest: Numbers) -> tuple[Jet, Numbers]:
    """The function up to its second derivatives, and a bound on the rounding error of the first ones."""
    log, a_plus_b = np.log(x), a + b
    rise, size = _rise_of_psi(b, a)
    first = np.stack([log - special.psi(a + 1) + special.psi(a_plus_b), log_of_rest + rise])
    sizes = np.stack([np.abs(log) + np.abs(special.psi(a + 1)) + np.abs(special.psi(a_plus_b)), np.abs(log_of_rest) + size])
    together = special.polygamma(1, a_plus_b)
    second = np.stack([
        np.stack([together - special.polygamma(1, a + 1), together]),
        np.stack([together, together - special.polygamma(1, b)]),
    ])  # fmt: skip
    front = exponential(a * log + b * log_of_rest - special.betaln(a, b) - np.log(a), first, second)
    of_a, of_b = Jet.variable(a, 0, 2), Jet.variable(b, 1, 2)
    one = Jet.constant(np.ones_like(a), 2)

    def step(n: int) -> tuple[Jet, Jet]:
        m = n // 2
        if n % 2:
            top = (of_a + m) * (of_a + of_b + m) * -x
            return top * ((of_a + 2 * m) * (of_a + (2 * m + 1))).inverse(), one
        top = (of_b + -m) * (x * m)
        return top * ((of_a + (2 * m - 1)) * (of_a + 2 * m)).inverse(), one

    fraction = _fraction(one, step, 2)
    return front * fraction, 4 * _EPSILON * front.value * (sizes * np.abs(fraction.value) + np.abs(fraction.first))


# Mixtures ------------------------------------------------------------------------------------------------------------


def _poisson(rate: Numbers) -> tuple[Numbers, Numbers]:
    """Counts along a new first axis, and their probabilities; all but 1e-16 of the total. NaN where there are too many."""
    known = rate[np.isfinite(rate)]
    size = min(int(np.max(known + 12 * np.sqrt(np.abs(known)), initial=0.0)) + 40, _TERMS)
    counts = np.arange(size).reshape(-1, *[1] * rate.ndim)
    weights = np.exp(special.xlogy(counts, rate) - rate - special.gammaln(counts + 1))
    return counts, np.where(rate + 12 * np.sqrt(np.abs(rate)) + 40 > size + 1, np.nan, weights)


def noncentral_gamma(a: Numbers, rate: Numbers, x: Numbers) -> Jet:
    """The derivatives by a of the mixture of incomplete gamma functions P(a + j, x), where j is a Poisson count."""
    a, rate, x = np.broadcast_arrays(a, rate, x)
    counts, weights = _poisson(rate)
    result = gammainc(a + counts, x)
    return Jet(result.value[0], np.sum(weights * result.first, axis=1), np.sum(weights * result.second, axis=2))


def noncentral_beta(a: Numbers, b: Numbers, rate: Numbers, x: Numbers) -> Jet:
    """The derivatives by a and b of the mixture of incomplete beta functions I(a + j, b, x), where j is a Poisson count."""
    a, b, rate, x = np.broadcast_arrays(a, b, rate, x)
    counts, weights = _poisson(rate)
    result = betainc(a + counts, b, x)
    return Jet(result.value[0], np.sum(weights * result.first, axis=1), np.sum(weights * result.second, axis=2))


# Zeta ----------------------------------------------------------------------------------------------------------------

#: B(2n) / (2n)! for n > 0.
_BERNOULLI = [float(b) / math.factorial(2 * n) for n, b in enumerate(special.bernoulli(24)[::2])][1:]


def zeta(s: Numbers, q: Numbers) -> Jet:
    """Hurwitz's function and its derivatives by s, for s > -3; the rest of its sum by the formula of Euler and Maclaurin."""
    s, q = np.broadcast_arrays(s, q)
    variable, first = Jet.variable(s, 0, 1), 12

    def power(base: Numbers, shift: float) -> Jet:
        log = np.log(base)
        return exponential(-(s + shift) * log, -log[None], np.zeros((1, 1, *s.shape)))

    total = Jet.constant(np.zeros(s.shape), 1)
    for n in range(first):
        total = total + power(q + n, 0.0)
    rest = q + first
    total = total + power(rest, -1.0) * (variable + -1.0).inverse() + power(rest, 0.0) * 0.5
    rising = variable
    for n, factor in enumerate(_BERNOULLI):
        total = total + rising * power(rest, 2 * n + 1.0) * factor
        rising = rising * (variable + (2 * n + 1.0)) * (variable + (2 * n + 2.0))
    outside = ~((s > -3) & (q > 0))
    return Jet(*[np.where(outside, np.nan, part) for part in _of(total)])


# Bessel --------------------------------------------------------------------------------------------------------------


def kve(v: Numbers, z: Numbers) -> Jet:
    """The scaled modified function of the second kind, and its derivatives by the order, for z > 0.

    An integral of exp(z (1 - cosh t)) cosh(v t), for which the trapezoidal rule converges geometrically.
    """
    v, z = np.broadcast_arrays(v, z)
    known = np.where(z > 0, z, np.nan)
    end = np.arccosh(1 + 40 / known)
    for _ in range(8):  # where the first factor has made up for the second
        end = np.arccosh(1 + (40 + np.abs(v) * end) / known)
    share = np.linspace(0.0, 1.0, 1001).reshape(-1, *[1] * v.ndim)
    t = share * end
    weights = np.exp(known * (1 - np.cosh(t))) * end / 1000
    weights[0] /= 2
    even, odd = weights * np.cosh(v * t), weights * np.sinh(v * t)
    return Jet(np.sum(even, axis=0), np.sum(t * odd, axis=0)[None], np.sum(t * t * even, axis=0)[None, None])


def _of(jet: Jet) -> tuple[Numbers, Numbers, Numbers]:
    return jet.value, jet.first, jet.second
