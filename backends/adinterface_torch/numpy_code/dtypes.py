"""NumPy's promotion of dtypes, which torch's own differs from: 0-d arrays count in full, integers become float64."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adinterface.contract.library import unsupported_dtype

from ..library import DTYPES, NAMES, SUPPORTED

INEXACT = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128})
COMPLEX = frozenset({torch.complex64, torch.complex128})


@functools.cache
def promote(first: torch.dtype, second: torch.dtype) -> torch.dtype:
    if torch.bfloat16 in (first, second):
        return torch.promote_types(first, second)
    return DTYPES[np.promote_types(NAMES[first], NAMES[second]).name]


@functools.cache
def _promote_number(dtype: torch.dtype, number: Any) -> torch.dtype:
    """The dtype of an array beside a Python number, which is weak."""
    if dtype is torch.bfloat16:
        return torch.complex64 if issubclass(number, complex) else dtype
    return DTYPES[np.result_type(np.dtype(NAMES[dtype]), number(1)).name]


# A class is hashable, whatever mypy thinks.
promote_number: Callable[[torch.dtype, type], torch.dtype] = _promote_number


@functools.cache
def floating(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which NumPy computes the sine."""
    return dtype if dtype in INEXACT else promote(dtype, torch.float16)


@functools.cache
def real_of(dtype: torch.dtype) -> torch.dtype:
    return dtype.to_real() if dtype in COMPLEX else dtype


def to_dtype(dtype: Any) -> torch.dtype:
    """What a user gives for dtype=."""
    if isinstance(dtype, torch.dtype):
        return dtype
    name = np.dtype(dtype).name
    if name not in DTYPES:
        raise unsupported_dtype(name, "PyTorch", SUPPORTED)
    return DTYPES[name]


def converted(x: Any, dtype: torch.dtype) -> Any:
    """x with another dtype; from complex to real without torch's warning."""
    return (x.real if x.dtype in COMPLEX and dtype not in COMPLEX else x).to(dtype)


def inexact(x: Any) -> Any:
    """x, or float64 for integers and booleans: the dtype of means and of linear algebra."""
    return x if x.dtype in INEXACT else x.to(torch.float64)


def operands(a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands with the dtype in which NumPy computes; a Python number stays one."""
    if not isinstance(b, Tensor):
        return cast(a, promote_number(a.dtype, type(b))), _number(b, a)
    if not isinstance(a, Tensor):
        return _number(a, b), cast(b, promote_number(b.dtype, type(a)))
    dtype = promote(a.dtype, b.dtype)
    return cast(a, dtype), cast(b, dtype)


def _number(number: Any, beside: Any) -> Any:
    """torch subtracts no boolean, not even from a number."""
    return int(number) if type(number) is bool and beside.dtype is not torch.bool else number


def cast(x: Any, dtype: torch.dtype) -> Any:
    return x if x.dtype is dtype else x.to(dtype)  # torch needs a microsecond to find nothing to do


def tensors(*values: Any) -> list[Any]:
    """Numbers, lists and tensors as tensors of the dtype in which NumPy computes."""
    dtype: torch.dtype | None = None
    device = None
    values = tuple([listed(value) if isinstance(value, (list, tuple)) else value for value in values])
    for value in values:
        if isinstance(value, Tensor):
            dtype = value.dtype if dtype is None or dtype is value.dtype else promote(dtype, value.dtype)
            device = value.device if value.ndim or device is None else device
    for value in values:
        if not isinstance(value, Tensor):
            number: Any = type(value)
            dtype = DTYPES[np.dtype(number).name] if dtype is None else promote_number(dtype, number)
    assert dtype is not None
    return [
        cast(value, dtype) if isinstance(value, Tensor) else torch.scalar_tensor(value, dtype=dtype, device=device)
        for value in values
    ]


def listed(values: Any, beside: Any = None) -> Any:
    """A list, perhaps with tensors in it, as a tensor."""
    if isinstance(values, Tensor):
        return values
    if isinstance(values, (list, tuple)) and _holds_tensors(values):
        return torch.stack(broadcast(*tensors(*values)))
    device = beside.device if isinstance(beside, Tensor) else None
    array = np.asarray(values)
    return torch.tensor(array if array.ndim else array.item(), dtype=DTYPES[array.dtype.name], device=device)


def _holds_tensors(values: Any) -> bool:
    return any(isinstance(v, Tensor) or (isinstance(v, (list, tuple)) and _holds_tensors(v)) for v in values)


# torch leaves some of its own functions without types.
broadcast: Callable[..., Any] = torch.broadcast_tensors
at_least_1d: Callable[..., Any] = torch.atleast_1d
