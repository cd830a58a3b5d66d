"""Joining and splitting."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from .composing import (
    COMPOSITIONS,
    Array,
    array,
    cast,
    composition,
    concrete,
    flat,
    gathered,
    name_of,
    positions,
    promoted,
    size_of,
    sliced,
)
from .shapes import with_rank


def _joined(xp: ModuleType, parts: Any, axis: int, dtype: Any) -> Array:
    joined = xp.concat(promoted(xp, *parts), axis=axis)
    return joined if dtype is None else cast(xp, joined, dtype)


def _arrays(xp: ModuleType, arrays: Any) -> list[Array]:
    return [array(xp, arrays[n]) for n in range(len(arrays))]


@composition("concatenate")
def concatenate(
    xp: ModuleType,
    arrays: Any,
    axis: int | None = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Array:
    parts = _arrays(xp, arrays)
    return _joined(xp, [flat(xp, x) for x in parts] if axis is None else parts, axis or 0, dtype)


@composition("stack")
def stack(
    xp: ModuleType,
    arrays: Any,
    axis: int = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: str = "same_kind",
) -> Array:
    stacked = xp.stack(promoted(xp, *_arrays(xp, arrays)), axis=axis)
    return stacked if dtype is None else cast(xp, stacked, dtype)


@composition("vstack")
def vstack(xp: ModuleType, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    return _joined(xp, [with_rank(xp, x, 2) for x in _arrays(xp, tup)], 0, dtype)


@composition("hstack")
def hstack(xp: ModuleType, tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Array:
    parts = [with_rank(xp, x, 1) for x in _arrays(xp, tup)]
    return _joined(xp, parts, 0 if len(parts[0].shape) == 1 else 1, dtype)


@composition("block")
def block(xp: ModuleType, arrays: Any) -> Array:
    def depth(part: Any) -> int:
        return 1 + max(depth(inner) for inner in part) if isinstance(part, list) else 0

    def rank(part: Any) -> int:
        return (
            max(rank(inner) for inner in part)
            if isinstance(part, list)
            else len(array(xp, part).shape)
        )

    levels = depth(arrays)
    ndim = max(rank(arrays), levels)

    def joined(part: Any, level: int) -> Array:
        if not isinstance(part, list):
            part = array(xp, part)
            return xp.reshape(part, (1,) * (ndim - len(part.shape)) + tuple(part.shape))
        return _joined(xp, [joined(inner, level - 1) for inner in part], -level, None)

    return joined(arrays, levels)


@composition("insert")
def insert(xp: ModuleType, arr: Array, obj: Any, values: Any, axis: int | None = None) -> Array:
    arr = array(xp, arr, values)
    values = cast(xp, array(xp, values, arr), name_of(arr))
    places = np.insert(
        positions(arr.shape), concrete(obj), positions(values.shape) + size_of(arr), axis
    )
    return gathered(xp, xp.concat([flat(xp, arr), flat(xp, values)], axis=0), places)


# Splitting
# ------------------------------------------------------------------------------------------------


@composition("array_split")
def array_split(xp: ModuleType, ary: Array, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    axis = axis % len(ary.shape)
    places = np.array_split(np.arange(ary.shape[axis]), concrete(indices_or_sections))
    result, start = [], 0
    for part in places:
        start = int(part[0]) if len(part) else start
        result.append(sliced(ary, axis, start, start + len(part)))
    return result


@composition("split")
def split(xp: ModuleType, ary: Array, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    if isinstance(indices_or_sections, int) and ary.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    parts: list[Array] = array_split(xp, ary, indices_or_sections, axis)
    return parts


COMPOSITIONS |= {
    "append": lambda xp, arr, values, axis=None: concatenate(xp, [arr, values], axis),
    "dstack": lambda xp, tup: _joined(xp, [with_rank(xp, x, 3) for x in _arrays(xp, tup)], 2, None),
    "column_stack": lambda xp, tup: _joined(
        xp, [x if len(x.shape) > 1 else xp.reshape(x, (-1, 1)) for x in _arrays(xp, tup)], 1, None
    ),
    "hsplit": lambda xp, ary, indices_or_sections: split(
        xp, ary, indices_or_sections, min(len(ary.shape) - 1, 1)
    ),
    "vsplit": lambda xp, ary, indices_or_sections: split(xp, ary, indices_or_sections, 0),
    "dsplit": lambda xp, ary, indices_or_sections: split(xp, ary, indices_or_sections, 2),
    "unstack": lambda xp, x, *, axis=0: tuple(
        [xp.moveaxis(x, axis, 0)[n, ...] for n in range(x.shape[axis])]
    ),
}
