"""Functions of the standard whose derivatives JAX lacks or gets wrong.

(Not in namespace.py, whose `any` and `sum` are JAX's.)
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.lax import stop_gradient

__all__ = ["from_dlpack", "hypot", "nextafter"]


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """An array of JAX is one already; under jit it could not be exported."""
    if isinstance(x, jax.Array):
        return x if device is None else jax.device_put(x, device)
    return jnp.from_dlpack(x, device=device, copy=copy)


def hypot(x: Any, y: Any, /) -> Any:
    """JAX 0.10's own loses second derivatives where |x| = |y|: it selects the larger of the two on the way."""
    scale = stop_gradient(jnp.maximum(jnp.abs(x), jnp.abs(y)))
    scale = jnp.where((scale == 0) | jnp.isinf(scale), 1, scale)
    return scale * jnp.sqrt((x / scale) ** 2 + (y / scale) ** 2)


def nextafter(x: Any, y: Any, /) -> Any:
    """JAX has no derivative for it: that of x."""
    return x + stop_gradient(jnp.nextafter(stop_gradient(x), stop_gradient(y)) - x)
