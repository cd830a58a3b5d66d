"""The functions of scipy.special that are Python code around ufuncs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ..arrays import Array, inexact
from ..dispatch import of_scipy, unsupported
from .parameters import by_difference
from .ufunc_rules import ruled

# Sums of exponentials
# ------------------------------------------------------------------------------------------------


def _shift(a: Array, axis: Any) -> Array:
    """The largest element, where it is finite. It is subtracted before the exponential."""
    from ...rules.ignored import ignore_derivatives

    top = ignore_derivatives(np.max(a, axis=axis, keepdims=True))
    return np.where(np.isfinite(top), top, 0.0)


@of_scipy(special.logsumexp)
def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    a = inexact(a)
    if a.dtype.kind == "c":
        raise unsupported(
            "scipy.special.logsumexp", "a complex argument", "Write np.log(np.sum(np.exp(a)))."
        )
    if b is not None:
        b = inexact(b)
        a = a + 0 * b
        a = np.where(b == 0, -np.inf, a)
    top = _shift(a, axis)
    terms = np.exp(a - top)
    total = np.sum(terms if b is None else b * terms, axis=axis, keepdims=True)
    sign = np.sign(total)
    result = np.log(np.abs(total) if return_sign else total) + top
    if not keepdims:
        result, sign = [
            np.squeeze(x, axis=tuple(range(len(x.shape))) if axis is None else axis)
            for x in (result, sign)
        ]
    return (result, sign) if return_sign else result


@of_scipy(special.softmax)
def softmax(x: Any, axis: Any = None) -> Array:
    x = inexact(x)
    terms = np.exp(x - _shift(x, axis))
    return terms / np.sum(terms, axis=axis, keepdims=True)


@of_scipy(special.log_softmax)
def log_softmax(x: Any, axis: Any = None) -> Array:
    x = inexact(x)
    shifted = x - _shift(x, axis)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


# Gamma
# ------------------------------------------------------------------------------------------------

_polygamma: Callable[..., Any] = ruled(
    "polygamma", special.polygamma, lambda y, n, x: _polygamma(n + 1, x), orders=1
)
#: By the first argument, of the two functions that have one and two arguments.
zeta_by_exponent = by_difference("zeta", special.zeta, 0, lambda s: np.abs(s - 1))
hurwitz_zeta: Callable[..., Any] = ruled(
    "zeta",
    special.zeta,
    lambda y, s, q: (lambda: zeta_by_exponent(s, q), lambda: -s * hurwitz_zeta(s + 1, q)),
)
riemann_zeta: Callable[..., Any] = ruled("zeta", special.zeta, lambda y, s: zeta_by_exponent(s))


@of_scipy(special.polygamma)
def polygamma(n: Any, x: Any) -> Array:
    x = inexact(x)
    result = _polygamma(n, x)
    return result.astype(x.dtype) if result.dtype != x.dtype else result


@of_scipy(special.zeta)
def zeta(x: Any, q: Any = None) -> Array:
    return riemann_zeta(inexact(x)) if q is None else hurwitz_zeta(inexact(x), inexact(q))


@of_scipy(special.multigammaln)
def multigammaln(a: Any, d: int) -> Array:
    a = inexact(a)
    total: Any = d * (d - 1) / 4 * math.log(math.pi)
    for n in range(d):
        total = total + special.gammaln(a - n / 2)
    return total


@of_scipy(special.factorial)
def factorial(n: Any) -> Array:
    return special.gamma(inexact(n) + 1)


@of_scipy(special.comb)
def comb(N: Any, k: Any, *, repetition: bool = False) -> Array:
    N, k = inexact(N), inexact(k)
    return special.binom(N + k - 1 if repetition else N, k)


@of_scipy(special.perm)
def perm(N: Any, k: Any) -> Array:
    N, k = inexact(N), inexact(k)
    return special.poch(N - k + 1, k)


# Others
# ------------------------------------------------------------------------------------------------

_lambertw = ruled(
    "lambertw",
    lambda k, z: special.lambertw(z, k),
    lambda w, k, z: np.exp(-w) / (1 + w),
    orders=1,
    what="branch",
)


@of_scipy(special.lambertw, ignored=("tol",))
def lambertw(z: Any, k: int = 0) -> Array:
    return _lambertw(k, inexact(z))


@of_scipy(special.diric)
def diric(x: Any, n: int) -> Array:
    x = inexact(x)
    below = np.sin(x / 2)
    flat = np.abs(below) < 1e-9
    turns = np.round(x / (2 * math.pi))
    limit = np.where(np.remainder(turns * (n - 1), 2) == 0, 1.0, -1.0)
    return np.where(flat, limit, np.sin(n * x / 2) / (n * np.where(flat, 1.0, below)))


def _spherical(
    name: str, scipy_function: Callable[..., Any], above: int, sign: int
) -> Callable[..., Any]:
    """A spherical Bessel function: its derivative is sign * (n f(n-1) + above (n+1) f(n+1)) / (2n +
    1).
    """
    rule = ruled(name, scipy_function, lambda y, n, z: slope(n, z), orders=1)

    def slope(n: Any, z: Any) -> Any:
        return (
            sign
            * (n * rule(np.maximum(n - 1, 0), z) + above * (n + 1) * rule(n + 1, z))
            / (2 * n + 1)
        )

    @of_scipy(scipy_function)
    def function(n: Any, z: Any, derivative: bool = False) -> Array:
        n = n if isinstance(n, int) else np.asarray(n)
        return slope(n, inexact(z)) if derivative else rule(n, inexact(z))

    return function


spherical_jn: Callable[..., Any] = _spherical("spherical_jn", special.spherical_jn, -1, 1)
spherical_yn: Callable[..., Any] = _spherical("spherical_yn", special.spherical_yn, -1, 1)
spherical_in: Callable[..., Any] = _spherical("spherical_in", special.spherical_in, 1, 1)
spherical_kn: Callable[..., Any] = _spherical("spherical_kn", special.spherical_kn, 1, -1)
