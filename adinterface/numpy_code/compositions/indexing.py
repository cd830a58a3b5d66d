"""Taking, choosing and finding elements."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ...core.contract.errors import NumpyCodeError
from .composing import (
    COMPOSITIONS,
    Array,
    array,
    broadcast,
    cast,
    composition,
    flat,
    gathered,
    is_exact,
    name_of,
    normalized,
    positions,
    promoted,
    size_of,
)
from .reductions import along
from .reductions import sum as _sum
from .standard_elementwise import truth

#: The named tuples of NumPy's results.
_RESULTS: list[Any] = [
    type(getattr(np, f"unique_{name}")(np.zeros(1))) for name in ("all", "counts", "inverse")
]
UniqueAllResult, UniqueCountsResult, UniqueInverseResult = _RESULTS


def _counted(xp: ModuleType, indices: Array, length: int, mode: str) -> Array:
    """Indices from 0, by NumPy's modes."""
    if mode == "wrap":
        return xp.remainder(indices, xp.full_like(indices, length))
    if mode == "clip":
        return xp.minimum(
            xp.maximum(indices, xp.zeros_like(indices)), xp.full_like(indices, length - 1)
        )
    return xp.where(indices < 0, indices + length, indices)


def getitem(xp: ModuleType, x: Array, index: Any) -> Array:
    """x[index] as NumPy's, of which the standard has the simple part."""
    parts = index if type(index) is tuple else (index,)
    if all(map(is_simple, parts)):
        return x[index]
    if not all(map(_is_concrete, parts)):
        x, forward = forwards(xp, x, parts)
        return x[tuple(forward)] if type(index) is tuple else x[forward[0]]
    return gathered(xp, x, np.asarray(positions(x.shape)[index]))


def forwards(xp: ModuleType, x: Array, parts: Sequence[Any]) -> tuple[Array, list[Any]]:
    """An array and the parts of an index without negative steps that mean the same: x is reversed
    along some axes.
    """
    parts = list(parts)
    axis, taken = 0, sum(map(axes_taken, parts))
    for n, part in enumerate(parts):
        if isinstance(part, slice) and (part.step or 1) < 0:
            length = x.shape[axis]
            start, stop, step = part.indices(length)
            x, parts[n] = xp.flip(x, axis=axis), slice(length - 1 - start, length - 1 - stop, -step)
        axis += len(x.shape) - taken if part is Ellipsis else axes_taken(part)
    return x, parts


def axes_taken(part: Any) -> int:
    """How many axes a part of an index takes."""
    if part is None or part is Ellipsis or isinstance(part, bool):
        return 0
    return len(part.shape) if hasattr(part, "dtype") and name_of(part) == "bool" else 1


def written(xp: ModuleType, x: Array, places: np.ndarray[Any, Any], value: Array) -> Array:
    """x with a value, one or as many, in these places of it, which are counted in C's order and
    differ from one another.
    """
    mask = np.zeros(x.shape, dtype=bool)
    mask.reshape(-1)[places] = True
    if value.ndim:
        source = np.zeros(x.shape, dtype=np.intp)
        source.reshape(-1)[places] = np.arange(len(places))
        value = xp.reshape(xp.take(value, array(xp, source.reshape(-1), x), axis=0), tuple(x.shape))
    return xp.where(array(xp, mask, x), value, x)


def written_anywhere(xp: ModuleType, x: Array, places: Array, value: Array) -> Array:
    """As `written`, at places that only the engine knows; for duplicates the last value stays."""
    places = flat(xp, places)
    turns = array(xp, np.arange(places.shape[0]), x)
    last = xp.max(xp.where(_here(xp, x, places), turns, xp.full_like(turns, -1)), axis=-1)
    picked = xp.take(value, xp.maximum(last, xp.zeros_like(last)), axis=0) if value.ndim else value
    return xp.reshape(xp.where(last >= 0, picked, flat(xp, x)), tuple(x.shape))


def added_anywhere(xp: ModuleType, x: Array, places: Array, values: Array) -> Array:
    """x with a vector of values added at places that only the engine knows, once for each
    occurrence.
    """
    here = _here(xp, x, flat(xp, places))
    return x + xp.reshape(
        xp.sum(xp.where(here, values, xp.zeros_like(values)), axis=-1), tuple(x.shape)
    )


def _here(xp: ModuleType, x: Array, places: Array) -> Array:
    """Whether an element, by row, is in one of these places, by column."""
    return array(xp, np.arange(size_of(x))[:, None], x) == places


def is_simple(part: Any) -> bool:
    return (
        part is None
        or part is Ellipsis
        or type(part) is int
        or (type(part) is slice and (part.step or 1) > 0)
    )


def _is_concrete(part: Any) -> bool:
    if isinstance(part, list):
        return all(_is_concrete(inner) for inner in part)
    return (
        part is None or part is Ellipsis or isinstance(part, (int, slice, np.ndarray, np.generic))
    )


@composition("take")
def take(
    xp: ModuleType,
    a: Array,
    indices: Any,
    axis: int | None = None,
    out: Any = None,
    mode: str = "raise",
) -> Array:
    a, axis = along(xp, array(xp, a, indices), axis)
    axis = axis % len(a.shape)
    indices = array(xp, indices, a)
    if not indices.ndim and mode == "raise":
        return a[(slice(None),) * axis + (int(indices), Ellipsis)]
    counted = flat(xp, _counted(xp, cast(xp, indices, "int64"), a.shape[axis], mode))
    result = xp.take(a, counted, axis=axis)
    return xp.reshape(
        result, tuple(a.shape[:axis]) + tuple(indices.shape) + tuple(a.shape[axis + 1 :])
    )


@composition("take_along_axis")
def take_along_axis(xp: ModuleType, arr: Array, indices: Any, axis: int | None = -1) -> Array:
    arr, axis = along(xp, arr, axis)
    axis = axis % len(arr.shape)
    indices = _counted(xp, cast(xp, array(xp, indices, arr), "int64"), arr.shape[axis], "raise")
    others = np.broadcast_shapes(
        *[tuple([1 if n == axis else k for n, k in enumerate(x.shape)]) for x in (arr, indices)]
    )
    shapes = [
        tuple([x.shape[axis] if n == axis else k for n, k in enumerate(others)])
        for x in (arr, indices)
    ]
    return xp.take_along_axis(
        xp.broadcast_to(arr, shapes[0]), xp.broadcast_to(indices, shapes[1]), axis=axis
    )


@composition("choose")
def choose(xp: ModuleType, a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Array:
    parts = promoted(xp, *[choices[n] for n in range(len(choices))])
    index = array(xp, a, parts[0])
    index, *parts = broadcast(
        xp, _counted(xp, index, len(parts), mode) if mode != "raise" else index, *parts
    )
    result = parts[0]
    for n, part in enumerate(parts[1:], 1):
        result = xp.where(index == n, part, result)
    return result


@composition("compress")
def compress(
    xp: ModuleType, condition: Any, a: Array, axis: int | None = None, out: Any = None
) -> Array:
    a, axis = along(xp, a, axis)
    return xp.take(a, xp.nonzero(truth(xp, array(xp, condition, a)))[0], axis=axis)


@composition("extract")
def extract(xp: ModuleType, condition: Any, arr: Any) -> Array:
    condition, arr = array(xp, condition, arr), array(xp, arr, condition)
    return xp.take(flat(xp, arr), xp.nonzero(truth(xp, flat(xp, condition)))[0], axis=0)


@composition("select")
def select(xp: ModuleType, condlist: Any, choicelist: Any, default: Any = 0) -> Array:
    conditions = [condlist[n] for n in range(len(condlist))]
    result, *choices = promoted(xp, default, *[choicelist[n] for n in range(len(choicelist))])
    for condition, choice in zip(reversed(conditions), reversed(choices)):
        result = xp.where(array(xp, condition, result), choice, result)
    return result


@composition("diagonal")
def diagonal(xp: ModuleType, a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    last_two = xp.moveaxis(a, normalized((axis1, axis2), len(a.shape)), (-2, -1))
    return xp.linalg.diagonal(last_two, offset=offset)


@composition("trace")
def trace(
    xp: ModuleType,
    a: Array,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: Any = None,
) -> Array:
    return _sum(xp, diagonal(xp, a, offset, axis1, axis2), -1, dtype)


@composition("diag")
def diag(xp: ModuleType, v: Any, k: int = 0) -> Array:
    v = array(xp, v)
    if len(v.shape) == 2:
        return diagonal(xp, v, k)
    if len(v.shape) != 1 or k:
        return gathered(xp, v, np.diag(positions(v.shape), k))
    return xp.where(
        array(xp, np.eye(v.shape[0], dtype=bool), v), v[:, None], xp.zeros_like(v)[:, None]
    )


@composition("unravel_index")
def unravel_index(xp: ModuleType, indices: Any, shape: Any, order: str = "C") -> Any:
    rest = array(xp, indices)
    results: list[Array] = []
    for length in reversed(shape) if order == "C" else shape:
        results.append(rest % length)
        rest = rest // length
    return tuple(reversed(results) if order == "C" else results)


@composition("searchsorted")
def searchsorted(xp: ModuleType, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    a, v = promoted(xp, a, v)
    a = a if sorter is None else xp.take(a, array(xp, sorter, a), axis=0)
    return xp.reshape(xp.searchsorted(a, flat(xp, v), side=side), tuple(v.shape))


@composition("digitize")
def digitize(xp: ModuleType, x: Any, bins: Any, right: bool = False) -> Array:
    x, bins = promoted(xp, x, bins)
    side = "left" if right else "right"
    if bins.shape[0] < 2 or bool(bins[0] <= bins[-1]):
        return searchsorted(xp, bins, x, side)
    return bins.shape[0] - searchsorted(xp, xp.flip(bins), x, "right" if right else "left")


@composition("isin")
def isin(
    xp: ModuleType,
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Array:
    element, others = promoted(xp, element, test_elements)
    result = xp.any(element[..., None] == flat(xp, others), axis=-1)
    return xp.logical_not(result) if invert else result


# Sets
# ------------------------------------------------------------------------------------------------


@composition("unique")
def unique(
    xp: ModuleType, ar: Any, return_index: bool = False, return_inverse: bool = False,
    return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True,
    sorted: bool = True,
) -> Any:  # fmt: skip
    if axis is not None:
        raise NumpyCodeError("numpy_function: np.unique takes axis=None alone.")
    result = unique_all(xp, ar, equal_nan)
    wanted = (True, return_index, return_inverse, return_counts)
    parts = tuple([part for part, want in zip(result, wanted) if want])
    return parts[0] if len(parts) == 1 else parts


def unique_all(xp: ModuleType, x: Any, equal_nan: bool = False) -> tuple[Any, ...]:
    x = array(xp, x)
    values = flat(xp, x)
    order = xp.argsort(values, axis=-1, stable=True)
    ordered = xp.take(values, order, axis=0)
    different = ordered[1:] != ordered[:-1]
    if equal_nan and not is_exact(x):
        different = different & xp.logical_not(xp.isnan(ordered[1:]) & xp.isnan(ordered[:-1]))
    start = xp.concat(
        [
            (
                xp.ones_like(different[:1])
                if different.shape[0]
                else array(xp, [True] * values.shape[0], x)
            ),
            different,
        ],
        axis=0,
    )
    places = xp.nonzero(start)[0]
    group = xp.cumulative_sum(cast(xp, start, "int64"), axis=0) - 1
    inverse = xp.take(group, xp.argsort(order, axis=-1), axis=0)
    ends = xp.concat([places[1:], xp.full_like(places[:1], values.shape[0])], axis=0)
    result: tuple[Any, ...] = UniqueAllResult(
        xp.take(ordered, places, axis=0),
        xp.take(order, places, axis=0),
        xp.reshape(inverse, tuple(x.shape)),
        ends - places,
    )
    return result


COMPOSITIONS |= {
    "nonzero": lambda xp, a: tuple(xp.nonzero(a)),
    "argwhere": lambda xp, a: xp.stack(list(xp.nonzero(a)), axis=-1),
    "flatnonzero": lambda xp, a: xp.nonzero(flat(xp, a))[0],
    "unique_all": unique_all,
    "unique_values": lambda xp, x: unique_all(xp, x)[0],
    "unique_counts": lambda xp, x: UniqueCountsResult(*[unique_all(xp, x)[n] for n in (0, 3)]),
    "unique_inverse": lambda xp, x: UniqueInverseResult(*[unique_all(xp, x)[n] for n in (0, 2)]),
    "union1d": lambda xp, a, b: unique_all(
        xp, xp.concat([flat(xp, x) for x in promoted(xp, a, b)], axis=0), True
    )[0],
}
