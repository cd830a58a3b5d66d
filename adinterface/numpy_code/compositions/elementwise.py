"""Elementwise functions: the standard's under NumPy's names and promotion, and those that the
standard lacks.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np

from .composing import (
    COMPOSITIONS,
    REAL,
    Array,
    array,
    broadcast,
    cast,
    composition,
    conj,
    inexact,
    is_complex,
    is_exact,
    name_of,
    operands,
    promoted,
    sine_dtype,
)
from .standard_elementwise import maximum, minimum, pair_of_floats, truth


@composition("true_divide", "divide")
def true_divide(xp: ModuleType, a: Any, b: Any) -> Array:
    return xp.divide(*[x if type(x) in REAL else inexact(xp, x) for x in operands(xp, a, b)])


@composition("power")
def power(xp: ModuleType, a: Any, b: Any) -> Array:
    a, b = operands(xp, a, b)
    if type(a) not in REAL and type(b) not in REAL and name_of(a) == "bool":
        a, b = cast(xp, a, "int8"), cast(xp, b, "int8")
    return xp.pow(a, b)


@composition("floor_divide")
def floor_divide(xp: ModuleType, a: Any, b: Any) -> Array:
    a, b = promoted(xp, a, b)
    if is_exact(a):
        return xp.floor_divide(a, b)
    # Not the namespace's, which need not have a derivative, if only zero.
    remainder = xp.remainder(a, b)
    other_sign = xp.isinf(remainder)  # of an infinite b
    whole = xp.round((a - xp.where(other_sign, a, remainder)) / b)
    return xp.where(b == 0, a / b, xp.where(other_sign, xp.full_like(whole, -1.0), whole))


@composition("round", "around")
def round(xp: ModuleType, a: Array, decimals: int = 0, out: Any = None) -> Array:
    if is_exact(a) and decimals >= 0:
        return a
    if is_complex(a):  # older versions of PyTorch round no complex numbers
        return round(xp, xp.real(a), decimals) + 1j * round(xp, xp.imag(a), decimals)
    if decimals == 0:
        return xp.round(a)
    scale = 10.0 ** abs(decimals)
    scaled = (
        xp.round(a * scale) / scale if decimals > 0 else xp.round(inexact(xp, a) / scale) * scale
    )
    return cast(xp, scaled, name_of(a))


@composition("cbrt")
def cbrt(xp: ModuleType, x: Array) -> Array:
    x = sine_dtype(xp, x)
    zero = x == 0
    result = xp.copysign(xp.abs(xp.where(zero, xp.ones_like(x), x)) ** (1 / 3), x)
    # whose derivative is infinite there, too
    return xp.where(zero, xp.sqrt(xp.where(zero, x, xp.ones_like(x))), result)


@composition("heaviside")
def heaviside(xp: ModuleType, x: Any, at_zero: Any) -> Array:
    x, at_zero = [sine_dtype(xp, value) for value in promoted(xp, x, at_zero)]
    side = cast(xp, x > 0, name_of(x))
    return xp.where(x == 0, at_zero, xp.where(xp.isnan(x), x, side))


@composition("float_power")
def float_power(xp: ModuleType, a: Any, b: Any) -> Array:
    a, b = promoted(xp, a, b)
    dtype = "complex128" if is_complex(a) else "float64"
    return xp.pow(cast(xp, a, dtype), cast(xp, b, dtype))


def _without_nan(xp: ModuleType, a: Any, b: Any) -> tuple[Array, Array]:
    a, b = promoted(xp, a, b)
    return (a, b) if is_exact(a) else (xp.where(xp.isnan(a), b, a), xp.where(xp.isnan(b), a, b))


@composition("fmod")
def fmod(xp: ModuleType, a: Any, b: Any) -> Array:
    a, b = promoted(xp, a, b)
    magnitude = xp.remainder(xp.where(a < 0, -a, a), xp.abs(b))  # of abs there is no slope at 0
    return xp.where(a < 0, -magnitude, magnitude)


@composition("ldexp")
def ldexp(xp: ModuleType, x: Any, exponent: Any) -> Array:
    x = sine_dtype(xp, array(xp, x, exponent))
    return x * COMPOSITIONS["exp2"](xp, cast(xp, array(xp, exponent, x), name_of(x)))


@composition("logaddexp")
def logaddexp(xp: ModuleType, a: Any, b: Any) -> Array:
    """Engines' own have no derivative, or a wrong one, at infinity, where people put the logarithm
    of zero.
    """
    a, b = broadcast(xp, *pair_of_floats(xp, a, b))
    swap = a < b
    larger, smaller = xp.where(swap, b, a), xp.where(swap, a, b)
    alike = (a == b) & xp.isinf(a)
    distance = xp.where(alike, xp.zeros_like(a), smaller) - xp.where(
        alike, xp.zeros_like(a), larger
    )
    return xp.where(alike, (a + b) / 2, larger + xp.log1p(xp.exp(distance)))


@composition("modf")
def modf(xp: ModuleType, x: Array) -> tuple[Array, Array]:
    x = sine_dtype(xp, x)
    integral_part = xp.trunc(x)
    finite = xp.isfinite(x) | xp.isnan(x)
    return xp.where(finite, x - xp.where(finite, integral_part, 0.0), 0.0), integral_part


@composition("gcd")
def gcd(xp: ModuleType, a: Any, b: Any) -> Array:
    a, b = [xp.abs(x) for x in promoted(xp, a, b)]
    for _ in range(92):  # as many steps as any two 64-bit integers take
        done = b == 0
        a, b = (
            xp.where(done, a, b),
            xp.where(done, b, xp.remainder(a, xp.where(done, xp.ones_like(b), b))),
        )
    return a


@composition("lcm")
def lcm(xp: ModuleType, a: Any, b: Any) -> Array:
    a, b = [xp.abs(x) for x in promoted(xp, a, b)]
    common = gcd(xp, a, b)
    return xp.floor_divide(a, xp.where(common == 0, xp.ones_like(common), common)) * b


@composition("clip")
def clip(
    xp: ModuleType,
    a: Array,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Array:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is not None:
        a = maximum(xp, a, low)
    return a if high is None else minimum(xp, a, high)


@composition("nan_to_num")
def nan_to_num(
    xp: ModuleType,
    x: Array,
    copy: bool = True,
    nan: Any = 0.0,
    posinf: Any = None,
    neginf: Any = None,
) -> Array:
    if is_exact(x):
        return x
    if is_complex(x):
        parts = [
            nan_to_num(xp, part, copy, nan, posinf, neginf) for part in (xp.real(x), xp.imag(x))
        ]
        return parts[0] + 1j * parts[1]
    limit = float(np.finfo(name_of(x)).max)
    for where, value in (
        (xp.isnan(x), nan),
        (x == math.inf, limit if posinf is None else posinf),
        (x == -math.inf, -limit if neginf is None else neginf),
    ):
        x = xp.where(where, cast(xp, array(xp, value, x), name_of(x)), x)
    return x


@composition("sinc")
def sinc(xp: ModuleType, x: Array) -> Array:
    x = inexact(xp, x)  # not float16 for truth values and small integers
    near = xp.abs(x) < 1e-3
    squared = xp.square(math.pi * xp.where(near, x, xp.zeros_like(x)))
    series = 1 - squared / 6 * (1 - squared / 20 * (1 - squared / 42))
    scaled = math.pi * xp.where(near, xp.ones_like(x), x)
    return xp.where(near, series, xp.sin(scaled) / scaled)


@composition("special.i0")
def i0(xp: ModuleType, x: Array) -> Array:
    """The integral of exp(x cos t) by the trapezoidal rule, which is exact to rounding for |x| up
    to 700.
    """
    x = inexact(xp, x)
    nodes = np.cos(np.linspace(0, np.pi, 129)) - 1
    weights = np.full(129, 1 / 128)
    weights[[0, -1]] /= 2
    size = xp.abs(x)[..., None]
    dtype = name_of(x)
    terms = xp.exp(size * cast(xp, array(xp, nodes, x), dtype)) * cast(
        xp, array(xp, weights, x), dtype
    )
    return xp.exp(xp.abs(x)) * xp.sum(terms, axis=-1)


@composition("isclose")
def isclose(
    xp: ModuleType, a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Array:
    a, b = [inexact(xp, x) for x in promoted(xp, a, b)]
    close = ((xp.abs(a - b) <= atol + rtol * xp.abs(b)) & xp.isfinite(b)) | (a == b)
    return close | (xp.isnan(a) & xp.isnan(b)) if equal_nan else close


@composition("array_equal")
def array_equal(xp: ModuleType, a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    a1, a2 = promoted(xp, a1, a2)
    if tuple(a1.shape) != tuple(a2.shape):
        return False
    same = a1 == a2
    return bool(
        xp.all(same | (xp.isnan(a1) & xp.isnan(a2)) if equal_nan and not is_exact(a1) else same)
    )


@composition("array_equiv")
def array_equiv(xp: ModuleType, a1: Any, a2: Any) -> bool:
    a1, a2 = promoted(xp, a1, a2)
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return False
    return bool(xp.all(a1 == a2))


@composition("unwrap")
def unwrap(
    xp: ModuleType, p: Array, discont: Any = None, axis: int = -1, *, period: Any = 2 * math.pi
) -> Array:
    p = xp.moveaxis(inexact(xp, p), axis, -1)
    steps = p[..., 1:] - p[..., :-1]
    half = period / 2
    wrapped = xp.remainder(steps + half, xp.full_like(steps, period)) - half
    wrapped = xp.where((wrapped == -half) & (steps > 0), xp.full_like(steps, half), wrapped)
    jump = xp.where(
        xp.abs(steps) < (half if discont is None else discont),
        xp.zeros_like(steps),
        wrapped - steps,
    )
    return xp.moveaxis(
        xp.concat([p[..., :1], p[..., 1:] + xp.cumulative_sum(jump, axis=-1)], axis=-1), -1, axis
    )


@composition("where")
def where(xp: ModuleType, condition: Any, *choices: Any) -> Any:
    condition = truth(xp, array(xp, condition))
    return xp.where(condition, *promoted(xp, *choices)) if choices else tuple(xp.nonzero(condition))


def real(xp: ModuleType, val: Array) -> Array:
    return xp.real(val) if is_complex(val) else val


def imag(xp: ModuleType, val: Array) -> Array:
    return xp.imag(val) if is_complex(val) else xp.zeros_like(val)


@composition("angle")
def angle(xp: ModuleType, z: Array, deg: bool = False) -> Array:
    z = inexact(xp, z)
    result = xp.atan2(imag(xp, z), real(xp, z))
    return result * (180 / math.pi) if deg else result


COMPOSITIONS |= {
    "logical_not": lambda xp, x: xp.logical_not(truth(xp, x)),
    "absolute": lambda xp, x: x if name_of(x) == "bool" else xp.abs(x),
    "fabs": lambda xp, x: xp.abs(sine_dtype(xp, x)),
    "divmod": lambda xp, a, b: (floor_divide(xp, a, b), xp.remainder(*promoted(xp, a, b))),
    "reciprocal": lambda xp, x: (
        xp.where((x == 1) | (x == -1), x, xp.zeros_like(x)) if is_exact(x) else xp.reciprocal(x)
    ),
    "floor": lambda xp, x: x if is_exact(x) else xp.floor(x),
    "ceil": lambda xp, x: x if is_exact(x) else xp.ceil(x),
    **dict.fromkeys(("trunc", "fix"), lambda xp, x: x if is_exact(x) else xp.trunc(x)),
    "rint": lambda xp, x: xp.round(sine_dtype(xp, x)),
    "exp2": lambda xp, x: xp.pow(2 * xp.ones_like(sine_dtype(xp, x)), sine_dtype(xp, x)),
    **dict.fromkeys(("deg2rad", "radians"), lambda xp, x: sine_dtype(xp, x) * (math.pi / 180)),
    **dict.fromkeys(("rad2deg", "degrees"), lambda xp, x: sine_dtype(xp, x) * (180 / math.pi)),
    "fmax": lambda xp, a, b: maximum(xp, *_without_nan(xp, a, b)),
    "fmin": lambda xp, a, b: minimum(xp, *_without_nan(xp, a, b)),
    "logaddexp2": lambda xp, a, b: (
        logaddexp(xp, *[x * math.log(2) for x in pair_of_floats(xp, a, b)]) / math.log(2)
    ),
    "real": real,
    "imag": imag,
    "conjugate": conj,
    "isreal": lambda xp, x: imag(xp, x) == 0,
    "iscomplex": lambda xp, x: imag(xp, x) != 0,
    "isposinf": lambda xp, x: inexact(xp, x) == math.inf,
    "isneginf": lambda xp, x: inexact(xp, x) == -math.inf,
    "allclose": lambda xp, a, b, *args, **keywords: bool(
        xp.all(isclose(xp, a, b, *args, **keywords))
    ),
    "astype": lambda xp, x, dtype, copy=True, device=None: cast(xp, x, dtype),
    "copy": lambda xp, a, order="K", subok=False: a,  # the wrappers are read-only
}
