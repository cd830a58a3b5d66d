"""Noncentral distributions (chi squared, Fisher's F, Student's t), and others whose ufuncs are
private in SciPy.

The first two are mixtures of central distributions: a Poisson count is added to the degrees of
freedom. So the derivative by the noncentrality is a difference of two distributions. Sources: NIST
Digital Library of Mathematical Functions, 8.8, 10.25, 13.6; Johnson, Kotz and Balakrishnan,
Continuous univariate distributions 2, 1995, chapters 29 to 31. Inverses by the implicit function
theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from . import parameter_jets as jets
from .hypergeometric import by_parameters, kummer_by, limit_by
from .probability import cumulative, gamma_density, inverse, ratio
from .ufunc_rules import in_double, ruled, scipy_ufunc

# Chi squared
# ------------------------------------------------------------------------------------------------


def _gamma_mixture_density(a: Any, rate: Any, x: Any) -> Any:
    """By a Bessel function, and without the exponentials that would overflow."""
    among = (rate > 0) & (x > 0)
    known, at = np.where(among, rate, 1.0), np.where(among, x, 1.0)
    root = np.sqrt(known * at)
    density = np.exp(
        -((np.sqrt(known) - np.sqrt(at)) ** 2) + (a - 1) / 2 * np.log(at / known)
    ) * special.ive(a - 1, 2 * root)
    return np.where(among, density, np.exp(-rate) * gamma_density(a, x))


chi_squared_density: Callable[..., Any] = ruled(
    "the density of noncentral chi squared",
    in_double(_gamma_mixture_density),
    lambda y, a, rate, x: (
        lambda: _density_by_shape(a, rate, x),
        lambda: chi_squared_density(a + 1, rate, x) - y,
        lambda: ((a - 1) / x - 1) * y + rate / x * chi_squared_density(a + 1, rate, x),
    ),
)  # fmt: skip


def _density_by_shape(a: Any, rate: Any, x: Any) -> Any:
    z = rate * x
    return chi_squared_density(a, rate, x) * (
        np.log(x) - special.psi(a) + limit_by[0](a, z) / special.hyp0f1(a, z)
    )


_chi_squared_by: list[Callable[..., Any]] = [
    *by_parameters(
        "chndtr", jets.noncentral_gamma, 1,
        lambda i, y, a, rate, x: (
            lambda: _chi_squared_by[0](a + 1, rate, x) - y,
            lambda: _density_by_shape(a, rate, x),
        ),
    ),
    lambda a, rate, x: -chi_squared_density(a + 1, rate, x),
]  # fmt: skip
# Older versions of SciPy have no ufunc for the upper tail.
chi_squared_lower, chi_squared_upper = [
    ruled(
        "chndtr",
        lambda a, rate, x, name=name: scipy_ufunc(name)(2 * x, 2 * a, 2 * rate),
        cumulative(sign, _chi_squared_by, chi_squared_density),
    )
    for sign, name in ((1, "chndtr"), (-1, "_ncx2_sf"))
]


def chi_squared_density_of(df: Any, nc: Any, x: Any) -> Any:
    return chi_squared_density(df / 2, nc / 2, x / 2) / 2


def chi_squared_inverse(sign: int) -> Callable[..., Any]:
    halved = [lambda df, nc, x, by=by: by(df / 2, nc / 2, x / 2) / 2 for by in _chi_squared_by]
    return inverse(sign, halved, chi_squared_density_of, level_first=True)


# Fisher's F
# ------------------------------------------------------------------------------------------------


def _beta_mixture_density(a: Any, b: Any, rate: Any, x: Any) -> Any:
    logs = special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b) - rate
    return np.exp(logs) * special.hyp1f1(a + b, a, rate * x)


f_density: Callable[..., Any] = ruled(
    "the density of the noncentral beta distribution",
    in_double(_beta_mixture_density),
    lambda y, a, b, rate, x: (
        lambda: _f_density_by(0, a, b, rate, x),
        lambda: _f_density_by(1, a, b, rate, x),
        lambda: f_density(a + 1, b, rate, x) - y,
        lambda: ((a - 1) / x - (b - 1) / (1 - x)) * y + rate / x * f_density(a + 1, b, rate, x),
    ),
)


def _f_density_by(i: int, a: Any, b: Any, rate: Any, x: Any) -> Any:
    z = rate * x
    slope = kummer_by[0](a + b, a, z) + (kummer_by[1](a + b, a, z) if i == 0 else 0.0)
    log = np.log(x) - special.psi(a) if i == 0 else np.log1p(-x) - special.psi(b)
    return f_density(a, b, rate, x) * (
        log + special.psi(a + b) + slope / special.hyp1f1(a + b, a, z)
    )


_by_f: list[Callable[..., Any]] = by_parameters(
    "ncfdtr", jets.noncentral_beta, 2,
    lambda i, y, a, b, rate, x: (
        lambda: _by_f[i](a + 1, b, rate, x) - y,
        lambda: _f_density_by(i, a, b, rate, x),
    ),
)  # fmt: skip


def _beta_mixture(sign: int, function: Callable[..., Any]) -> Callable[..., Any]:
    def by_rate(*args: Any) -> Any:
        return sign * (value(args[0] + 1, *args[1:]) - value(*args))

    value: Callable[..., Any] = ruled(
        "ncfdtr", function, cumulative(sign, [*_by_f, by_rate], f_density)
    )
    return value


f_lower: Callable[..., Any] = _beta_mixture(
    1, lambda a, b, rate, x: special.ncfdtr(2 * a, 2 * b, 2 * rate, b * x / (a * (1 - x)))
)
f_upper: Callable[..., Any] = _beta_mixture(
    -1, lambda a, b, rate, x: scipy_ufunc("_ncf_sf")(b * x / (a * (1 - x)), 2 * a, 2 * b, 2 * rate)
)


def fisher(function: Callable[..., Any], x: Any, n: Any, d: Any, nc: Any) -> Any:
    """A function of the noncentral beta distribution, for that of F."""
    return function(n / 2, d / 2, nc / 2, ratio(n, d, x))


def fisher_density(n: Any, d: Any, nc: Any, x: Any) -> Any:
    return fisher(f_density, x, n, d, nc) * n * d / (d + n * x) ** 2


def f_inverse(sign: int, level_first: bool = False) -> Callable[..., Any]:
    slopes = (
        lambda n, d, nc, x: fisher(_by_f[0], x, n, d, nc) / 2 + x / n * fisher_density(n, d, nc, x),
        lambda n, d, nc, x: fisher(_by_f[1], x, n, d, nc) / 2 - x / d * fisher_density(n, d, nc, x),
        lambda n, d, nc, x: (
            fisher(lambda a, *rest: f_lower(a + 1, *rest) - f_lower(a, *rest), x, n, d, nc) / 2
        ),
    )
    return inverse(sign, slopes, fisher_density, level_first)


# Student's t
# ------------------------------------------------------------------------------------------------


def _over_chi(inner: Callable[..., Any], order: int) -> Callable[..., Any]:
    """The mean of a function of t, the noncentrality and S, or its first or second derivative by
    the degrees of freedom. S^2 is chi squared over its degrees of freedom.

    An integral over log(S), for which the trapezoidal rule converges geometrically.
    """

    def mean(df: Any, nc: Any, t: Any) -> Any:
        df, nc, t = np.broadcast_arrays(df, nc, t)
        low = -40 / df - 10 / np.sqrt(df)
        high = np.log1p(12 / np.sqrt(df) + 80 / df) / 2
        share = np.linspace(0.0, 1.0, 4001).reshape(-1, *[1] * df.ndim)
        log = low + share * (high - low)
        s = np.exp(log)
        normal = df / 2 * np.log(df / 2) - special.gammaln(df / 2) + math.log(2)
        weights = np.exp(normal + df * log - df * s * s / 2) * (high - low) / 4000
        slope = (np.log(df / 2) + 1 - special.psi(df / 2)) / 2 + log - s * s / 2
        bend = 0.5 / df - special.polygamma(1, df / 2) / 4
        factor = (1.0, slope, slope * slope + bend)[order]
        return np.sum(weights * factor * inner(s, nc, t), axis=0)

    return in_double(mean)


_MOMENTS: dict[tuple[int, int], Callable[..., Any]] = {}


def moment(m: int, order: int) -> Callable[..., Any]:
    """The mean of S^m phi(t S - nc), differentiated so often by the degrees of freedom."""
    if (m, order) not in _MOMENTS:
        _MOMENTS[m, order] = ruled(
            "the density of noncentral t",
            _over_chi(
                lambda s, nc, t: s**m * np.exp(-((t * s - nc) ** 2) / 2) / math.sqrt(2 * math.pi),
                order,
            ),
            lambda y, df, nc, t: (
                lambda: (moment(m, order + 1) if order < 2 else _NO_MORE)(df, nc, t),
                lambda: t * moment(m + 1, order)(df, nc, t) - nc * y,
                lambda: nc * moment(m + 1, order)(df, nc, t) - t * moment(m + 2, order)(df, nc, t),
            ),
        )
    return _MOMENTS[m, order]


_NO_MORE = ruled("nctdtr, differentiated twice,", lambda df, nc, t: np.nan * t, None)


def _t_slopes(order: int) -> list[Callable[..., Any]]:
    return [
        _t_by_df[order] if order < 2 else _NO_MORE,
        lambda df, nc, t: -moment(0, order)(df, nc, t),
    ]


def t_partials(sign: int, order: int) -> Callable[..., Any]:
    return lambda y, *args: cumulative(sign, _t_slopes(order), moment(1, order))(y, *args)


_t_by_df = [
    ruled(
        "nctdtr, differentiated,",
        _over_chi(lambda s, nc, t: special.ndtr(t * s - nc), order),
        t_partials(1, order),
    )
    for order in (1, 2)
]
t_upper: Callable[..., Any] = ruled(
    "nctdtr", lambda df, nc, t: scipy_ufunc("_nct_sf")(t, df, nc), t_partials(-1, 0)
)


def t_inverse(sign: int, level_first: bool = False) -> Callable[..., Any]:
    return inverse(sign, _t_slopes(0), moment(1, 0), level_first)


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
    """The density of the distribution with quantiles (p^power - (1 - p)^power) / power; zero
    outside its support.
    """
    inside = (p > 0) & (p < 1)
    at = np.where(inside, p, 0.5)
    slope = at ** (power - 1) + (1 - at) ** (power - 1)
    by_power = _box_cox_slope(power, np.log(at)) - _box_cox_slope(power, np.log1p(-at))
    return np.where(inside, 1 / slope, 0.0), np.where(inside, -by_power / slope, 0.0)
