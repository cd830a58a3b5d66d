"""Shapes, joining, splitting, padding; arrays like another; what NumPy tells about an array."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from ..names import by_columns
from .composing import (
    Array,
    array,
    broadcast,
    composition,
    gathered,
    is_complex,
    normalized,
    numpy_dtype,
    positions,
)

# Shapes --------------------------------------------------------------------------------------------------------------


def lengths(shape: Any) -> tuple[int, ...]:
    return (
        tuple([operator.index(n) for n in shape]) if isinstance(shape, (tuple, list, np.ndarray)) else (operator.index(shape),)
    )


def _reversed(xp: ModuleType, a: Array) -> Array:
    return xp.permute_dims(a, tuple(range(len(a.shape) - 1, -1, -1)))


@composition("reshape")
def reshape(xp: ModuleType, a: Array, /, shape: Any, order: str = "C", *, copy: Any = None) -> Array:
    shape = lengths(shape)
    if by_columns(order, a.shape):
        return _reversed(xp, xp.reshape(_reversed(xp, a), shape[::-1]))
    return xp.reshape(a, shape)


@composition("ravel")
def ravel(xp: ModuleType, a: Any, order: str = "C") -> Array:
    a = array(xp, a)
    return xp.reshape(_reversed(xp, a) if by_columns(order, a.shape) else a, (-1,))


@composition("transpose")
def transpose(xp: ModuleType, a: Array, axes: Any = None) -> Array:
    return _reversed(xp, a) if axes is None else xp.permute_dims(a, normalized(tuple(axes), len(a.shape)))


@composition("matrix_transpose", "linalg.matrix_transpose")
def matrix_transpose(xp: ModuleType, x: Array, /) -> Array:
    return xp.matrix_transpose(x)


@composition("moveaxis")
def moveaxis(xp: ModuleType, a: Array, source: Any, destination: Any) -> Array:
    ndim = len(a.shape)
    source, destination = normalized(source, ndim), normalized(destination, ndim)
    order = [n for n in range(ndim) if n not in source]
    for target, n in sorted(zip(destination, source)):
        order.insert(target, n)
    return xp.permute_dims(a, tuple(order))


@composition("rollaxis")
def rollaxis(xp: ModuleType, a: Array, axis: int, start: int = 0) -> Array:
    ndim = len(a.shape)
    axis = axis % ndim
    start = start + ndim if start < 0 else start
    start = start - 1 if axis < start else start
    order = [n for n in range(ndim) if n != axis]
    order.insert(start, axis)
    return xp.permute_dims(a, tuple(order))


@composition("swapaxes")
def swapaxes(xp: ModuleType, a: Array, axis1: int, axis2: int) -> Array:
    order = list(range(len(a.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return xp.permute_dims(a, tuple(order))


@composition("expand_dims")
def expand_dims(xp: ModuleType, a: Array, axis: Any) -> Array:
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    new = normalized(tuple(axes), len(a.shape) + len(axes))
    old = iter(a.shape)
    return xp.reshape(a, tuple([1 if n in new else next(old) for n in range(len(a.shape) + len(new))]))


@composition("squeeze")
def squeeze(xp: ModuleType, a: Array, axis: Any = None) -> Array:
    axes = [n for n, length in enumerate(a.shape) if length == 1] if axis is None else normalized(axis, len(a.shape))
    if any(a.shape[n] != 1 for n in axes):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return xp.reshape(a, tuple([length for n, length in enumerate(a.shape) if n not in axes]))


def _at_least(rank: int) -> Callable[..., Any]:
    def at_least(xp: ModuleType, *arys: Any) -> Any:
        result = tuple([with_rank(xp, array(xp, x), rank) for x in arys])
        return result[0] if len(result) == 1 else result

    return at_least


def with_rank(xp: ModuleType, x: Array, rank: int) -> Array:
    shape = tuple(x.shape)
    if len(shape) >= rank:
        return x
    if rank == 3:
        shape = {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)}[len(shape)]
    else:
        shape = (1,) * (rank - len(shape)) + shape
    return xp.reshape(x, shape)


for _rank in (1, 2, 3):
    composition(f"atleast_{_rank}d")(_at_least(_rank))


@composition("broadcast_to")
def broadcast_to(xp: ModuleType, array: Array, shape: Any, subok: bool = False) -> Array:
    return xp.broadcast_to(array, lengths(shape))


@composition("broadcast_arrays")
def broadcast_arrays(xp: ModuleType, *args: Any, subok: bool = False) -> Any:
    return tuple(broadcast(xp, *[array(xp, x) for x in args]))


@composition("flip")
def flip(xp: ModuleType, m: Array, axis: Any = None) -> Array:
    return xp.flip(m, axis=normalized(axis, len(m.shape)))


composition("fliplr")(lambda xp, m: flip(xp, m, 1))
composition("flipud")(lambda xp, m: flip(xp, m, 0))


@composition("roll")
def roll(xp: ModuleType, a: Array, shift: Any, axis: Any = None) -> Array:
    shift = _plain(shift)
    if axis is None:
        return xp.roll(a, int(np.sum(shift))) if a.ndim else a
    shifts, axes = np.broadcast_arrays(shift, axis)
    return xp.roll(a, tuple(shifts.ravel().tolist()), axis=tuple(axes.ravel().tolist()))


def _plain(counted: Any) -> Any:
    """Integers, which have no derivative, as Python integers."""
    many = isinstance(counted, (tuple, list)) or getattr(counted, "ndim", 0) > 0
    return [_plain(part) for part in counted] if many else operator.index(counted)


@composition("tile")
def tile(xp: ModuleType, A: Any, reps: Any) -> Array:
    return xp.tile(array(xp, A), lengths(reps))


def _triangle(name: str) -> Callable[..., Array]:
    def triangle(xp: ModuleType, m: Array, k: int = 0) -> Array:
        square = m if len(m.shape) > 1 else xp.broadcast_to(m, (m.shape[0],) * 2)
        return getattr(xp, name)(square, k=k)

    return triangle


composition("tril")(_triangle("tril"))
composition("triu")(_triangle("triu"))


def _moving(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that only moves elements, through NumPy's function on their numbers."""

    def moving(xp: ModuleType, a: Any, *args: Any, **kwargs: Any) -> Array:
        a = array(xp, a)
        return gathered(xp, a, function(positions(a.shape), *args, **kwargs))

    return moving


for _name in ("repeat", "rot90", "resize", "delete", "diagflat"):
    composition(_name)(_moving(getattr(np, _name)))


# What NumPy tells about an array -------------------------------------------------------------------------------------


@composition("shape")
def shape(xp: ModuleType, a: Any) -> tuple[int, ...]:
    return tuple(array(xp, a).shape)


@composition("ndim")
def ndim(xp: ModuleType, a: Any) -> int:
    return len(array(xp, a).shape)


@composition("size")
def size(xp: ModuleType, a: Array, axis: Any = None) -> int:
    return math.prod([a.shape[n] for n in normalized(axis, len(a.shape))])


@composition("iscomplexobj")
def iscomplexobj(xp: ModuleType, x: Array) -> bool:
    return is_complex(x)


@composition("isrealobj")
def isrealobj(xp: ModuleType, x: Array) -> bool:
    return not is_complex(x)


@composition("result_type")
def result_type(xp: ModuleType, *arrays_and_dtypes: Any) -> np.dtype[Any]:
    return np.result_type(
        *[
            x if isinstance(x, type) or not hasattr(x, "shape") or not hasattr(x, "dtype") else numpy_dtype(x)
            for x in arrays_and_dtypes
        ]
    )


@composition("common_type")
def common_type(xp: ModuleType, *arrays: Array) -> type:
    return np.common_type(*[np.empty(0, numpy_dtype(x)) for x in arrays])


def _indices_of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda xp, arr, *args, **kwargs: function(np.empty(arr.shape), *args, **kwargs)


for _name in ("diag_indices_from", "tril_indices_from", "triu_indices_from"):
    composition(_name)(_indices_of(getattr(np, _name)))
