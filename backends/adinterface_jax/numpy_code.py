"""NumPy's functions on JAX arrays, where `jax.numpy` has another name, signature or meaning."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from adinterface.numpy_code.for_engines import COMPOSITIONS, COUNTS, by_columns

from . import namespace
from . import special as special
from .namespace import fft as fft

#: The parameters of `jax.numpy` that take a list or tuple of numbers which is not an array.
_SETTINGS = (COUNTS - {"repeats"}) | {
    "dimensions", "dtype", "new_shape", "newshape", "optimize", "range", "sections",
}  # fmt: skip


def _taking_lists(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, that also takes lists of numbers where NumPy does."""
    places = _parameters(function)

    @functools.wraps(function)
    def taking(*args: Any, **kwargs: Any) -> Any:
        for x in args:
            if type(x) is list or type(x) is tuple:
                args = tuple(
                    [_array(y, places[min(m, len(places) - 1)]) for m, y in enumerate(args)]
                )
                break
        if kwargs:
            kwargs = {name: _array(x, name) for name, x in kwargs.items()}
        return function(*args, **kwargs)

    return taking


def _parameters(function: Callable[..., Any]) -> list[str]:
    """The names of the parameters by position."""
    try:
        return list(inspect.signature(function).parameters) or [""]
    except (TypeError, ValueError):
        return [""]


def _array(x: Any, name: str = "") -> Any:
    """A list or tuple as an array (JAX's if it holds one), unless the parameter is a list."""
    kind = type(x)
    if kind is not list and (kind is not tuple or name in _SETTINGS):
        return x
    if _holds_arrays(x):
        return kind([_array(part) for part in x])
    return x if name in _SETTINGS else np.asarray(x)


def _holds_arrays(x: Any) -> bool:
    return (
        any(_holds_arrays(part) for part in x)
        if type(x) in (list, tuple)
        else isinstance(x, jax.Array)
    )


#: Composed: NumPy reads one triangle where JAX reads both, and JAX has no derivative of a norm
#: where all is zero.
_OF_LINALG = {
    "cholesky", "eigh", "eigvalsh", "lstsq", "matrix_norm", "matrix_rank", "norm", "pinv", "svd",
    "vector_norm",
}  # fmt: skip


class _Linalg:
    """numpy.linalg, taking lists too."""

    def __getattr__(self, name: str) -> Any:
        if name in _OF_LINALG:
            raise AttributeError(name)
        return _taking_lists(getattr(namespace.linalg, name))


linalg = _Linalg()


def getitem(x: Any, index: Any) -> Any:
    """Indexing as NumPy's: an index out of bounds is an error, and a list is an array."""
    parts = list(index) if type(index) is tuple else [index]
    axis, after_ellipsis = 0, False
    taken = sum(_axes(part) for part in parts)
    for n, part in enumerate(parts):
        if type(part) is list:
            parts[n] = part = _list(part)
        elif type(part) is np.bool_:  # which JAX's indexing does not take for a bool
            parts[n] = part = bool(part)
        if part is Ellipsis and not after_ellipsis:
            axis, after_ellipsis = axis + x.ndim - taken, True
            continue
        _check(part, x, axis)
        axis += _axes(part)
    return x[tuple(parts) if type(index) is tuple else parts[0]]


def written(x: Any, places: Any, value: Any) -> Any:
    """x with a value, one or as many, in different places of it, counted in C's order.

    By a mask that is known: an eager scatter takes JAX 3 to 5 ms where this takes 0.25.
    """
    mask = np.zeros(x.shape, dtype=bool)
    mask.reshape(-1)[places] = True
    if value.shape:
        steps = np.diff(places)
        if len(places) > 1 and steps[0] > 0 and (steps == steps[0]).all():
            edges = (int(places[0]), x.size - 1 - int(places[-1]), int(steps[0]) - 1)
            value = jax.lax.pad(value, np.zeros((), value.dtype), [edges])
        else:
            source = np.zeros(x.size, dtype=np.intp)
            source[places] = np.arange(len(places))
            value = jnp.take(value, source, mode="clip")
        value = value.reshape(x.shape)
    return jnp.where(mask, value, x)


def _list(part: list[Any]) -> Any:
    """A list in an index as an array: JAX's, if one of its numbers is."""
    if _holds_arrays(part):
        return jnp.stack([jnp.asarray(each) for each in part])
    return np.asarray(part) if part else np.zeros(0, dtype=np.intp)


def _axes(part: Any) -> int:
    """How many axes an index takes."""
    if part is None or part is Ellipsis or isinstance(part, (bool, np.bool_)):
        return 0
    return part.ndim if getattr(part, "dtype", None) is np.dtype(bool) else 1


def _check(part: Any, x: Any, axis: int) -> None:
    if isinstance(part, (bool, np.bool_)) or not isinstance(part, (int, np.integer, np.ndarray)):
        return
    if isinstance(part, np.ndarray) and (part.dtype.kind not in "iu" or not part.size):
        return
    if axis >= x.ndim:
        return  # JAX says so itself
    low, high, size = int(np.min(part)), int(np.max(part)), x.shape[axis]
    if low < -size or high >= size:
        raise IndexError(
            f"index {low if low < -size else high} is out of bounds for axis {axis} with size"
            f" {size}"
        )


def ravel(a: Any, order: str | None = "C") -> Any:
    a = _array(a)
    return jnp.ravel(a, "F" if by_columns(order, a.shape) else "C")


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """Composed where widths are given by axis, or ramps may end at traced values."""
    if mode == "linear_ramp" or isinstance(pad_width, dict):
        return COMPOSITIONS["pad"](namespace, array, pad_width, mode, **kwargs)
    return jnp.pad(array, pad_width, mode, **kwargs)


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """JAX averages booleans in single precision."""

    @functools.wraps(function)
    def averaged(a: Any, *args: Any, **kwargs: Any) -> Any:
        return function(
            a.astype(int) if hasattr(a, "dtype") and a.dtype == bool else a, *args, **kwargs
        )

    return averaged


mean, std, var, average, median = (
    _of_numbers(_taking_lists(function))
    for function in (jnp.mean, namespace.std, jnp.var, jnp.average, jnp.median)
)


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """Under jit, too, as long as the condition itself is known."""
    if isinstance(condition, jax.Array):
        return jnp.compress(condition, a, axis)
    return jnp.take(jnp.ravel(a) if axis is None else a, np.flatnonzero(condition), axis=axis or 0)


def extract(condition: Any, arr: Any) -> Any:
    return compress(
        jnp.ravel(condition) if isinstance(condition, jax.Array) else np.ravel(condition),
        jnp.ravel(arr),
    )


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    if isinstance(x, jax.Array):
        return jnp.bincount(x, weights, minlength=minlength)
    return jnp.bincount(
        np.asarray(x), weights, length=max(minlength, int(np.max(x, initial=-1)) + 1)
    )


#: Composed of the standard: `jax.numpy` lacks methods, modes or forms of the arguments,
_FEWER = {
    "append", "argpartition", "argsort", "block", "choose", "clip", "ediff1d", "gradient",
    "nanpercentile", "nanquantile", "partition", "percentile", "polyint", "quantile", "reshape",
    "sort", "tril", "triu", "vstack",
}  # fmt: skip
#: or loses a small derivative,
_ROUGH = {"corrcoef", "nanstd", "sinc"}
#: or returns results without a derivative.
_FLAT = {"union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"}
_COMPOSED = _FEWER | _FLAT | _ROUGH
#: Parameters in which a list of numbers is axes or lengths, not an array.
_NOT_ARRAYS = {
    "broadcast_to", "einsum", "flip", "moveaxis", "permute_dims", "roll", "rollaxis", "rot90",
    "tile", "transpose",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """jax.numpy's function, that also takes lists of numbers where NumPy does."""
    if name in _COMPOSED:
        raise AttributeError(name)
    function = _ordered(name) if name in _ORDERED else getattr(namespace, name)
    return function if name in _NOT_ARRAYS or not callable(function) else _taking_lists(function)


#: With NumPy's order of complex numbers, which are composed: with an initial number, JAX 0.12 has
#: no derivative.
_ORDERED = {"amax", "amin", "argmax", "argmin", "max", "min", "nanargmax", "nanargmin"}


def _ordered(name: str) -> Any:
    function = getattr(namespace, name)

    @functools.wraps(function)
    def ordered(a: Any, *args: Any, **kwargs: Any) -> Any:
        if jnp.iscomplexobj(a):
            return COMPOSITIONS[name](namespace, a, *args, **kwargs)
        return function(a, *args, **kwargs)

    return ordered
