"""Reductions and scans."""

from __future__ import annotations

import functools
import math
from types import ModuleType
from typing import Any

import numpy as np

from . import complex_order
from .composing import (
    Array,
    Axis,
    array,
    cast,
    composition,
    flat,
    inexact,
    is_complex,
    last,
    name_of,
    normalized,
    root,
    size_of,
)
from .standard_elementwise import truth


def _masked(xp: ModuleType, a: Array, where: Any, neutral: Any) -> Array:
    """a with the neutral element where it does not count."""
    if where is True:
        return a
    return xp.where(array(xp, where, a), a, _as_initial(xp, neutral, a))


def _as_initial(xp: ModuleType, value: Any, like: Array) -> Array:
    """An initial value, in the dtype of the array, as in NumPy."""
    return cast(xp, array(xp, value, like), name_of(like))


@composition("sum")
def sum(
    xp: ModuleType,
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    a = _masked(xp, a if dtype is None else cast(xp, a, dtype), where, 0)
    a = cast(xp, a, "int64") if name_of(a) == "bool" else a
    total = xp.sum(a, axis=axis, keepdims=keepdims)
    total = total if dtype is None else cast(xp, total, dtype)
    return total if initial is None else xp.add(total, _as_initial(xp, initial, total))


@composition("prod")
def prod(
    xp: ModuleType,
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    a = _masked(xp, a if dtype is None else cast(xp, a, dtype), where, 1)
    a = cast(xp, a, "int64") if name_of(a) == "bool" else a
    total = xp.prod(a, axis=axis, keepdims=keepdims)
    total = total if dtype is None else cast(xp, total, dtype)
    return total if initial is None else xp.multiply(total, _as_initial(xp, initial, total))


def _count(xp: ModuleType, a: Array, axis: Axis, where: Any, keepdims: bool) -> Any:
    """How many elements count, as a number or an array of a's dtype."""
    if where is True:
        return math.prod([a.shape[n] for n in normalized(axis, len(a.shape))])
    counted = xp.broadcast_to(array(xp, where, a), a.shape)
    dtype = name_of(xp.real(a)) if is_complex(a) else name_of(a)
    return xp.sum(cast(xp, counted, dtype), axis=axis, keepdims=keepdims)


@composition("mean")
def mean(
    xp: ModuleType,
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Array:
    a = inexact(xp, a) if dtype is None else cast(xp, a, dtype)
    if where is True and not is_complex(a):
        return xp.mean(a, axis=axis, keepdims=keepdims)
    return sum(xp, a, axis, None, None, keepdims, where=where) / _count(xp, a, axis, where, keepdims)


@composition("var")
def var(
    xp: ModuleType,
    a: Array,
    axis: Axis = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Array:
    a = inexact(xp, a) if dtype is None else cast(xp, a, dtype)
    ddof = ddof if correction is None else correction
    if mean is None:
        mean = sum(xp, a, axis, None, None, True, where=where) / _count(xp, a, axis, where, True)
    deviations = a - mean
    squares = xp.real(deviations * xp.conj(deviations)) if is_complex(a) else xp.square(deviations)
    count = _count(xp, a, axis, where, keepdims) - ddof
    total = sum(xp, squares, axis, None, None, keepdims, where=where)
    if isinstance(count, (int, float)):
        return total / count if count > 0 else total * math.nan
    return total / xp.maximum(count, xp.zeros_like(count))


@composition("std")
def std(xp: ModuleType, a: Array, *args: Any, **kwargs: Any) -> Array:
    return root(xp, var(xp, a, *args, **kwargs))


def _extremum(xp: ModuleType, name: str, a: Array, axis: Axis, keepdims: bool, initial: Any, where: Any) -> Array:
    a = _masked(xp, a, where, initial)
    reduce, pair = {"max": (xp.max, xp.maximum), "min": (xp.min, xp.minimum)}[name]
    if is_complex(a):
        reduce = functools.partial(complex_order.extreme, xp, largest=name == "max")
        pair = functools.partial({"max": complex_order.larger, "min": complex_order.smaller}[name], xp)
    elif name_of(a) == "bool":
        reduce, pair = {"max": (xp.any, xp.logical_or), "min": (xp.all, xp.logical_and)}[name]
    if initial is not None and not size_of(a):
        shape = np.max(np.zeros(a.shape), axis=axis, keepdims=keepdims, initial=0.0).shape
        return xp.broadcast_to(_as_initial(xp, initial, a), shape)
    result = reduce(a, axis=axis, keepdims=keepdims)
    return result if initial is None else pair(result, _as_initial(xp, initial, result))


@composition("max", "amax")
def max(
    xp: ModuleType, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Array:
    return _extremum(xp, "max", a, axis, keepdims, initial, where)


@composition("min", "amin")
def min(
    xp: ModuleType, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Array:
    return _extremum(xp, "min", a, axis, keepdims, initial, where)


@composition("ptp")
def ptp(xp: ModuleType, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Array:
    return max(xp, a, axis, keepdims=keepdims) - min(xp, a, axis, keepdims=keepdims)


@composition("all")
def all(xp: ModuleType, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Array:
    return xp.all(_masked(xp, truth(xp, a), where, True), axis=axis, keepdims=keepdims)


@composition("any")
def any(xp: ModuleType, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Array:
    return xp.any(_masked(xp, truth(xp, a), where, False), axis=axis, keepdims=keepdims)


@composition("count_nonzero")
def count_nonzero(xp: ModuleType, a: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    return xp.sum(cast(xp, truth(xp, a), "int64"), axis=axis, keepdims=keepdims)


def _place(xp: ModuleType, name: str, a: Array, axis: int | None, keepdims: bool) -> Array:
    if not is_complex(a):
        return getattr(xp, name)(cast(xp, a, "uint8") if name_of(a) == "bool" else a, axis=axis, keepdims=keepdims)
    lines, shape = last(xp, a, axis)
    result = complex_order.place(xp, lines, name == "argmax")
    return xp.reshape(result, shape) if keepdims else result


@composition("argmax")
def argmax(xp: ModuleType, a: Array, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    return _place(xp, "argmax", a, axis, keepdims)


@composition("argmin")
def argmin(xp: ModuleType, a: Array, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    return _place(xp, "argmin", a, axis, keepdims)


def along(xp: ModuleType, a: Array, axis: int | None) -> tuple[Array, int]:
    return (flat(xp, a), 0) if axis is None else (a, axis)


@composition("cumsum")
def cumsum(xp: ModuleType, a: Array, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    a, axis = along(xp, a if dtype is None else cast(xp, a, dtype), axis)
    a = cast(xp, a, "int64") if name_of(a) == "bool" else a
    scanned = xp.cumulative_sum(a, axis=axis)
    return scanned if dtype is None else cast(xp, scanned, dtype)


@composition("cumprod")
def cumprod(xp: ModuleType, a: Array, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    a, axis = along(xp, a if dtype is None else cast(xp, a, dtype), axis)
    a = cast(xp, a, "int64") if name_of(a) == "bool" else a
    scanned = xp.cumulative_prod(a, axis=axis)
    return scanned if dtype is None else cast(xp, scanned, dtype)


def _with_initial(xp: ModuleType, scanned: Array, axis: int, first: int) -> Array:
    axis = axis % len(scanned.shape)
    head = xp.zeros_like(scanned[(slice(None),) * axis + (slice(1),)]) + first
    return xp.concat([head, scanned], axis=axis)


@composition("cumulative_sum")
def cumulative_sum(
    xp: ModuleType, x: Array, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Array:
    scanned = cumsum(xp, x, axis, dtype)
    return _with_initial(xp, scanned, axis or 0, 0) if include_initial else scanned


@composition("cumulative_prod")
def cumulative_prod(
    xp: ModuleType, x: Array, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False
) -> Array:
    scanned = cumprod(xp, x, axis, dtype)
    return _with_initial(xp, scanned, axis or 0, 1) if include_initial else scanned
