"""Elliptic integrals and functions, by Carlson's integrals, which cancel nowhere.

Source: NIST Digital Library of Mathematical Functions, 19.16, 19.18, 19.25, 22.13, 22.16.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from .ufunc_rules import alike, ruled

# Legendre's integrals. By m, of the integral to an amplitude within a quarter period, with this
# sine and cosine.


def first_by_m(m: Any, sine: Any = 1.0, cosine: Any = 0.0) -> Any:
    return sine**3 / 6 * special.elliprd(cosine**2, 1.0, 1 - m * sine**2)


def second_by_m(m: Any, sine: Any = 1.0, cosine: Any = 0.0) -> Any:
    return -(sine**3) / 6 * special.elliprd(cosine**2, 1 - m * sine**2, 1.0)


def incomplete(by_m: Callable[..., Any], phi: Any, m: Any) -> Any:
    """For any amplitude.

    Quarter periods are complete integrals, so that only what is left depends on phi.
    """
    turns = np.round(phi / math.pi)
    rest = phi - turns * math.pi
    full_periods = np.where(turns == 0, 0.0, 2 * turns * by_m(np.where(turns == 0, 0.5, m)))
    return full_periods + by_m(m, np.sin(rest), np.cos(rest))


def jacobi(values: Any, u: Any, m: Any) -> Any:
    sn, cn, dn, phi = values
    by_m = -incomplete(first_by_m, phi, m) * dn  # of the amplitude, at a fixed u
    return (
        (cn * dn, cn * by_m),
        (-sn * dn, -sn * by_m),
        (-m * sn * cn, -(sn * sn / 2 + m * sn * cn * by_m) / dn),
        (dn, by_m),
    )


def agm(a: Any, b: Any) -> Any:
    """By the complete integral, whose complementary parameter is small where one number is much
    smaller than the other.
    """
    return math.pi / 4 * (a + b) / special.ellipkm1(4 * (a / (a + b)) * (b / (a + b)))


# Carlson's integrals.


def slopes(scale: float, *powers: float) -> Callable[..., Any]:
    """The derivatives of `scale` times the integral of the product of (t + argument)^-power over
    positive t.
    """

    def partials(y: Any, *args: Any) -> Any:
        raised = [
            _integral(*[power + (n == m) for m, power in enumerate(powers)])
            for n in range(len(powers))
        ]
        return tuple(
            [lambda n=n: -scale * powers[n] * raised[n](*args) for n in range(len(powers))]
        )

    return partials


@functools.cache
def _integral(*powers: float) -> Callable[..., Any]:
    """By the trapezoidal rule in log(t), which converges geometrically."""

    def value(*args: Any) -> Any:
        dtype = alike(*args)
        z = np.stack(
            np.broadcast_arrays(*[np.asarray(x, np.result_type(dtype, float)) for x in args])
        )
        weights = np.reshape(powers, (-1, *[1] * (z.ndim - 1)))
        with np.errstate(all="ignore"):
            sizes = np.log(np.abs(z))
            # the power with which it rises there
            at_zero = np.sum(np.where(z == 0, weights, 0.0), axis=0)
            low = np.min(np.where(z == 0, np.inf, sizes), axis=0) - 40 / (1 - at_zero)
            high = np.max(sizes, axis=0) + 40 / (sum(powers) - 1)
            step = (high - low) / 400
            logs = low + step * np.arange(401.0).reshape(-1, *[1] * low.ndim)
            terms = np.exp(
                logs - np.sum([w * np.log(np.exp(logs) + x) for w, x in zip(powers, z)], axis=0)
            )
            return np.asarray(np.where(at_zero < 1, step * np.sum(terms, axis=0), np.inf), dtype)

    return ruled("elliprd, differentiated,", value, slopes(1.0, *powers))


#: Closer arguments than this take symmetric integrals.
_NEAR = 0.1


def elementary(y: Any, a: Any, b: Any) -> Any:
    """By the closed forms, or from the symmetric integrals for equal arguments, where the closed
    forms are 0 / 0.
    """
    near = np.abs(b - a) < _NEAR * np.abs(b)
    gap = np.where(near, 1.0, b - a)
    one, other = np.where(near, a, 1.0), np.where(near, b, 1.0)
    by_a = np.where(near, -special.elliprd(other, other, one) / 6, (y - 1 / np.sqrt(a)) / (2 * gap))
    return by_a, np.where(
        near, -special.elliprd(one, other, other) / 3, (np.sqrt(a) / b - y) / (2 * gap)
    )


def symmetric(y: Any, a: Any, b: Any, c: Any) -> Any:
    return (
        -special.elliprd(b, c, a) / 6,
        -special.elliprd(a, c, b) / 6,
        -special.elliprd(a, b, c) / 6,
    )
