"""The Array API compositions, for unusual calls of the functions here, and the dtypes that need no check."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from adinterface.numpy_code.compositions import COMPOSITIONS
from adinterface.numpy_code.compositions.composing import array, common_dtype, counted_in_full, promoted, sine_dtype

from ..dtypes import DTYPES, NAMES

INEXACT = frozenset({torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128})
COMPLEX = frozenset({torch.complex64, torch.complex128})


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the namespace and of arrays, given the first."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        from .. import namespace  # here, because array-api-compat is slow to import

        return function(namespace, *args, **kwargs)

    return call


@functools.cache
def composed(name: str) -> Callable[..., Any]:
    """NumPy's function on tensors, as every engine has it."""
    return on_tensors(COMPOSITIONS[name])


#: Operands of a ufunc in the dtype in which NumPy computes, where Python's numbers are weak,
tensors = on_tensors(promoted)
#: and the arguments of what is no ufunc: it makes an array of a number, which counts in full.
arrays = on_tensors(counted_in_full)
#: A list, perhaps of tensors, as a tensor for an operation with another.
listed = on_tensors(array)
#: x in the dtype in which NumPy computes the sine.
floating = on_tensors(sine_dtype)


@functools.cache
def common(first: torch.dtype, second: torch.dtype) -> torch.dtype:
    """The dtype in which NumPy computes. Unlike torch, NumPy promotes 0-d arrays like others."""
    return DTYPES[common_dtype(NAMES[first], NAMES[second])]


def inexact(x: Any) -> Any:
    """x, or float64 for integers and booleans: the dtype of means and of linear algebra."""
    return x if x.dtype in INEXACT else x.to(torch.float64)
