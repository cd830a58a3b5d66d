"""scipy.ndimage on the arrays of any engine: linear filters, extrema and linear interpolation.

Elements beyond an edge follow the modes of SciPy: NumPy pads the indices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.ndimage as scipy_ndimage

from .arrays import Array, array, gathered, inexact, is_complex, normalized_axes, taken
from .dispatch import of_scipy, rest_of, unsupported

#: NumPy's name of what lies beyond an edge; None for a constant.
_MODES: dict[str, Any] = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": None, "grid-constant": None,
}  # fmt: skip


def _pad(mode: str) -> Any:
    if mode not in _MODES:
        raise RuntimeError("boundary mode not supported")
    return _MODES[mode]


def _places(n: int, before: int, after: int, mode: str) -> np.ndarray[Any, Any]:
    """The index of the source of each element, counted from 1; 0 for the constant."""
    kind = _pad(mode)
    places = np.arange(1, n + 1)
    if kind is None:
        return np.pad(places, (before, after))
    return np.pad(places, (before, after), mode=kind)


def _result(name: str, x: Array, output: Any) -> Array:
    """In the dtype that is asked for."""
    if output is None:
        return x
    if isinstance(output, (np.ndarray, type(x))):
        raise unsupported(name, "output=array", "Use what the function returns.")
    return x.astype(np.dtype(output))


def _along(x: Array, weights: Array, axis: int, mode: str, cval: Any, origin: int, name: str) -> Array:
    """The correlation with weights along one axis."""
    count = weights.shape[0]
    before = count // 2 + origin
    if not 0 <= before < max(count, 1):
        raise ValueError("invalid origin")
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1]
    places = _places(n, before, count - 1 - before, mode)
    windows = places[np.arange(n)[:, None] + np.arange(count)]
    result = np.take(x, np.maximum(windows - 1, 0), axis=-1)
    if not windows.all():
        result = np.where(windows > 0, result, cval)
    return np.moveaxis(result @ weights, -1, axis)


def _image(input: Any) -> Array:
    """The image as floats: SciPy returns integers for integers, which have no derivative."""
    return inexact(input)


@of_scipy(scipy_ndimage.correlate1d)
def correlate1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:
    x, weights = _image(input), _of_dtype(weights, input)
    result = _along(x, weights, axis, mode, cval, origin, "scipy.ndimage.correlate1d")
    return _result("scipy.ndimage.correlate1d", result, output)


def _of_dtype(weights: Any, input: Any) -> Array:
    """Weights in the precision of the image, in which SciPy returns the result."""
    x, weights = inexact(input), inexact(weights)
    return weights if is_complex(weights) and not is_complex(x) else weights.astype(x.dtype)


@of_scipy(scipy_ndimage.convolve1d)
def convolve1d(
    input: Any, weights: Any, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:
    weights = np.flip(array(weights))
    origin = -origin - (weights.shape[0] % 2 == 0)
    if is_complex(weights):
        weights = np.conj(weights)
    return (
        correlate1d(input, weights, axis, output, mode, cval, origin)
        if _any(input, weights)
        else scipy_ndimage.correlate1d(input, weights, axis, output, mode, cval, origin)
    )


def _any(*values: Any) -> bool:
    from .dispatch import is_engines

    return is_engines(*values)


def _each(value: Any, count: int) -> Sequence[Any]:
    return list(value) if isinstance(value, (list, tuple)) or np.ndim(value) else [value] * count


def _neighbourhoods(x: Array, shape: Sequence[int], axes: Sequence[int], mode: Any, cval: Any, origin: Any) -> Array:
    """For each element its neighbours, in the order of the window, along a new last axis."""
    modes, origins = _each(mode, len(axes)), _each(origin, len(axes))
    places = np.arange(1, math.prod(x.shape) + 1).reshape(x.shape)
    for n, axis in enumerate(axes):
        before = shape[n] // 2 + int(origins[n])
        if not 0 <= before < shape[n]:
            raise ValueError("invalid origin")
        along = _places(x.shape[axis], before, shape[n] - 1 - before, modes[n])
        taken = np.take(places, np.maximum(along - 1, 0), axis=axis)
        inside = np.expand_dims(along > 0, [m for m in range(places.ndim) if m != axis])
        places = np.where(inside, taken, 0)
    windows = np.lib.stride_tricks.sliding_window_view(places, tuple(shape), axis=tuple(axes))
    windows = windows.reshape(*x.shape, -1)
    result = gathered(np.ravel(x), windows)
    return result if windows.all() else np.where(windows > 0, result, cval)


@of_scipy(scipy_ndimage.correlate)
def correlate(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Array:
    x, weights = _image(input), _of_dtype(weights, input)
    places = normalized_axes(axes, len(x.shape))
    if len(weights.shape) != len(places):
        raise RuntimeError(f"filter weights array has incorrect shape: {len(weights.shape)} axes for {len(places)}.")
    result = _neighbourhoods(x, weights.shape, places, mode, cval, origin) @ np.ravel(weights)
    return _result("scipy.ndimage.correlate", result, output)


@of_scipy(scipy_ndimage.convolve)
def convolve(
    input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Array:
    weights = array(weights)
    count = len(weights.shape)
    origins = [-int(o) - (n % 2 == 0) for o, n in zip(_each(origin, count), weights.shape)]
    turned = np.flip(np.conj(weights) if is_complex(weights) else weights)
    return correlate(array(input) + 0 * np.sum(weights), turned, output, mode, cval, origins, axes=axes)


# Smooth kernels ------------------------------------------------------------------------------------------------------


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


@of_scipy(scipy_ndimage.gaussian_filter1d)
def gaussian_filter1d(
    input: Any, sigma: Any, axis: int = -1, order: int = 0, output: Any = None, mode: str = "reflect", cval: Any = 0.0,
    truncate: float = 4.0, *, radius: int | None = None,
) -> Array:  # fmt: skip
    x = _image(input)
    weights = np.flip(_kernel(sigma, order, _radius(sigma, truncate, radius)))
    result = _along(x, weights.astype(x.dtype), axis, mode, cval, 0, "scipy.ndimage.gaussian_filter1d")
    return _result("scipy.ndimage.gaussian_filter1d", result, output)


def _radius(sigma: Any, truncate: float, radius: int | None) -> int:
    from .arrays import numbers

    return int(truncate * float(numbers(sigma, "scipy.ndimage.gaussian_filter")) + 0.5) if radius is None else int(radius)


@of_scipy(scipy_ndimage.gaussian_filter)
def gaussian_filter(
    input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, truncate: float = 4.0,
    *, radius: Any = None, axes: Any = None,
) -> Array:  # fmt: skip
    x = _image(input)
    places = normalized_axes(axes, len(x.shape))
    rows = zip(places, *[_each(value, len(places)) for value in (sigma, order, mode, radius)])
    for axis, width, derivative, beyond, reach in rows:
        if isinstance(width, (int, float)) and width <= 1e-15:
            continue
        weights = np.flip(_kernel(width, derivative, _radius(width, truncate, reach)))
        x = _along(x, weights.astype(x.dtype), axis, beyond, cval, 0, "scipy.ndimage.gaussian_filter")
    return _result("scipy.ndimage.gaussian_filter", x, output)


@of_scipy(scipy_ndimage.gaussian_laplace)
def gaussian_laplace(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **options: Any
) -> Array:
    return _result("scipy.ndimage.gaussian_laplace", sum(_seconds(input, sigma, mode, cval, axes, options, 2)), output)


@of_scipy(scipy_ndimage.gaussian_gradient_magnitude)
def gaussian_gradient_magnitude(
    input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None, **options: Any
) -> Array:
    squares = sum(part**2 for part in _seconds(input, sigma, mode, cval, axes, options, 1))
    flat = squares == 0
    root = np.where(flat, 0.0, np.sqrt(np.where(flat, 1.0, squares)))
    return _result("scipy.ndimage.gaussian_gradient_magnitude", root, output)


def _seconds(input: Any, sigma: Any, mode: Any, cval: Any, axes: Any, options: dict[str, Any], order: int) -> list[Array]:
    """A derivative of the smoothed image along each axis."""
    x = _image(input)
    places = normalized_axes(axes, len(x.shape))
    result = []
    for n in range(len(places)):
        orders = [order if m == n else 0 for m in range(len(places))]
        result.append(gaussian_filter(x, sigma, orders, None, mode, cval, axes=places, **options))
    return result


@of_scipy(scipy_ndimage.uniform_filter1d)
def uniform_filter1d(
    input: Any, size: int, axis: int = -1, output: Any = None, mode: str = "reflect", cval: Any = 0.0, origin: int = 0
) -> Array:
    x = _image(input)
    result = _along(x, np.full(size, 1 / size, x.dtype), axis, mode, cval, origin, "scipy.ndimage.uniform_filter1d")
    return _result("scipy.ndimage.uniform_filter1d", result, output)


@of_scipy(scipy_ndimage.uniform_filter)
def uniform_filter(
    input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *, axes: Any = None
) -> Array:
    x = _image(input)
    places = normalized_axes(axes, len(x.shape))
    for axis, n, beyond, offset in zip(places, *[_each(value, len(places)) for value in (size, mode, origin)]):
        x = _along(x, np.full(n, 1 / n, x.dtype), axis, beyond, cval, offset, "scipy.ndimage.uniform_filter")
    return _result("scipy.ndimage.uniform_filter", x, output)


def _edges(smooth: Sequence[float]) -> Callable[..., Array]:
    def code(input: Any, axis: int = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Array:
        x = _image(input)
        modes = _each(mode, len(x.shape))
        (chosen,) = normalized_axes(axis, len(x.shape))
        x = _along(x, np.array([-1, 0, 1], x.dtype), chosen, modes[chosen], cval, 0, "scipy.ndimage")
        for n in range(len(x.shape)):
            if n != chosen:
                x = _along(x, np.array(smooth, x.dtype), n, modes[n], cval, 0, "scipy.ndimage")
        return _result("scipy.ndimage", x, output)

    return code


sobel: Callable[..., Array] = of_scipy(scipy_ndimage.sobel)(_edges((1, 2, 1)))
prewitt: Callable[..., Array] = of_scipy(scipy_ndimage.prewitt)(_edges((1, 1, 1)))


@of_scipy(scipy_ndimage.laplace)
def laplace(input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Array:
    x = _image(input)
    places = normalized_axes(axes, len(x.shape))
    parts = [
        _along(x, np.array([1, -2, 1], x.dtype), axis, beyond, cval, 0, "scipy.ndimage.laplace")
        for axis, beyond in zip(places, _each(mode, len(places)))
    ]
    return _result("scipy.ndimage.laplace", sum(parts), output)


# Order ---------------------------------------------------------------------------------------------------------------


def _extreme(name: str, reduce: Callable[..., Array]) -> Callable[..., Array]:
    def code(
        input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
        origin: Any = 0, *, axes: Any = None,
    ) -> Array:  # fmt: skip
        x = _image(input)
        places = normalized_axes(axes, len(x.shape))
        if footprint is None:
            if size is None:
                raise RuntimeError("no footprint or filter size provided")
            footprint = np.ones([int(n) for n in _each(size, len(places))], bool)
        footprint = np.asarray(footprint, bool)
        around = _neighbourhoods(x, footprint.shape, places, mode, cval, origin)
        return _result(name, reduce(np.take(around, np.flatnonzero(footprint), axis=-1), axis=-1), output)

    return code


maximum_filter: Callable[..., Array] = of_scipy(scipy_ndimage.maximum_filter)(_extreme("scipy.ndimage.maximum_filter", np.max))
minimum_filter: Callable[..., Array] = of_scipy(scipy_ndimage.minimum_filter)(_extreme("scipy.ndimage.minimum_filter", np.min))


# Interpolation -------------------------------------------------------------------------------------------------------


@of_scipy(scipy_ndimage.map_coordinates, ignored=("prefilter",))
def map_coordinates(
    input: Any, coordinates: Any, output: Any = None, order: int = 3, mode: str = "constant", cval: Any = 0.0
) -> Array:
    """Linear interpolation (order=1), or the nearest element (order=0), which has no derivative by the coordinates."""
    name = "scipy.ndimage.map_coordinates"
    if order not in (0, 1):
        raise unsupported(name, f"order={order}", "Write order=1, or scipy.interpolate.CubicSpline along one axis.")
    if mode not in ("constant", "nearest", "grid-constant"):
        raise unsupported(name, f"mode={mode!r}", "Write mode='constant' or mode='nearest'.")
    x, where = _image(input), inexact(coordinates)
    if where.shape[0] != len(x.shape):
        raise RuntimeError("invalid shape for coordinate array")
    total: Any = 0.0
    outside = np.zeros(where.shape[1:], bool)
    axes: list[tuple[Any, Any]] = []
    for n, length in enumerate(x.shape):
        at = where[n]
        if mode == "constant":
            outside = outside | (at < 0) | (at > length - 1)
        elif mode == "nearest":
            at = np.clip(at, 0, length - 1)
        low = np.floor(at + 0.5 if order == 0 else at)
        axes.append((low.astype(np.int64), at - low))
    for corner in np.ndindex(*[1 if order == 0 else 2] * len(x.shape)):
        weight: Any = 1.0
        flat: Any = 0
        inside: Any = True
        for (low, part), step, length in zip(axes, corner, x.shape):
            place = low + step
            inside = inside & (place >= 0) & (place < length)
            flat = flat * length + np.clip(place, 0, length - 1)
            if order:
                weight = weight * (part if step else 1 - part)
        value = taken(np.ravel(x), flat)
        if mode != "nearest":
            value = np.where(inside, value, cval)
        total = total + weight * value
    result = np.where(outside, cval, total) if mode == "constant" else total
    return _result(name, result.astype(x.dtype) if result.dtype != x.dtype else result, output)


__getattr__: Callable[[str], Any] = rest_of("scipy.ndimage", globals())

__all__ = [
    "convolve", "convolve1d", "correlate", "correlate1d", "gaussian_filter", "gaussian_filter1d", "gaussian_gradient_magnitude",
    "gaussian_laplace", "laplace", "map_coordinates", "maximum_filter", "minimum_filter", "prewitt", "sobel", "uniform_filter",
    "uniform_filter1d",
]  # fmt: skip
