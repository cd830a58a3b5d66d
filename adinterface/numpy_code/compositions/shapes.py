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
    COMPOSITIONS,
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

# Shapes
# ------------------------------------------------------------------------------------------------


def lengths(shape: Any) -> tuple[int, ...]:
    return (
        tuple([operator.index(n) for n in shape])
        if isinstance(shape, (tuple, list, np.ndarray))
        else (operator.index(shape),)
    )


def _reversed(xp: ModuleType, a: Array) -> Array:
    return xp.permute_dims(a, tuple(range(len(a.shape) - 1, -1, -1)))


@composition("reshape")
def reshape(
    xp: ModuleType, a: Array, /, shape: Any, order: str = "C", *, copy: Any = None
) -> Array:
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
    return (
        _reversed(xp, a)
        if axes is None
        else xp.permute_dims(a, normalized(tuple(axes), len(a.shape)))
    )


def _at_least(rank: int) -> Callable[..., Any]:
    def at_least(xp: ModuleType, *arys: Any) -> Any:
        result = tuple([with_rank(xp, array(xp, x), rank) for x in arys])
        return result[0] if len(result) == 1 else result

    return at_least


def with_rank(xp: ModuleType, x: Array, rank: int) -> Array:
    return (
        x
        if len(x.shape) >= rank
        else xp.reshape(x, getattr(np, f"atleast_{rank}d")(np.empty(x.shape)).shape)
    )


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


def _triangle(name: str) -> Callable[..., Array]:
    def triangle(xp: ModuleType, m: Array, k: int = 0) -> Array:
        square = m if len(m.shape) > 1 else xp.broadcast_to(m, (m.shape[0],) * 2)
        return getattr(xp, name)(square, k=k)

    return triangle


def _moving(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that only moves elements, through NumPy's function on their numbers."""

    def moving(xp: ModuleType, a: Any, *args: Any, **kwargs: Any) -> Array:
        a = array(xp, a)
        return gathered(xp, a, function(positions(a.shape), *args, **kwargs))

    return moving


def _permuting(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that permutes axes: NumPy's permutes the lengths of an array whose axis n has
    length n.
    """
    return lambda xp, a, *args, **kwargs: xp.permute_dims(
        a, function(np.empty(tuple(range(len(a.shape)))), *args, **kwargs).shape
    )


def _reshaping(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that adds axes of length one, or removes them."""
    return lambda xp, a, *args, **kwargs: xp.reshape(
        a, function(np.empty(a.shape), *args, **kwargs).shape
    )


def _of_its_shape(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda xp, arr, *args, **kwargs: function(np.empty(arr.shape), *args, **kwargs)


# What NumPy tells about an array
# -------------------------------------------------------------------------------------


@composition("result_type")
def result_type(xp: ModuleType, *arrays_and_dtypes: Any) -> np.dtype[Any]:
    return np.result_type(
        *[
            (
                x
                if isinstance(x, type) or not hasattr(x, "shape") or not hasattr(x, "dtype")
                else numpy_dtype(x)
            )
            for x in arrays_and_dtypes
        ]
    )


COMPOSITIONS |= {
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    "linalg.matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    **{name: _permuting(getattr(np, name)) for name in ("moveaxis", "rollaxis", "swapaxes")},
    **{name: _reshaping(getattr(np, name)) for name in ("expand_dims", "squeeze")},
    "atleast_1d": _at_least(1),
    "atleast_2d": _at_least(2),
    "atleast_3d": _at_least(3),
    "broadcast_to": lambda xp, array, shape, subok=False: xp.broadcast_to(array, lengths(shape)),
    "broadcast_arrays": lambda xp, *args, subok=False: tuple(
        broadcast(xp, *[array(xp, x) for x in args])
    ),
    "flip": lambda xp, m, axis=None: xp.flip(m, axis=normalized(axis, len(m.shape))),
    "fliplr": lambda xp, m: xp.flip(m, axis=1),
    "flipud": lambda xp, m: xp.flip(m, axis=0),
    "tile": lambda xp, A, reps: xp.tile(array(xp, A), lengths(reps)),
    "tril": _triangle("tril"),
    "triu": _triangle("triu"),
    **{
        name: _moving(getattr(np, name))
        for name in ("repeat", "rot90", "resize", "delete", "diagflat")
    },
    "shape": lambda xp, a: tuple(array(xp, a).shape),
    "ndim": lambda xp, a: len(array(xp, a).shape),
    "size": lambda xp, a, axis=None: math.prod(
        [a.shape[n] for n in normalized(axis, len(a.shape))]
    ),
    "iscomplexobj": lambda xp, x: is_complex(x),
    "isrealobj": lambda xp, x: not is_complex(x),
    "common_type": lambda xp, *arrays: np.common_type(
        *[np.empty(0, numpy_dtype(x)) for x in arrays]
    ),
    **{
        name: _of_its_shape(getattr(np, name))
        for name in ("diag_indices_from", "tril_indices_from", "triu_indices_from")
    },
}
