"""Noncentral distributions (chi squared, Fisher's F, Student's t), and others whose ufuncs are private in SciPy.

The first two are mixtures of central distributions: a Poisson count is added to the degrees of freedom. So the derivative
by the noncentrality is a difference of two distributions. Sources: NIST Digital Library of Mathematical Functions, 8.8,
10.25, 13.6; Johnson, Kotz and Balakrishnan, Continuous univariate distributions 2, 1995, chapters 29 to 31. Inverses by the
implicit function theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from . import parameter_jets as jets
from .hypergeometric import by_places, kummer_by, limit_by
from .probability import gamma_density, ratio
from .ufunc_rules import in_double, ruled, scipy_ufunc

# Chi squared ---------------------------------------------------------------------------------------------------------


def _gamma_mixture_density(a: Any, rate: Any, x: Any) -> Any:
    """By a Bessel function, and without the exponentials that would overflow."""
    among = (rate > 0) & (x > 0)
    known, at = np.where(among, rate, 1.0), np.where(among, x, 1.0)
    root = np.sqrt(known * at)
    density = np.exp(-((np.sqrt(known) - np.sqrt(at)) ** 2) + (a - 1) / 2 * np.log(at / known)) * special.ive(a - 1, 2 * root)
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
    return chi_squared_density(a, rate, x) * (np.log(x) - special.psi(a) + limit_by[0](a, z) / special.hyp0f1(a, z))


_by_shape_twice = ruled("chndtr, differentiated twice,", by_places(jets.noncentral_gamma, 0, 0), None)
_by_shape: Callable[..., Any] = ruled(
    "chndtr, differentiated by its degrees of freedom,",
    by_places(jets.noncentral_gamma, 0),
    lambda y, a, rate, x: (
        lambda: _by_shape_twice(a, rate, x),
        lambda: _by_shape(a + 1, rate, x) - y,
        lambda: _density_by_shape(a, rate, x),
    ),
)


def _mixture(sign: int, name: str) -> Callable[..., Any]:
    """The lower or the upper tail. Older versions of SciPy have no ufunc for the upper one."""
    return ruled(
        "chndtr",
        lambda a, rate, x: scipy_ufunc(name)(2 * x, 2 * a, 2 * rate),
        lambda y, a, rate, x: (
            lambda: sign * _by_shape(a, rate, x),
            lambda: -sign * chi_squared_density(a + 1, rate, x),
            lambda: sign * chi_squared_density(a, rate, x),
        ),
    )


chi_squared_lower: Callable[..., Any] = _mixture(1, "chndtr")
chi_squared_upper: Callable[..., Any] = _mixture(-1, "_ncx2_sf")


def chi_squared_inverse(sign: int) -> Callable[..., Any]:
    def partials(x: Any, p: Any, df: Any, nc: Any) -> Any:
        a, rate, at = df / 2, nc / 2, x / 2
        front = chi_squared_density(a, rate, at)
        return (
            lambda: 2 * sign / front,
            lambda: -_by_shape(a, rate, at) / front,
            lambda: chi_squared_density(a + 1, rate, at) / front,
        )

    return partials


def level_first(sign: int, inverse: Callable[..., Any]) -> Callable[..., Any]:
    """The partials of an inverse with the level last, for one with the level first; sign = -1 for the upper tail."""

    def partials(x: Any, level: Any, *shapes: Any) -> Any:
        *by_shapes, by_level = inverse(x, *shapes, level)
        return lambda: sign * by_level(), *by_shapes

    return partials


# Fisher's F ----------------------------------------------------------------------------------------------------------


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
    return f_density(a, b, rate, x) * (log + special.psi(a + b) + slope / special.hyp1f1(a + b, a, z))


def _by_f_shape(i: int) -> Callable[..., Any]:
    twice = [
        ruled("ncfdtr, differentiated twice,", by_places(jets.noncentral_beta, min(i, j), max(i, j)), None) for j in (0, 1)
    ]
    first: Callable[..., Any] = ruled(
        f"ncfdtr, differentiated by argument {i},",
        by_places(jets.noncentral_beta, i),
        lambda y, a, b, rate, x: (
            lambda: twice[0](a, b, rate, x),
            lambda: twice[1](a, b, rate, x),
            lambda: first(a + 1, b, rate, x) - y,
            lambda: _f_density_by(i, a, b, rate, x),
        ),
    )
    return first


_by_f = [_by_f_shape(0), _by_f_shape(1)]


def _beta_mixture(sign: int, function: Callable[..., Any]) -> Callable[..., Any]:
    value: Callable[..., Any] = ruled(
        "ncfdtr",
        lambda a, b, rate, x: function(a, b, rate, x),
        lambda y, a, b, rate, x: (
            lambda: sign * _by_f[0](a, b, rate, x),
            lambda: sign * _by_f[1](a, b, rate, x),
            lambda: value(a + 1, b, rate, x) - y,
            lambda: sign * f_density(a, b, rate, x),
        ),
    )
    return value


f_lower: Callable[..., Any] = _beta_mixture(
    1, lambda a, b, rate, x: special.ncfdtr(2 * a, 2 * b, 2 * rate, b * x / (a * (1 - x)))
)
f_upper: Callable[..., Any] = _beta_mixture(
    -1, lambda a, b, rate, x: scipy_ufunc("_ncf_sf")(b * x / (a * (1 - x)), 2 * a, 2 * b, 2 * rate)
)


def f_inverse(x: Any, n: Any, d: Any, nc: Any, p: Any) -> Any:
    a, b, rate, y = n / 2, d / 2, nc / 2, ratio(n, d, x)
    front, scale = f_density(a, b, rate, y), n * d / (d + n * x) ** 2
    return (
        lambda: -_by_f[0](a, b, rate, y) / (2 * front * scale) - x / n,
        lambda: -_by_f[1](a, b, rate, y) / (2 * front * scale) + x / d,
        lambda: (f_lower(a, b, rate, y) - f_lower(a + 1, b, rate, y)) / (2 * front * scale),
        lambda: 1 / (front * scale),
    )


# Student's t ---------------------------------------------------------------------------------------------------------


def _over_chi(inner: Callable[..., Any], order: int) -> Callable[..., Any]:
    """The mean of a function of t, the noncentrality and S, or its first or second derivative by the degrees of freedom.
    S^2 is chi squared over its degrees of freedom.

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
            _over_chi(lambda s, nc, t: s**m * np.exp(-((t * s - nc) ** 2) / 2) / math.sqrt(2 * math.pi), order),
            lambda y, df, nc, t: (
                _by_df(m, order, df, nc, t),
                lambda: t * moment(m + 1, order)(df, nc, t) - nc * y,
                lambda: nc * moment(m + 1, order)(df, nc, t) - t * moment(m + 2, order)(df, nc, t),
            ),
        )
    return _MOMENTS[m, order]


def _by_df(m: int, order: int, df: Any, nc: Any, t: Any) -> Callable[[], Any]:
    return lambda: (moment(m, order + 1) if order < 2 else _NO_MORE)(df, nc, t)


_NO_MORE = ruled("nctdtr, differentiated twice,", lambda df, nc, t: np.nan * t, None)


def t_partials(sign: int, order: int) -> Callable[..., Any]:
    return lambda y, df, nc, t: (
        lambda: sign * _t_by_df[order](df, nc, t) if order < 2 else _NO_MORE(df, nc, t),
        lambda: -sign * moment(0, order)(df, nc, t),
        lambda: sign * moment(1, order)(df, nc, t),
    )


_t_by_df = [
    ruled("nctdtr, differentiated,", _over_chi(lambda s, nc, t: special.ndtr(t * s - nc), order), t_partials(1, order))
    for order in (1, 2)
]
t_upper: Callable[..., Any] = ruled("nctdtr", lambda df, nc, t: scipy_ufunc("_nct_sf")(t, df, nc), t_partials(-1, 0))


def t_inverse(t: Any, df: Any, nc: Any, p: Any) -> Any:
    front = moment(1, 0)(df, nc, t)
    return (
        lambda: -_t_by_df[0](df, nc, t) / front,
        lambda: moment(0, 0)(df, nc, t) / front,
        lambda: 1 / front,
    )


# Others --------------------------------------------------------------------------------------------------------------


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
    """The density of the distribution with quantiles (p^power - (1 - p)^power) / power; zero outside its support."""
    inside = (p > 0) & (p < 1)
    at = np.where(inside, p, 0.5)
    slope = at ** (power - 1) + (1 - at) ** (power - 1)
    by_power = _box_cox_slope(power, np.log(at)) - _box_cox_slope(power, np.log1p(-at))
    return np.where(inside, 1 / slope, 0.0), np.where(inside, -by_power / slope, 0.0)


def fisher(tail: Callable[..., Any], x: Any, n: Any, d: Any, nc: Any) -> Any:
    """The lower or the upper tail of the noncentral F distribution."""
    return tail(n / 2, d / 2, nc / 2, ratio(n, d, x))


def fisher_density(x: Any, n: Any, d: Any, nc: Any) -> Any:
    return f_density(n / 2, d / 2, nc / 2, ratio(n, d, x)) * n * d / (d + n * x) ** 2
