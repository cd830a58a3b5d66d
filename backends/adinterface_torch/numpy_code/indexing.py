"""NumPy's indexing on tensors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adinterface.numpy_code.for_engines import axes_taken, forwards, is_simple

from .composed import listed, on_tensors

_SMALL_INTEGERS = {
    torch.int8,
    torch.int16,
    torch.int32,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
}

_forwards = on_tensors(forwards)

#: Tells `numpy_function` that torch takes integers and slices without steps as NumPy does.
OWN_INDEXING = True


def getitem(x: Any, index: Any) -> Any:
    """x[index], also with negative steps and with integers among integer arrays."""
    parts = index if type(index) is tuple else (index,)
    return x[index] if all(map(is_simple, parts)) else _general(x, parts)


def written(x: Any, places: Any, value: Any) -> Any:
    """x with one value, or as many, at distinct places, which are counted in C order."""
    shape = x.shape
    flat = x if len(shape) == 1 else x.reshape(-1)
    index = torch.from_numpy(places)
    # Also for one place: in a batch, torch's gradient of select_scatter is wrong by the value.
    result = flat.index_put((index if x.is_cpu else index.to(x.device),), value)
    return result if len(shape) == 1 else result.reshape(shape)


def _array_index(part: Any, x: Any) -> Any:
    """A list, a NumPy array or a NumPy integer in an index, as torch takes it."""
    if isinstance(part, list):
        part = listed(part, x) if part else np.zeros(0, dtype=np.intp)
    if isinstance(part, np.ndarray):
        part = torch.tensor(part.copy(), device=x.device)  # without negative strides
    if isinstance(part, np.bool_):
        return bool(part)
    if isinstance(part, Tensor) and part.dtype in _SMALL_INTEGERS:
        return part.long()  # torch takes uint8 for a mask
    return part


def _general(x: Any, index: tuple[Any, ...]) -> Any:
    parts = [_array_index(part, x) for part in index]
    x, parts = _forwards(
        x, [operator.index(part) if isinstance(part, np.integer) else part for part in parts]
    )
    if not any(isinstance(part, Tensor) and part.ndim for part in parts):
        return x[tuple(parts)]
    for n, part in enumerate(parts):
        if type(part) is int:  # torch would select first, and then find the arrays side by side
            parts[n] = torch.tensor([part], device=x.device)
    full = sum(map(axes_taken, parts)) == x.ndim
    return (
        _separated(x, parts)
        if full and any(part is Ellipsis for part in parts)
        else x[tuple(parts)]
    )


def _separated(x: Any, parts: list[Any]) -> Any:
    """An ellipsis between arrays separates them in NumPy, even if it is empty.

    In torch a new axis does.
    """
    n = next(n for n, part in enumerate(parts) if part is Ellipsis)
    before, after = parts[:n], parts[n + 1 :]
    if not all(any(isinstance(part, Tensor) for part in side) for side in (before, after)):
        return x[tuple(parts)]
    result = x[(*before, None, *after)]
    rank = max(
        1 if part.dtype is torch.bool else part.ndim for part in parts if isinstance(part, Tensor)
    )
    return torch.squeeze(result, rank + sum(not isinstance(part, Tensor) for part in before))
