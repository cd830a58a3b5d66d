"""NumPy's functions that make arrays, for f's code: the results can be written to, also with
differentiated values.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .array import NumpyArray, of_no_axes
from .array_like import ArrayHolder, arrays_in
from .made_array import array_of_engine, captured, made, plain
from .storage import Storage
from .writes import holds_storage, stacked

#: For functions of NumPy that make arrays, ours.
MAKERS: dict[Any, Callable[..., Any]] = {}


def _maker(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        MAKERS.update(dict.fromkeys(functions, ours))
        return ours

    return register


def _making(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        if array_of_engine((args, kwargs)) is not None:
            args = tuple(
                [stacked(arg) if array_of_engine((arg,)) is not None else arg for arg in args]
            )
            # a plain array, where only its shape was of the engine
            return made(function(*args, **kwargs))
        return made(function(*plain(args), **plain(kwargs)))

    return make


for _function in (
    np.arange, np.diag, np.empty, np.eye, np.fromfunction, np.fromiter, np.geomspace, np.identity,
    np.indices, np.linspace, np.logspace, np.ones, np.repeat, np.tile, np.tri, np.zeros,
):  # fmt: skip
    MAKERS[_function] = _making(_function)


@_maker(np.full)
def full(shape: Any, fill_value: Any, dtype: Any = None, **kwargs: Any) -> Any:
    fill_value = arrays_in(fill_value)
    if not holds_storage([fill_value]):
        return made(np.full(plain(shape), plain(fill_value), dtype, **plain(kwargs)))
    filled = np.broadcast_to(stacked(fill_value), shape).copy()
    return filled if dtype is None else filled.astype(dtype)


@_maker(np.array)
def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    like: Any = None,
) -> Any:
    result = _as_array(object, dtype, order)
    if type(result) is NumpyArray:
        result = (
            result.copy(order if order in ("C", "F") else "K")
            if _copies(copy) and result is object
            else result
        )
    elif type(result) is np.ndarray or result is object:
        result = made(np.array(plain(result), copy=copy, order=order))
    if np.ndim(result) >= ndmin:
        return of_no_axes(result)
    return np.reshape(result, (1,) * (ndmin - np.ndim(result)) + np.shape(result))


def _copies(copy: Any) -> bool:
    """Whether copy= always requires a copy: True, 1, or the member of NumPy's enumeration."""
    return getattr(copy, "value", copy) in (True, 1)


@_maker(np.asarray)
def asarray(a: Any, dtype: Any = None, order: Any = None, **kwargs: Any) -> Any:
    if _copies(kwargs.get("copy")):
        return array(a, dtype, order=order or "K")
    result = _as_array(a, dtype, order or "K")
    return captured(result) if type(result) is np.ndarray else of_no_axes(result)


@_maker(np.asanyarray)
def asanyarray(a: Any, *args: Any, **kwargs: Any) -> Any:
    return (
        a if isinstance(a, ArrayHolder) and not args and not kwargs else asarray(a, *args, **kwargs)
    )


@_maker(np.ascontiguousarray)
def ascontiguousarray(a: Any, dtype: Any = None, **kwargs: Any) -> Any:
    result = asarray(a, dtype)
    if type(result) is NumpyArray:
        return result.copy("C")
    return made(np.array(plain(result), order="C", ndmin=1))


@_maker(np.copy)
def copy(a: Any, order: Any = "K", subok: bool = False) -> Any:
    return array(a, order=order)


def _as_array(value: Any, dtype: Any, order: Any) -> Any:
    """The value itself if it is an array of that dtype; else a new one, of the engine or made."""
    value = arrays_in(value)
    if isinstance(value, (list, tuple)) and array_of_engine(value) is not None:
        value = stacked(value)
    if type(value) is NumpyArray:
        return value if dtype is None else value.astype(dtype, copy=False)
    if isinstance(value, Storage):
        return value if dtype is None else value.astype(dtype, copy=False)  # type: ignore[attr-defined]
    if type(value) is np.ndarray and (dtype is None or value.dtype == np.dtype(dtype)):
        return value
    return made(np.array(plain(value), dtype, order=order))
