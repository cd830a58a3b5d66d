"""`np.maximum.accumulate` and the like: a ufunc's reduction and accumulation as a loop, where
engines have none.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple


def accumulate(ufunc: np.ufunc, x: Any, axis: int = 0, dtype: Any = None) -> Any:
    """`ufunc.accumulate`: along an axis, each element with what came before."""
    x = np.moveaxis(x if dtype is None else x.astype(dtype), axis, 0)
    rows = [x[0]]
    for n in range(1, x.shape[0]):
        rows.append(ufunc(rows[-1], x[n]))
    return np.moveaxis(np.stack(rows), 0, axis)


def reduce(
    ufunc: np.ufunc,
    x: Any,
    axis: Any = 0,
    dtype: Any = None,
    keepdims: bool = False,
    initial: Any = None,
) -> Any:
    """`ufunc.reduce`: the elements along an axis, or all along several, from the first one on."""
    x = x if dtype is None else x.astype(dtype)
    axes = normalize_axis_tuple(range(x.ndim) if axis is None else axis, x.ndim)
    rest = [length for n, length in enumerate(x.shape) if n not in axes]
    rows = list(np.reshape(np.moveaxis(x, axes, range(len(axes))), (-1, *rest)))
    if initial is not None or not rows:
        rows.insert(0, ufunc.identity if initial is None else initial)
    if rows[0] is None:
        raise ValueError(
            f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
        )
    result = functools.reduce(ufunc, rows) if len(rows) > 1 else np.broadcast_to(rows[0], rest)
    return (
        np.reshape(result, [1 if n in axes else length for n, length in enumerate(x.shape)])
        if keepdims
        else result
    )
