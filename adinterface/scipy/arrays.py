"""Helpers of the SciPy functions: NumPy code that never converts an engine array to a plain
array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.contract.errors import NumpyCodeError
from ..numpy_code.array import NumpyArray
from ..rules.rule import Rule, rule

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
    return any(
        holds_engines(part) if isinstance(part, (list, tuple)) else isinstance(part, NumpyArray)
        for part in x
    )


def inexact(x: Any) -> Array:
    """An array of x; of float64 for integers and booleans."""
    x = array(x)
    return x if x.dtype.kind in "fc" else x * 1.0


def cast(x: Array, dtype: Any) -> Array:
    """x in a dtype, or in the widest that the engine has, as in an operation with a NumPy array of
    that dtype.
    """
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
    """The result of a function that only moves elements, found by applying it to indices.

    Zeros stay zeros.
    """
    start, places = 1, []
    for x in arrays:
        places.append(np.arange(start, start + x.size).reshape(x.shape))
        start += x.size
    return gathered(
        np.concatenate([np.ravel(x) for x in arrays]), np.asarray(function(*places, **options))
    )


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
        engine = places.engine
        x = NumpyArray(engine.lift(np.asarray(x), places.native), engine)
    return np.take(x, places, axis=axis)


def columns(x: Array, y: Array) -> Array:
    """x with as many axes as y."""
    return np.reshape(x, (-1, *[1] * (len(y.shape) - 1)))


def multilinear(values: Array, firsts: Sequence[Array], parts: Sequence[Array | None]) -> Array:
    """Values on a grid of the first axes, interpolated in cells.

    firsts: along each of these axes the index at which a cell starts. parts: how far on in the
    cell; None for its start.
    """
    flat = np.reshape(values, (-1, *values.shape[len(firsts) :]))
    total: Any = 0.0
    for corner in np.ndindex(*[1 if part is None else 2 for part in parts]):
        index: Any = 0
        weight: Any = None
        for length, first, part, step in zip(values.shape, firsts, parts, corner):
            index = index * length + first + step
            if part is not None:
                share = part if step else 1 - part
                weight = share if weight is None else weight * share
        value = taken(flat, index)
        total = total + (value if weight is None else columns(weight, value) * value)
    return total


def numbers(x: Any, name: str) -> np.ndarray[Any, Any]:
    """The numbers of an array on which the form of a computation depends, and not its derivative.

    name: of the function that asks. Raises NumpyCodeError where a compiled call does not know them
    yet.
    """
    if not isinstance(x, NumpyArray):
        return np.asarray(x)
    library = x.engine.library
    result = (
        library.value_under_trace(x.native)
        if library.traced(x.native)
        else library.to_numpy(x.native)
    )
    if result is None:
        raise NumpyCodeError(
            f"{name} needs the numbers of its arguments, which a compiled call does not know yet."
            " Use the backend with jit=False, or AutoFiniteDifferences()."
        )
    return np.asarray(result)


def normalized_axes(axes: Any, ndim: int) -> tuple[int, ...]:
    """Axes counted from 0; all for None."""
    if axes is None:
        return tuple(range(ndim))
    axes = axes if isinstance(axes, (Sequence, np.ndarray)) else (axes,)
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise np.exceptions.AxisError(axis, ndim)
    return tuple([int(axis) % ndim for axis in axes])


def scipy_rule(name: str, host: Any) -> Callable[[Callable[..., Any]], Rule[..., Any]]:
    """`rule(host=...)` for a function that errors call by SciPy's name."""

    def decorate(function: Callable[..., Any]) -> Rule[..., Any]:
        made = rule(host=host)(function)
        made.definition.name = name
        return made

    return decorate


def linear_rule(
    name: str, host: Any, adjoint: Callable[..., dict[str, Any]]
) -> Callable[..., Rule[..., Any]]:
    """`scipy_rule` for a function that is linear in its one argument.

    adjoint: from the keywords of the function to those with which it is the adjoint function.
    """

    def decorate(function: Callable[..., Any]) -> Rule[..., Any]:
        made = scipy_rule(name, host)(function)
        made.pushforward(lambda tangents, value, x, **keywords: made(tangents[0], **keywords))
        made.pullback(
            lambda cotangent, value, x, **keywords: real_like(
                made(cotangent, **adjoint(**keywords)), x
            )
        )
        return made

    return decorate
