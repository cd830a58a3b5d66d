"""Reductions and scans."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from . import complex_order
from .composing import (
    COMPOSITIONS,
    Array,
    Axis,
    array,
    cast,
    composition,
    flat,
    inexact,
    is_complex,
    is_exact,
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


def _summand(xp: ModuleType, a: Array, dtype: Any) -> Array:
    """a in the dtype in which NumPy adds and multiplies."""
    a = a if dtype is None else cast(xp, a, dtype)
    return cast(xp, a, "int64") if name_of(a) == "bool" else a


def _folding(standard: str, pair: str, neutral: int) -> Callable[..., Array]:
    def fold(
        xp: ModuleType, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
        keepdims: bool = False, initial: Any = None, where: Any = True,
    ) -> Array:  # fmt: skip
        a = _masked(xp, _summand(xp, a, dtype), where, neutral)
        total = getattr(xp, standard)(a, axis=axis, keepdims=keepdims)
        total = total if dtype is None else cast(xp, total, dtype)
        return (
            total if initial is None else getattr(xp, pair)(total, _as_initial(xp, initial, total))
        )

    return composition(standard)(fold)


sum, prod = _folding("sum", "add", 0), _folding("prod", "multiply", 1)


def _count(xp: ModuleType, a: Array, axis: Axis, where: Any, keepdims: bool) -> Any:
    """How many elements count, as a number or an array of a's dtype."""
    if where is True:
        return math.prod([a.shape[n] for n in normalized(axis, len(a.shape))])
    counted = xp.broadcast_to(array(xp, where, a), a.shape)
    dtype = name_of(xp.real(a)) if is_complex(a) else name_of(a)
    return xp.sum(cast(xp, counted, dtype), axis=axis, keepdims=keepdims)


@composition("mean")
def mean(
    xp: ModuleType, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None,
    keepdims: bool = False, *, where: Any = True,
) -> Array:  # fmt: skip
    a = inexact(xp, a) if dtype is None else cast(xp, a, dtype)
    if where is True and not is_complex(a):
        return xp.mean(a, axis=axis, keepdims=keepdims)
    return sum(xp, a, axis, None, None, keepdims, where=where) / _count(
        xp, a, axis, where, keepdims
    )


@composition("var")
def var(
    xp: ModuleType, a: Array, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: bool = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> Array:  # fmt: skip
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


def _extremum(name: str) -> Callable[..., Array]:
    largest = name == "max"
    ordered = complex_order.larger if largest else complex_order.smaller
    of_numbers = ("max", "maximum") if largest else ("min", "minimum")
    of_truth = ("any", "logical_or") if largest else ("all", "logical_and")

    def extremum(
        xp: ModuleType, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False,
        initial: Any = None, where: Any = True,
    ) -> Array:  # fmt: skip
        a = _masked(xp, a, where, initial)
        if initial is not None and not size_of(a):
            shape = np.max(np.zeros(a.shape), axis=axis, keepdims=keepdims, initial=0.0).shape
            return xp.broadcast_to(_as_initial(xp, initial, a), shape)
        reduce, pair = [
            getattr(xp, each) for each in (of_truth if name_of(a) == "bool" else of_numbers)
        ]
        if is_complex(a):
            reduce, pair = (
                functools.partial(complex_order.extreme, xp, largest=largest),
                functools.partial(ordered, xp),
            )
        result = reduce(a, axis=axis, keepdims=keepdims)
        return result if initial is None else pair(result, _as_initial(xp, initial, result))

    return composition(name, f"a{name}")(extremum)


max, min = _extremum("max"), _extremum("min")


@composition("ptp")
def ptp(
    xp: ModuleType, a: Array, axis: Axis = None, out: Any = None, keepdims: bool = False
) -> Array:
    return max(xp, a, axis, keepdims=keepdims) - min(xp, a, axis, keepdims=keepdims)


def _test(name: str, neutral: bool) -> Callable[..., Array]:
    def test(
        xp: ModuleType,
        a: Array,
        axis: Axis = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = True,
    ) -> Array:
        return getattr(xp, name)(
            _masked(xp, truth(xp, a), where, neutral), axis=axis, keepdims=keepdims
        )

    return composition(name)(test)


all, any = _test("all", True), _test("any", False)


@composition("count_nonzero")
def count_nonzero(xp: ModuleType, a: Array, axis: Axis = None, *, keepdims: bool = False) -> Array:
    return xp.sum(cast(xp, truth(xp, a), "int64"), axis=axis, keepdims=keepdims)


def _place(name: str) -> Callable[..., Array]:
    def place(
        xp: ModuleType,
        a: Array,
        axis: int | None = None,
        out: Any = None,
        *,
        keepdims: bool = False,
    ) -> Array:
        if not is_complex(a):
            return getattr(xp, name)(
                cast(xp, a, "uint8") if name_of(a) == "bool" else a, axis=axis, keepdims=keepdims
            )
        lines, shape = last(xp, a, axis)
        result = complex_order.place(xp, lines, name == "argmax")
        return xp.reshape(result, shape) if keepdims else result

    return composition(name)(place)


argmax, argmin = _place("argmax"), _place("argmin")


def along(xp: ModuleType, a: Array, axis: int | None) -> tuple[Array, int]:
    return (flat(xp, a), 0) if axis is None else (a, axis)


def _scan(name: str, first: int) -> Callable[..., Array]:
    """cumsum or cumprod, and with an initial element the function of this name."""
    standard = f"cumulative_{name}"

    def scan(
        xp: ModuleType, a: Array, axis: int | None = None, dtype: Any = None, out: Any = None
    ) -> Array:
        a, axis = along(xp, _summand(xp, a, dtype), axis)
        scanned = getattr(xp, standard)(a, axis=axis)
        return scanned if dtype is None else cast(xp, scanned, dtype)

    def with_initial(
        xp: ModuleType, x: Array, /, *, axis: int | None = None, dtype: Any = None, out: Any = None,
        include_initial: bool = False,
    ) -> Array:  # fmt: skip
        scanned = scan(xp, x, axis, dtype)
        if not include_initial:
            return scanned
        head = xp.zeros_like(xp.sum(scanned, axis=axis or 0, keepdims=True)) + first
        return xp.concat([head, scanned], axis=axis or 0)

    composition(standard)(with_initial)
    return composition(f"cum{name}")(scan)


cumsum, cumprod = _scan("sum", 0), _scan("prod", 1)

# Without NaN
# ------------------------------------------------------------------------------------------------


def _past_nan(name: str, neutral: float) -> None:
    """The function that leaves NaN out: it counts as what changes nothing."""
    function = COMPOSITIONS[name]

    def call(xp: ModuleType, a: Array, *args: Any, **kwargs: Any) -> Array:
        if is_exact(a):
            return function(xp, a, *args, **kwargs)
        missing = xp.isnan(a)
        if name in ("mean", "var", "std"):
            where, numbers = kwargs.pop("where", True), xp.logical_not(missing)
            kwargs["where"] = numbers if where is True else numbers & array(xp, where, a)
        result = function(xp, xp.where(missing, xp.full_like(a, neutral), a), *args, **kwargs)
        if name not in ("max", "min") or kwargs.get("initial") is not None:
            return result
        kept = {key: value for key, value in kwargs.items() if key in ("axis", "keepdims")}
        return xp.where(all(xp, missing, *args[:3], **kept), xp.full_like(result, math.nan), result)

    composition(f"nan{name}")(call)


for _name, _neutral in {
    "sum": 0, "prod": 1, "cumsum": 0, "cumprod": 1, "mean": 0, "var": 0, "std": 0, "max": -math.inf,
    "min": math.inf, "argmax": -math.inf, "argmin": math.inf,
}.items():  # fmt: skip
    _past_nan(_name, _neutral)
