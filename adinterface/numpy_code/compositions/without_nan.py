"""Reductions and scans that leave NaN out."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from .composing import (
    Array,
    Axis,
    array,
    composition,
    is_exact,
    root,
)
from .reductions import argmax, argmin, cumprod, cumsum, max, mean, min, prod, sum, var


def _instead(xp: ModuleType, a: Array, value: Any) -> Array:
    return a if is_exact(a) else xp.where(xp.isnan(a), xp.full_like(a, value), a)


def _numbers(xp: ModuleType, a: Array, where: Any = True) -> Any:
    """Which elements count."""
    if is_exact(a):
        return where
    valid = xp.logical_not(xp.isnan(a))
    return valid if where is True else valid & array(xp, where, a)


@composition("nansum")
def nansum(xp: ModuleType, a: Array, *args: Any, **kwargs: Any) -> Array:
    return sum(xp, _instead(xp, a, 0), *args, **kwargs)


@composition("nanprod")
def nanprod(xp: ModuleType, a: Array, *args: Any, **kwargs: Any) -> Array:
    return prod(xp, _instead(xp, a, 1), *args, **kwargs)


@composition("nancumsum")
def nancumsum(xp: ModuleType, a: Array, *args: Any, **kwargs: Any) -> Array:
    return cumsum(xp, _instead(xp, a, 0), *args, **kwargs)


@composition("nancumprod")
def nancumprod(xp: ModuleType, a: Array, *args: Any, **kwargs: Any) -> Array:
    return cumprod(xp, _instead(xp, a, 1), *args, **kwargs)


@composition("nanmean")
def nanmean(xp: ModuleType, a: Array, *args: Any, where: Any = True, **kwargs: Any) -> Array:
    return mean(xp, _instead(xp, a, 0), *args, where=_numbers(xp, a, where), **kwargs)


@composition("nanvar")
def nanvar(xp: ModuleType, a: Array, *args: Any, where: Any = True, **kwargs: Any) -> Array:
    return var(xp, _instead(xp, a, 0), *args, where=_numbers(xp, a, where), **kwargs)


@composition("nanstd")
def nanstd(xp: ModuleType, a: Array, *args: Any, **kwargs: Any) -> Array:
    return root(xp, nanvar(xp, a, *args, **kwargs))


@composition("nanmax")
def nanmax(xp: ModuleType, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False, **options: Any) -> Array:
    result = max(xp, _instead(xp, a, -math.inf), axis, None, keepdims, **options)
    return _all_nan(xp, a, axis, keepdims, result)


@composition("nanmin")
def nanmin(xp: ModuleType, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False, **options: Any) -> Array:
    result = min(xp, _instead(xp, a, math.inf), axis, None, keepdims, **options)
    return _all_nan(xp, a, axis, keepdims, result)


def _all_nan(xp: ModuleType, a: Array, axis: Axis, keepdims: bool, empty: Array) -> Array:
    if is_exact(a):
        return empty
    return xp.where(xp.all(xp.isnan(a), axis=axis, keepdims=keepdims), xp.full_like(empty, math.nan), empty)


@composition("nanargmax")
def nanargmax(xp: ModuleType, a: Array, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    return argmax(xp, _instead(xp, a, -math.inf), axis, keepdims=keepdims)


@composition("nanargmin")
def nanargmin(xp: ModuleType, a: Array, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    return argmin(xp, _instead(xp, a, math.inf), axis, keepdims=keepdims)
