"""Code that JAX cannot trace: called directly with numbers, and by a callback from compiled code.

JAX may call back from a thread of its own, in which a scoped `enable_x64` does not hold and 64-bit numbers would be narrowed.
So they are passed as pairs of 32 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from adinterface.core.contract.repetition import drawing_from, of_python, states_of
from adinterface.core.contract.rules import Arrays


def outside(function: Callable[..., Arrays], arrays: Arrays, example: Callable[[], Arrays]) -> Arrays:
    """The function's results for the numbers of these arrays."""
    stopped = [jax.lax.stop_gradient(x) for x in arrays]
    if not any(isinstance(x, jax.core.Tracer) for x in stopped):
        return tuple([x if isinstance(x, jax.Array) else jnp.asarray(x) for x in function(*stopped)])
    dtypes = [x.dtype for x in stopped]
    with drawing_from(states_of(of_python())):  # a trial, whose draws are none of f's
        results = [(np.shape(x), jax.dtypes.canonicalize_dtype(x.dtype)) for x in example()]

    def called(*given: Any) -> list[np.ndarray[Any, Any]]:
        result = function(*[_joined(np.array(x), dtype) for x, dtype in zip(given, dtypes)])
        return [_halves(np.asarray(x, dtype)) for x, (_, dtype) in zip(result, results)]

    shaped: Any = jax.ShapeDtypeStruct
    shapes = [shaped((*shape, *_extra(dtype)), np.uint32 if _extra(dtype) else dtype) for shape, dtype in results]
    result: Any = jax.pure_callback(called, shapes, *map(_split, stopped), vmap_method="sequential")
    return tuple([_whole(x, dtype) for x, (_, dtype) in zip(result, results)])


def _extra(dtype: Any) -> tuple[int, ...]:
    """The trailing axis of an array of 32-bit halves; none if the dtype has no 64-bit parts."""
    return {8: (2,), 16: (2, 2)}.get(dtype.itemsize, ()) if dtype.name != "complex64" else ()


def _split(x: Any) -> Any:
    if not _extra(x.dtype):
        return x
    parts = jnp.stack([x.real, x.imag], -1) if x.dtype.kind == "c" else x
    return jax.lax.bitcast_convert_type(parts, jnp.uint32)


def _whole(x: Any, dtype: Any) -> Any:
    if not _extra(dtype):
        return x
    parts = jax.lax.bitcast_convert_type(x, np.float64 if dtype.kind == "c" else dtype)
    return jax.lax.complex(parts[..., 0], parts[..., 1]) if dtype.kind == "c" else parts


def _halves(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    extra = _extra(x.dtype)
    return np.ascontiguousarray(x).reshape(-1).view(np.uint32).reshape((*x.shape, *extra)) if extra else x


def _joined(x: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    extra = _extra(dtype)
    return x.reshape(-1).view(dtype).reshape(x.shape[: x.ndim - len(extra)]) if extra else x
