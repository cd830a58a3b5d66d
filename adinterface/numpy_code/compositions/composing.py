"""The table of compositions, and the conversions that most of them begin with."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from ...core.contract.library import dtype_name

Array: TypeAlias = Any
Axis: TypeAlias = int | tuple[int, ...] | None

#: By NumPy's dotted name. Each takes the namespace first, then what NumPy's function takes.
COMPOSITIONS: dict[str, Callable[..., Any]] = {}


def composition(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        COMPOSITIONS.update(dict.fromkeys(names, function))
        return function

    return register


# Dtypes
# ------------------------------------------------------------------------------------------------


def name_of(x: Array) -> str:
    """The name of an array's dtype: `torch.float32` and `dtype('float32')` are both float32."""
    return _name_of_dtype(x.dtype)


@functools.cache
def _name_of_dtype(dtype: Any) -> str:
    if isinstance(dtype, np.dtype):
        return dtype_name(dtype)
    # torch's dtypes have no name
    return str(getattr(dtype, "name", None) or str(dtype).rpartition(".")[2])


def numpy_dtype(x: Any) -> Any:
    """The dtype as NumPy has it; a Python number stays one, for `np.result_type`."""
    return (
        x
        if isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic)
        else np.dtype(name_of(x))
    )


def _named(dtype: Any) -> str:
    return "bfloat16" if isinstance(dtype, str) and dtype == "bfloat16" else np.dtype(dtype).name


def native_dtype(xp: ModuleType, dtype: Any) -> Any:
    """A namespace's dtype for a user's dtype=."""
    name = _named(dtype)
    if name == "float16" and not hasattr(xp, name):
        name = "float32"
    return getattr(xp, name)


def is_complex(x: Array) -> bool:
    return name_of(x).startswith("complex")


def is_exact(x: Array) -> bool:
    """Whether x holds integers or booleans."""
    return _is_exact_dtype(x.dtype)


@functools.cache
def _is_exact_dtype(dtype: Any) -> bool:
    return _name_of_dtype(dtype).startswith(("int", "uint", "bool"))


def cast(xp: ModuleType, x: Array, dtype: Any) -> Array:
    """x with a dtype of NumPy, or bfloat16."""
    name = _named(dtype)
    if name_of(x) == name:
        return x
    return xp.astype(
        xp.real(x) if is_complex(x) and not name.startswith("complex") else x,
        native_dtype(xp, name),
    )


def inexact(xp: ModuleType, x: Array) -> Array:
    """x, or float64 for integers and booleans: the dtype of means and of linear algebra."""
    return cast(xp, x, "float64") if is_exact(x) else x


def sine_dtype(xp: ModuleType, x: Array) -> Array:
    """x in the dtype in which NumPy computes the sine."""
    return cast(xp, x, np.result_type(name_of(x), np.float16)) if _is_exact_dtype(x.dtype) else x


# Arrays
# ------------------------------------------------------------------------------------------------


def array(xp: ModuleType, value: Any, like: Any = None) -> Array:
    """An array of the namespace: of itself, a number, NumPy's array, or a list of any of them."""
    if isinstance(value, (list, tuple)):
        if _holds_native(value):
            return xp.stack(broadcast(xp, *promoted(xp, *value)))
        value = np.asarray(value)
    if isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        plain = np.asarray(value)
        device = getattr(like, "device", None)
        options = {} if device is None else {"device": device}
        return xp.asarray(
            plain if plain.ndim else plain.item(), dtype=native_dtype(xp, plain.dtype), **options
        )
    return value


def _holds_native(values: Any) -> bool:
    return any(
        (
            _holds_native(v)
            if isinstance(v, (list, tuple))
            else not isinstance(v, (int, float, complex, np.ndarray, np.generic))
        )
        for v in values
    )


def promoted(xp: ModuleType, *values: Any) -> list[Array]:
    """The values as arrays of the dtype in which NumPy computes with them.

    Python numbers are weak.
    """
    alike = _alike(xp, values)
    if alike is not None:
        return alike
    like = next(
        (
            v
            for v in values
            if not isinstance(v, (int, float, complex, list, tuple, np.ndarray, np.generic))
        ),
        None,
    )
    weak = [type(v) in _WEAK for v in values]
    arrays = [v if w else array(xp, v, like) for v, w in zip(values, weak)]
    kinds: list[Any] = [type(v) if w else name_of(v) for v, w in zip(arrays, weak)]
    if len(set(kinds)) == 1 and not any(weak):
        return arrays
    dtype = common_dtype(*kinds)
    return [_number(xp, v, dtype, like) if w else cast(xp, v, dtype) for v, w in zip(arrays, weak)]


def _alike(xp: ModuleType, values: tuple[Any, ...]) -> list[Array] | None:
    """The usual case: arrays of one dtype, and perhaps real numbers, which take it if it is
    inexact; None in any other.
    """
    like = dtype = None
    numbers = False
    for value in values:
        if type(value) in REAL:
            numbers = True
            continue
        own = getattr(value, "dtype", None)
        if own is None or isinstance(value, _OF_NUMPY):
            return None
        if like is None:
            like, dtype = value, own
        elif own != dtype:
            return None
    if not numbers:
        return list(values)
    if like is None or _is_exact_dtype(dtype):
        return None
    device = getattr(like, "device", None)
    options = {} if device is None else {"device": device}
    return [xp.asarray(float(v), dtype=dtype, **options) if type(v) in REAL else v for v in values]


def operands(xp: ModuleType, a: Any, b: Any) -> Any:
    """Two values as `promoted`, but a real number with an inexact array stays one: functions of the
    standard take it.
    """
    array, number = (b, a) if type(a) in REAL else (a, b)
    direct = type(number) in REAL and hasattr(array, "dtype") and not isinstance(array, _OF_NUMPY)
    return (a, b) if direct and not _is_exact_dtype(array.dtype) else promoted(xp, a, b)


#: The classes of real numbers; bool is not one of them.
REAL = frozenset({float, int})
_OF_NUMPY = (np.ndarray, np.generic)


def _number(xp: ModuleType, value: Any, dtype: str, like: Any) -> Array:
    if dtype == "bfloat16":
        return cast(xp, array(xp, value, like), dtype)
    return array(xp, np.asarray(value, dtype=dtype), like)


_WEAK = frozenset({bool, int, float, complex})


@functools.cache
def common_dtype(*kinds: Any) -> str:
    """The dtype of a computation with arrays of these dtypes and numbers of these classes.

    NumPy lacks bfloat16, which is promoted only by other inexact dtypes.
    """
    if "bfloat16" not in kinds:
        return np.result_type(
            *[np.dtype(kind) if isinstance(kind, str) else kind(1) for kind in kinds]
        ).name
    inexact_ones = [
        kind for kind in kinds if isinstance(kind, str) and kind.startswith(("float", "complex"))
    ]
    inexact_ones += ["complex64"] * (complex in kinds)
    return np.result_type(np.float32, *inexact_ones).name if inexact_ones else "bfloat16"


def counted_in_full(xp: ModuleType, *values: Any) -> list[Array]:
    """The values as arrays of one dtype, Python numbers too, as in functions that are not
    ufuncs.
    """
    like = next((v for v in values if hasattr(v, "shape")), None)
    return promoted(xp, *[v if v is like else array(xp, v, like) for v in values])


def broadcast(xp: ModuleType, *arrays: Array) -> list[Array]:
    """NumPy's broadcasting.

    Each array is handled separately, so that only its own shape is read.
    """
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    return [x if tuple(x.shape) == shape else xp.broadcast_to(x, shape) for x in arrays]


def root(xp: ModuleType, x: Array) -> Array:
    """The square root of a sum of squares: where all of them are zero, a corner, its derivative is
    zero, not NaN.
    """
    corner = x == 0
    return xp.where(corner, xp.zeros_like(x), xp.sqrt(xp.where(corner, xp.ones_like(x), x)))


def conj(xp: ModuleType, x: Array) -> Array:
    return xp.conj(x) if is_complex(x) else x


def sliced(x: Array, axis: int, start: int | None, stop: int | None = None) -> Array:
    return x[(slice(None),) * (axis % len(x.shape)) + (slice(start, stop), Ellipsis)]


def flat(xp: ModuleType, x: Array) -> Array:
    return x if len(x.shape) == 1 else xp.reshape(x, (-1,))


def size_of(x: Array) -> int:
    return int(np.prod(x.shape, dtype=int))


def normalized(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes as a tuple of numbers from 0."""
    axes = range(ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    for n in axes:
        if not -ndim <= n < ndim:
            raise np.exceptions.AxisError(n, ndim)
    return tuple([int(n) % ndim for n in axes])


def last(xp: ModuleType, x: Array, axis: Any) -> tuple[Array, tuple[int, ...]]:
    """x with some axes made one, the last; and its shape with these axes of length one."""
    axes = normalized(axis, len(x.shape))
    kept = tuple([n for n in range(len(x.shape)) if n not in axes])
    shape = tuple([1 if n in axes else length for n, length in enumerate(x.shape)])
    moved = xp.permute_dims(x, kept + axes)
    length = int(np.prod([x.shape[n] for n in axes], dtype=int))
    return xp.reshape(moved, tuple([x.shape[n] for n in kept]) + (length,)), shape


def positions(shape: Any) -> np.ndarray[Any, Any]:
    """An array that holds the place of each element, counted from 1: 0 is left for a place that
    holds none.
    """
    return np.arange(1, int(np.prod(shape, dtype=int)) + 1).reshape(shape)


def gathered(xp: ModuleType, x: Array, places: np.ndarray[Any, Any]) -> Array:
    """The elements of x at the places to which NumPy has moved their numbers.

    0 where there is none.

    So NumPy itself defines each function that only moves elements.
    """
    index = np.maximum(places.ravel() - 1, 0)
    if not size_of(x):
        return xp.zeros(places.shape, dtype=x.dtype)
    result = xp.reshape(xp.take(flat(xp, x), array(xp, index, x), axis=0), places.shape)
    return (
        result
        if places.all()
        else xp.where(array(xp, places > 0, x), result, xp.zeros_like(result))
    )


def concrete(value: Any) -> Any:
    """What only says where things go: NumPy's array of it."""
    return value if value is None or isinstance(value, (int, slice)) else np.asarray(value)
