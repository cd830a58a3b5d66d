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

try:
    from jax._src.core import eval_trace, trace_ctx

    def untraced() -> bool:
        """Whether no transformation of JAX is at work in this thread."""
        return trace_ctx.trace is eval_trace

except ImportError:  # private names, which another release of JAX may not have

    def untraced() -> bool:
        """Whether no transformation of JAX is at work in this thread."""
        # which is traced wherever code is compiled
        return not isinstance(jnp.zeros(()), jax.core.Tracer)


__all__ = ["SHARDING", "ArrayImpl", "untraced"]
