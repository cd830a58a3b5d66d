"""Private names of JAX, each with a fallback that works in any release."""

from __future__ import annotations

import jax
import jax.numpy as jnp

try:  # the class of arrays that are not tracers
    from jax._src.array import ArrayImpl
except ImportError:  # an array starts JAX, after which jax.distributed.initialize() refuses to
    ArrayImpl = type(jnp.zeros(0, dtype="int8"))  # type: ignore[misc, assignment]

#: The attribute that holds an array's sharding; `sharding` is a Python property around it.
SHARDING = "_sharding" if hasattr(ArrayImpl, "_sharding") else "sharding"

try:  # whether no transformation of JAX is at work in this thread
    from jax._src.core import trace_state_clean as untraced
except ImportError:

    def untraced() -> bool:
        return not isinstance(jnp.zeros(()), jax.core.Tracer)  # traced wherever code is compiled


__all__ = ["SHARDING", "ArrayImpl", "untraced"]
