"""Quantiles with all of NumPy's methods, and medians."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ...core.contract.errors import NumpyCodeError
from .composing import Array, Axis, array, cast, composition, flat, inexact, last, name_of, promoted

#: Where a quantile lies between the n sorted elements, counted from 0: `q * (n + slope) + offset`.
_CONTINUOUS = {
    "linear": (-1.0, 0.0), "median": (-1.0, 0.0), "interpolated_inverted_cdf": (0.0, -1.0),
    "hazen": (0.0, -0.5), "weibull": (1.0, -1.0), "median_unbiased": (1 / 3, -2 / 3),
    "normal_unbiased": (1 / 4, -5 / 8), "lower": (-1.0, 0.0), "higher": (-1.0, 0.0),
    "midpoint": (-1.0, 0.0), "nearest": (-1.0, 0.0), "inverted_cdf": (0.0, -1.0),
    "averaged_inverted_cdf": (0.0, -1.0), "closest_observation": (0.0, -1.5),
}  # fmt: skip
_BETWEEN: dict[str, Callable[[ModuleType, Array, Array], Array]] = {
    "lower": lambda xp, below, part: 0 * part,
    "higher": lambda xp, below, part: _where(xp, part > 0, 1.0, 0.0, part),
    "midpoint": lambda xp, below, part: _where(xp, part > 0, 0.5, 0.0, part),
    "nearest": lambda xp, below, part: _where(
        xp, (part > 0.5) | ((part == 0.5) & (below % 2 == 1)), 1.0, 0.0, part
    ),
    "inverted_cdf": lambda xp, below, part: _where(xp, part > 0, 1.0, 0.0, part),
    "averaged_inverted_cdf": lambda xp, below, part: _where(xp, part > 0, 1.0, 0.5, part),
    "closest_observation": lambda xp, below, part: _where(
        xp, (part == 0) & (below % 2 == 1), 0.0, 1.0, part
    ),
}

#: The methods that choose an element.
_ELEMENTS = frozenset({"lower", "higher", "nearest", "inverted_cdf", "closest_observation"})


def _where(xp: ModuleType, condition: Array, yes: float, no: float, like: Array) -> Array:
    return xp.where(condition, xp.full_like(like, yes), xp.full_like(like, no))


def _quantile(
    xp: ModuleType,
    a: Array,
    q: Any,
    axis: Axis,
    method: str,
    keepdims: bool,
    scale: float,
    without_nan: bool,
) -> Array:
    if method not in _CONTINUOUS:
        raise ValueError(
            f"{method!r} is not a valid method. Use one of:"
            f" {', '.join(_CONTINUOUS.keys() - {'median'})}"
        )
    if method == "linear" and scale == 1 and isinstance(q, int):  # the first or the last element
        method = "lower"
    if isinstance(q, (int, float)) and not 0 <= q <= scale:
        raise ValueError(
            f"{'Quantiles' if scale == 1 else 'Percentiles'} must be in the range [0, {scale:.0f}]"
        )
    given = name_of(a)
    a = inexact(xp, a)
    kept = name_of(a)
    q = (
        cast(xp, array(xp, q, a), kept)
        if isinstance(q, (int, float))
        else inexact(xp, array(xp, q, a))
    )
    shape = tuple(q.shape)
    rows, reduced = last(xp, a, axis)
    length = rows.shape[-1]
    ordered = xp.sort(rows, axis=-1)
    q = cast(xp, flat(xp, q), "float64") / scale
    missing = xp.isnan(ordered)
    if without_nan:
        count = xp.sum(cast(xp, xp.logical_not(missing), "float64"), axis=-1, keepdims=True)
        ordered = xp.where(missing, xp.full_like(ordered, math.inf), ordered)
    else:
        count = float(length)
    slope, offset = _CONTINUOUS[method]
    place = q * (count + slope) + offset
    highest = xp.zeros_like(place) + (count - 1)
    below = xp.floor(place)
    part = place - below
    between = _BETWEEN.get(method)
    part = part if between is None else between(xp, below, part)
    above = xp.maximum(xp.minimum(below + 1, highest), xp.zeros_like(place))
    below = xp.maximum(xp.minimum(below, highest), xp.zeros_like(place))
    low, high = _taken(xp, ordered, below), _taken(xp, ordered, above)
    dtype = kept if isinstance(q, (int, float)) or not shape else name_of(promoted(xp, a, q)[0])
    part = cast(xp, part, dtype)
    low, high = cast(xp, low, dtype), cast(xp, high, dtype)
    if method in _ELEMENTS:
        result = xp.where(part > 0.5, high, low)
    elif method == "median":
        result = xp.where(part > 0, (low + high) / 2, low)
    else:
        result = xp.where(part >= 0.5, high - (high - low) * (1 - part), low + (high - low) * part)
    gone = count == 0 if without_nan else missing[..., -1:]
    result = xp.where(gone, xp.full_like(result, math.nan), result)
    if method in _ELEMENTS:  # which are of the array's own dtype
        result = cast(xp, result, given)
    result = xp.moveaxis(result, -1, 0)  # the quantiles first
    kept_shape = reduced if keepdims else tuple(result.shape[1:])
    return xp.reshape(result, shape + kept_shape)


def _taken(xp: ModuleType, ordered: Array, place: Array) -> Array:
    index = cast(xp, place, "int64")
    if len(index.shape) == 1:
        return xp.take(ordered, index, axis=-1)
    return xp.take_along_axis(ordered, index, axis=-1)


def _register(prefix: str, without_nan: bool) -> None:
    def quantile(
        xp: ModuleType, a: Array, q: Any, axis: Axis = None, out: Any = None,
        overwrite_input: bool = False, method: str = "linear", keepdims: bool = False, *,
        weights: Any = None, scale: float = 1.0,
    ) -> Array:  # fmt: skip
        if weights is not None:
            raise NumpyCodeError("numpy_function: quantiles with weights= are not supported.")
        return _quantile(xp, a, q, axis, method, keepdims, scale, without_nan)

    def median(
        xp: ModuleType,
        a: Array,
        axis: Axis = None,
        out: Any = None,
        overwrite_input: bool = False,
        keepdims: bool = False,
    ) -> Array:
        return _quantile(xp, a, 0.5, axis, "median", keepdims, 1.0, without_nan)

    composition(f"{prefix}quantile")(quantile)
    composition(f"{prefix}percentile")(functools.partial(quantile, scale=100.0))
    composition(f"{prefix}median")(median)


_register("", False)
_register("nan", True)
