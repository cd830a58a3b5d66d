"""Shapes, joining and splitting of tensors as NumPy does it, and what NumPy tells about an array."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adinterface.numpy_code.names import by_columns

from ..library import NAMES
from .dtypes import COMPLEX, broadcast, converted, listed, tensors, to_dtype

# Shapes --------------------------------------------------------------------------------------------------------------


def _lengths(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, (tuple, list)):
        return tuple([operator.index(length) for length in shape])
    return tuple(int(length) for length in shape) if getattr(shape, "ndim", 0) else (operator.index(shape),)


def _reversed(a: Any) -> Any:
    ndim = a.ndim
    return a.t() if ndim <= 2 else a.permute(tuple(range(ndim - 1, -1, -1)))


def reshape(a: Any, /, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    if type(shape) is not tuple:
        shape = _lengths(shape)
    if order != "C" and by_columns(order):
        return _reversed(torch.reshape(_reversed(a), shape[::-1]))
    return torch.reshape(a, shape)


def ravel(a: Any, order: str = "C") -> Any:
    return torch.ravel(_reversed(a) if order != "C" and by_columns(order) else a)


def transpose(a: Any, axes: Any = None) -> Any:
    return _reversed(a) if axes is None else a.permute(tuple(axes))


def matrix_transpose(x: Any, /) -> Any:
    if x.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.mT


def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    moved: Callable[..., Any] = torch.movedim
    return moved(a, _axes(source), _axes(destination))


def _axes(axes: Any) -> Any:
    return tuple(axes) if isinstance(axes, list) else axes


def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    return torch.transpose(a, axis1, axis2)


def expand_dims(a: Any, axis: Any) -> Any:
    if isinstance(axis, int):
        return torch.unsqueeze(a, axis)
    ndim = a.ndim + len(axis)
    for n in sorted(n % ndim for n in axis):
        a = torch.unsqueeze(a, n)
    return a


def squeeze(a: Any, axis: Any = None) -> Any:
    if axis is None:
        return torch.squeeze(a)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if any(a.shape[n] != 1 for n in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return torch.squeeze(a, axes)


def _at_least(call: Callable[..., Any]) -> Callable[..., Any]:
    def at_least(*arys: Any) -> Any:
        arrays = tuple([call(torch.as_tensor(x) if not isinstance(x, (list, tuple)) else listed(x)) for x in arys])
        return arrays[0] if len(arrays) == 1 else arrays

    return at_least


atleast_1d = _at_least(torch.atleast_1d)
atleast_2d = _at_least(torch.atleast_2d)
atleast_3d = _at_least(torch.atleast_3d)


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    return torch.broadcast_to(array, _lengths(shape))


def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    beside = next(x for x in args if isinstance(x, Tensor))
    return tuple(broadcast(*[x if isinstance(x, Tensor) else listed(x, beside) for x in args]))


def tile(A: Any, reps: Any) -> Any:
    return torch.tile(A, _lengths(reps))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Any:
    if isinstance(repeats, (list, tuple)):
        repeats = listed(repeats, a)
    if isinstance(repeats, Tensor) and repeats.numel() == 1:
        repeats = int(repeats)
    return torch.repeat_interleave(torch.ravel(a) if axis is None else a, repeats, dim=axis or 0)


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    if isinstance(shift, (tuple, list, Tensor)):
        shift = _plain(shift)
    if axis is None:
        return torch.roll(a, int(np.sum(shift))) if a.ndim else a
    shifts, axes = np.broadcast_arrays(shift, axis)
    return torch.roll(a, tuple(shifts.ravel().tolist()), tuple(axes.ravel().tolist()))


def _plain(counted: Any) -> Any:
    """Integers, by which nothing is differentiated, as Python's own."""
    many = isinstance(counted, (tuple, list)) or getattr(counted, "ndim", 0) > 0
    return [_plain(part) for part in counted] if many else operator.index(counted)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    return torch.rot90(m, k, tuple(axes))


def flip(m: Any, axis: Any = None) -> Any:
    axes = tuple(range(m.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    return torch.flip(m, axes)


def fliplr(m: Any) -> Any:
    return torch.flip(m, (1,))


def flipud(m: Any) -> Any:
    return torch.flip(m, (0,))


# Joining and splitting -----------------------------------------------------------------------------------------------


_WIDEST = torch.float64


def _parts(arrays: Any) -> list[Any]:
    """Tensors of one dtype."""
    parts = arrays if type(arrays) is list else list(arrays)
    dtype = None
    for part in parts:
        if not isinstance(part, Tensor):
            break
        found = part.dtype
        if found is not dtype:
            if dtype is not None:
                break
            dtype = found
    else:
        return parts
    beside = next((part for part in parts if isinstance(part, Tensor)), None)
    return tensors(*[listed(part, beside) for part in parts])


def concatenate(arrays: Any, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    parts = _parts(arrays)
    joined = torch.cat([torch.ravel(part) for part in parts]) if axis is None else torch.cat(parts, axis)
    return joined if dtype is None else converted(joined, to_dtype(dtype))


def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    if dtype is None and type(arrays) is list:
        try:
            stacked = torch.stack(arrays, axis) if axis else torch.stack(arrays)
        except TypeError:  # something in the list is not a tensor
            pass
        else:
            if stacked.dtype is _WIDEST:  # torch promotes to it exactly where NumPy does; to the narrower it does not
                return stacked
    stacked = torch.stack(_parts(arrays), axis)
    return stacked if dtype is None else converted(stacked, to_dtype(dtype))


def _joining(call: Callable[..., Any]) -> Callable[..., Any]:
    def join(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
        joined = call(_parts(tup))
        return joined if dtype is None else converted(joined, to_dtype(dtype))

    return join


hstack = _joining(torch.hstack)
vstack = _joining(torch.vstack)
dstack = _joining(torch.dstack)
column_stack = _joining(torch.column_stack)


def unstack(x: Any, /, *, axis: int = 0) -> Any:
    return torch.unbind(x, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    places = indices_or_sections
    if isinstance(places, Tensor):
        places = places.tolist()
    return list(torch.tensor_split(ary, places if isinstance(places, int) else _lengths(places), axis))


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    if isinstance(indices_or_sections, int) and ary.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 2)


# Arrays like another -------------------------------------------------------------------------------------------------


def _like(call: Callable[..., Any]) -> Callable[..., Any]:
    def like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None) -> Any:
        lengths = a.shape if shape is None else _lengths(shape)
        return call(lengths, dtype=a.dtype if dtype is None else to_dtype(dtype), device=a.device)

    return like


zeros_like = empty_like = _like(torch.zeros)
ones_like = _like(torch.ones)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    lengths = a.shape if shape is None else _lengths(shape)
    target = a.dtype if dtype is None else to_dtype(dtype)
    value = fill_value if isinstance(fill_value, Tensor) else torch.as_tensor(fill_value, device=a.device)
    return torch.broadcast_to(converted(value, target), lengths)


# What NumPy tells about an array -------------------------------------------------------------------------------------


def shape(a: Any) -> tuple[int, ...]:
    return tuple(a.shape)


def ndim(a: Any) -> int:
    rank: int = a.ndim
    return rank


def size(a: Any, axis: Any = None) -> int:
    axes = range(a.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    product = 1
    for n in axes:
        product *= a.shape[n]
    return product


def iscomplexobj(x: Any) -> bool:
    return x.dtype in COMPLEX


def isrealobj(x: Any) -> bool:
    return x.dtype not in COMPLEX


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    return np.result_type(*[np.dtype(NAMES[x.dtype]) if isinstance(x, Tensor) else x for x in arrays_and_dtypes])
