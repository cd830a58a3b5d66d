"""Functions of the standard whose derivatives JAX lacks or gets wrong.

(Not in namespace.py, whose `any` and `sum` are JAX's.)
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.lax import stop_gradient

__all__ = ["hypot", "nextafter"]


def hypot(x: Any, y: Any, /) -> Any:
    """JAX 0.10's own loses second derivatives where |x| = |y|: it selects the larger of the two on the way."""
    scale = stop_gradient(jnp.maximum(jnp.abs(x), jnp.abs(y)))
    scale = jnp.where((scale == 0) | jnp.isinf(scale), 1, scale)
    return scale * jnp.sqrt((x / scale) ** 2 + (y / scale) ** 2)


def nextafter(x: Any, y: Any, /) -> Any:
    """JAX has no derivative for it: that of x."""
    return x + stop_gradient(jnp.nextafter(stop_gradient(x), stop_gradient(y)) - x)
