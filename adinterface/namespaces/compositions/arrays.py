"""Compositions that create, rearrange, search and sort arrays."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .composing import (
    COMPOSITIONS,
    Axes,
    along,
    axes_of,
    axis_of,
    by_index,
    composition,
    is_floating,
)


def _created(name: str) -> None:
    function = getattr(np, name)

    def create(xp: Any, *args: Any, dtype: Any = None, device: Any = None, **options: Any) -> Any:
        made = function(*args, **options)
        return xp.asarray(made if dtype is None else made.astype(xp.dtype_name(dtype)))

    COMPOSITIONS[name] = create


for _name in ("arange", "empty", "eye", "linspace", "ones", "zeros"):
    _created(_name)


@composition
def full(xp: Any, shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    value = xp.asarray(fill_value) if dtype is None else xp.asarray(fill_value, dtype=dtype)
    return xp.broadcast_to(value, shape)


@composition
def full_like(xp: Any, x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return xp.full(tuple(x.shape), fill_value, dtype=x.dtype if dtype is None else dtype)


def _filled(value: int) -> Callable[..., Any]:
    def like(xp: Any, x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
        return xp.asarray(
            np.full(tuple(x.shape), value, xp.dtype_name(x if dtype is None else dtype))
        )

    return like


COMPOSITIONS |= {"zeros_like": _filled(0), "ones_like": _filled(1), "empty_like": _filled(0)}


@composition
def from_dlpack(xp: Any, x: Any, /, *, device: Any = None, copy: Any = None) -> Any:
    return xp.asarray(np.from_dlpack(x))


@composition
def meshgrid(xp: Any, *arrays: Any, indexing: str = "xy") -> list[Any]:
    if indexing not in ("xy", "ij"):
        raise ValueError("meshgrid: indexing is 'xy' or 'ij'.")
    count = len(arrays)
    order = list(range(count))
    if indexing == "xy" and count > 1:
        order[:2] = [1, 0]
    placed = [
        xp.reshape(x, tuple(-1 if k == axis else 1 for k in range(count)))
        for x, axis in zip(arrays, order)
    ]
    return list(xp.broadcast_arrays(*placed))


def _triangle(xp: Any, x: Any, k: int) -> Any:
    return xp.asarray(np.tri(x.shape[-2], x.shape[-1], k) != 0)


@composition
def tril(xp: Any, x: Any, /, *, k: int = 0) -> Any:
    return xp.where(_triangle(xp, x, k), x, xp.zeros_like(x))


@composition
def triu(xp: Any, x: Any, /, *, k: int = 0) -> Any:
    return xp.where(_triangle(xp, x, k - 1), xp.zeros_like(x), x)


# Manipulation
# ------------------------------------------------------------------------------------------------


@composition
def stack(xp: Any, arrays: Any, /, *, axis: int = 0) -> Any:
    return xp.concat(
        [xp.expand_dims(x, axis=axis) for x in arrays], axis=axis_of(axis, len(arrays[0].shape) + 1)
    )


@composition
def unstack(xp: Any, x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    axis = axis_of(axis, len(x.shape))
    return tuple([x[along(axis, n)] for n in range(x.shape[axis])])


@composition
def broadcast_to(xp: Any, x: Any, /, shape: Any) -> Any:
    # raises ValueError for shapes that do not fit
    np.broadcast_to(np.empty(tuple(x.shape)), tuple(shape))
    return (
        x + xp.zeros(tuple(shape), dtype=x.dtype)
        if is_floating(xp, x)
        else x | xp.zeros(tuple(shape), dtype=x.dtype)
    )


@composition
def broadcast_arrays(xp: Any, *arrays: Any) -> tuple[Any, ...]:
    shape = np.broadcast_shapes(*[tuple(x.shape) for x in arrays])
    return tuple([xp.broadcast_to(x, shape) for x in arrays])


@composition
def expand_dims(xp: Any, x: Any, /, *, axis: Any = 0) -> Any:
    return xp.reshape(x, np.expand_dims(np.empty(tuple(x.shape)), axis).shape)


@composition
def squeeze(xp: Any, x: Any, /, axis: Any) -> Any:
    return xp.reshape(x, np.squeeze(np.empty(tuple(x.shape)), axis).shape)


@composition
def permute_dims(xp: Any, x: Any, /, axes: Any) -> Any:
    return xp.transpose(x, axes)


@composition
def moveaxis(xp: Any, x: Any, source: Any, destination: Any, /) -> Any:
    numbered = np.moveaxis(
        np.empty([n + 1 for n in range(len(x.shape))]), source, destination
    ).shape
    return xp.permute_dims(x, tuple([n - 1 for n in numbered]))


@composition
def matrix_transpose(xp: Any, x: Any, /) -> Any:
    return xp.moveaxis(x, -1, -2)


@composition
def take(xp: Any, x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Negative indices count from the end.

    They are made non-negative, because some engines clamp them.
    """
    if axis is None:
        if len(x.shape) != 1:
            raise ValueError("take needs an axis for an array of more than one dimension.")
        axis = 0
    axis = axis_of(axis, len(x.shape))
    numbers = xp.numbers(indices)
    if numbers is not None:
        return xp.gather(
            x, xp.asarray(np.where(numbers < 0, numbers + x.shape[axis], numbers)), axis
        )
    return xp.gather(x, xp.where(indices < 0, indices + x.shape[axis], indices), axis)


@composition
def take_along_axis(xp: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """By an index into the flat array: the sum of a fixed part and `indices` times the stride of
    the axis.
    """
    shape, ndim = tuple(x.shape), len(x.shape)
    axis = axis_of(axis, ndim)
    strides = [math.prod(shape[n + 1 :]) for n in range(ndim)]
    fixed: Any = 0
    for n in range(ndim):
        if n != axis:
            fixed = fixed + strides[n] * np.arange(shape[n]).reshape(
                [-1 if k == n else 1 for k in range(ndim)]
            )
    numbers = xp.numbers(indices)
    if numbers is not None:
        flat = xp.asarray(
            fixed + strides[axis] * np.where(numbers < 0, numbers + shape[axis], numbers)
        )
    else:
        flat = xp.where(indices < 0, indices + shape[axis], indices) * strides[axis] + xp.asarray(
            np.asarray(fixed)
        )
    return xp.reshape(
        xp.gather(xp.reshape(x, (-1,)), xp.reshape(flat, (-1,)), 0), tuple(flat.shape)
    )


@composition
def flip(xp: Any, x: Any, /, *, axis: Axes = None) -> Any:
    for a in axes_of(axis, len(x.shape)):
        x = by_index(xp, x, np.arange(x.shape[a])[::-1].copy(), a)
    return x


@composition
def roll(xp: Any, x: Any, /, shift: Any, *, axis: Axes = None) -> Any:
    shape = tuple(x.shape)
    if axis is None:
        return xp.reshape(xp.roll(xp.reshape(x, (-1,)), shift, axis=0), shape)
    axes = axes_of(axis, len(shape))
    shifts = [shift] * len(axes) if isinstance(shift, (int, np.integer)) else list(shift)
    for a, s in zip(axes, shifts):
        if shape[a]:
            x = by_index(xp, x, (np.arange(shape[a]) - s) % shape[a], a)
    return x


@composition
def repeat(xp: Any, x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    if axis is None:
        x, axis = xp.reshape(x, (-1,)), 0
    axis = axis_of(axis, len(x.shape))
    return by_index(xp, x, np.repeat(np.arange(x.shape[axis]), _known(xp, "repeat", repeats)), axis)


@composition
def tile(xp: Any, x: Any, repetitions: Any, /) -> Any:
    repetitions = (
        (repetitions,) if isinstance(repetitions, (int, np.integer)) else tuple(repetitions)
    )
    ndim = builtins.max(len(x.shape), len(repetitions))
    x = xp.reshape(x, (1,) * (ndim - len(x.shape)) + tuple(x.shape))
    for axis, count in enumerate((1,) * (ndim - len(repetitions)) + repetitions):
        if count != 1:
            x = by_index(xp, x, np.tile(np.arange(x.shape[axis]), count), axis)
    return x


@composition
def diff(
    xp: Any, x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None
) -> Any:
    axis = axis_of(axis, len(x.shape))
    parts = [part for part in (prepend, x, append) if part is not None]
    x = xp.concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        x = x[along(axis, slice(1, None))] - x[along(axis, slice(None, -1))]
    return x


# Searching, sorting, sets
# --------------------------------------------------------------------------------------------


def _known(xp: Any, name: str, x: Any) -> np.ndarray[Any, Any]:
    """The numbers of x. Raises TypeError where the engine has not computed them."""
    numbers: np.ndarray[Any, Any] | None = xp.numbers(x)
    if numbers is None:
        raise TypeError(
            f"{name}: the result has a shape that depends on numbers, which a compiled function"
            " does not know."
        )
    return numbers


@composition
def argsort(
    xp: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Any:
    numbers = _known(xp, "argsort", x)
    if not descending:
        return xp.asarray(np.argsort(numbers, axis=axis, stable=True))
    order = np.argsort(np.flip(numbers, axis=axis), axis=axis, stable=True)
    return xp.asarray(np.flip(numbers.shape[axis] - 1 - order, axis=axis).copy())


@composition
def sort(
    xp: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Any:
    return xp.take_along_axis(x, xp.argsort(x, axis=axis, descending=descending), axis=axis)


@composition
def searchsorted(xp: Any, x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """The number of elements of x1 that are smaller, or with "right" not larger."""
    x1 = x1 if sorter is None else xp.take(x1, sorter)
    behind = xp.expand_dims(x2, axis=-1)
    return xp.sum(xp.astype(x1 < behind if side == "left" else x1 <= behind, xp.int64), axis=-1)


def _extreme_place(largest: bool) -> Callable[..., Any]:
    def place(xp: Any, x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
        function = np.argmax if largest else np.argmin
        return xp.asarray(
            np.asarray(function(_known(xp, "argmax", x), axis=axis, keepdims=keepdims))
        )

    return place


COMPOSITIONS |= {"argmax": _extreme_place(True), "argmin": _extreme_place(False)}


@composition
def nonzero(xp: Any, x: Any, /) -> tuple[Any, ...]:
    return tuple([xp.asarray(part) for part in np.nonzero(_known(xp, "nonzero", x))])


def _set(name: str) -> None:
    function = getattr(np, name)

    def unique(xp: Any, x: Any, /) -> Any:
        result = function(_known(xp, name, x))
        if not isinstance(result, tuple):
            return xp.asarray(result)
        return type(result)(*[xp.asarray(part) for part in result])

    COMPOSITIONS[name] = unique


for _name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    _set(_name)


@composition
def count_nonzero(xp: Any, x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return xp.sum(xp.astype(x != 0, xp.int64), axis=axis, keepdims=keepdims)


@composition
def any(xp: Any, x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return xp.count_nonzero(x, axis=axis, keepdims=keepdims) > 0


@composition
def all(xp: Any, x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return xp.sum(xp.astype(x == 0, xp.int64), axis=axis, keepdims=keepdims) == 0
