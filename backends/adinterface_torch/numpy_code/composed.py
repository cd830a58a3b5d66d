"""The compositions that every engine has, on tensors, and the conversions with which they begin."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adinterface.numpy_code.for_engines import (
    COMPOSITIONS,
    array,
    counted_in_full,
    promoted,
    sine_dtype,
)
from adinterface.numpy_code.for_engines import inexact as inexact_array


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


#: The operands of a ufunc in the dtype in which NumPy computes: a Python number takes the dtype of
#: the arrays.
tensors = on_tensors(promoted)
#: The arguments of any other function in that dtype: a Python number counts as an array of float64
#: or int64.
arrays = on_tensors(counted_in_full)
#: A list, perhaps of tensors, as a tensor for an operation with another tensor.
listed = on_tensors(array)
#: x in the dtype in which NumPy computes the sine.
floating = on_tensors(sine_dtype)
#: x in the dtype of means and of linear algebra.
inexact = on_tensors(inexact_array)
