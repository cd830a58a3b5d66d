"""Sorting."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from .composing import Array, array, cast, composition, is_complex, name_of
from .reductions import along


@composition("sort")
def sort(
    xp: ModuleType,
    a: Array,
    axis: int | None = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
) -> Array:
    a, axis = along(xp, a, axis)
    return (
        xp.take_along_axis(a, argsort(xp, a, axis), axis=axis)
        if is_complex(a)
        else xp.sort(a, axis=axis)
    )


@composition("argsort")
def argsort(
    xp: ModuleType,
    a: Array,
    axis: int | None = -1,
    kind: Any = None,
    order: Any = None,
    *,
    stable: Any = None,
) -> Array:
    a, axis = along(xp, a, axis)
    if not is_complex(a):
        return xp.argsort(a, axis=axis, stable=True)
    real, imag = xp.real(a), xp.imag(a)
    # NumPy has a nan of one part alone behind all numbers, and one of the real part last.
    nan = 2 * cast(xp, xp.isnan(real), "int8") + cast(xp, xp.isnan(imag), "int8")
    return lexsort(xp, [imag, real, nan], axis)


@composition("partition")
def partition(
    xp: ModuleType, a: Array, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None
) -> Array:
    return sort(xp, a, axis)  # a sorted array is partitioned at any place


@composition("argpartition")
def argpartition(
    xp: ModuleType, a: Array, kth: Any, axis: int | None = -1, kind: Any = None, order: Any = None
) -> Array:
    return argsort(xp, a, axis)


@composition("lexsort")
def lexsort(xp: ModuleType, keys: Any, axis: int = -1) -> Array:
    """The last key is the first to sort by."""
    keys = [array(xp, keys[n]) for n in range(len(keys))]
    result = xp.argsort(keys[0], axis=axis, stable=True)
    for key in keys[1:]:
        order = xp.argsort(xp.take_along_axis(key, result, axis=axis), axis=axis, stable=True)
        result = xp.take_along_axis(result, order, axis=axis)
    return result


@composition("sort_complex")
def sort_complex(xp: ModuleType, a: Array) -> Array:
    return cast(xp, sort(xp, a), np.result_type(name_of(a), np.complex64))
