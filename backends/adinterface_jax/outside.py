"""Code that JAX cannot see: called at once where there are numbers, and called back by compiled code where there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from adinterface.contract.errors import PrecisionError
from adinterface.contract.rules import Arrays


def outside(function: Callable[..., Arrays], arrays: Arrays, example: Callable[[], Arrays]) -> Arrays:
    """What the function gives for the numbers of these arrays."""
    stopped = [jax.lax.stop_gradient(x) for x in arrays]
    if not any(isinstance(x, jax.core.Tracer) for x in stopped):
        return tuple([x if isinstance(x, jax.Array) else jnp.asarray(x) for x in function(*stopped)])
    shaped: Any = jax.ShapeDtypeStruct
    shapes = [shaped(np.shape(x), x.dtype) for x in example()]
    dtypes = [x.dtype for x in stopped]

    def called(*given: Any) -> list[np.ndarray[Any, Any]]:
        for x, dtype in zip(given, dtypes):
            if x.dtype != dtype:  # JAX calls from a thread that has another precision
                raise PrecisionError(
                    f"JAX gave {x.dtype} to a function outside of it, in place of {dtype}: its thread computes in 32 bits. Set "
                    f"jax.config.update('jax_enable_x64', True) for the whole program."
                )
        found = function(*[np.array(x) for x in given])
        return [np.asarray(x, shape.dtype) for x, shape in zip(found, shapes)]

    found: Any = jax.pure_callback(called, shapes, *stopped, vmap_method="sequential")
    return tuple(found)
