"""Code that JAX cannot trace: called directly with numbers, and by a callback from compiled code.

JAX may call back from a thread of its own, in which a scoped `enable_x64` does not hold and 64-bit
numbers would be narrowed. So they are passed as pairs of 32 bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from adinterface import RuleError
from adinterface.core.contract import Arrays


def outside(
    function: Callable[..., Arrays], arrays: Arrays, example: Callable[[], Arrays]
) -> Arrays:
    """The function's results for the numbers of these arrays."""
    stopped = [jax.lax.stop_gradient(x) for x in arrays]
    if not any(isinstance(x, jax.core.Tracer) for x in stopped):
        return tuple(
            [x if isinstance(x, jax.Array) else jnp.asarray(x) for x in function(*stopped)]
        )
    dtypes, wide = [x.dtype for x in stopped], jax.config.jax_enable_x64  # type: ignore[attr-defined]
    results = [(np.shape(x), jax.dtypes.canonicalize_dtype(x.dtype)) for x in example()]

    def called(*given: Any) -> list[np.ndarray[Any, Any]]:
        result = function(*[_joined(np.array(x), dtype) for x, dtype in zip(given, dtypes)])
        with jax.enable_x64(wide):
            seen = [(np.shape(x), jax.dtypes.canonicalize_dtype(x.dtype)) for x in result]
        for one, other in zip(seen, results):
            if one != other:
                raise RuleError(
                    f"{function.__name__}: its value has an array of shape {one[0]} and dtype"
                    f" {one[1]}, and had one of shape {other[0]} and dtype {other[1]} when JAX"
                    " compiled the call: at ones, unless `like` gives an example. Return the same"
                    " for all arguments of one shape and dtype. If ones are a special case, or"
                    " `like` has another dtype, write @rule(host=like), or"
                    " differentiate_with(like=like), with such an example."
                )
        return [_halves(np.asarray(x, dtype)) for x, (_, dtype) in zip(result, results)]

    shaped: Any = jax.ShapeDtypeStruct
    shapes = [
        shaped((*shape, *_extra(dtype)), np.uint32 if _extra(dtype) else dtype)
        for shape, dtype in results
    ]
    given = [*map(_split, stopped)]
    if getattr(function, "fixes", False) or not all(math.prod(shape) for shape, _ in results):
        # JAX leaves out a callback of which no number is used; this one runs to be checked.
        jax.debug.callback(lambda *x: (called(*x), None)[1], *given)
    result: Any = jax.pure_callback(called, shapes, *given, vmap_method="sequential")
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
    return (
        np.ascontiguousarray(x).reshape(-1).view(np.uint32).reshape((*x.shape, *extra))
        if extra
        else x
    )


def _joined(x: np.ndarray[Any, Any], dtype: Any) -> np.ndarray[Any, Any]:
    extra = _extra(dtype)
    return x.reshape(-1).view(dtype).reshape(x.shape[: x.ndim - len(extra)]) if extra else x
