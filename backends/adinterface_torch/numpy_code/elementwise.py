"""NumPy's elementwise functions on tensors. Equal floating dtypes, the usual case, go straight to torch."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .composed import composed
from .promotion import COMPLEX, INEXACT, cast, floating, inexact, listed, promote, tensors

Function = Callable[..., Any]

#: torch's own functions behind ours, where NumPy's differ for integers alone.
_CALLS: dict[Function, Function] = {}


def _arithmetic(call: Function) -> Function:
    """Any dtype, and numbers beside tensors."""

    def operate(a: Any, b: Any) -> Any:
        number = type(b)
        if number is float or number is int:
            if a.dtype in INEXACT or (number is int and a.dtype is not torch.bool):
                return call(a, b)
        elif isinstance(b, Tensor):
            if isinstance(a, Tensor):
                if a.dtype is b.dtype:
                    return call(a, b)
            elif (type(a) is float or type(a) is int) and b.dtype in INEXACT:
                return call(a, b)
        a, b = tensors(a, b)
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
        if isinstance(b, Tensor) and isinstance(a, Tensor):
            if a.dtype is b.dtype and a.dtype in INEXACT:
                return call(a, b)
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


add = _arithmetic(operator.add)
subtract = _arithmetic(operator.sub)
multiply = _arithmetic(operator.mul)
bitwise_and = _arithmetic(operator.and_)
bitwise_or = _arithmetic(operator.or_)
bitwise_xor = _arithmetic(operator.xor)
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

arccos = _floating(Tensor.acos)
arccosh = _floating(Tensor.acosh)
arcsin = _floating(Tensor.asin)
arcsinh = _floating(Tensor.asinh)
arctan = _floating(Tensor.atan)
arctanh = _floating(Tensor.atanh)
cos = _floating(Tensor.cos)
cosh = _floating(Tensor.cosh)
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
i0 = _floating(torch.special.i0)

negative = operator.neg
positive = operator.pos
invert = operator.invert
square = torch.square
logical_not = torch.logical_not
isfinite = torch.isfinite
isinf = torch.isinf
isnan = torch.isnan
conjugate = torch.conj


def true_divide(a: Any, b: Any) -> Any:
    if isinstance(a, Tensor):
        number = type(b)
        if a.dtype in INEXACT and (number is float or number is int or (isinstance(b, Tensor) and a.dtype is b.dtype)):
            return torch.true_divide(a, b)
    elif type(a) is float and b.dtype in INEXACT:
        # Not `a / b`, which torch rounds twice.
        return torch.true_divide(torch.scalar_tensor(a, dtype=b.dtype, device=b.device), b)
    # Not `floating`: NumPy divides small integers in float64 too.
    return torch.true_divide(*[inexact(x) for x in tensors(a, b)])


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


def absolute(x: Any) -> Any:
    return x if x.dtype is torch.bool else torch.abs(x)


def sign(x: Any) -> Any:
    return torch.sgn(x) if x.dtype in COMPLEX else torch.sign(x)


@_floating
def frexp(x: Any) -> Any:
    return tuple(torch.frexp(x))


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    for bound in (low, high):
        if bound is not None and not isinstance(bound, (int, float)):
            given = iter(tensors(*[value for value in (a, low, high) if value is not None]))
            a, low, high = [None if value is None else next(given) for value in (a, low, high)]
            return a.clamp(low, high)
        if type(bound) is float and a.dtype not in INEXACT:
            a = a.double()
    return a if low is None and high is None else torch.clamp(a, low, high)


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    if x.dtype not in INEXACT or x.dtype in COMPLEX or isinstance(nan, Tensor):
        return composed("nan_to_num")(x, copy, nan, posinf, neginf)
    return torch.nan_to_num(x, nan, posinf, neginf)


def real(val: Any) -> Any:
    return val.real


def imag(val: Any) -> Any:
    # Not of a view that stands for its conjugate, which torch.func.vmap does not take.
    return val.resolve_conj().imag if val.dtype in COMPLEX else torch.zeros_like(val)


def where(condition: Any, *choices: Any) -> Any:
    if not isinstance(condition, Tensor):
        condition = listed(condition, next((choice for choice in choices if isinstance(choice, Tensor)), None))
    if not choices:
        return composed("where")(condition)
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


_OF_ONE = {
    getattr(np, name): _CALLS[found]
    for name, found in globals().items()
    if callable(found) and found in _CALLS and getattr(getattr(np, name), "nout", 0) == 1
}
#: torch's functions of one tensor, by the dtypes that need no look at it.
direct: dict[torch.dtype, dict[np.ufunc, Function]] = collections.defaultdict(dict, dict.fromkeys(INEXACT, _OF_ONE))
