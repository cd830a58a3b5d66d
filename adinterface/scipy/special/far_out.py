"""Functions of `scipy.special` that are right for large arguments, from engine functions that are
right for small ones.

The rule of an engine often computes a small derivative as a difference of large numbers. For
i0e(x) it is i1e(x) - i0e(x), which cancels completely at x = 1e8. Each function here takes the
namespace and the engine functions that it needs. It is composed so that its derivatives of every
order are right too.

Sources: NIST Digital Library of Mathematical Functions, 5.5 (reflection), 8.7 (incomplete gamma)
and 10.40 (modified Bessel functions); Press and others, Numerical Recipes, 6.1, for the beta
function from gammaln.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from ...core.contract.errors import NumpyCodeError
from ...numpy_code.compositions.composing import Array

Native = Callable[..., Array]


def require(
    xp: ModuleType,
    valid: Array,
    value: Array,
    arguments: Sequence[Array],
    function: str,
    domain: str,
    remedy: str = "",
) -> Array:
    """`found`, if all is valid; an error if not.

    NaN, and so are the derivatives, in the places that are not valid where the engine does not know
    the numbers yet.

    remedy: a sentence of the error with a specific remedy, before the general ones.
    """
    try:
        right = bool(xp.all(valid))
    except (TypeError, RuntimeError):  # under jax.jit and torch.func.vmap
        gap = xp.where(valid, xp.zeros_like(value), xp.full_like(value, math.nan))
        for x in arguments:
            value = value + xp.where(valid, xp.zeros_like(x), x) * gap
        return value
    if not right:
        raise NumpyCodeError(
            f"numpy_function: scipy.special.{function} has a derivative here for {domain} alone."
            f" {remedy}Keep the arguments there, with np.where on the arguments, or use"
            " AutoFiniteDifferences()."
        )
    return value


def _is_narrow(x: Array) -> bool:
    return str(x.dtype).endswith("float32")


def polynomial(x: Array, coefficients: Sequence[float]) -> Array:
    """The polynomial with these coefficients, from the lowest power on."""
    total: Any = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


# Modified Bessel functions
# -------------------------------------------------------------------------------------------


def _hankel(order: int) -> list[float]:
    """The coefficients of Hankel's expansion of sqrt(2 pi x) exp(-x) I(x) in powers of 1 / x."""
    coefficients = [1.0]
    for n in range(1, 9):
        coefficients.append(-coefficients[-1] * (4 * order**2 - (2 * n - 1) ** 2) / (8 * n))
    return coefficients


_HANKEL = {order: _hankel(order) for order in (0, 1)}


#: Of I1(x) / x, in powers of (x / 2)^2.
_MODIFIED = [1 / (2 * math.factorial(n) * math.factorial(n + 1)) for n in range(9)]


def scaled_bessel(order: int) -> Callable[..., Array]:
    """exp(-|x|) I(x) of order 0 or 1.

    That of order 0 has at zero the slope to its right: parameters of distributions are not
    negative, and their code has the other factor, exp(x).
    """

    def series(xp: ModuleType, x: Array) -> Array:
        size = xp.abs(x)
        result = polynomial(1 / size, _HANKEL[order]) / xp.sqrt(size) / math.sqrt(2 * math.pi)
        return xp.copysign(result, x) if order else result

    def near_zero(xp: ModuleType, x: Array) -> Array:
        """The power series, since derivatives of order 1 cancel."""
        if not order:
            return xp.exp(-x) * (1 + x * x / 4 + x**4 / 64)
        return x * xp.exp(-x * xp.sign(x)) * polynomial(x * x / 4, _MODIFIED)

    def code(xp: ModuleType, native: Native, x: Array) -> Array:
        near = xp.abs(x) < 0.5 if order else x == 0
        far = xp.abs(x) > 200
        result = xp.where(
            far,
            series(xp, xp.where(far, x, xp.full_like(x, 1e4))),
            native(xp.where(near | far, xp.ones_like(x), x)),
        )
        return xp.where(near, near_zero(xp, xp.where(near, x, xp.zeros_like(x))), result)

    return code


# Gamma and what is made of it
# ----------------------------------------------------------------------------------------


def sine_of_pi(xp: ModuleType, x: Array) -> Array:
    """sin(pi x), which is zero at integers."""
    integer = xp.round(x)
    return _sine_of_pi(xp, integer, x - integer)


def _sine_of_pi(xp: ModuleType, integer: Array, part: Array) -> Array:
    """sin(pi (whole + part)) for a whole number and a part between -1 and 1."""
    return xp.sin(math.pi * part) * (1 - 2 * xp.remainder(integer, xp.full_like(part, 2.0)))


def rgamma(xp: ModuleType, gammaln: Native, x: Array) -> Array:
    """1 / gamma(x), which has zeros where gamma has poles, and a derivative there."""
    left = x < 0.5
    log = gammaln(xp.where(left, 1 - x, x))
    sine = sine_of_pi(xp, xp.where(left, x, xp.full_like(x, 0.25)))
    reflected = xp.exp(xp.where(left, log, xp.zeros_like(x))) * sine / math.pi
    reflected = xp.where((sine == 0) & (log > 709), xp.zeros_like(x), reflected)
    return xp.where(left, reflected, xp.exp(-xp.where(left, xp.zeros_like(x), log)))


def digamma(xp: ModuleType, native: Native, x: Array) -> Array:
    """By reflection, of negative numbers."""
    left = x < -0.5
    poles = left & (x == xp.round(x))
    below = xp.where(left & xp.logical_not(poles), x, xp.full_like(x, -0.75))
    reflected = native(1 - below) - math.pi / xp.tan(math.pi * (below - xp.round(below)))
    result = xp.where(left, reflected, native(xp.where(left, xp.ones_like(x), x)))
    result = xp.where(poles, xp.full_like(x, math.nan), result)
    return xp.where(x == 0, -xp.copysign(xp.full_like(x, math.inf), x), result)


def log_rise(xp: ModuleType, gammaln: Native, polygamma: Native, a: Array, b: Array) -> Array:
    """log(gamma(a + b) / gamma(a)) for positive a and a + b, also where b is so small that both
    gammas are nearly equal.
    """
    small = xp.abs(b) < (0.05 if _is_narrow(a) else 0.01) * a  # the series has six terms
    step = xp.where(small, b, xp.zeros_like(b))
    series = step * polynomial(step, [polygamma(n, a) / math.factorial(n + 1) for n in range(6)])
    other = xp.where(small, xp.ones_like(b), b)
    return xp.where(small, series, gammaln(a + other) - gammaln(a))


def _log_of_beta(xp: ModuleType, gammaln: Native, polygamma: Native, a: Array, b: Array) -> Array:
    """The logarithm of |beta(a, b)| for a + b > 0."""
    swap = a < b
    larger, smaller = xp.where(swap, b, a), xp.where(swap, a, b)
    return gammaln(smaller) - log_rise(xp, gammaln, polygamma, larger, smaller)


def betaln(xp: ModuleType, gammaln: Native, polygamma: Native, a: Array, b: Array) -> Array:
    valid = _has_beta(xp, a, b)
    result = _log_of_beta(xp, gammaln, polygamma, *_where_valid(xp, valid, a, b))
    return require(xp, valid, result, (a, b), "betaln", "a + b > 0")


def beta(xp: ModuleType, gammaln: Native, polygamma: Native, a: Array, b: Array) -> Array:
    arguments, valid = (a, b), _has_beta(xp, a, b)
    a, b = _where_valid(xp, valid, a, b)
    smaller = xp.minimum(a, b)
    odd = (
        (smaller < 0)
        & (smaller != xp.floor(smaller))
        & (xp.remainder(xp.floor(smaller), xp.full_like(a, 2.0)) == 1)
    )
    size = xp.exp(_log_of_beta(xp, gammaln, polygamma, a, b))
    return require(xp, valid, xp.where(odd, -size, size), arguments, "beta", "a + b > 0")


def _has_beta(xp: ModuleType, a: Array, b: Array) -> Array:
    return (a + b > 0) | xp.isnan(a + b)


def _where_valid(xp: ModuleType, valid: Array, *arguments: Array) -> list[Array]:
    return [xp.where(valid, x, xp.ones_like(x)) for x in arguments]


def binom(xp: ModuleType, gammaln: Native, polygamma: Native, n: Array, k: Array) -> Array:
    """gamma(n + 1) / gamma(n - k + 1) / gamma(k + 1).

    By reflection at its zeros, where the divisors have poles.
    """
    arguments, valid = (n, k), (n > -1) | xp.isnan(n) | xp.isnan(k)
    n, k = _where_valid(xp, valid, n, k)
    rest = n - k
    small = xp.where(rest < k, rest, k)
    inside = small > -0.5
    k_in = xp.where(inside, small, xp.zeros_like(n))
    middle = xp.exp(log_rise(xp, gammaln, polygamma, n - k_in + 1, k_in) - gammaln(k_in + 1))
    k_out = xp.where(inside, xp.full_like(n, -1.5), small)
    # Whole numbers and the rest apart: n - k loses a small n next to a large k.
    whole_n, whole_k = xp.round(n), xp.round(k)
    integer = xp.where(rest < k, whole_n - whole_k, whole_k)
    part = xp.where(rest < k, (n - whole_n) - (k - whole_k), k - whole_k)
    sine = -_sine_of_pi(
        xp,
        xp.where(inside, xp.ones_like(n), integer),
        xp.where(inside, xp.full_like(n, 0.25), part),
    )
    outer = xp.exp(_log_of_beta(xp, gammaln, polygamma, n + 1, -k_out)) * sine / math.pi
    result = xp.where(inside, middle, outer)
    return require(xp, valid, result, arguments, "binom", "n > -1")


def poch(xp: ModuleType, gammaln: Native, polygamma: Native, z: Array, m: Array) -> Array:
    """gamma(z + m) / gamma(z), with the factor that is zero at z = 0 in front."""
    arguments = (z, m)
    valid = (((z > 0) & (z + m > 0)) | ((z == 0) & (m > 0))) | xp.isnan(z + m)
    z, m = _where_valid(xp, valid, z, m)
    # where the quotient's derivative by z would be a difference of equal numbers
    near = xp.abs(m) < z / 2
    quotient = xp.where(near, 1 - m / (z + m), z / (z + m))
    result = quotient * xp.exp(log_rise(xp, gammaln, polygamma, z + 1, m))
    return require(xp, valid, result, arguments, "poch", "z >= 0 and z + m > 0")


# Incomplete gamma functions
# ------------------------------------------------------------------------------------------

#: Of log(gamma(1 + a)) in powers of a: -gamma, then (-1)**n zeta(n) / n.
_LOG_GAMMA = [
    -0.5772156649015329,
    0.8224670334241132,
    -0.40068563438653143,
    0.27058080842778454,
    -0.20738555102867398,
]


def small_shape_complement(xp: ModuleType, a: Array, x: Array) -> Array:
    """gammaincc(a, x) for a below 1e-3 and x below 1, where it is a difference of numbers near
    1.
    """
    log = xp.log(x)
    exponent = a * (log - polynomial(a, _LOG_GAMMA))
    total: Any = xp.zeros_like(x)
    for n in range(18, 0, -1):
        total = total + (-x) ** n / (float(math.factorial(n)) * (a + n))
    return -xp.expm1(exponent) - a * xp.exp(exponent) * total
