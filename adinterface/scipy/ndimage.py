"""scipy.ndimage on the arrays of any engine: linear filters, extrema and linear interpolation.

Elements beyond an edge follow the modes of SciPy: NumPy pads the indices.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.ndimage as scipy_ndimage

from ..numpy_code.array import NumpyArray
from .arrays import Array, gathered, inexact, is_complex, multilinear, normalized_axes, numbers
from .dispatch import of_scipy, rest_of, unsupported

#: NumPy's name of what lies beyond an edge; None for a constant.
_MODES: dict[str, Any] = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge",
    "wrap": "wrap", "grid-wrap": "wrap", "constant": None, "grid-constant": None,
}  # fmt: skip


def _filter(
    scipy_function: Any, *, ignored: Sequence[str] = ()
) -> Callable[[Callable[..., Array]], Callable[..., Array]]:
    """Decorates NumPy code of an image, which it takes as floats: SciPy's integers have no
    derivative.

    The result has the dtype that `output` asks for.
    """

    def decorate(code: Callable[..., Array]) -> Callable[..., Array]:
        def call(input: Any, output: Any = None, **options: Any) -> Array:
            result = code(inexact(input), **options)
            if output is None:
                return result
            if isinstance(output, (np.ndarray, NumpyArray)):
                name = f"scipy.ndimage.{scipy_function.__name__}"
                raise unsupported(name, "output=array", "Use what the function returns.")
            return result.astype(np.dtype(output))

        parameters = [inspect.Parameter("output", inspect.Parameter.KEYWORD_ONLY)]
        parameters += inspect.signature(code).parameters.values()
        call.__signature__ = inspect.Signature(sorted(parameters, key=lambda p: p.kind))  # type: ignore[attr-defined]
        return of_scipy(scipy_function, ignored=ignored)(call)

    return decorate


def _places(n: int, before: int, after: int, mode: str) -> np.ndarray[Any, Any]:
    """The index of the source of each element, counted from 1; 0 for the constant."""
    if mode not in _MODES:
        raise RuntimeError("boundary mode not supported")
    kind = _MODES[mode]
    places = np.arange(1, n + 1)
    return (
        np.pad(places, (before, after))
        if kind is None
        else np.pad(places, (before, after), mode=kind)
    )


def _margins(count: int, origin: int) -> tuple[int, int]:
    """How many neighbours before and behind an element are in a window of this size."""
    before = count // 2 + int(origin)
    if not 0 <= before < max(count, 1):
        raise ValueError("invalid origin")
    return before, count - 1 - before


def _along(x: Array, weights: Array, axis: int, mode: str, cval: Any, origin: int = 0) -> Array:
    """The correlation with weights along one axis."""
    x = np.moveaxis(x, axis, -1)
    n, count = x.shape[-1], weights.shape[0]
    windows = _places(n, *_margins(count, origin), mode)[np.arange(n)[:, None] + np.arange(count)]
    result = np.take(x, np.maximum(windows - 1, 0), axis=-1)
    if not windows.all():
        result = np.where(windows > 0, result, cval)
    return np.moveaxis(result @ weights, -1, axis)


def _by_axis(x: Array, axes: Any, *values: Any) -> Iterator[tuple[Any, ...]]:
    """The axes, each with its values: those of a list, or the one for all."""
    places = normalized_axes(axes, len(x.shape))
    lists = [
        list(v) if isinstance(v, (list, tuple)) or np.ndim(v) else [v] * len(places) for v in values
    ]
    return zip(places, *lists)


def _weights(weights: Any, x: Array) -> Array:
    """In the precision of the image, in which SciPy returns the result."""
    weights = inexact(weights)
    return weights if is_complex(weights) and not is_complex(x) else weights.astype(x.dtype)


def _turned(weights: Array, origin: Any) -> tuple[Array, list[int]]:
    """Weights and origins of the correlation that is the convolution with these weights."""
    rows = _by_axis(weights, None, origin, weights.shape)
    return np.flip(weights), [-int(o) - (n % 2 == 0) for _, o, n in rows]


@_filter(scipy_ndimage.correlate1d)
def correlate1d(
    input: Array,
    weights: Any,
    axis: int = -1,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Array:
    return _along(input, np.conj(_weights(weights, input)), axis, mode, cval, origin)


@_filter(scipy_ndimage.convolve1d)
def convolve1d(
    input: Array,
    weights: Any,
    axis: int = -1,
    mode: str = "reflect",
    cval: Any = 0.0,
    origin: int = 0,
) -> Array:
    turned, origins = _turned(_weights(weights, input), origin)
    return _along(input, turned, axis, mode, cval, *origins)


def _neighbourhoods(
    x: Array, shape: Sequence[int], axes: Any, mode: Any, cval: Any, origin: Any
) -> Array:
    """For each element its neighbours, in the order of the window, along a new last axis."""
    places = np.arange(1, math.prod(x.shape) + 1).reshape(x.shape)
    rows = list(_by_axis(x, axes, shape, mode, origin))
    for axis, count, beyond, offset in rows:
        along = _places(x.shape[axis], *_margins(count, offset), beyond)
        inside = np.expand_dims(along > 0, [m for m in range(places.ndim) if m != axis])
        places = np.where(inside, np.take(places, np.maximum(along - 1, 0), axis=axis), 0)
    windows = np.lib.stride_tricks.sliding_window_view(
        places, tuple(shape), axis=tuple([axis for axis, *_ in rows])
    )
    windows = windows.reshape(*x.shape, -1)
    result = gathered(np.ravel(x), windows)
    return result if windows.all() else np.where(windows > 0, result, cval)


def _correlated(x: Array, weights: Array, mode: Any, cval: Any, origin: Any, axes: Any) -> Array:
    count = len(normalized_axes(axes, len(x.shape)))
    if len(weights.shape) != count:
        raise RuntimeError(
            f"filter weights array has incorrect shape: {len(weights.shape)} axes for {count}."
        )
    return _neighbourhoods(x, weights.shape, axes, mode, cval, origin) @ np.ravel(weights)


@_filter(scipy_ndimage.correlate)
def correlate(
    input: Array,
    weights: Any,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    return _correlated(input, np.conj(_weights(weights, input)), mode, cval, origin, axes)


@_filter(scipy_ndimage.convolve)
def convolve(
    input: Array,
    weights: Any,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    turned, origins = _turned(_weights(weights, input), origin)
    return _correlated(input, turned, mode, cval, origins, axes)


# Smooth kernels
# ------------------------------------------------------------------------------------------------


def _kernel(sigma: Any, order: int, radius: int) -> Array:
    """The weights of the derivative of a Gaussian; sigma may be an engine array."""
    steps = np.arange(-radius, radius + 1)
    bell = np.exp(-0.5 / (sigma * sigma) * steps**2)
    bell = bell / np.sum(bell)
    if order == 0:
        return bell
    # The derivative of q(x) exp(p(x)) is (q' + q p') exp(p), and p' = -x / sigma^2.
    factors: list[Any] = [1.0]
    for _ in range(order):
        raised = [0.0, *[-factor / (sigma * sigma) for factor in factors]]
        lowered = [n * factor for n, factor in enumerate(factors)][1:] + [0.0, 0.0]
        factors = [a + b for a, b in zip(raised, lowered)]
    return bell * sum(factor * steps.astype(float) ** n for n, factor in enumerate(factors))


@_filter(scipy_ndimage.gaussian_filter)
def gaussian_filter(
    input: Array, sigma: Any, order: Any = 0, mode: Any = "reflect", cval: Any = 0.0,
    truncate: float = 4.0, *, radius: Any = None, axes: Any = None,
) -> Array:  # fmt: skip
    for axis, width, derivative, beyond, reach in _by_axis(input, axes, sigma, order, mode, radius):
        if isinstance(width, (int, float)) and width <= 1e-15:
            continue
        if reach is None:
            reach = int(truncate * float(numbers(width, "scipy.ndimage.gaussian_filter")) + 0.5)
        input = _along(
            input,
            np.flip(_kernel(width, derivative, int(reach))).astype(input.dtype),
            axis,
            beyond,
            cval,
        )
    return input


@_filter(scipy_ndimage.gaussian_filter1d)
def gaussian_filter1d(
    input: Array, sigma: Any, axis: int = -1, order: int = 0, mode: str = "reflect",
    cval: Any = 0.0, truncate: float = 4.0, *, radius: int | None = None,
) -> Array:  # fmt: skip
    return gaussian_filter(
        input, sigma, order, None, mode, cval, truncate, radius=radius, axes=axis
    )


def _derivatives(
    order: int, input: Array, sigma: Any, axes: Any, *args: Any, **options: Any
) -> list[Array]:
    """A derivative of the smoothed image along each axis."""
    places = normalized_axes(axes, len(input.shape))
    each = [[order * (m == n) for m in places] for n in places]
    return [
        gaussian_filter(input, sigma, orders, None, *args, axes=places, **options)
        for orders in each
    ]


@_filter(scipy_ndimage.gaussian_laplace)
def gaussian_laplace(
    input: Array,
    sigma: Any,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **options: Any,
) -> Array:
    return sum(_derivatives(2, input, sigma, axes, mode, cval, **options))


@_filter(scipy_ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(
    input: Array,
    sigma: Any,
    mode: Any = "reflect",
    cval: Any = 0.0,
    *,
    axes: Any = None,
    **options: Any,
) -> Array:
    squares = sum(part**2 for part in _derivatives(1, input, sigma, axes, mode, cval, **options))
    flat = squares == 0
    return np.where(flat, 0.0, np.sqrt(np.where(flat, 1.0, squares)))


@_filter(scipy_ndimage.uniform_filter)
def uniform_filter(
    input: Array,
    size: Any = 3,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
    *,
    axes: Any = None,
) -> Array:
    for axis, n, beyond, offset in _by_axis(input, axes, size, mode, origin):
        input = _along(input, np.full(n, 1 / n, input.dtype), axis, beyond, cval, offset)
    return input


@_filter(scipy_ndimage.uniform_filter1d)
def uniform_filter1d(
    input: Array, size: int, axis: int = -1, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:
    return uniform_filter(input, size, None, mode, cval, origin, axes=axis)


def _edges(smooth: Sequence[float]) -> Callable[..., Array]:
    def code(input: Array, axis: int = -1, mode: Any = "reflect", cval: Any = 0.0) -> Array:
        (chosen,) = normalized_axes(axis, len(input.shape))
        for n, beyond in _by_axis(input, None, mode):
            input = _along(
                input, np.array([-1, 0, 1] if n == chosen else smooth, input.dtype), n, beyond, cval
            )
        return input

    return code


sobel: Callable[..., Array] = _filter(scipy_ndimage.sobel)(_edges((1, 2, 1)))
prewitt: Callable[..., Array] = _filter(scipy_ndimage.prewitt)(_edges((1, 1, 1)))


@_filter(scipy_ndimage.laplace)
def laplace(input: Array, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Array:
    bend = np.array([1, -2, 1], input.dtype)
    return sum(
        _along(input, bend, axis, beyond, cval) for axis, beyond in _by_axis(input, axes, mode)
    )


# Order
# ------------------------------------------------------------------------------------------------


def _extreme(reduce: Callable[..., Array]) -> Callable[..., Array]:
    def code(
        input: Array, size: Any = None, footprint: Any = None, mode: Any = "reflect",
        cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
    ) -> Array:  # fmt: skip
        if footprint is None:
            if size is None:
                raise RuntimeError("no footprint or filter size provided")
            footprint = np.ones([int(n) for _, n in _by_axis(input, axes, size)], bool)
        footprint = np.asarray(footprint, bool)
        around = _neighbourhoods(input, footprint.shape, axes, mode, cval, origin)
        return reduce(np.take(around, np.flatnonzero(footprint), axis=-1), axis=-1)

    return code


maximum_filter: Callable[..., Array] = _filter(scipy_ndimage.maximum_filter)(_extreme(np.max))
minimum_filter: Callable[..., Array] = _filter(scipy_ndimage.minimum_filter)(_extreme(np.min))


# Interpolation
# ------------------------------------------------------------------------------------------------


@_filter(scipy_ndimage.map_coordinates, ignored=("prefilter",))
def map_coordinates(
    input: Array, coordinates: Any, order: int = 3, mode: str = "constant", cval: Any = 0.0
) -> Array:
    """Linear interpolation (order=1), or the nearest element (order=0), which has no derivative by
    the coordinates.
    """
    name = "scipy.ndimage.map_coordinates"
    if order not in (0, 1):
        raise unsupported(
            name,
            f"order={order}",
            "Write order=1, or scipy.interpolate.CubicSpline along one axis.",
        )
    if mode not in ("constant", "nearest", "grid-constant"):
        raise unsupported(name, f"mode={mode!r}", "Write mode='constant' or mode='nearest'.")
    where = inexact(coordinates)
    if where.shape[0] != len(input.shape):
        raise RuntimeError("invalid shape for coordinate array")
    x, border = input, 0
    if mode == "grid-constant":  # one more element of the constant on each side
        places = np.pad(np.arange(1, math.prod(input.shape) + 1).reshape(input.shape), 1)
        x, border = np.where(places > 0, gathered(np.ravel(input), places), cval), 1
    outside: Any = False
    firsts, parts = [], []
    for at, length in zip(np.reshape(where, (where.shape[0], -1)) + border, x.shape):
        if mode == "nearest":
            at = np.clip(at, 0, length - 1)
        outside = outside | (at < 0) | (at > length - 1)
        linear = order == 1 and length > 1
        first = np.clip(
            np.floor(at if linear else at + 0.5).astype(np.int64), 0, length - 1 - linear
        )
        firsts.append(first)
        parts.append(at - first if linear else None)
    result = np.reshape(np.where(outside, cval, multilinear(x, firsts, parts)), where.shape[1:])
    return result.astype(input.dtype) if result.dtype != input.dtype else result


__getattr__ = rest_of("scipy.ndimage", globals())
