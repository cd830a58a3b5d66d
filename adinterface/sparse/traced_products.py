"""Products of traced matrices and vectors: each element of the result is a sum of products."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .index_sets import Sets, related, union
from .traced import Traced, raw

#: So many terms of sums are written out; beyond, every element depends on everything.
_TERMS = 3 * 10**7


def product_of(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """`matmul`, `tensordot` or `vecdot` of two operands of which one is traced or both.

    None if this is better taken as a whole.
    """
    a, b = [x if isinstance(x, Traced) else np.asarray(x) for x in args[:2]]
    with np.errstate(all="ignore"):
        value = np.asarray(function(*[raw(x) for x in args], **kwargs))
    operands = [x for x in (a, b) if isinstance(x, Traced)]
    trace, fixed = operands[0].tracing, all(x.fixed for x in operands)
    if value.dtype.kind not in "fc":
        return Traced(value, None, trace, fixed)
    over = kwargs.get("axes", [*args, 2][2]) if name == "tensordot" else kwargs.get("axis", -1)
    terms = _terms(name, a, b, over, value)
    if terms is None:
        return None
    results, left, right = terms
    sets: Sets = None
    for x, numbers, other, others in ((a, left, b, right), (b, right, a, left)):
        if not isinstance(x, Traced) or x.sets is None:
            continue
        kept = slice(None)
        if not isinstance(other, Traced) or (other.fixed and other.sets is None):
            kept = raw(other).ravel()[others] != 0
        sets = union(sets, related(x.sets, results[kept], numbers[kept], value.size))
    if trace.second and isinstance(a, Traced) and isinstance(b, Traced) and a.sets is not None:
        trace.meet(a.sets, related(b.sets, left, right, a.size))
    return Traced(value, sets, trace, fixed)


def _terms(name: str, a: Any, b: Any, over: Any, value: Any) -> tuple[Any, Any, Any] | None:
    """Of each term of all sums the numbers of its result and of its factors in a and b.

    None if there are too many terms. over: the axes of `tensordot`, or the axis of `vecdot`.

    `[x0, x1] @ [y0, y1]` has the terms `([0, 0], [0, 1], [0, 1])`. Terms with a zero in a plain
    matrix a are left out.
    """
    left = np.arange(a.size).reshape(a.shape)
    right = np.arange(b.size).reshape(b.shape)
    if name == "matmul" and a.ndim == 2 and b.ndim <= 2 and not isinstance(a, Traced):
        columns = b.shape[1] if b.ndim == 2 else 1
        right = right.reshape(b.shape[0], columns)
        i, k = np.nonzero(a)
        if i.size * columns > _TERMS:
            return None
        return _grid(i, columns), np.repeat(left[i, k], columns), right[k].ravel()
    a_size, b_size = a.size, b.size
    if a_size * b_size > _TERMS * max(1, min(a_size, b_size)):
        return None
    if name == "matmul":
        if a.ndim == 1:
            left = left[None, :]
        if b.ndim == 1:
            right = right[:, None]
        left, right = left[..., :, :, None], right[..., None, :, :]
        return _aligned(left, right, -2, value)
    if name == "tensordot":
        if isinstance(over, (int, np.integer)):
            over = (range(a.ndim - over, a.ndim), range(over))
        over_a, over_b = [[x] if isinstance(x, (int, np.integer)) else list(x) for x in over]
        left = np.moveaxis(left, over_a, range(-len(over_a), 0))
        right = np.moveaxis(right, over_b, range(len(over_b)))
        summed = math.prod(right.shape[: len(over_b)])
        return _aligned(left.reshape(-1, summed, 1), right.reshape(1, summed, -1), 1, value)
    left, right = np.broadcast_arrays(left, right)
    return _aligned(np.moveaxis(left, over, -1), np.moveaxis(right, over, -1), -1, value)


def _grid(rows: Any, columns: int) -> Any:
    """The numbers of the elements in these rows: `([0, 2], 3)` -> `[0, 1, 2, 6, 7, 8]`."""
    return (rows[:, None] * columns + np.arange(columns)).ravel()


def _aligned(left: Any, right: Any, axis: int, value: Any) -> tuple[Any, Any, Any] | None:
    """Operands that broadcast against one another, summed over one axis."""
    if int(np.prod(np.broadcast_shapes(left.shape, right.shape))) > _TERMS:
        return None
    left, right = np.broadcast_arrays(left, right)
    shape = list(left.shape)
    del shape[axis]
    results = np.broadcast_to(
        np.expand_dims(np.arange(value.size).reshape(shape), axis), left.shape
    )
    return results.ravel(), left.ravel(), right.ravel()
