"""The functions of the Array API standard, composed of about 30 primitives.

Each function takes the namespace first, and calls other functions through it. So a function that the engine has replaces the
composition here and in every other composition. Indices and masks are NumPy arrays that `asarray` converts.

Source: Python array API standard, version 2024.12.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

#: By the name in the standard, with `linalg.` or `fft.` in front.
COMPOSITIONS: dict[str, Callable[..., Any]] = {}

Axes = int | Sequence[int] | None


def composition(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register a function: `linalg_norm` is `linalg.norm`, and a trailing underscore is dropped."""
    name = function.__name__.rstrip("_")
    for part in ("linalg", "fft"):
        if name.startswith(part + "_"):
            name = f"{part}.{name[len(part) + 1 :]}"
    COMPOSITIONS[name] = function
    return function


def axis_of(axis: int, ndim: int) -> int:
    """An axis as a non-negative number. Raises AxisError for one that the array does not have."""
    if not -ndim <= axis < builtins.max(ndim, 1):
        raise np.exceptions.AxisError(axis, ndim)
    return axis % ndim if ndim else 0


def axes_of(axis: Axes, ndim: int) -> list[int]:
    """All axes for None."""
    given = range(ndim) if axis is None else [axis] if isinstance(axis, (int, np.integer)) else axis
    return [axis_of(int(a), ndim) for a in given]


def _along(axis: int, part: Any) -> tuple[Any, ...]:
    """An index that takes `part` along one axis."""
    return (*(slice(None),) * axis, part)


def _is_complex(xp: Any, x: Any) -> bool:
    return str(xp.dtype_name(x)).startswith("complex")


def _is_floating(xp: Any, x: Any) -> bool:
    return str(xp.dtype_name(x)).startswith(("float", "bfloat", "complex"))


# Element by element --------------------------------------------------------------------------------------------------


def _binary(operation: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda xp, x, y, /: operation(x, y)


COMPOSITIONS |= {
    "add": _binary(lambda x, y: x + y),
    "subtract": _binary(lambda x, y: x - y),
    "multiply": _binary(lambda x, y: x * y),
    "divide": _binary(lambda x, y: x / y),
    "pow": _binary(lambda x, y: x**y),
    "equal": _binary(lambda x, y: x == y),
    "not_equal": _binary(lambda x, y: x != y),
    "less": _binary(lambda x, y: x < y),
    "less_equal": _binary(lambda x, y: x <= y),
    "greater": _binary(lambda x, y: x > y),
    "greater_equal": _binary(lambda x, y: x >= y),
    "bitwise_and": _binary(lambda x, y: x & y),
    "bitwise_or": _binary(lambda x, y: x | y),
    "bitwise_xor": _binary(lambda x, y: x ^ y),
    "bitwise_left_shift": _binary(lambda x, y: x << y),
    "bitwise_right_shift": _binary(lambda x, y: x >> y),
    "logical_and": _binary(lambda x, y: x & y),
    "logical_or": _binary(lambda x, y: x | y),
    "logical_xor": _binary(lambda x, y: x ^ y),
    "logical_not": lambda xp, x, /: ~x,
    "bitwise_invert": lambda xp, x, /: ~x,
    "negative": lambda xp, x, /: -x,
    "positive": lambda xp, x, /: x,
    "square": lambda xp, x, /: x * x,
    "reciprocal": lambda xp, x, /: 1.0 / x,
    "isnan": lambda xp, x, /: x != x,
    "isinf": lambda xp, x, /: xp.abs(x) == math.inf,
    "isfinite": lambda xp, x, /: xp.abs(x) < math.inf,
}


@composition
def abs(xp: Any, x: Any, /) -> Any:
    if _is_complex(xp, x):
        return _root(xp, xp.real(x) ** 2 + xp.imag(x) ** 2)
    return xp.where(x < 0, -x, x)


@composition
def sign(xp: Any, x: Any, /) -> Any:
    return xp.astype(x > 0, x.dtype) - xp.astype(x < 0, x.dtype)


@composition
def ceil(xp: Any, x: Any, /) -> Any:
    return -xp.floor(-x)


@composition
def trunc(xp: Any, x: Any, /) -> Any:
    return xp.where(x < 0, xp.ceil(x), xp.floor(x))


@composition
def round(xp: Any, x: Any, /) -> Any:
    """To the nearest integer; halves go to the even one."""
    down = xp.floor(x)
    rest, odd = x - down, down - 2.0 * xp.floor(down / 2.0)
    up = (rest > 0.5) | ((rest == 0.5) & (odd == 1.0))
    return xp.where(up, down + 1.0, down)


@composition
def signbit(xp: Any, x: Any, /) -> Any:
    return (x < 0) | ((x == 0) & (1.0 / xp.where(x == 0, x, xp.ones_like(x)) < 0))


@composition
def copysign(xp: Any, x: Any, y: Any, /) -> Any:
    turned = xp.signbit(x) != xp.signbit(y)
    return xp.where(turned, -x, x + xp.zeros_like(y))


@composition
def maximum(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.where(x > y, x, y)


@composition
def minimum(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.where(x < y, x, y)


@composition
def clip(xp: Any, x: Any, /, min: Any = None, max: Any = None) -> Any:
    result = x
    if min is not None:
        result = xp.where(result <= min, min + xp.zeros_like(x), result)
    if max is not None:
        result = xp.where(result >= max, max + xp.zeros_like(x), result)
    return xp.astype(result, x.dtype)


@composition
def floor_divide(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.floor(x / y)


@composition
def remainder(xp: Any, x: Any, y: Any, /) -> Any:
    return x - xp.floor(x / y) * y


@composition
def hypot(xp: Any, x: Any, y: Any, /) -> Any:
    return _root(xp, x * x + y * y)


def _root(xp: Any, x: Any) -> Any:
    """The square root of a sum of squares, whose derivative is zero where all squares are zero."""
    corner = x == 0
    return xp.where(corner, xp.zeros_like(x), xp.sqrt(xp.where(corner, xp.ones_like(x), x)))


@composition
def logaddexp(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.maximum(x, y) + xp.log1p(xp.exp(-xp.abs(x - y)))


@composition
def log2(xp: Any, x: Any, /) -> Any:
    return xp.log(x) / math.log(2.0)


@composition
def log10(xp: Any, x: Any, /) -> Any:
    return xp.log(x) / math.log(10.0)


@composition
def log1p(xp: Any, x: Any, /) -> Any:
    """Source: Goldberg, What every computer scientist should know about floating-point arithmetic, 1991, theorem 4."""
    u = 1.0 + x
    return xp.log(u) - ((u - 1.0) - x) / u


@composition
def exp(xp: Any, x: Any, /) -> Any:
    """A power of e, which is rounded; the factor corrects that. Where the clipped x matters, the power is zero or infinite."""
    if _is_complex(xp, x):
        return xp.exp(xp.real(x)) * (xp.cos(xp.imag(x)) + 1j * xp.sin(xp.imag(x)))
    base = np.asarray(math.e, xp.dtype_name(x))
    rest = (math.e - float(base) + 1.4456468917292502e-16) / math.e
    return xp.pow(xp.asarray(base), x) * (1.0 + rest * xp.clip(x, -1e3, 1e3))


@composition
def expm1(xp: Any, x: Any, /) -> Any:
    """Source: Kahan's formula, in Higham, Accuracy and stability of numerical algorithms, 2002, section 1.14.1."""
    u = xp.exp(x)
    small = u == 1.0
    logarithm = xp.log(xp.where(small, xp.ones_like(x) + 1.0, u))
    return xp.where(small, x, (u - 1.0) * x / logarithm)


def _odd(xp: Any, x: Any, function: Callable[[Any], Any]) -> Any:
    """An odd function, from its values at non-negative x."""
    positive = xp.where(x < 0, -x, x)
    return xp.where(x < 0, -function(positive), function(positive))


@composition
def tanh(xp: Any, x: Any, /) -> Any:
    def tanh(x: Any) -> Any:
        e = xp.expm1(-2.0 * x)
        return -e / (e + 2.0)

    return _odd(xp, x, tanh)


@composition
def sinh(xp: Any, x: Any, /) -> Any:
    e = xp.expm1(x)
    return (e + e / (e + 1.0)) / 2.0


@composition
def cosh(xp: Any, x: Any, /) -> Any:
    return (xp.exp(x) + xp.exp(-x)) / 2.0


@composition
def sin(xp: Any, x: Any, /) -> Any:
    t = xp.tan(x / 2.0)
    return 2.0 * t / (1.0 + t * t)


@composition
def cos(xp: Any, x: Any, /) -> Any:
    t = xp.tan(x / 2.0)
    return 2.0 / (1.0 + t * t) - 1.0


@composition
def tan(xp: Any, x: Any, /) -> Any:
    return xp.sin(x) / xp.cos(x)


@composition
def acos(xp: Any, x: Any, /) -> Any:
    return math.pi / 2.0 - xp.asin(x)


@composition
def atan(xp: Any, x: Any, /) -> Any:
    return xp.asin(x / xp.sqrt(1.0 + x * x))


@composition
def atan2(xp: Any, x: Any, y: Any, /) -> Any:
    """The angle of the point (y, x). Each branch divides by the larger of both."""
    flat = xp.abs(y) >= xp.abs(x)
    one = xp.ones_like(x + y)
    by_y = xp.atan(x / xp.where(flat, y + one * 0.0, one))
    by_x = xp.atan(y / xp.where(flat, one, x + one * 0.0))
    half = math.pi / 2.0
    turned = xp.where(xp.signbit(x), -half * one, half * one)
    shifted = xp.where(xp.signbit(y), by_y + 2.0 * turned, by_y)
    return xp.where(flat, shifted, turned - by_x)


@composition
def asinh(xp: Any, x: Any, /) -> Any:
    return _odd(xp, x, lambda x: xp.log1p(x + x * x / (1.0 + xp.sqrt(x * x + 1.0))))


@composition
def acosh(xp: Any, x: Any, /) -> Any:
    return xp.log(x + xp.sqrt(x - 1.0) * xp.sqrt(x + 1.0))


@composition
def atanh(xp: Any, x: Any, /) -> Any:
    return xp.log1p(2.0 * x / (1.0 - x)) / 2.0


@composition
def real(xp: Any, x: Any, /) -> Any:
    if _is_complex(xp, x):
        raise TypeError("The engine has no real() of complex arrays.")
    return x


@composition
def imag(xp: Any, x: Any, /) -> Any:
    if _is_complex(xp, x):
        raise TypeError("The engine has no imag() of complex arrays.")
    return xp.zeros_like(x)


@composition
def conj(xp: Any, x: Any, /) -> Any:
    if _is_complex(xp, x):
        raise TypeError("The engine has no conj() of complex arrays.")
    return x


# Creation ------------------------------------------------------------------------------------------------------------


def _created(name: str) -> None:
    function = getattr(np, name)

    def create(xp: Any, *args: Any, dtype: Any = None, device: Any = None, **options: Any) -> Any:
        made = function(*args, **options)
        return xp.asarray(made if dtype is None else made.astype(xp.dtype_name(dtype)))

    COMPOSITIONS[name] = create


for _name in ("arange", "empty", "eye", "linspace", "ones", "zeros"):
    _created(_name)


@composition
def full(xp: Any, shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    value = xp.asarray(fill_value) if dtype is None else xp.asarray(fill_value, dtype=dtype)
    return xp.broadcast_to(value, shape)


@composition
def full_like(xp: Any, x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return xp.full(tuple(x.shape), fill_value, dtype=x.dtype if dtype is None else dtype)


def _filled(value: int) -> Callable[..., Any]:
    def like(xp: Any, x: Any, /, *, dtype: Any = None, device: Any = None) -> Any:
        return xp.asarray(np.full(tuple(x.shape), value, xp.dtype_name(x if dtype is None else dtype)))

    return like


COMPOSITIONS |= {"zeros_like": _filled(0), "ones_like": _filled(1), "empty_like": _filled(0)}


@composition
def from_dlpack(xp: Any, x: Any, /, *, device: Any = None, copy: Any = None) -> Any:
    return xp.asarray(np.from_dlpack(x))


@composition
def meshgrid(xp: Any, *arrays: Any, indexing: str = "xy") -> list[Any]:
    if indexing not in ("xy", "ij"):
        raise ValueError("meshgrid: indexing is 'xy' or 'ij'.")
    count = len(arrays)
    order = list(range(count))
    if indexing == "xy" and count > 1:
        order[:2] = [1, 0]
    placed = [xp.reshape(x, tuple(-1 if k == axis else 1 for k in range(count))) for x, axis in zip(arrays, order)]
    return list(xp.broadcast_arrays(*placed))


def _triangle(xp: Any, x: Any, k: int) -> Any:
    return xp.asarray(np.tri(x.shape[-2], x.shape[-1], k) != 0)


@composition
def tril(xp: Any, x: Any, /, *, k: int = 0) -> Any:
    return xp.where(_triangle(xp, x, k), x, xp.zeros_like(x))


@composition
def triu(xp: Any, x: Any, /, *, k: int = 0) -> Any:
    return xp.where(_triangle(xp, x, k - 1), xp.zeros_like(x), x)


# Manipulation --------------------------------------------------------------------------------------------------------


@composition
def stack(xp: Any, arrays: Any, /, *, axis: int = 0) -> Any:
    return xp.concat([xp.expand_dims(x, axis=axis) for x in arrays], axis=axis_of(axis, len(arrays[0].shape) + 1))


@composition
def unstack(xp: Any, x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    axis = axis_of(axis, len(x.shape))
    return tuple([x[_along(axis, n)] for n in range(x.shape[axis])])


@composition
def broadcast_to(xp: Any, x: Any, /, shape: Any) -> Any:
    np.broadcast_to(np.empty(tuple(x.shape)), tuple(shape))  # raises ValueError for shapes that do not fit
    return x + xp.zeros(tuple(shape), dtype=x.dtype) if _is_floating(xp, x) else x | xp.zeros(tuple(shape), dtype=x.dtype)


@composition
def broadcast_arrays(xp: Any, *arrays: Any) -> tuple[Any, ...]:
    shape = np.broadcast_shapes(*[tuple(x.shape) for x in arrays])
    return tuple([xp.broadcast_to(x, shape) for x in arrays])


@composition
def expand_dims(xp: Any, x: Any, /, *, axis: Any = 0) -> Any:
    return xp.reshape(x, np.expand_dims(np.empty(tuple(x.shape)), axis).shape)


@composition
def squeeze(xp: Any, x: Any, /, axis: Any) -> Any:
    return xp.reshape(x, np.squeeze(np.empty(tuple(x.shape)), axis).shape)


@composition
def permute_dims(xp: Any, x: Any, /, axes: Any) -> Any:
    return xp.transpose(x, axes)


@composition
def moveaxis(xp: Any, x: Any, source: Any, destination: Any, /) -> Any:
    numbered = np.moveaxis(np.empty([n + 1 for n in range(len(x.shape))]), source, destination).shape
    return xp.permute_dims(x, tuple([n - 1 for n in numbered]))


@composition
def matrix_transpose(xp: Any, x: Any, /) -> Any:
    return xp.moveaxis(x, -1, -2)


@composition
def take(xp: Any, x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Negative indices count from the end. They are made non-negative, because some engines clamp them."""
    if axis is None:
        if len(x.shape) != 1:
            raise ValueError("take needs an axis for an array of more than one dimension.")
        axis = 0
    axis = axis_of(axis, len(x.shape))
    numbers = xp.numbers(indices)
    if numbers is not None:
        return xp.gather(x, xp.asarray(np.where(numbers < 0, numbers + x.shape[axis], numbers)), axis)
    return xp.gather(x, xp.where(indices < 0, indices + x.shape[axis], indices), axis)


@composition
def take_along_axis(xp: Any, x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """By an index into the flat array: the sum of a fixed part and `indices` times the stride of the axis."""
    shape, ndim = tuple(x.shape), len(x.shape)
    axis = axis_of(axis, ndim)
    strides = [math.prod(shape[n + 1 :]) for n in range(ndim)]
    fixed: Any = 0
    for n in range(ndim):
        if n != axis:
            fixed = fixed + strides[n] * np.arange(shape[n]).reshape([-1 if k == n else 1 for k in range(ndim)])
    numbers = xp.numbers(indices)
    if numbers is not None:
        flat = xp.asarray(fixed + strides[axis] * np.where(numbers < 0, numbers + shape[axis], numbers))
    else:
        flat = xp.where(indices < 0, indices + shape[axis], indices) * strides[axis] + xp.asarray(np.asarray(fixed))
    return xp.reshape(xp.gather(xp.reshape(x, (-1,)), xp.reshape(flat, (-1,)), 0), tuple(flat.shape))


def _by_index(xp: Any, x: Any, index: np.ndarray[Any, Any], axis: int) -> Any:
    return xp.gather(x, xp.asarray(index), axis)


@composition
def flip(xp: Any, x: Any, /, *, axis: Axes = None) -> Any:
    for a in axes_of(axis, len(x.shape)):
        x = _by_index(xp, x, np.arange(x.shape[a])[::-1].copy(), a)
    return x


@composition
def roll(xp: Any, x: Any, /, shift: Any, *, axis: Axes = None) -> Any:
    shape = tuple(x.shape)
    if axis is None:
        return xp.reshape(xp.roll(xp.reshape(x, (-1,)), shift, axis=0), shape)
    axes = axes_of(axis, len(shape))
    shifts = [shift] * len(axes) if isinstance(shift, (int, np.integer)) else list(shift)
    for a, s in zip(axes, shifts):
        if shape[a]:
            x = _by_index(xp, x, (np.arange(shape[a]) - s) % shape[a], a)
    return x


@composition
def repeat(xp: Any, x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    if axis is None:
        x, axis = xp.reshape(x, (-1,)), 0
    axis = axis_of(axis, len(x.shape))
    return _by_index(xp, x, np.repeat(np.arange(x.shape[axis]), _known(xp, "repeat", repeats)), axis)


@composition
def tile(xp: Any, x: Any, repetitions: Any, /) -> Any:
    repetitions = tuple(repetitions)
    ndim = builtins.max(len(x.shape), len(repetitions))
    x = xp.reshape(x, (1,) * (ndim - len(x.shape)) + tuple(x.shape))
    for axis, count in enumerate((1,) * (ndim - len(repetitions)) + repetitions):
        if count != 1:
            x = _by_index(xp, x, np.tile(np.arange(x.shape[axis]), count), axis)
    return x


@composition
def diff(xp: Any, x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    axis = axis_of(axis, len(x.shape))
    parts = [part for part in (prepend, x, append) if part is not None]
    x = xp.concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        x = x[_along(axis, slice(1, None))] - x[_along(axis, slice(None, -1))]
    return x


# Searching, sorting, sets --------------------------------------------------------------------------------------------


def _known(xp: Any, name: str, x: Any) -> np.ndarray[Any, Any]:
    """The numbers of x. Raises TypeError where the engine has not computed them."""
    numbers: np.ndarray[Any, Any] | None = xp.numbers(x)
    if numbers is None:
        raise TypeError(f"{name}: the result has a shape that depends on numbers, which a compiled function does not know.")
    return numbers


@composition
def argsort(xp: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    numbers = _known(xp, "argsort", x)
    if not descending:
        return xp.asarray(np.argsort(numbers, axis=axis, stable=True))
    order = np.argsort(np.flip(numbers, axis=axis), axis=axis, stable=True)
    return xp.asarray(np.flip(numbers.shape[axis] - 1 - order, axis=axis).copy())


@composition
def sort(xp: Any, x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return xp.take_along_axis(x, xp.argsort(x, axis=axis, descending=descending), axis=axis)


@composition
def searchsorted(xp: Any, x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Any:
    """The number of elements of x1 that are smaller, or with "right" not larger."""
    x1 = x1 if sorter is None else xp.take(x1, sorter)
    behind = xp.expand_dims(x2, axis=-1)
    return xp.sum(xp.astype(x1 < behind if side == "left" else x1 <= behind, xp.int64), axis=-1)


def _extreme_place(largest: bool) -> Callable[..., Any]:
    def place(xp: Any, x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
        function = np.argmax if largest else np.argmin
        return xp.asarray(np.asarray(function(_known(xp, "argmax", x), axis=axis, keepdims=keepdims)))

    return place


COMPOSITIONS |= {"argmax": _extreme_place(True), "argmin": _extreme_place(False)}


@composition
def nonzero(xp: Any, x: Any, /) -> tuple[Any, ...]:
    return tuple([xp.asarray(part) for part in np.nonzero(_known(xp, "nonzero", x))])


def _set(name: str) -> None:
    function = getattr(np, name)

    def unique(xp: Any, x: Any, /) -> Any:
        result = function(_known(xp, name, x))
        if not isinstance(result, tuple):
            return xp.asarray(result)
        return type(result)(*[xp.asarray(part) for part in result])

    COMPOSITIONS[name] = unique


for _name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
    _set(_name)


@composition
def count_nonzero(xp: Any, x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return xp.sum(xp.astype(x != 0, xp.int64), axis=axis, keepdims=keepdims)


@composition
def any(xp: Any, x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return xp.count_nonzero(x, axis=axis, keepdims=keepdims) > 0


@composition
def all(xp: Any, x: Any, /, *, axis: Axes = None, keepdims: bool = False) -> Any:
    return xp.sum(xp.astype(x == 0, xp.int64), axis=axis, keepdims=keepdims) == 0


# Statistics ----------------------------------------------------------------------------------------------------------


def _ends(xp: Any, x: Any, axis: Axes) -> tuple[Any, list[int]]:
    """x with the reduced axes moved to the end as one, and which they were."""
    shape = tuple(x.shape)
    axes = axes_of(axis, len(shape))
    kept = [n for n in range(len(shape)) if n not in axes]
    moved = xp.permute_dims(x, tuple(kept + axes)) if shape else x
    return xp.reshape(moved, (*[shape[n] for n in kept], math.prod([shape[n] for n in axes]))), axes


def _kept(xp: Any, x: Any, shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> Any:
    return xp.reshape(x, tuple([1 if n in axes else length for n, length in enumerate(shape)])) if keepdims else x


def _halves(combine: Callable[[Any, Any, Any], Any], empty: float | None, name: str) -> None:
    """A reduction by halves: every step combines the first half of the axis with the second."""

    def reduce(xp: Any, x: Any, /, *, axis: Axes = None, dtype: Any = None, keepdims: bool = False) -> Any:
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
            result = combined if count % 2 == 0 else xp.concat([combined, result[..., 2 * half :]], axis=-1)
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
def var(xp: Any, x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    centred = x - xp.mean(x, axis=axis, keepdims=True)
    squares = xp.real(centred * xp.conj(centred)) if _is_complex(xp, x) else centred * centred
    return xp.sum(squares, axis=axis, keepdims=keepdims) / builtins.max(_count(x, axis) - correction, 0.0)


@composition
def std(xp: Any, x: Any, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    return _root(xp, xp.var(x, axis=axis, correction=correction, keepdims=keepdims))


def _cumulative(combine: Callable[[Any, Any], Any], start: float, name: str) -> None:
    """Each step combines every element with the one at a distance before it; the distance doubles.

    Source: Hillis and Steele, Data parallel algorithms, 1986.
    """

    def cumulate(xp: Any, x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
        if axis is None:
            if len(x.shape) != 1:
                raise ValueError(f"{name} needs an axis for an array of more than one dimension.")
            axis = 0
        axis = axis_of(axis, len(x.shape))
        x = x if dtype is None else xp.astype(x, dtype)
        step, count = 1, x.shape[axis]
        while step < count:
            later = combine(x[_along(axis, slice(step, None))], x[_along(axis, slice(None, count - step))])
            x = xp.concat([x[_along(axis, slice(None, step))], later], axis=axis)
            step *= 2
        if include_initial:
            shape = [1 if n == axis else length for n, length in enumerate(x.shape)]
            x = xp.concat([xp.asarray(np.full(shape, start, xp.dtype_name(x))), x], axis=axis)
        return x

    COMPOSITIONS[name] = cumulate


_cumulative(lambda x, y: x + y, 0.0, "cumulative_sum")
_cumulative(lambda x, y: x * y, 1.0, "cumulative_prod")

# Products ------------------------------------------------------------------------------------------------------------


@composition
def matmul(xp: Any, x: Any, y: Any, /) -> Any:
    """By `matrix_product`, the engine's product of stacks of matrices, for vectors and broadcast stacks too."""
    row, column = len(x.shape) == 1, len(y.shape) == 1
    x, y = xp.expand_dims(x, axis=0) if row else x, xp.expand_dims(y, axis=-1) if column else y
    stacks = np.broadcast_shapes(tuple(x.shape)[:-2], tuple(y.shape)[:-2])
    x, y = (xp.broadcast_to(z, (*stacks, *tuple(z.shape)[-2:])) for z in (x, y))
    product = xp.matrix_product(x, y)
    product = xp.squeeze(product, axis=-2) if row else product
    return xp.squeeze(product, axis=-1) if column else product


@composition
def einsum(xp: Any, subscripts: str, /, *arrays: Any) -> Any:
    """The engine's own, without axes of length 1 that are stretched to longer ones: not every engine takes those."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if "." in inputs:
        return xp.own_einsum(subscripts, *arrays)
    terms = inputs.split(",")
    longest = {
        label: builtins.max(x.shape[term.index(label)] for term, x in zip(terms, arrays) if label in term)
        for label in inputs
        if label != ","
    }
    kept = [[n for n, label in enumerate(term) if x.shape[n] == longest[label]] for term, x in zip(terms, arrays)]
    arrays = tuple([xp.reshape(x, tuple([x.shape[n] for n in places])) for x, places in zip(arrays, kept)])
    terms = ["".join([term[n] for n in places]) for term, places in zip(terms, kept)]
    once = sorted([label for label in longest if inputs.count(label) == 1])
    return xp.own_einsum(f"{','.join(terms)}->{output if arrow else ''.join(once)}", *arrays)


@composition
def vecdot(xp: Any, x: Any, y: Any, /, *, axis: int = -1) -> Any:
    x = xp.conj(x) if _is_complex(xp, x) else x
    return xp.sum(x * y, axis=axis)


@composition
def tensordot(xp: Any, x: Any, y: Any, /, *, axes: Any = 2) -> Any:
    if isinstance(axes, (int, np.integer)):
        axes = range(len(x.shape) - int(axes), len(x.shape)), range(int(axes))
    left, right = axes_of(tuple(axes[0]), len(x.shape)), axes_of(tuple(axes[1]), len(y.shape))
    free_x, free_y = ([n for n in range(len(z.shape)) if n not in used] for z, used in ((x, left), (y, right)))
    heights, widths = [x.shape[n] for n in free_x], [y.shape[n] for n in free_y]
    inner = math.prod([x.shape[n] for n in left])
    a = xp.reshape(xp.permute_dims(x, (*free_x, *left)), (math.prod(heights), inner))
    b = xp.reshape(xp.permute_dims(y, (*right, *free_y)), (inner, math.prod(widths)))
    return xp.reshape(xp.matmul(a, b), (*heights, *widths))


for _name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
    COMPOSITIONS["linalg." + _name] = functools.partial(
        lambda name, xp, *args, **options: getattr(xp, name)(*args, **options), _name
    )

# linalg --------------------------------------------------------------------------------------------------------------


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    """The factors of x = U diag(S) Vh."""

    U: Any
    S: Any
    Vh: Any


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """The factors of x = Q R."""

    Q: Any
    R: Any


@composition
def linalg_outer(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.expand_dims(x, axis=-1) * xp.expand_dims(y, axis=0)


@composition
def linalg_diagonal(xp: Any, x: Any, /, *, offset: int = 0) -> Any:
    rows, columns = x.shape[-2:]
    places = np.diagonal(np.arange(rows * columns).reshape(rows, columns), offset).copy()
    return _by_index(xp, xp.reshape(x, (*tuple(x.shape)[:-2], rows * columns)), places, len(x.shape) - 2)


@composition
def linalg_trace(xp: Any, x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    diagonal = xp.linalg.diagonal(x, offset=offset)
    return xp.sum(diagonal if dtype is None else xp.astype(diagonal, dtype), axis=-1)


@composition
def linalg_cross(xp: Any, x: Any, y: Any, /, *, axis: int = -1) -> Any:
    x, y = xp.broadcast_arrays(x, y)
    a, b = xp.unstack(x, axis=axis), xp.unstack(y, axis=axis)
    parts = [a[(n + 1) % 3] * b[(n + 2) % 3] - a[(n + 2) % 3] * b[(n + 1) % 3] for n in range(3)]
    return xp.stack(parts, axis=axis_of(axis, len(x.shape)))


@composition
def linalg_det(xp: Any, x: Any, /) -> Any:
    logarithm = xp.linalg.slogdet(x)
    return logarithm[0] * xp.exp(logarithm[1])


@composition
def linalg_slogdet(xp: Any, x: Any, /) -> Any:
    det = xp.linalg.det(x)
    return SlogdetResult(xp.sign(det), xp.log(xp.abs(det)))


@composition
def linalg_solve(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.matmul(xp.linalg.inv(x), y)


@composition
def linalg_inv(xp: Any, x: Any, /) -> Any:
    return xp.linalg.solve(x, xp.broadcast_to(xp.eye(x.shape[-1], dtype=x.dtype), tuple(x.shape)))


@composition
def linalg_matrix_power(xp: Any, x: Any, n: int, /) -> Any:
    if n < 0:
        return xp.linalg.matrix_power(xp.linalg.inv(x), -n)
    if n == 0:
        return xp.zeros_like(x) + xp.eye(x.shape[-1], dtype=x.dtype)
    half = xp.linalg.matrix_power(x, n // 2) if n > 1 else None
    square = x if half is None else xp.matmul(half, half)
    return xp.matmul(square, x) if n > 1 and n % 2 else square


@composition
def linalg_qr(xp: Any, x: Any, /, *, mode: str = "reduced") -> Any:
    if mode != "reduced":
        raise TypeError("linalg.qr: the composition has reduced factors only.")
    return QRResult(*xp.linalg.reduced_qr(x))


@composition
def linalg_svd(xp: Any, x: Any, /, *, full_matrices: bool = True) -> Any:
    u, s, vh = xp.linalg.full_svd(x)
    count = s.shape[-1]
    return SVDResult(u, s, vh) if full_matrices else SVDResult(u[..., :count], s, vh[..., :count, :])


@composition
def linalg_svdvals(xp: Any, x: Any, /) -> Any:
    return xp.linalg.svd(x, full_matrices=False)[1]


@composition
def linalg_eigvalsh(xp: Any, x: Any, /) -> Any:
    return xp.linalg.eigh(x)[0]


@composition
def linalg_pinv(xp: Any, x: Any, /, *, rtol: Any = None) -> Any:
    """For full rank: (x' x)^-1 x' or x' (x x')^-1. Raises TypeError for `rtol`, which asks for a truncated inverse."""
    if rtol is not None:
        raise TypeError("linalg.pinv: the composition takes matrices of full rank, without rtol.")
    turned = xp.matrix_transpose(xp.conj(x))
    if x.shape[-2] >= x.shape[-1]:
        return xp.linalg.solve(xp.matmul(turned, x), turned)
    return xp.matrix_transpose(xp.conj(xp.linalg.solve(xp.matmul(x, turned), x)))


@composition
def linalg_matrix_rank(xp: Any, x: Any, /, *, rtol: Any = None) -> Any:
    values = xp.linalg.svdvals(x)
    rtol = builtins.max(x.shape[-2:]) * np.finfo(xp.dtype_name(x)).eps if rtol is None else rtol
    return xp.count_nonzero(values > rtol * xp.max(values, axis=-1, keepdims=True), axis=-1)


@composition
def linalg_vector_norm(xp: Any, x: Any, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2) -> Any:
    size = xp.abs(x)
    options = {"axis": axis, "keepdims": keepdims}
    if ord == math.inf:
        return xp.max(size, **options)
    if ord == -math.inf:
        return xp.min(size, **options)
    if ord == 0:
        return xp.sum(xp.astype(x != 0, size.dtype), **options)
    if ord == 1:
        return xp.sum(size, **options)
    if ord == 2:
        return _root(xp, xp.sum(size * size, **options))
    return xp.sum(size**ord, **options) ** (1.0 / ord)


@composition
def linalg_matrix_norm(xp: Any, x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    size = xp.abs(x)
    if ord in (2, -2, "nuc"):
        values = xp.linalg.svdvals(x)
        norm = (xp.sum if ord == "nuc" else xp.max if ord == 2 else xp.min)(values, axis=-1)
    elif ord == "fro":
        norm = _root(xp, xp.sum(size * size, axis=(-2, -1)))
    else:
        sums = xp.sum(size, axis=-2 if ord in (1, -1) else -1)
        norm = (xp.max if ord > 0 else xp.min)(sums, axis=-1)
    return xp.expand_dims(xp.expand_dims(norm, axis=-1), axis=-1) if keepdims else norm


# fft -----------------------------------------------------------------------------------------------------------------


@composition
def fft_fftshift(xp: Any, x: Any, /, *, axes: Axes = None) -> Any:
    places = axes_of(axes, len(x.shape))
    return xp.roll(x, [x.shape[a] // 2 for a in places], axis=places)


@composition
def fft_ifftshift(xp: Any, x: Any, /, *, axes: Axes = None) -> Any:
    places = axes_of(axes, len(x.shape))
    return xp.roll(x, [-(x.shape[a] // 2) for a in places], axis=places)


@composition
def fft_fftfreq(xp: Any, n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    return xp.asarray(np.fft.fftfreq(n, d))


@composition
def fft_rfftfreq(xp: Any, n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    return xp.asarray(np.fft.rfftfreq(n, d))


def _resized(xp: Any, x: Any, n: int | None, axis: int) -> Any:
    """x with `n` numbers along an axis: cut, or zeros behind."""
    count = x.shape[axis]
    if n is None or n == count:
        return x
    if n < count:
        return x[_along(axis, slice(None, n))]
    shape = [n - count if k == axis else length for k, length in enumerate(x.shape)]
    return xp.concat([x, xp.zeros(tuple(shape), dtype=x.dtype)], axis=axis)


def _scale(norm: str, n: int, inverse: bool) -> float:
    powers = {"backward": (0.0, -1.0), "forward": (-1.0, 0.0), "ortho": (-0.5, -0.5)}
    return math.pow(n, powers[norm][inverse])


def _transformed(xp: Any, x: Any, n: int | None, axis: int, norm: str, inverse: bool) -> Any:
    """By the matrix of the discrete Fourier transform: n^2 products, for an engine without a fast one."""
    axis = axis_of(axis, len(x.shape))
    x = xp.moveaxis(_resized(xp, x, n, axis), axis, -1)
    count = x.shape[-1]
    turns = np.outer(np.arange(count), np.arange(count)) % count / count
    matrix = np.exp((2j if inverse else -2j) * np.pi * turns) * _scale(norm, count, inverse)
    name = "complex64" if xp.dtype_name(x) in ("float32", "complex64") else "complex128"
    x = x if _is_complex(xp, x) else xp.astype(x, getattr(xp, name))
    return xp.moveaxis(xp.matmul(x, xp.asarray(matrix.astype(name))), -1, axis)


@composition
def fft_fft(xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return _transformed(xp, x, n, axis, norm, False)


@composition
def fft_ifft(xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return _transformed(xp, x, n, axis, norm, True)


@composition
def fft_rfft(xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    axis = axis_of(axis, len(x.shape))
    result = xp.fft.fft(x, n=n, axis=axis, norm=norm)
    return result[_along(axis, slice(None, result.shape[axis] // 2 + 1))]


@composition
def fft_irfft(xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """From n // 2 + 1 numbers, followed by the conjugates of all but the first and a middle one."""
    axis = axis_of(axis, len(x.shape))
    n = 2 * (x.shape[axis] - 1) if n is None else n
    half = _resized(xp, x, n // 2 + 1, axis)
    mirrored = xp.flip(half[_along(axis, slice(1, (n + 1) // 2))], axis=axis)
    return xp.real(xp.fft.ifft(xp.concat([half, xp.conj(mirrored)], axis=axis), axis=axis, norm=norm))


def _several(xp: Any, x: Any, s: Any, axes: Any, norm: str, name: str) -> Any:
    """Over several axes: a real transform takes the last axis, forward first and backward last."""
    places = axes_of(axes if axes is not None or s is None else tuple(range(-len(s), 0)), len(x.shape))
    sizes = [None] * len(places) if s is None else list(s)
    real = name in ("rfft", "irfft")
    rest = [(size, axis) for size, axis in zip(sizes, places)][: -1 if real else None]
    if name == "rfft":
        x = xp.fft.rfft(x, n=sizes[-1], axis=places[-1], norm=norm)
    for size, axis in rest:
        x = getattr(xp.fft, {"rfft": "fft", "irfft": "ifft"}.get(name, name))(x, n=size, axis=axis, norm=norm)
    return xp.fft.irfft(x, n=sizes[-1], axis=places[-1], norm=norm) if name == "irfft" else x


def _over_several(name: str) -> Callable[..., Any]:
    def transform(xp: Any, x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        return _several(xp, x, s, axes, norm, name)

    return transform


COMPOSITIONS |= {f"fft.{_name}n": _over_several(_name) for _name in ("fft", "ifft", "rfft", "irfft")}


@composition
def fft_hfft(xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """Source: hfft(x, n) = n irfft(conj(x), n), with the scale of the other direction."""
    return xp.fft.irfft(xp.conj(x), n=n, axis=axis, norm=_TURNED[norm])


@composition
def fft_ihfft(xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return xp.conj(xp.fft.rfft(x, n=n, axis=axis, norm=_TURNED[norm]))


_TURNED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
