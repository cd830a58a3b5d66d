"""What JAX has no public name for, each with a way that any release has."""

from __future__ import annotations

import jax
import jax.numpy as jnp

try:
    # The class of arrays that are no tracers.
    from jax._src.array import ArrayImpl
except ImportError:  # to make an array starts JAX, after which jax.distributed.initialize() refuses to
    ArrayImpl = type(jnp.zeros(0, dtype="int8"))  # type: ignore[misc, assignment]

#: The attribute that holds where an array lies; `sharding` is a function of Python's around it.
SHARDING = "_sharding" if hasattr(ArrayImpl, "_sharding") else "sharding"

try:
    from jax._src.core import eval_trace, trace_state_strong_ref

    def untraced() -> bool:
        """Whether no transformation of JAX is at work in this thread."""
        return trace_state_strong_ref.value is eval_trace

except ImportError:  # private names, which another release of JAX may not have

    def untraced() -> bool:
        """Whether no transformation of JAX is at work in this thread."""
        return not isinstance(jnp.zeros(()), jax.core.Tracer)  # which is traced wherever code is compiled


__all__ = ["SHARDING", "ArrayImpl", "untraced"]
