"""Incomplete gamma and beta functions, their inverses, and the distributions that are made of them.

Source: NIST Digital Library of Mathematical Functions, 8.7, 8.8, 8.17, 26; of inverses, by the
implicit function theorem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special

from .parameters import beta_slope, gamma_slope, later
from .ufunc_rules import in_double, ruled


def _density(
    name: str, function: Callable[..., Any], log_slopes: Callable[..., Any]
) -> Callable[..., Any]:
    """A density from the derivatives of its logarithm, in which large numbers cancel."""
    return ruled(
        name,
        in_double(function),
        lambda y, *args: tuple([y * slope for slope in log_slopes(*args)]),
    )


gamma_density: Callable[..., Any] = _density(
    "the gamma density",
    lambda a, x: np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a)),
    lambda a, x: (np.log(x) - special.psi(a), (a - 1) / x - 1),
)
beta_density: Callable[..., Any] = _density(
    "the beta density",
    lambda a, b, x: np.exp(
        special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b)
    ),
    lambda a, b, x: (
        np.log(x) - special.psi(a) + special.psi(a + b),
        np.log1p(-x) - special.psi(b) + special.psi(a + b),
        (a - 1) / x - (b - 1) / (1 - x),
    ),
)


_gamma_bend = ruled("gammainc, differentiated twice,", gamma_slope(True), None)
gamma_by_shape: Callable[..., Any] = ruled(
    "gammainc, differentiated by its parameter,",
    gamma_slope(False),
    lambda y, a, x: (
        lambda: _gamma_bend(a, x),
        lambda: gamma_density(a, x) * (np.log(x) - special.psi(a)),
    ),
)

_beta_bends = {
    by: ruled("betainc, differentiated twice,", beta_slope(by), None)
    for by in ((0, 0), (0, 1), (1, 1))
}


def _beta_by(i: int) -> Callable[..., Any]:
    def partials(y: Any, a: Any, b: Any, x: Any) -> Any:
        log = np.log(x) - special.psi(a) if i == 0 else np.log1p(-x) - special.psi(b)
        bends = [_beta_bends[min(i, j), max(i, j)] for j in (0, 1)]
        return *later(bends, a, b, x), lambda: beta_density(a, b, x) * (log + special.psi(a + b))

    return ruled("betainc, differentiated by a parameter,", beta_slope((i,)), partials)


beta_by: list[Callable[..., Any]] = [_beta_by(0), _beta_by(1)]


def cumulative(
    sign: int, slopes: Sequence[Callable[..., Any]], density: Callable[..., Any]
) -> Callable[..., Any]:
    """The partials of F(parameters, x), or of 1 - F for a negative sign, from the derivatives
    of F.
    """
    return lambda y, *args: (*later(slopes, *args, factor=sign), lambda: sign * density(*args))


def inverse(
    sign: int,
    slopes: Sequence[Callable[..., Any]],
    density: Callable[..., Any],
    level_first: bool = False,
) -> Callable[..., Any]:
    """The partials of the x with F(parameters, x) = p, or 1 - F for a negative sign, by the
    parameters and the level p.
    """

    def partials(x: Any, *args: Any) -> Any:
        parameters = args[1:] if level_first else args[:-1]
        front = density(*parameters, x)
        by_all: list[Any] = [
            lambda n=n: -slopes[n](*parameters, x) / front for n in range(len(slopes))
        ]
        by_all.insert(0 if level_first else len(slopes), lambda: sign / front)
        return tuple(by_all)

    return partials


# Student's t
# ------------------------------------------------------------------------------------------------


student_density: Callable[..., Any] = _density(
    "the density of Student's t",
    lambda df, t: (
        np.exp(-(df + 1) / 2 * np.log1p(t * t / df) - special.betaln(df / 2, 0.5)) / np.sqrt(df)
    ),
    lambda df, t: (
        (
            (df + 1) * t * t / (df * (df + t * t))
            - np.log1p(t * t / df)
            - 1 / df
            + special.psi(df / 2 + 0.5)
            - special.psi(df / 2)
        )
        / 2,
        -(df + 1) * t / (df + t * t),
    ),
)


def student_by_df(df: Any, t: Any) -> Any:
    square, half = t * t, 0.5 + 0 * df
    near = square < df  # where 1 - df / (df + t^2) has lost t
    inner, outer = np.where(near, square, 0.5 * df), np.where(near, 2.0 * df, square)
    by_shape = np.where(
        near,
        beta_by[1](half, df / 2, inner / (df + inner)),
        -beta_by[0](df / 2, half, df / (df + outer)),
    )
    return np.sign(t) * by_shape / 4 - t / (2 * df) * student_density(df, t)


# Made of them
# ------------------------------------------------------------------------------------------------


def _floor(k: Any) -> Any:
    """The integer below, as a float that is weak where k is a Python number."""
    return float(math.floor(k)) if isinstance(k, (int, float)) else np.floor(k)


def _count(n: Any) -> Any:
    """The integer that SciPy makes of a count."""
    return float(math.trunc(n)) if isinstance(n, (int, float)) else np.trunc(n)


def next_count(k: Any) -> Any:
    return _floor(k) + 1.0


def _more_than(k: Any, n: Any, p: Any) -> Any:
    """The probability of more than k successes of n: 1 for a negative k."""
    if isinstance(k, float):  # it widens nothing
        return 1.0 + 0.0 * p if k < 0 else special.betainc(k + 1.0, n - k, p)
    all_of_them = k < 0
    first, second = (np.where(all_of_them, 1.0, count) for count in (k + 1.0, n - k))
    return np.where(all_of_them, 1.0, special.betainc(first, second, p))


def ratio(n: Any, d: Any, x: Any) -> Any:
    return n * x / (d + n * x)


def fisher_inverse(n: Any, d: Any, p: Any) -> Any:
    w = special.betaincinv(n / 2, d / 2, p)
    return d / n * (w / (1 - w))


def binomial_up_to(k: Any, n: Any, p: Any) -> Any:
    return special.betainc(_count(n) - _floor(k), next_count(k), 1 - p)


def binomial_beyond(k: Any, n: Any, p: Any) -> Any:
    return _more_than(_floor(k), _count(n), p)


def negative_binomial_shapes(k: Any, n: Any) -> tuple[Any, Any]:
    return _count(n), _count(k) + 1.0


def log_binomial(n: Any, k: Any) -> Any:
    """The logarithm of the binomial coefficient of n over k."""
    return special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)


def binomial(x: Any, n: Any, p: Any, beyond: float) -> Any:
    """The probability of at most x successes of n, 1 from n on; with beyond = 0, of more."""
    rest, k = np.maximum(n - np.floor(x), 0.5), np.floor(x) + 1
    part = special.betainc(rest, k, 1 - p) if beyond else special.betainc(k, rest, p)
    return np.where(x >= n, beyond, part)
