"""Noncentral distributions (chi squared, Fisher's F, Student's t), and others whose ufuncs are
private in SciPy.

Derivatives by the degrees of freedom are differences of SciPy's functions and of the densities, of
the tail that is asked for. The first two distributions are mixtures of central ones: a Poisson
count is added to the degrees of freedom. So the derivative by the noncentrality is a difference of
two distributions. Sources: NIST Digital Library of Mathematical Functions, 8.8, 10.25, 13.6;
Johnson, Kotz and Balakrishnan, Continuous univariate distributions 2, 1995, chapters 29 to 31.
Inverses by the implicit function theorem.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from scipy import special

from .parameters import by_difference, to_pole
from .probability import cumulative, gamma_density, inverse, ratio
from .ufunc_rules import in_double, ruled, scipy_ufunc

Function: TypeAlias = Callable[..., Any]


def _slopes(name: str, sign: int, tail: Function, count: int) -> list[Function]:
    """The derivatives of the lower tail by the degrees of freedom, from those of one of the
    tails.
    """
    of_tail = [by_difference(name, tail, place, to_pole) for place in range(count)]
    return [lambda *args, f=f: sign * f(*args) for f in of_tail]


# Chi squared
# ------------------------------------------------------------------------------------------------


def _density_of_chi_squared(df: Any, nc: Any, x: Any) -> Any:
    """By a Bessel function, and without the exponentials that would overflow."""
    among, power = (nc > 0) & (x > 0), df / 2 - 1
    known, at = np.where(among, nc, 1.0), np.where(among, x, 1.0)
    scale = np.exp(-((np.sqrt(known) - np.sqrt(at)) ** 2) / 2 + power / 2 * np.log(at / known))
    density = scale * special.ive(power, np.sqrt(known * at))
    return np.where(among, density, np.exp(-nc / 2) * gamma_density(df / 2, x / 2)) / 2


_of_chi_squared = "the density of noncentral chi squared"
_density_by_df = by_difference(_of_chi_squared, _density_of_chi_squared, 0, to_pole)
chi_squared_density: Function = ruled(
    _of_chi_squared,
    in_double(_density_of_chi_squared),
    lambda y, df, nc, x: (
        lambda: _density_by_df(df, nc, x),
        lambda: (chi_squared_density(df + 2, nc, x) - y) / 2,
        lambda: ((df - 2 - x) * y + nc * chi_squared_density(df + 2, nc, x)) / (2 * x),
    ),
)
# Older versions of SciPy have no ufunc for the upper tail.
_CHI_SQUARED: dict[int, Function] = {
    1: lambda df, nc, x: special.chndtr(x, df, nc),
    -1: lambda df, nc, x: scipy_ufunc("_ncx2_sf")(x, df, nc),
}
_chi_squared_by = {
    sign: [
        *_slopes("chndtr", sign, tail, 1),
        lambda df, nc, x: -chi_squared_density(df + 2, nc, x),
    ]
    for sign, tail in _CHI_SQUARED.items()
}
chi_squared = {
    sign: ruled("chndtr", tail, cumulative(sign, _chi_squared_by[sign], chi_squared_density))
    for sign, tail in _CHI_SQUARED.items()
}


def chi_squared_inverse(sign: int) -> Function:
    return inverse(sign, _chi_squared_by[sign], chi_squared_density, level_first=True)


# Fisher's F
# ------------------------------------------------------------------------------------------------


def _beta_mixture_density(a: Any, b: Any, rate: Any, x: Any) -> Any:
    logs = special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b) - rate
    return np.exp(logs) * special.hyp1f1(a + b, a, rate * x)


_of_beta = "the density of the noncentral beta distribution"
_beta_density_by = [by_difference(_of_beta, _beta_mixture_density, n, to_pole) for n in (0, 1)]
beta_mixture_density: Function = ruled(
    _of_beta,
    in_double(_beta_mixture_density),
    lambda y, a, b, rate, x: (
        lambda: _beta_density_by[0](a, b, rate, x),
        lambda: _beta_density_by[1](a, b, rate, x),
        lambda: beta_mixture_density(a + 1, b, rate, x) - y,
        lambda: (
            ((a - 1) / x - (b - 1) / (1 - x)) * y
            + rate / x * beta_mixture_density(a + 1, b, rate, x)
        ),
    ),
)


def fisher_density(n: Any, d: Any, nc: Any, x: Any) -> Any:
    density = beta_mixture_density(n / 2, d / 2, nc / 2, ratio(n, d, x))
    return density * n * d / (d + n * x) ** 2


_FISHER: dict[int, Function] = {
    1: special.ncfdtr, -1: lambda n, d, nc, x: scipy_ufunc("_ncf_sf")(x, n, d, nc)
}  # fmt: skip


def _fisher_by_nc(sign: int, n: Any, d: Any, nc: Any, x: Any) -> Any:
    tail = fisher[sign]
    return sign * (tail(n + 2, d, nc, x * n / (n + 2)) - tail(n, d, nc, x)) / 2


_fisher_by: dict[int, list[Function]] = {
    sign: [*_slopes("ncfdtr", sign, tail, 2), functools.partial(_fisher_by_nc, sign)]
    for sign, tail in _FISHER.items()
}
fisher: dict[int, Function] = {
    sign: ruled("ncfdtr", tail, cumulative(sign, _fisher_by[sign], fisher_density))
    for sign, tail in _FISHER.items()
}


def fisher_inverse(sign: int, level_first: bool = False) -> Function:
    return inverse(sign, _fisher_by[sign], fisher_density, level_first)


# Student's t
# ------------------------------------------------------------------------------------------------


@functools.cache
def moment(m: int) -> Function:
    """The mean of S^m phi(t S - nc), where S^2 is chi squared over its degrees of freedom: for m =
    1 the density.

    An integral over log(S), for which the trapezoidal rule converges geometrically.
    """

    def mean(df: Any, nc: Any, t: Any) -> Any:
        df, nc, t = np.broadcast_arrays(df, nc, t)
        low = -40 / df - 10 / np.sqrt(df)
        high = np.log1p(12 / np.sqrt(df) + 80 / df) / 2
        log = low + np.linspace(0.0, 1.0, 1001).reshape(-1, *[1] * df.ndim) * (high - low)
        s = np.exp(log)
        normal = df / 2 * np.log(df / 2) - special.gammaln(df / 2) + math.log(2)
        weights = np.exp(normal + (df + m) * log - (df * s * s + (t * s - nc) ** 2) / 2)
        return np.sum(weights, axis=0) * (high - low) / 1000 / math.sqrt(2 * math.pi)

    name = "the density of noncentral t"
    by_df = by_difference(name, mean, 0, to_pole)
    return ruled(
        name,
        in_double(mean),
        lambda y, df, nc, t: (
            lambda: by_df(df, nc, t),
            lambda: t * moment(m + 1)(df, nc, t) - nc * y,
            lambda: nc * moment(m + 1)(df, nc, t) - t * moment(m + 2)(df, nc, t),
        ),
    )


_STUDENT: dict[int, Function] = {
    1: special.nctdtr, -1: lambda df, nc, t: scipy_ufunc("_nct_sf")(t, df, nc)
}  # fmt: skip
_student_by = {
    sign: [*_slopes("nctdtr", sign, tail, 1), lambda df, nc, t: -moment(0)(df, nc, t)]
    for sign, tail in _STUDENT.items()
}
student = {
    sign: ruled("nctdtr", tail, cumulative(sign, _student_by[sign], moment(1)))
    for sign, tail in _STUDENT.items()
}


def student_inverse(sign: int, level_first: bool = False) -> Function:
    return inverse(sign, _student_by[sign], moment(1), level_first)


# Others
# ------------------------------------------------------------------------------------------------


def skew_normal_inverse(sign: int) -> Callable[..., Any]:
    def partials(x: Any, p: Any, loc: Any, scale: Any, a: Any) -> Any:
        z = (x - loc) / scale
        front = 2 * np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * special.ndtr(a * z) / scale
        by_shape = np.exp(-z * z * (1 + a * a) / 2) / (math.pi * (1 + a * a))
        return sign / front, np.ones_like(x), z, by_shape / front

    return partials


def _box_cox_slope(power: Any, log: Any) -> Any:
    """The derivative by the power of expm1(power * log) / power."""
    t = power * log
    near = np.abs(t) < 0.3
    inside, outside = np.where(near, t, 0.0), np.where(near, 1.0, t)
    total: Any = 0.0
    for n in range(14, -1, -1):
        total = total * inside + (n + 1) / math.factorial(n + 2)
    return log * log * np.where(near, total, (np.exp(outside) * (outside - 1) + 1) / outside**2)


def tukey_lambda(p: Any, x: Any, power: Any) -> Any:
    """The density of the distribution with quantiles (p^power - (1 - p)^power) / power.

    Zero outside its support.
    """
    inside = (p > 0) & (p < 1)
    at = np.where(inside, p, 0.5)
    slope = at ** (power - 1) + (1 - at) ** (power - 1)
    by_power = _box_cox_slope(power, np.log(at)) - _box_cox_slope(power, np.log1p(-at))
    return np.where(inside, 1 / slope, 0.0), np.where(inside, -by_power / slope, 0.0)
