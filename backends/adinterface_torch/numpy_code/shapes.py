"""Shapes, parts and joining of tensors as NumPy does it."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import Tensor

from .composed import arrays as one_dtype
from .composed import composed, usual

# Shapes --------------------------------------------------------------------------------------------------------------


def _lengths(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, (tuple, list)):
        return tuple([operator.index(length) for length in shape])
    return tuple(int(length) for length in shape) if getattr(shape, "ndim", 0) else (operator.index(shape),)


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    if order != "C":
        return composed("reshape")(a, shape, order)
    return torch.reshape(a, shape if type(shape) is tuple else _lengths(shape))


def transpose(a: Any, axes: Any = None) -> Any:
    if axes is not None:
        return a.permute(tuple(axes))
    ndim = a.ndim
    return a.t() if ndim <= 2 else a.permute(tuple(range(ndim - 1, -1, -1)))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    if type(repeats) is not int:
        return composed("repeat")(a, repeats, axis)
    return torch.repeat_interleave(torch.ravel(a) if axis is None else a, repeats, dim=axis or 0)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    return torch.rot90(m, k, tuple(axes))


# Parts ---------------------------------------------------------------------------------------------------------------


def diag(v: Any, k: int = 0) -> Any:
    return torch.diag(v, k)


def diagflat(v: Any, k: int = 0) -> Any:
    return torch.diag(torch.ravel(v), k)


def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return torch.diagonal(a, offset, axis1, axis2)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    return composed("sum")(torch.diagonal(a, offset, axis1, axis2), -1, dtype)


def unstack(x: Any, /, *, axis: int = 0) -> Any:
    return torch.unbind(x, axis)


# Joining -------------------------------------------------------------------------------------------------------------


_WIDEST = torch.float64


def _parts(arrays: Any) -> Any:
    """Tensors of one dtype."""
    parts = arrays if type(arrays) is list else list(arrays)
    dtype = None
    for part in parts:
        if not isinstance(part, Tensor):
            break
        own = part.dtype
        if own is not dtype:
            if dtype is not None:
                break
            dtype = own
    else:
        return parts
    return one_dtype(*parts)


def concatenate(arrays: Any, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    if axis is None or dtype is not None:
        return composed("concatenate")(arrays, axis, dtype=dtype)
    return torch.cat(_parts(arrays), axis)


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    if dtype is not None:
        return composed("stack")(arrays, axis, dtype=dtype)
    if type(arrays) is list:
        try:
            stacked = torch.stack(arrays, axis) if axis else torch.stack(arrays)
        except TypeError:  # something in the list is not a tensor
            pass
        else:
            if stacked.dtype is _WIDEST:  # torch promotes to it exactly where NumPy does; to the narrower it does not
                return stacked
    return torch.stack(_parts(arrays), axis)


# Arrays like another -------------------------------------------------------------------------------------------------


zeros_like = empty_like = usual("zeros_like", torch.zeros_like, 1)
ones_like = usual("ones_like", torch.ones_like, 1)
