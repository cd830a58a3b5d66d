"""Compositions of reductions and cumulative sums."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .composing import COMPOSITIONS, Axes, along, axes_of, axis_of, composition, is_complex, root


def _ends(xp: Any, x: Any, axis: Axes) -> tuple[Any, list[int]]:
    """x with the reduced axes merged into a last one, and these axes: `(2, 3, 4)` over `(0, 2)` ->
    `(3, 8)`, `[0, 2]`.
    """
    shape = tuple(x.shape)
    axes = axes_of(axis, len(shape))
    kept = [n for n in range(len(shape)) if n not in axes]
    moved = xp.permute_dims(x, tuple(kept + axes)) if shape else x
    return xp.reshape(moved, (*[shape[n] for n in kept], math.prod([shape[n] for n in axes]))), axes


def _kept(xp: Any, x: Any, shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> Any:
    return (
        xp.reshape(x, tuple([1 if n in axes else length for n, length in enumerate(shape)]))
        if keepdims
        else x
    )


def _halves(combine: Callable[[Any, Any, Any], Any], empty: float | None, name: str) -> None:
    """A reduction by halves: every step combines the first half of the axis with the second."""

    def reduce(
        xp: Any, x: Any, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False
    ) -> Any:
        x = x if dtype is None else xp.astype(x, dtype)
        result, axes = _ends(xp, x, axis)
        if result.shape[-1] == 0:
            if empty is None:
                raise ValueError(f"{name} of an empty array has no value.")
            made = xp.asarray(np.full(tuple(result.shape)[:-1], empty, xp.dtype_name(x)))
            return _kept(xp, made, tuple(x.shape), axes, keepdims)
        while (count := result.shape[-1]) > 1:
            half = count // 2
            combined = combine(xp, result[..., :half], result[..., half : 2 * half])
            result = (
                combined
                if count % 2 == 0
                else xp.concat([combined, result[..., 2 * half :]], axis=-1)
            )
        return _kept(xp, result[..., 0], tuple(x.shape), axes, keepdims)

    COMPOSITIONS[name] = reduce


_halves(lambda xp, x, y: x + y, 0.0, "sum")
_halves(lambda xp, x, y: x * y, 1.0, "prod")
_halves(lambda xp, x, y: xp.maximum(x, y), None, "max")
_halves(lambda xp, x, y: xp.minimum(x, y), None, "min")


def _count(x: Any, axis: Axes) -> int:
    return math.prod([int(x.shape[a]) for a in axes_of(axis, len(x.shape))])


@composition
def mean(xp: Any, x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return xp.sum(x, axis=axis, keepdims=keepdims) / _count(x, axis)


@composition
def var(
    xp: Any, x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Any:
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    squares = xp.real(centred * xp.conj(centred)) if is_complex(xp, x) else centred * centred
    return xp.sum(squares, axis=axis, keepdims=keepdims) / builtins.max(
        _count(x, axis) - correction, 0.0
    )


@composition
def std(
    xp: Any, x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Any:
    return root(xp, xp.var(x, axis=axis, correction=correction, keepdims=keepdims))


def _cumulative(combine: Callable[[Any, Any], Any], start: float, name: str) -> None:
    """Each step combines every element with the one at a distance before it; the distance doubles.

    Source: Hillis and Steele, Data parallel algorithms, 1986.
    """

    def cumulate(
        xp: Any,
        x: Any,
        /,
        *,
        axis: int | None = None,
        dtype: Any = None,
        include_initial: bool = False,
    ) -> Any:
        if axis is None:
            if len(x.shape) != 1:
                raise ValueError(f"{name} needs an axis for an array of more than one dimension.")
            axis = 0
        axis = axis_of(axis, len(x.shape))
        x = x if dtype is None else xp.astype(x, dtype)
        step, count = 1, x.shape[axis]
        while step < count:
            later = combine(
                x[along(axis, slice(step, None))], x[along(axis, slice(None, count - step))]
            )
            x = xp.concat([x[along(axis, slice(None, step))], later], axis=axis)
            step *= 2
        if include_initial:
            shape = [1 if n == axis else length for n, length in enumerate(x.shape)]
            x = xp.concat([xp.asarray(np.full(shape, start, xp.dtype_name(x))), x], axis=axis)
        return x

    COMPOSITIONS[name] = cumulate


_cumulative(lambda x, y: x + y, 0.0, "cumulative_sum")
_cumulative(lambda x, y: x * y, 1.0, "cumulative_prod")
