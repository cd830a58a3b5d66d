"""NumPy's promotion of dtypes, which torch's own differs from: 0-d arrays count in full, integers become float64."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adinterface.numpy_code.compositions.composing import array

from ..dtypes import DTYPES, NAMES

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


def cast(x: Any, dtype: torch.dtype) -> Any:
    return x if x.dtype is dtype else x.to(dtype)  # torch needs a microsecond to find nothing to do


def inexact(x: Any) -> Any:
    """x, or float64 for integers and booleans: the dtype of means and of linear algebra."""
    return x if x.dtype in INEXACT else x.to(torch.float64)


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


def counted_in_full(*values: Any) -> list[Any]:
    """Tensors of one dtype, of Python's numbers too: so do functions that are no ufuncs, which make an array of a number."""
    beside = next((value for value in values if isinstance(value, Tensor)), None)
    return tensors(*[listed(value, beside) for value in values])


def listed(values: Any, beside: Any = None) -> Any:
    """A list, perhaps with tensors in it, as a tensor."""
    if isinstance(values, Tensor):
        return values
    from .. import namespace  # here, because array-api-compat is slow to import

    return array(namespace, values, beside)
