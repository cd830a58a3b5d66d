"""NumPy's elementwise functions on tensors. Equal floating dtypes, the usual case, go straight to torch."""

from __future__ import annotations

import collections
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .dtypes import (
    COMPLEX,
    INEXACT,
    at_least_1d,
    cast,
    converted,
    floating,
    listed,
    operands,
    promote,
    promote_number,
    tensors,
    to_dtype,
)

Function = Callable[..., Any]

#: torch's own functions behind ours, where NumPy's differ for integers alone.
_CALLS: dict[Function, Function] = {}


def _arithmetic(call: Function) -> Function:
    """Any dtype, and numbers beside tensors."""

    def operate(a: Any, b: Any) -> Any:
        number = type(b)
        if number is float or number is int:
            if a.dtype in INEXACT:
                return call(a, b)
        elif isinstance(b, Tensor):
            if isinstance(a, Tensor):
                if a.dtype is b.dtype:
                    return call(a, b)
            elif (type(a) is float or type(a) is int) and b.dtype in INEXACT:
                return call(a, b)
        a, b = operands(a, b)
        return call(a, b)

    return operate


def _pair(call: Function) -> Function:
    """Any dtype; both must be tensors."""

    def operate(a: Any, b: Any) -> Any:
        if isinstance(b, Tensor) and isinstance(a, Tensor) and a.dtype is b.dtype:
            return call(a, b)
        a, b = tensors(a, b)
        return call(a, b)

    return operate


def _floating_pair(call: Function) -> Function:
    def operate(a: Any, b: Any) -> Any:
        if isinstance(b, Tensor) and isinstance(a, Tensor) and a.dtype is b.dtype and a.dtype in INEXACT:
            return call(a, b)
        if isinstance(b, Tensor) and isinstance(a, Tensor):
            # Each on its own: NumPy takes int8 and uint8 to float16, not to int16 and so to float32.
            dtype = promote(floating(a.dtype), floating(b.dtype))
        else:
            a, b = tensors(a, b)
            dtype = floating(a.dtype)
        return call(cast(a, dtype), cast(b, dtype))

    return operate


def _floating(call: Function) -> Function:
    double = torch.float64

    def operate(x: Any) -> Any:
        dtype = x.dtype
        return call(x) if dtype is double or dtype in INEXACT else call(x.to(floating(dtype)))

    _CALLS[operate] = call
    return operate


def _rounding(call: Function) -> Function:
    def operate(x: Any) -> Any:
        return call(x) if x.dtype in INEXACT else x

    return operate


add = _arithmetic(operator.add)
subtract = _arithmetic(operator.sub)
multiply = _arithmetic(operator.mul)
bitwise_and = _arithmetic(operator.and_)
bitwise_or = _arithmetic(operator.or_)
bitwise_xor = _arithmetic(operator.xor)
left_shift = _pair(Tensor.bitwise_left_shift)
right_shift = _pair(Tensor.bitwise_right_shift)
equal = _arithmetic(operator.eq)
not_equal = _arithmetic(operator.ne)
less = _arithmetic(operator.lt)
less_equal = _arithmetic(operator.le)
greater = _arithmetic(operator.gt)
greater_equal = _arithmetic(operator.ge)

remainder = _pair(Tensor.remainder)
fmod = _pair(Tensor.fmod)
maximum = _pair(Tensor.maximum)
minimum = _pair(Tensor.minimum)
fmax = _pair(Tensor.fmax)
fmin = _pair(Tensor.fmin)
gcd = _pair(Tensor.gcd)
lcm = _pair(Tensor.lcm)
logical_and = _pair(Tensor.logical_and)
logical_or = _pair(Tensor.logical_or)
logical_xor = _pair(Tensor.logical_xor)

arctan2 = _floating_pair(Tensor.atan2)
copysign = _floating_pair(Tensor.copysign)
hypot = _floating_pair(Tensor.hypot)
logaddexp = _floating_pair(Tensor.logaddexp)
logaddexp2 = _floating_pair(Tensor.logaddexp2)
nextafter = _floating_pair(Tensor.nextafter)

arccos = _floating(Tensor.acos)
arccosh = _floating(Tensor.acosh)
arcsin = _floating(Tensor.asin)
arcsinh = _floating(Tensor.asinh)
arctan = _floating(Tensor.atan)
arctanh = _floating(Tensor.atanh)
cos = _floating(Tensor.cos)
cosh = _floating(Tensor.cosh)
deg2rad = radians = _floating(Tensor.deg2rad)
rad2deg = degrees = _floating(Tensor.rad2deg)
exp = _floating(Tensor.exp)
exp2 = _floating(Tensor.exp2)
expm1 = _floating(Tensor.expm1)
log = _floating(Tensor.log)
log10 = _floating(Tensor.log10)
log1p = _floating(Tensor.log1p)
log2 = _floating(Tensor.log2)
sin = _floating(Tensor.sin)
sinh = _floating(Tensor.sinh)
sqrt = _floating(Tensor.sqrt)
tan = _floating(Tensor.tan)
tanh = _floating(Tensor.tanh)
rint = _floating(Tensor.round)
fabs = _floating(Tensor.abs)
i0 = _floating(torch.special.i0)

ceil = _rounding(Tensor.ceil)
floor = _rounding(Tensor.floor)
fix = trunc = _rounding(Tensor.trunc)

negative = operator.neg
positive = operator.pos
invert = operator.invert
square = torch.square
logical_not = torch.logical_not
isfinite = torch.isfinite
isinf = torch.isinf
isnan = torch.isnan
isposinf = torch.isposinf
isneginf = torch.isneginf
signbit = torch.signbit
conjugate = torch.conj


def true_divide(a: Any, b: Any) -> Any:
    if isinstance(a, Tensor):
        number = type(b)
        if a.dtype in INEXACT and (number is float or number is int or (isinstance(b, Tensor) and a.dtype is b.dtype)):
            return torch.true_divide(a, b)
        a, b = operands(a, b)
        # Not `floating`: NumPy divides small integers in float64 too.
        return torch.true_divide(a, b) if a.dtype in INEXACT else torch.true_divide(a.double(), b)
    number = type(a)
    dtype = promote_number(b.dtype, number)
    if dtype not in INEXACT:
        dtype = torch.float64
    # Not `a / b`, which torch rounds twice.
    return torch.true_divide(torch.scalar_tensor(a, dtype=dtype, device=b.device), cast(b, dtype))


divide = true_divide


@_pair
def floor_divide(a: Any, b: Any) -> Any:
    return torch.div(a, b, rounding_mode="floor")


def divmod(a: Any, b: Any) -> tuple[Any, Any]:
    return floor_divide(a, b), remainder(a, b)


@_arithmetic
def power(a: Any, b: Any) -> Any:
    found = torch.pow(a, b)
    return found.to(torch.int8) if found.dtype is torch.bool else found


def float_power(a: Any, b: Any) -> Any:
    a, b = tensors(a, b)
    dtype = torch.complex128 if a.dtype in COMPLEX else torch.float64
    return torch.pow(a.to(dtype), b.to(dtype))


def absolute(x: Any) -> Any:
    return x if x.dtype is torch.bool else torch.abs(x)


def sign(x: Any) -> Any:
    return torch.sgn(x) if x.dtype in COMPLEX else torch.sign(x)


def reciprocal(x: Any) -> Any:
    return torch.reciprocal(x) if x.dtype in INEXACT else torch.div(1, x, rounding_mode="trunc").to(x.dtype)


@_floating
def cbrt(x: Any) -> Any:
    return torch.copysign(torch.pow(torch.abs(x), 1 / 3), x)


@_floating
def sinc(x: Any) -> Any:
    # torch.sinc has second derivative zero at zero.
    if x.dtype in COMPLEX:
        return torch.sinc(x)
    near = torch.abs(x) < 1e-3
    squared = torch.square(math.pi * torch.where(near, x, 0))
    series = 1 - squared / 6 * (1 - squared / 20 * (1 - squared / 42))
    scaled = math.pi * torch.where(near, 1, x)
    return torch.where(near, series, torch.sin(scaled) / scaled)


@_floating_pair
def heaviside(x: Any, at_zero: Any) -> Any:
    return torch.where(x == 0, at_zero, torch.where(torch.isnan(x), x, (x > 0).to(x.dtype)))


def ldexp(x: Any, exponent: Any) -> Any:
    x = x if isinstance(x, Tensor) else torch.scalar_tensor(x, dtype=torch.float64, device=exponent.device)
    x = x.to(floating(x.dtype))
    return x * (torch.exp2(exponent.to(x.dtype)) if isinstance(exponent, Tensor) else 2.0**exponent)


@_floating
def frexp(x: Any) -> Any:
    return tuple(torch.frexp(x))


@_floating
def modf(x: Any) -> Any:
    return torch.frac(x), torch.trunc(x)


def round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    if a.dtype in COMPLEX:
        return torch.complex(round(a.real, decimals), round(a.imag, decimals))
    if a.dtype in INEXACT:
        return torch.round(a, decimals=decimals)
    return a if decimals >= 0 else torch.round(a.double(), decimals=decimals).to(a.dtype)


around = round


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    for bound in (low, high):
        if bound is not None and not isinstance(bound, (int, float)):
            a, low, high = _with_bounds(a, low, high)
            return a.clamp(low, high)
        if type(bound) is float and a.dtype not in INEXACT:
            a = a.double()
    return a if low is None and high is None else torch.clamp(a, low, high)


def _with_bounds(a: Any, low: Any, high: Any) -> list[Any]:
    given = iter(tensors(*[value for value in (a, low, high) if value is not None]))
    return [None if value is None else next(given) for value in (a, low, high)]


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if x.dtype not in INEXACT:
        return x
    if isinstance(nan, Tensor):
        return torch.where(torch.isnan(x), nan.to(x.dtype), nan_to_num(x, copy, 0.0, posinf, neginf))
    if x.dtype in COMPLEX:
        return torch.complex(torch.nan_to_num(x.real, nan, posinf, neginf), torch.nan_to_num(x.imag, nan, posinf, neginf))
    return torch.nan_to_num(x, nan, posinf, neginf)


def angle(z: Any, deg: bool = False) -> Any:
    # As arctan2, not torch.angle, which has no derivative of the second order at real numbers.
    z = z if z.dtype in INEXACT else z.double()
    found = torch.atan2(imag(z), real(z))
    return torch.rad2deg(found) if deg else found


def real(val: Any) -> Any:
    return val.real


def imag(val: Any) -> Any:
    # Not of a view that stands for its conjugate, which torch.func.vmap does not take.
    return val.resolve_conj().imag if val.dtype in COMPLEX else torch.zeros_like(val)


def isreal(x: Any) -> Any:
    return imag(x) == 0


def iscomplex(x: Any) -> Any:
    return imag(x) != 0


def where(condition: Any, *choices: Any) -> Any:
    if not isinstance(condition, Tensor):
        condition = listed(condition, next((choice for choice in choices if isinstance(choice, Tensor)), None))
    if not choices:
        return at_least_1d(condition).nonzero(as_tuple=True)
    if condition.dtype is not torch.bool:
        condition = condition != 0
    x, y = choices
    if isinstance(x, Tensor):
        if isinstance(y, Tensor) and x.dtype is y.dtype:
            return torch.where(condition, x, y)
        if type(y) is float and x.dtype in INEXACT:
            return torch.where(condition, x, y)
    x, y = tensors(x, y)
    return torch.where(condition, x, y)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return converted(x, to_dtype(dtype))


def copy(a: Any, order: str = "K", subok: bool = False) -> Any:
    return a  # the wrappers are read-only


_OF_ONE = {
    getattr(np, name): _CALLS[found]
    for name, found in globals().items()
    if callable(found) and found in _CALLS and getattr(getattr(np, name), "nout", 0) == 1
}
#: torch's functions of one tensor, by the dtypes that need no look at it.
direct: dict[torch.dtype, dict[np.ufunc, Function]] = collections.defaultdict(dict, dict.fromkeys(INEXACT, _OF_ONE))
