"""Functions of scipy.special that the Array API can express. Each takes the namespace first."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ...numpy_code.compositions.composing import COMPOSITIONS, Array, broadcast, inexact, promoted
from ...numpy_code.compositions.elementwise import logaddexp
from .far_out import polynomial


def of_floats(name: str) -> Callable[..., Array]:
    """The NumPy function of this name, in float64 for integers.

    NumPy computes small integers in a narrower float.
    """
    numpys = COMPOSITIONS[name]
    return lambda xp, x: numpys(xp, inexact(xp, x))


def _inexact(xp: ModuleType, *values: Any) -> list[Array]:
    return [inexact(xp, x) for x in promoted(xp, *values)]


def _guarded(xp: ModuleType, x: Array, bad: Array) -> Array:
    """x with 1 where the unused branch would have an infinite derivative."""
    return xp.where(bad, xp.ones_like(x), x)


def expit(xp: ModuleType, x: Array) -> Array:
    return (xp.tanh(inexact(xp, x) / 2) + 1) / 2


def log_expit(xp: ModuleType, x: Array) -> Array:
    x = inexact(xp, x)
    return -logaddexp(xp, xp.zeros_like(x), -x)


def exp10(xp: ModuleType, x: Array) -> Array:
    x = inexact(xp, x)
    return xp.pow(10 * xp.ones_like(x), x)


def cosm1(xp: ModuleType, x: Array) -> Array:
    return -2 * xp.square(xp.sin(inexact(xp, x) / 2))


def _times_log(xp: ModuleType, x: Array, y: Array, least: float, log: Any) -> Array:
    """x log(y), with 0 log(0) = 0.

    Its derivative by y is 0 there too, and that by x is log(y) wherever that is finite.
    """
    zero = (x == 0) & (y <= least)
    return xp.where(
        zero, xp.zeros_like(x * y), x * log(xp.where(zero, xp.full_like(y, least + 1), y))
    )


def xlogy(xp: ModuleType, x: Any, y: Any) -> Array:
    x, y = broadcast(xp, *_inexact(xp, x, y))
    return _times_log(xp, x, y, 0.0, xp.log)


def xlog1py(xp: ModuleType, x: Any, y: Any) -> Array:
    x, y = broadcast(xp, *_inexact(xp, x, y))
    return _times_log(xp, x, y, -1.0, xp.log1p)


def entr(xp: ModuleType, x: Array) -> Array:
    x = inexact(xp, x)
    positive = x > 0
    result = -x * xp.log(_guarded(xp, x, xp.logical_not(positive)))
    # 0, with the infinite derivative that -x log(x) has there
    at_zero = xp.sqrt(xp.where(x == 0, x, xp.ones_like(x)))
    return xp.where(
        positive, result, xp.where(x == 0, at_zero, xp.where(x < 0, xp.full_like(x, -math.inf), x))
    )


def rel_entr(xp: ModuleType, x: Any, y: Any) -> Array:
    x, y = broadcast(xp, *_inexact(xp, x, y))
    positive = (x > 0) & (y > 0)
    x_in, y_in = (
        _guarded(xp, x, xp.logical_not(positive)),
        _guarded(xp, y, xp.logical_not(positive)),
    )
    near = (x_in < 2 * y_in) & (y_in < 2 * x_in)
    distance = xp.where(near, x_in - y_in, xp.zeros_like(x))
    log = xp.where(near, xp.log1p(distance / y_in), xp.log(x_in) - xp.log(y_in))
    at_zero = (x == 0) & (y >= 0)
    infinite = xp.where(at_zero, xp.zeros_like(x), xp.full_like(x, math.inf))
    return xp.where(positive, x * log, xp.where(xp.isnan(x + y), x + y, infinite))


def kl_div(xp: ModuleType, x: Any, y: Any) -> Array:
    """x log(x / y) - x + y.

    Near x = y computed as x (t - log1p(t)) with t = (y - x) / x, which does not cancel.
    """
    x, y = broadcast(xp, *_inexact(xp, x, y))
    near = xp.abs(y - x) < 0.02 * x
    ratio = xp.where(near, y - x, xp.zeros_like(x)) / _guarded(xp, x, xp.logical_not(near))
    series = -x * ratio * ratio * polynomial(ratio, _LOGARITHM[1:])
    return xp.where(near, series, rel_entr(xp, x, y) - x + y)


#: 1 / (n + 1)!, of expm1(t) / t; and (-1)**n / (n + 1), of log1p(t) / t.
_EXPONENTIAL = [1 / math.factorial(n + 1) for n in range(11)]
_LOGARITHM = [(-1) ** n / (n + 1) for n in range(11)]


def _power_transform(xp: ModuleType, log: Array, power: Array) -> Array:
    """expm1(power * log) / power, which is `log` where the power is zero."""
    product = power * log
    near = xp.abs(product) < 0.1
    series = log * polynomial(xp.where(near, product, xp.zeros_like(log)), _EXPONENTIAL)
    product = xp.where(near, xp.ones_like(log), product)
    low = product < -1  # there expm1 is -1 to rounding, and its rule would know nothing of the rest
    growth = xp.where(
        low, xp.exp(product) - 1, xp.expm1(xp.where(low, xp.zeros_like(log), product))
    )
    return xp.where(near, series, growth / xp.where(near, xp.ones_like(log), power))


def box_cox(shift: int) -> Callable[..., Array]:
    """The Box-Cox transform of shift + x, for a shift of 0 or 1."""

    def code(xp: ModuleType, x: Any, power: Any) -> Array:
        x, power = broadcast(xp, *_inexact(xp, x, power))
        zero = x == -shift
        inside = xp.where(zero, xp.full_like(x, 1.0 - shift), x)
        result = _power_transform(xp, xp.log1p(inside) if shift else xp.log(inside), power)
        # Of zero it is -1 / power for a positive power; SciPy takes one below 1e-19 for zero.
        finite = zero & (power >= 1e-19)
        of_zero = xp.where(
            finite, -1 / _guarded(xp, power, xp.logical_not(finite)), xp.full_like(power, -math.inf)
        )
        return xp.where(zero, of_zero, result)

    return code


def inv_boxcox(shift: int) -> Callable[..., Array]:
    """exp(log1p(power * y) / power) - shift, with a series for the exponent where that is a
    quotient of small numbers.
    """

    def code(xp: ModuleType, y: Any, power: Any) -> Array:
        y, power = broadcast(xp, *_inexact(xp, y, power))
        product = power * y
        near = xp.abs(product) < 0.02
        series = y * polynomial(xp.where(near, product, xp.zeros_like(y)), _LOGARITHM)
        exponent = xp.log1p(xp.where(near, xp.ones_like(y), product)) / _guarded(xp, power, near)
        exponent = xp.where(near, series, exponent)
        # there expm1 is -1 to rounding, and its rule would know nothing of the rest
        low = exponent < -1
        if not shift:
            return xp.exp(exponent)
        rise = xp.expm1(xp.where(low, xp.zeros_like(y), exponent))
        return xp.where(low, xp.exp(xp.where(low, exponent, xp.zeros_like(y))) - 1, rise)

    return code


def huber(xp: ModuleType, delta: Any, r: Any) -> Array:
    delta, r = broadcast(xp, *_inexact(xp, delta, r))
    size = xp.abs(r)
    inner = size <= delta
    result = xp.where(
        inner, xp.square(xp.where(inner, r, xp.zeros_like(r))) / 2, delta * (size - delta / 2)
    )
    return xp.where(delta < 0, xp.full_like(result, math.inf), result)


def pseudo_huber(xp: ModuleType, delta: Any, r: Any) -> Array:
    """delta**2 (sqrt(1 + (r / delta)**2) - 1), without the difference and without the squares that
    overflow.
    """
    delta, r = broadcast(xp, *_inexact(xp, delta, r))
    zero = delta == 0
    ratio = r / _guarded(xp, delta, zero)
    # Not hypot, which has no second derivative on every engine; beyond 1e8 the 1 is lost anyhow.
    large = xp.abs(ratio) > 1e8
    root = xp.sqrt(1 + xp.square(xp.where(large, xp.ones_like(r), ratio)))
    result = r * (r / (1 + xp.where(large, xp.abs(ratio), root)))
    result = xp.where(zero, xp.abs(r) * delta, result)
    return xp.where(delta < 0, xp.full_like(result, math.inf), result)
