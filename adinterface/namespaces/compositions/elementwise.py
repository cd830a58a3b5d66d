"""Compositions element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .composing import COMPOSITIONS, composition, is_complex, root


def _binary(operation: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda xp, x, y, /: operation(x, y)


COMPOSITIONS |= {
    "add": _binary(lambda x, y: x + y),
    "subtract": _binary(lambda x, y: x - y),
    "multiply": _binary(lambda x, y: x * y),
    "divide": _binary(lambda x, y: x / y),
    "pow": _binary(lambda x, y: x**y),
    "equal": _binary(lambda x, y: x == y),
    "not_equal": _binary(lambda x, y: x != y),
    "less": _binary(lambda x, y: x < y),
    "less_equal": _binary(lambda x, y: x <= y),
    "greater": _binary(lambda x, y: x > y),
    "greater_equal": _binary(lambda x, y: x >= y),
    "bitwise_and": _binary(lambda x, y: x & y),
    "bitwise_or": _binary(lambda x, y: x | y),
    "bitwise_xor": _binary(lambda x, y: x ^ y),
    "bitwise_left_shift": _binary(lambda x, y: x << y),
    "bitwise_right_shift": _binary(lambda x, y: x >> y),
    "logical_and": _binary(lambda x, y: x & y),
    "logical_or": _binary(lambda x, y: x | y),
    "logical_xor": _binary(lambda x, y: x ^ y),
    "logical_not": lambda xp, x, /: ~x,
    "bitwise_invert": lambda xp, x, /: ~x,
    "negative": lambda xp, x, /: -x,
    "positive": lambda xp, x, /: x,
    "square": lambda xp, x, /: x * x,
    "reciprocal": lambda xp, x, /: 1.0 / x,
    "isnan": lambda xp, x, /: x != x,
    "isinf": lambda xp, x, /: xp.abs(x) == math.inf,
    "isfinite": lambda xp, x, /: xp.abs(x) < math.inf,
}


@composition
def abs(xp: Any, x: Any, /) -> Any:
    if is_complex(xp, x):
        return root(xp, xp.real(x) ** 2 + xp.imag(x) ** 2)
    return xp.where(x < 0, -x, x)


@composition
def sign(xp: Any, x: Any, /) -> Any:
    return xp.astype(x > 0, x.dtype) - xp.astype(x < 0, x.dtype)


@composition
def ceil(xp: Any, x: Any, /) -> Any:
    return -xp.floor(-x)


@composition
def trunc(xp: Any, x: Any, /) -> Any:
    return xp.where(x < 0, xp.ceil(x), xp.floor(x))


@composition
def round(xp: Any, x: Any, /) -> Any:
    """To the nearest integer; halves go to the even one."""
    down = xp.floor(x)
    rest, odd = x - down, down - 2.0 * xp.floor(down / 2.0)
    up = (rest > 0.5) | ((rest == 0.5) & (odd == 1.0))
    return xp.where(up, down + 1.0, down)


@composition
def signbit(xp: Any, x: Any, /) -> Any:
    return (x < 0) | ((x == 0) & (1.0 / xp.where(x == 0, x, xp.ones_like(x)) < 0))


@composition
def copysign(xp: Any, x: Any, y: Any, /) -> Any:
    turned = xp.signbit(x) != xp.signbit(y)
    return xp.where(turned, -x, x + xp.zeros_like(y))


@composition
def maximum(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.where(x > y, x, y)


@composition
def minimum(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.where(x < y, x, y)


@composition
def clip(xp: Any, x: Any, /, min: Any = None, max: Any = None) -> Any:
    result = x
    if min is not None:
        result = xp.where(result <= min, min + xp.zeros_like(x), result)
    if max is not None:
        result = xp.where(result >= max, max + xp.zeros_like(x), result)
    return xp.astype(result, x.dtype)


@composition
def floor_divide(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.floor(x / y)


@composition
def remainder(xp: Any, x: Any, y: Any, /) -> Any:
    return x - xp.floor(x / y) * y


@composition
def hypot(xp: Any, x: Any, y: Any, /) -> Any:
    return root(xp, x * x + y * y)


@composition
def logaddexp(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.maximum(x, y) + xp.log1p(xp.exp(-xp.abs(x - y)))


@composition
def log2(xp: Any, x: Any, /) -> Any:
    return xp.log(x) / math.log(2.0)


@composition
def log10(xp: Any, x: Any, /) -> Any:
    return xp.log(x) / math.log(10.0)


@composition
def log1p(xp: Any, x: Any, /) -> Any:
    """Source: Goldberg, What every computer scientist should know about floating-point arithmetic,
    1991, theorem 4.
    """
    u = 1.0 + x
    return xp.log(u) - ((u - 1.0) - x) / u


@composition
def exp(xp: Any, x: Any, /) -> Any:
    """A power of e, which is rounded; the factor corrects that.

    Where the clipped x matters, the power is zero or infinite.
    """
    if is_complex(xp, x):
        return xp.exp(xp.real(x)) * (xp.cos(xp.imag(x)) + 1j * xp.sin(xp.imag(x)))
    base = np.asarray(math.e, xp.dtype_name(x))
    rest = (math.e - float(base) + 1.4456468917292502e-16) / math.e
    return xp.pow(xp.asarray(base), x) * (1.0 + rest * xp.clip(x, -1e3, 1e3))


@composition
def expm1(xp: Any, x: Any, /) -> Any:
    """Source: Kahan's formula, in Higham, Accuracy and stability of numerical algorithms, 2002,
    section 1.14.1.
    """
    u = xp.exp(x)
    small = u == 1.0
    logarithm = xp.log(xp.where(small, xp.ones_like(x) + 1.0, u))
    return xp.where(small, x, (u - 1.0) * x / logarithm)


def _odd(xp: Any, x: Any, function: Callable[[Any], Any]) -> Any:
    """An odd function, from its values at non-negative x."""
    positive = xp.where(x < 0, -x, x)
    return xp.where(x < 0, -function(positive), function(positive))


@composition
def tanh(xp: Any, x: Any, /) -> Any:
    def tanh(x: Any) -> Any:
        e = xp.expm1(-2.0 * x)
        return -e / (e + 2.0)

    return _odd(xp, x, tanh)


@composition
def sinh(xp: Any, x: Any, /) -> Any:
    e = xp.expm1(x)
    return (e + e / (e + 1.0)) / 2.0


@composition
def cosh(xp: Any, x: Any, /) -> Any:
    return (xp.exp(x) + xp.exp(-x)) / 2.0


@composition
def sin(xp: Any, x: Any, /) -> Any:
    t = xp.tan(x / 2.0)
    return 2.0 * t / (1.0 + t * t)


@composition
def cos(xp: Any, x: Any, /) -> Any:
    t = xp.tan(x / 2.0)
    return 2.0 / (1.0 + t * t) - 1.0


@composition
def tan(xp: Any, x: Any, /) -> Any:
    return xp.sin(x) / xp.cos(x)


@composition
def acos(xp: Any, x: Any, /) -> Any:
    return math.pi / 2.0 - xp.asin(x)


@composition
def atan(xp: Any, x: Any, /) -> Any:
    return xp.asin(x / xp.sqrt(1.0 + x * x))


@composition
def atan2(xp: Any, x: Any, y: Any, /) -> Any:
    """The angle of the point (y, x). Each branch divides by the larger of both."""
    flat = xp.abs(y) >= xp.abs(x)
    one = xp.ones_like(x + y)
    by_y = xp.atan(x / xp.where(flat, y + one * 0.0, one))
    by_x = xp.atan(y / xp.where(flat, one, x + one * 0.0))
    half = math.pi / 2.0
    turned = xp.where(xp.signbit(x), -half * one, half * one)
    shifted = xp.where(xp.signbit(y), by_y + 2.0 * turned, by_y)
    return xp.where(flat, shifted, turned - by_x)


@composition
def asinh(xp: Any, x: Any, /) -> Any:
    return _odd(xp, x, lambda x: xp.log1p(x + x * x / (1.0 + xp.sqrt(x * x + 1.0))))


@composition
def acosh(xp: Any, x: Any, /) -> Any:
    return xp.log(x + xp.sqrt(x - 1.0) * xp.sqrt(x + 1.0))


@composition
def atanh(xp: Any, x: Any, /) -> Any:
    return xp.log1p(2.0 * x / (1.0 - x)) / 2.0


@composition
def real(xp: Any, x: Any, /) -> Any:
    if is_complex(xp, x):
        raise TypeError("The engine has no real() of complex arrays.")
    return x


@composition
def imag(xp: Any, x: Any, /) -> Any:
    if is_complex(xp, x):
        raise TypeError("The engine has no imag() of complex arrays.")
    return xp.zeros_like(x)


@composition
def conj(xp: Any, x: Any, /) -> Any:
    if is_complex(xp, x):
        raise TypeError("The engine has no conj() of complex arrays.")
    return x
