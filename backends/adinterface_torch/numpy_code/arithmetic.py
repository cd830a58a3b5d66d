"""Arithmetic of tensors. Equal dtypes and Python numbers go directly to torch, which is two to seven times faster."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .composed import COMPLEX, INEXACT, common, composed, floating, tensors

Function = Callable[..., Any]

#: The classes of numbers that torch takes as the other operand of a tensor; bool is not one of them.
_NUMBERS = frozenset({float, int})
_WHOLE = frozenset({int})


def _arithmetic(name: str, call: Function) -> Function:
    """Of tensors and numbers."""

    def operate(a: Any, b: Any) -> Any:
        number = type(b)
        if number is float or number is int:
            if a.dtype in INEXACT or (number is int and a.dtype is not torch.bool):
                return call(a, b)
        elif isinstance(b, Tensor):
            if isinstance(a, Tensor):
                if a.dtype is b.dtype:
                    return call(a, b)
                dtype = common(a.dtype, b.dtype)
                return call(a.to(dtype), b.to(dtype))
            if (type(a) is float or type(a) is int) and b.dtype in INEXACT:
                return call(a, b)
        return composed(name)(a, b)

    return operate


def _pair(name: str, call: Function) -> Function:
    """Of tensors alone: a number becomes one."""

    def operate(a: Any, b: Any) -> Any:
        if isinstance(a, Tensor):
            if isinstance(b, Tensor):
                if a.dtype is b.dtype:
                    return call(a, b)
            elif type(b) in _NUMBERS and a.dtype in INEXACT:
                return call(a, torch.scalar_tensor(b, dtype=a.dtype, device=a.device))
        return composed(name)(a, b)

    return operate


def _power(a: Any, b: Any) -> Any:
    if isinstance(b, Tensor) and b.dtype in INEXACT and (isinstance(a, Tensor) or a == 0):
        # torch's rule for the exponent is right at a zero, but has no derivative itself: there the power stays zero, or one.
        zero = torch.as_tensor(a == 0, device=b.device)
        b = torch.where(zero & (b.real >= 0), b.detach(), b)
        a = torch.where(zero & (b == 0), torch.ones_like(b), a)
    result = torch.pow(a, b)
    return result.to(torch.int8) if result.dtype is torch.bool else result


def float_power(a: Any, b: Any) -> Any:
    a, b = tensors(a, b)
    dtype = torch.complex128 if a.dtype in COMPLEX else torch.float64
    return _power(a.to(dtype), b.to(dtype))


_ARITHMETIC: dict[str, Function] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "power": _power,
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip
_PAIRS: dict[str, Function] = {
    "maximum": Tensor.maximum, "minimum": Tensor.minimum, "remainder": Tensor.remainder
}  # fmt: skip

globals().update(
    {name: _arithmetic(name, call) for name, call in _ARITHMETIC.items()}
    | {name: _pair(name, call) for name, call in _PAIRS.items()}
)


def true_divide(a: Any, b: Any) -> Any:
    if isinstance(a, Tensor):
        number = type(b)
        if a.dtype in INEXACT and (number is float or number is int or (isinstance(b, Tensor) and a.dtype is b.dtype)):
            return torch.true_divide(a, b)
    elif type(a) in _NUMBERS and b.dtype in INEXACT:
        # Not `a / b`, which torch rounds twice.
        return torch.true_divide(torch.scalar_tensor(a, dtype=b.dtype, device=b.device), b)
    return composed("true_divide")(a, b)


divide = true_divide


def frexp(x: Any) -> Any:
    return tuple(torch.frexp(floating(x)))


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is None and high is None:
        return a
    if not {type(low), type(high)} - {type(None)} <= (_NUMBERS if a.dtype in INEXACT else _WHOLE):
        given = iter(tensors(*[value for value in (a, low, high) if value is not None]))
        a, low, high = [None if value is None else next(given) for value in (a, low, high)]
    return torch.clamp(a, low, high)


def where(condition: Any, *choices: Any) -> Any:
    if len(choices) == 2 and isinstance(condition, Tensor) and condition.dtype is torch.bool:
        x, y = choices
        if isinstance(x, Tensor):
            if x.dtype is y.dtype if isinstance(y, Tensor) else type(y) in _NUMBERS and x.dtype in INEXACT:
                return torch.where(condition, x, y)
        elif type(x) in _NUMBERS and isinstance(y, Tensor) and y.dtype in INEXACT:
            return torch.where(condition, x, y)
    return composed("where")(condition, *choices)
