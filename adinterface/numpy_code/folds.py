"""`np.maximum.accumulate` and the like: a ufunc's reduction and accumulation as a loop, where engines have none."""

from __future__ import annotations

from typing import Any

import numpy as np


def accumulate(ufunc: np.ufunc, x: Any, axis: int = 0, dtype: Any = None) -> Any:
    """`ufunc.accumulate`: along an axis, each element with what came before."""
    x = np.moveaxis(x if dtype is None else x.astype(dtype), axis, 0)
    rows = [x[0]]
    for n in range(1, x.shape[0]):
        rows.append(ufunc(rows[-1], x[n]))
    return np.moveaxis(np.stack(rows), 0, axis)


def reduce(ufunc: np.ufunc, x: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
    """`ufunc.reduce`: the elements along an axis, or all along several, from the first one on."""
    x = x if dtype is None else x.astype(dtype)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple([one % x.ndim for one in axes])
    rest = [length for n, length in enumerate(x.shape) if n not in axes]
    rows = np.reshape(np.moveaxis(x, axes, tuple(range(len(axes)))), (-1, *rest))
    count = rows.shape[0]
    result: Any = initial if initial is not None else ufunc.identity if not count else None
    if result is None and not count:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
    for n in range(count):
        result = rows[n] if result is None else ufunc(result, rows[n])
    if not count:
        result = np.broadcast_to(result, tuple(rest))
    return np.reshape(result, tuple([1 if n in axes else length for n, length in enumerate(x.shape)])) if keepdims else result
