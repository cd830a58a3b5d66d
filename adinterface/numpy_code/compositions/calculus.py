"""Differences, integrals and interpolation."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

from .composing import (
    Array,
    array,
    cast,
    composition,
    flat,
    inexact,
    is_complex,
    name_of,
    normalized,
    promoted,
    sliced,
)
from .reductions import sum as _sum


@composition("diff")
def diff(
    xp: ModuleType, a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
) -> Array:
    a = array(xp, a)
    if n == 0:
        return a
    axis = normalized(axis, len(a.shape))[0]

    def end(value: Any) -> list[Array]:
        if value is None or type(value).__name__ == "_NoValueType":
            return []
        value = array(xp, value, a)
        shape = tuple([1 if k == axis else length for k, length in enumerate(a.shape)])
        return [xp.broadcast_to(value, shape) if not value.ndim else value]

    parts = promoted(xp, *end(prepend), a, *end(append))
    a = xp.concat(parts, axis=axis) if len(parts) > 1 else a
    for _ in range(n):
        above, below = sliced(a, axis, 1), sliced(a, axis, None, -1)
        a = above != below if name_of(a) == "bool" else above - below
    return a


@composition("ediff1d")
def ediff1d(xp: ModuleType, ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    steps = diff(xp, flat(xp, array(xp, ary)))
    parts = [None if end is None else flat(xp, array(xp, end, steps)) for end in (to_begin, to_end)]
    joined = [part for part in (parts[0], steps, parts[1]) if part is not None]
    return xp.concat([cast(xp, part, name_of(steps)) for part in joined], axis=0)


@composition("trapezoid")
def trapezoid(xp: ModuleType, y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    y = array(xp, y, x)
    if x is None:
        width = dx
    else:
        width = diff(xp, array(xp, x, y), axis=axis if len(getattr(x, "shape", (0,))) > 1 else -1)
        if len(width.shape) == 1:
            shape = [1] * len(y.shape)
            shape[axis] = width.shape[0]
            width = xp.reshape(width, tuple(shape))
    above, below = sliced(y, axis, 1), sliced(y, axis, None, -1)
    total, width = promoted(xp, above + below, width)
    return _sum(xp, inexact(xp, width * total) / 2.0, axis)


@composition("gradient")
def gradient(xp: ModuleType, f: Array, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    axes = normalized(axis, len(f.shape))
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    spacings = (
        [1.0] * len(axes)
        if not varargs
        else list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    )
    f = inexact(xp, f)
    results = [_slope(xp, f, spacing, n, edge_order) for spacing, n in zip(spacings, axes)]
    return results[0] if len(axes) == 1 else tuple(results)


def _slope(xp: ModuleType, f: Array, spacing: Any, axis: int, edge_order: int) -> Array:
    if f.shape[axis] < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1)"
            " elements are required."
        )
    f = xp.moveaxis(f, axis, -1)
    spacing = spacing if isinstance(spacing, (int, float)) else array(xp, spacing, f)
    steps: Any = (
        spacing if not getattr(spacing, "shape", ()) else inexact(xp, spacing[1:] - spacing[:-1])
    )
    slopes = (f[..., 1:] - f[..., :-1]) / steps
    if not getattr(steps, "shape", ()):
        inner = (f[..., 2:] - f[..., :-2]) / (2.0 * steps)
        first, second, before, last_ = steps, steps, steps, steps
    else:
        left, right = steps[:-1], steps[1:]
        inner = (slopes[..., :-1] * right + slopes[..., 1:] * left) / (left + right)
        first, second, before, last_ = [
            steps[n] for n in (0, min(1, len(steps.shape)), -2 if steps.shape[0] > 1 else -1, -1)
        ]
    if edge_order == 1:
        start, end = slopes[..., :1], slopes[..., -1:]
    else:
        start = slopes[..., :1] + (slopes[..., :1] - slopes[..., 1:2]) * (first / (first + second))
        end = slopes[..., -1:] + (slopes[..., -1:] - slopes[..., -2:-1]) * (
            last_ / (last_ + before)
        )
    # In the precision of f, for any precision of the coordinates.
    return xp.moveaxis(cast(xp, xp.concat([start, inner, end], axis=-1), name_of(f)), -1, axis)


@composition("interp")
def interp(
    nx: ModuleType,
    /,
    x: Any,
    xp: Any,
    fp: Any,
    left: Any = None,
    right: Any = None,
    period: Any = None,
) -> Array:
    x, xp, fp = [inexact(nx, v) for v in promoted(nx, x, xp, fp)]
    if not is_complex(fp):
        x, xp, fp = [cast(nx, v, "float64") for v in (x, xp, fp)]
    if period is not None:
        period = abs(period)
        x, xp = nx.remainder(x, nx.full_like(x, period)), nx.remainder(xp, nx.full_like(xp, period))
        order = nx.argsort(xp, axis=-1)
        xp, fp = nx.take(xp, order, axis=0), nx.take(fp, order, axis=0)
        xp = nx.concat([xp[-1:] - period, xp, xp[:1] + period], axis=0)
        fp = nx.concat([fp[-1:], fp, fp[:1]], axis=0)
    shape, points = tuple(x.shape), flat(nx, x)
    if xp.shape[0] == 1:
        result = nx.take(fp, nx.zeros_like(points, dtype=nx.int64), axis=0)
    else:
        place = nx.searchsorted(xp, points, side="right") - 1
        place = nx.minimum(
            nx.maximum(place, nx.zeros_like(place)), nx.full_like(place, xp.shape[0] - 2)
        )
        start, end = nx.take(xp, place, axis=0), nx.take(xp, place + 1, axis=0)
        low, high = nx.take(fp, place, axis=0), nx.take(fp, place + 1, axis=0)
        width = end - start
        part = (points - start) / nx.where(width == 0, nx.ones_like(width), width)
        result = nx.where(points >= end, high, low + part * (high - low))
    if period is None:
        ends = [
            cast(nx, array(nx, v, fp), name_of(fp))
            for v in (fp[0] if left is None else left, fp[-1] if right is None else right)
        ]
        result = nx.where(points < xp[0], ends[0], nx.where(points > xp[-1], ends[1], result))
    result = nx.where(nx.isnan(points), nx.full_like(result, math.nan), result)
    return nx.reshape(result, shape)
