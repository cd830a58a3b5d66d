"""Arrays like another, and grids."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .composing import Array, array, broadcast, cast, composition, inexact, name_of, promoted
from .shapes import lengths


def _filled(value: float) -> Callable[..., Any]:
    def like(
        xp: ModuleType, a: Array, dtype: Any = None, order: str = "K", subok: bool = True,
        shape: Any = None, *, device: Any = None,
    ) -> Array:  # fmt: skip
        if dtype is None and shape is None:
            return xp.ones_like(a) if value else xp.zeros_like(a)
        return full_like(xp, a, value, dtype, order, subok, shape)

    return like


@composition("full_like")
def full_like(
    xp: ModuleType, a: Array, fill_value: Any, dtype: Any = None, order: str = "K",
    subok: bool = True, shape: Any = None, *, device: Any = None,
) -> Array:  # fmt: skip
    value = cast(xp, array(xp, fill_value, a), name_of(a) if dtype is None else dtype)
    return xp.broadcast_to(value, tuple(a.shape) if shape is None else lengths(shape))


composition("zeros_like", "empty_like")(_filled(0))
composition("ones_like")(_filled(1))


@composition("linspace")
def linspace(
    xp: ModuleType, start: Any, stop: Any, num: int = 50, endpoint: bool = True,
    retstep: bool = False, dtype: Any = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    start, stop = broadcast(xp, *[inexact(xp, x) for x in promoted(xp, start, stop)])
    divisions = num - 1 if endpoint else num
    step = (stop - start) / divisions if divisions > 0 else (stop - start) * float("nan")
    counts = cast(xp, array(xp, np.arange(num), start), name_of(start))
    counts = xp.reshape(counts, (num,) + (1,) * len(start.shape))
    points = start + counts * (step if divisions > 0 else stop - start)
    if endpoint and num > 1:
        points = xp.concat([points[:-1, ...], stop[None, ...]], axis=0)
    points = xp.moveaxis(points if dtype is None else cast(xp, points, dtype), 0, axis)
    return (points, step) if retstep else points


@composition("logspace")
def logspace(
    xp: ModuleType, start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0,
    dtype: Any = None, axis: int = 0,
) -> Array:  # fmt: skip
    exponents = linspace(xp, start, stop, num, endpoint, axis=axis)
    result = xp.pow(*promoted(xp, base, exponents))
    return result if dtype is None else cast(xp, result, dtype)


@composition("geomspace")
def geomspace(
    xp: ModuleType,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Array:
    start, stop = broadcast(
        xp, *[cast(xp, x, np.result_type(name_of(x), float)) for x in promoted(xp, start, stop)]
    )
    exponents = linspace(xp, xp.zeros_like(start), xp.log(stop / start), num, endpoint)
    result = start * xp.exp(exponents)
    if endpoint and num > 1:
        result = xp.concat([result[:-1, ...], stop[None, ...]], axis=0)
    return xp.moveaxis(result if dtype is None else cast(xp, result, dtype), 0, axis)


@composition("meshgrid")
def meshgrid(
    xp: ModuleType, *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> Any:
    ndim = len(xi)
    axes = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        axes[:2] = [1, 0]
    results = [
        xp.reshape(array(xp, x), tuple([-1 if n == axis else 1 for n in range(ndim)]))
        for x, axis in zip(xi, axes)
    ]
    return tuple(results if sparse else broadcast(xp, *results))
