"""Hypergeometric functions.

Source: NIST Digital Library of Mathematical Functions, 13.3, 15.5, 16.3.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from .parameters import by_difference, later, to_pole
from .ufunc_rules import alike, in_double, ruled

#: Into how many parts an integral is divided.
_NODES = 600


def _integral(a: Any, b: Any, x: Any) -> Any:
    """hyperu for a from 1/4 on and x > 0, by its integral; NaN elsewhere.

    DLMF 13.4.4.

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


def _right_hyperu(a: Any, b: Any, x: Any) -> Any:
    """By the integral, direct or after Kummer's transformation (DLMF 13.2.40).

    SciPy's hyperu(1.3, 2, 11.3) is off by 2e-7.

    The SciPy value where neither converges and a transformation confirms it; NaN elsewhere.
    """
    a, b, x = np.broadcast_arrays(a, b, x)
    power, mirrored = np.exp((1 - b) * np.log(x)), (a - b + 1, 2 - b, x)
    integral, plain = _integral(a, b, x), special.hyperu(a, b, x)
    integral = np.where(np.isnan(integral), power * _integral(*mirrored), integral)
    alike = np.abs(plain - power * special.hyperu(*mirrored)) <= 1e-10 * np.abs(plain)
    ends = (a <= 0) & (a == np.floor(a))  # a polynomial
    return np.where(np.isnan(integral), np.where(alike | ends, plain, np.nan), integral)


hyperu_checked: Callable[..., Any] = ruled(
    "hyperu", in_double(_right_hyperu), lambda y, a, b, x: -a * hyperu_checked(a + 1, b + 1, x),
    orders=2, what="first two arguments",
)  # fmt: skip


limit_by = [by_difference("hyp0f1", special.hyp0f1, 0, to_pole)]
kummer_by = [
    by_difference("hyp1f1", special.hyp1f1, 0), by_difference("hyp1f1", special.hyp1f1, 1, to_pole)
]  # fmt: skip


def kummer_slope(a: Any, b: Any, x: Any) -> Any:
    line = (a == -1) & (b == -1)  # 1 + x, as SciPy has it, though the next function is open
    first, second = (parameter + 1 - line * parameter for parameter in (a, b))  # which are 1 there
    return a / b * np.where(line, 1.0, special.hyp1f1(first, second, x))


def gauss_partials(y: Any, a: Any, b: Any, c: Any, x: Any) -> tuple[Any, ...]:
    return *later(gauss_by, a, b, c, x), lambda: a * b / c * _gauss_checked(a + 1, b + 1, c + 1, x)


def _right_gauss(a: Any, b: Any, c: Any, x: Any) -> Any:
    """SciPy's function where Pfaff's or Euler's transformation confirms it (DLMF 15.8.1), else NaN:
    SciPy's hyp2f1(32.2, 32.2, 2, -7.2) is wrong.
    """
    if any(np.asarray(part).dtype.kind == "c" for part in (a, b, c, x)):
        return special.hyp2f1(a, b, c, x)
    dtype = alike(a, b, c, x)
    a, b, c, x = [np.asarray(part, float) for part in (a, b, c, x)]
    with np.errstate(all="ignore"):
        values, below = special.hyp2f1(a, b, c, x), x < 0
        other = special.hyp2f1(np.where(below, a, c - a), c - b, c, np.where(below, x / (x - 1), x))
        other = other * np.exp(np.where(below, -a, c - a - b) * np.log1p(-x))
        known = (np.abs(values - other) <= 1e-10 * np.abs(values)) | ~np.isfinite(values)
    return np.asarray(np.where(known, values, np.nan), dtype)


_gauss_checked: Callable[..., Any] = ruled("hyp2f1", _right_gauss, gauss_partials)
gauss_by = [
    by_difference(
        "hyp2f1",
        lambda a, b, c, x: np.where(to_pole(c) == 0, np.nan, _right_gauss(a, b, c, x)),
        place,
        room,
    )
    for place, room in enumerate((None, None, to_pole))
]
