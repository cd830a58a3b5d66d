"""The Array API namespace of autograd's boxes: autograd.numpy under the standard's names.

`autograd.numpy` wraps NumPy's functions; here stand the standard's names that it lacks or gets wrong.
"""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.numpy import *  # noqa: F403  (a namespace is what this file is)

# The names of the standard that NumPy's older ones answer to.
acos, acosh = anp.arccos, anp.arccosh
asin, asinh = anp.arcsin, anp.arcsinh
atan, atanh, atan2 = anp.arctan, anp.arctanh, anp.arctan2
pow = anp.power
permute_dims = anp.transpose
bool = np.bool_
e, pi, inf, nan, newaxis = np.e, np.pi, np.inf, np.nan, None
float32, float64, complex64, complex128 = np.float32, np.float64, np.complex64, np.complex128
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
isdtype, can_cast, result_type, finfo, iinfo = np.isdtype, np.can_cast, np.result_type, np.finfo, np.iinfo


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Join along an axis. `autograd.numpy.concat` has no rule and gives a gradient of zero without a word."""
    if axis is None:
        return anp.concatenate([anp.ravel(array) for array in arrays], axis=0)
    return anp.concatenate(arrays, axis=axis)


def matrix_transpose(x: Any, /) -> Any:
    return anp.swapaxes(x, -1, -2)


def asarray(x: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
    """As NumPy's, with boxes kept as they are."""
    if type(x) in (list, tuple) or dtype is not None:
        return anp.array(x, dtype=dtype) if dtype is not None else anp.array(x)
    return x if hasattr(x, "_trace") else np.asarray(x, copy=copy)


def astype(x: Any, dtype: Any, /, *, copy: Any = True, device: Any = None) -> Any:
    return x.astype(dtype)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: Any = False) -> Any:
    axis = (0 if anp.ndim(x) == 1 else None) if axis is None else axis
    if axis is None:
        raise ValueError("cumulative_sum needs an axis for an array of more than one dimension.")
    x = x if dtype is None else x.astype(dtype)
    total = anp.cumsum(x, axis=axis)
    if not include_initial:
        return total
    shape = list(anp.shape(total))
    shape[axis] = 1
    return anp.concatenate([np.zeros(shape, dtype=total.dtype), total], axis=axis)
