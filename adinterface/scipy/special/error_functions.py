"""Error functions, exponential integrals and other functions of one argument.

Source: NIST Digital Library of Mathematical Functions, 7.10, 7.12, 6.2, 25.12; Owen, Tables for
computing bivariate normal probabilities, 1956.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


def _where(condition: Any, x: Any, there: Any, here: Any, stand_in: float = 1.0) -> Any:
    """there(x) where the condition holds, here(x) elsewhere; neither sees the other's arguments."""
    instead = np.zeros_like(x) + stand_in
    return np.where(
        condition, there(np.where(condition, x, instead)), here(np.where(condition, instead, x))
    )


def asymptotic(x: Any, terms: int = 12, sign: int = 1) -> Any:
    """The sum over n > 0 of (2n - 1)!! / (2 x^2)^n, to which 2 x dawsn(x) - 1 tends.

    Or of these with alternating signs.
    """
    inverse = sign / (2 * x * x)
    total: Any = 0.0
    for n in range(terms, 0, -1):
        total = (2 * n - 1) * inverse * (1 + total)
    return total


def wofz_slope(w: Any, z: Any) -> Any:
    """-2 z w + 2i / sqrt(pi), which cancels for large z."""
    far = (np.abs(z) > 15) & (np.imag(z) >= 0)
    total = asymptotic(np.where(far, z, 20.0), 10)
    return np.where(far, -1j * _TWO_OVER_ROOT_PI * total, -2 * z * w + 1j * _TWO_OVER_ROOT_PI)


def voigt(y: Any, x: Any, sigma: Any, gamma: Any) -> Any:
    z = (x + 1j * gamma) / (sigma * math.sqrt(2))
    slope = wofz_slope(special.wofz(z), z) / (2 * sigma * sigma * math.sqrt(math.pi))
    by_sigma = -y / sigma - np.real(slope * z) * math.sqrt(2)
    return np.real(slope), by_sigma, -np.imag(slope)


# Exponential integrals.


def expn_slope(y: Any, n: Any, x: Any) -> Any:
    n = np.trunc(n)  # as SciPy does
    return np.where(n == 0, -np.exp(-x) * (1 + x) / (x * x), -special.expn(np.maximum(n - 1, 0), x))


# Others.


def exprel_slope(x: Any) -> Any:
    return _where(
        np.abs(x) < 0.05, x, _exprel_series, lambda x: (np.exp(x) - special.exprel(x)) / x
    )


def _exprel_series(x: Any) -> Any:
    total: Any = 0.0
    for n in range(9, 0, -1):
        total = total * x + n / math.factorial(n + 1)
    return total


def kolmogorov_slope(y: Any, x: Any) -> Any:
    """By one of the two series of theta functions, whichever converges."""
    small = x < 0.9
    near, far = np.where(small & (x > 0), x, 0.5), np.where(small, 1.0, x)
    total: Any = 0.0
    for n in range(1, 8):
        square = ((2 * n - 1) * math.pi) ** 2 / 8
        total = total + (2 * square / near**4 - 1 / near**2) * np.exp(-square / near**2)
    alternating: Any = 0.0
    for n in range(1, 8):
        alternating = alternating + (-1) ** n * 8 * n * n * far * np.exp(-2 * n * n * far * far)
    return np.where(x > 0, np.where(small, -math.sqrt(2 * math.pi) * total, alternating), 0.0)


def dawsn_slope(y: Any, x: Any) -> Any:
    return _where(
        np.abs(x) > 12, x, lambda x: -asymptotic(x), lambda x: 1 - 2 * x * special.dawsn(x)
    )


def erfcx_slope(y: Any, x: Any) -> Any:
    """For large x the sum of `dawsn_slope` with alternating signs: it is the same function on the
    imaginary axis.
    """

    def far(x: Any) -> Any:
        return _TWO_OVER_ROOT_PI * asymptotic(x, sign=-1)

    return _where(x > 12, x, far, lambda x: 2 * x * special.erfcx(x) - _TWO_OVER_ROOT_PI)


def log_ndtr(x: Any) -> Any:
    def low(x: Any) -> Any:
        return np.log(special.erfcx(-x / math.sqrt(2)) / 2) - x * x / 2

    return _where(x < -1, x, low, lambda x: np.log1p(-special.erfc(x / math.sqrt(2)) / 2), -2.0)


def owens_t(y: Any, h: Any, a: Any) -> Any:
    return (
        -np.exp(-h * h / 2) * special.erf(a * h / math.sqrt(2)) / math.sqrt(8 * math.pi),
        np.exp(-h * h * (1 + a * a) / 2) / (2 * math.pi * (1 + a * a)),
    )


def powm1(v: Any, x: Any, y: Any) -> Any:
    return (
        lambda: y * np.power(x, np.where(y == 0, 0.0, y - 1)),
        lambda: special.xlogy(np.power(x, y), x),
    )


def fresnel(values: Any, x: Any) -> Any:
    return (np.sin(math.pi / 2 * x * x),), (np.cos(math.pi / 2 * x * x),)


def sici(values: Any, x: Any) -> Any:
    return (sinc(x, -1),), (np.cos(x) / x,)


def sinc(x: Any, sign: int) -> Any:
    """sinh(x) / x, or sin(x) / x for the sign -1.

    Near zero it is a series, since derivatives of the quotient cancel.
    """

    def series(x: Any) -> Any:
        total: Any = 1.0
        for n in range(9, 0, -1):
            total = 1 + sign * x * x / (2 * n * (2 * n + 1)) * total
        return total

    sine = np.sinh if sign > 0 else np.sin
    return _where(np.abs(x) < 1, x, series, lambda x: sine(x) / x)


def spence_slope(y: Any, x: Any) -> Any:
    def near_one(x: Any) -> Any:
        return -(1 - (x - 1) * (0.5 - (x - 1) * (1 / 3 - (x - 1) / 4)))

    return _where(np.abs(x - 1) < 1e-4, x, near_one, lambda x: np.log(x) / (1 - x), 2.0)
