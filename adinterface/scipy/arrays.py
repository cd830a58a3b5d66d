"""Helpers of the SciPy functions: NumPy code that never converts an engine array to a plain array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.contract.errors import NumpyCodeError
from ..numpy_code.array import NumpyArray
from ..numpy_code.decisions import active

Array = Any


def array(x: Any) -> Array:
    """A NumPy or engine array, from an array, a number, or a list of numbers and arrays."""
    if isinstance(x, (NumpyArray, np.ndarray)):
        return x
    if isinstance(x, (list, tuple)) and holds_engines(x):
        return np.stack([array(part) for part in x])
    return np.asarray(x)


def holds_engines(x: Any) -> bool:
    """Whether a list or tuple contains an engine array, at any depth."""
    return any(holds_engines(part) if isinstance(part, (list, tuple)) else isinstance(part, NumpyArray) for part in x)


def inexact(x: Any) -> Array:
    """An array of x; of float64 for integers and booleans."""
    x = array(x)
    return x if x.dtype.kind in "fc" else x * 1.0


def cast(x: Array, dtype: Any) -> Array:
    """x in a dtype, or in the widest that the engine has, as in an operation with a NumPy array of that dtype."""
    dtype = np.dtype(dtype)
    if x.dtype == dtype:
        return x
    if isinstance(x, NumpyArray) and np.can_cast(x.dtype, dtype):
        return x + np.zeros((), dtype)
    return x.astype(dtype)


def alike(*arrays: Any) -> list[Array]:
    """Arrays of one inexact dtype."""
    result = [inexact(x) for x in arrays]
    dtype = np.result_type(*[x.dtype for x in result])
    return [cast(x, dtype) for x in result]


def is_complex(*arrays: Array) -> bool:
    return any(x.dtype.kind == "c" for x in arrays)


def transposed(a: Array) -> Array:
    return np.swapaxes(a, -1, -2)


def adjoint(a: Array) -> Array:
    """The conjugate transpose."""
    return np.conj(transposed(a)) if is_complex(a) else transposed(a)


def real_like(x: Array, like: Array) -> Array:
    """x, or its real part where `like` is real: the derivative by a real argument."""
    return np.real(x) if is_complex(x) and not is_complex(like) else x


def identity(n: int, like: Array) -> np.ndarray[Any, Any]:
    return np.eye(n, dtype=like.dtype)


def rearranged(function: Callable[..., Any], *arrays: Array, **options: Any) -> Array:
    """The result of a function that only moves elements, found by applying it to indices. Zeros stay zeros."""
    start, places = 1, []
    for x in arrays:
        places.append(np.arange(start, start + x.size).reshape(x.shape))
        start += x.size
    return gathered(np.concatenate([np.ravel(x) for x in arrays]), np.asarray(function(*places, **options)))


def gathered(flat: Array, places: np.ndarray[Any, Any]) -> Array:
    """The elements of a vector at these places, counted from 1; 0 where the place is 0."""
    places = places.astype(np.intp)
    if not flat.shape[0]:
        return np.zeros(places.shape, flat.dtype)
    result = np.take(flat, np.maximum(places - 1, 0))
    return result if places.all() else np.where(places > 0, result, 0.0)


def taken(x: Array, places: Array, axis: int = 0) -> Array:
    """`np.take`, which does not ask the places whose arrays they are."""
    if isinstance(places, NumpyArray) and not isinstance(x, NumpyArray):
        engine = places._engine
        x = NumpyArray(engine.lift(np.asarray(x), places._array), engine)
    return np.take(x, places, axis=axis)


def numbers(x: Any, name: str) -> np.ndarray[Any, Any]:
    """The numbers of an array on which the form of a computation depends, and not its derivative.

    name: of the function that asks. Raises NumpyCodeError where a compiled call does not know them yet.
    """
    if not isinstance(x, NumpyArray):
        return np.asarray(x)
    library = x._engine.library
    if (decisions := active()) is not None:
        return decisions.numbers(x._array, library)
    result = library.value_under_trace(x._array) if library.traced(x._array) else library.to_numpy(x._array)
    if result is None:
        raise NumpyCodeError(
            f"{name} needs the numbers of its arguments, which a compiled call does not know yet. Use the backend with "
            f"jit=False, or AutoFiniteDifferences()."
        )
    return np.asarray(result)


def axis_last(x: Array, axis: int) -> Array:
    return np.moveaxis(x, axis, -1)


def normalized_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """Axes counted from 0; all for None."""
    if axes is None:
        return tuple(range(ndim))
    axes = axes if isinstance(axes, (Sequence, np.ndarray)) else (axes,)
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise np.exceptions.AxisError(axis, ndim)
    return tuple([int(axis) % ndim for axis in axes])
