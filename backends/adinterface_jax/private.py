"""Private names of JAX, each with a fallback that works in any release."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

try:
    # The class of arrays that are not tracers.
    from jax._src.array import ArrayImpl
except ImportError:  # to make an array starts JAX, after which jax.distributed.initialize() refuses to
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
        return not isinstance(jnp.zeros(()), jax.core.Tracer)  # which is traced wherever code is compiled


try:
    from jax._src.core import trace_ctx
    from jax._src.interpreters.partial_eval import DynamicJaxprTracer

    def is_over(x: Any) -> bool:
        """Whether a derivative or a batch is over to which this tracer belongs."""
        trace = trace_ctx.trace
        while trace is not None and trace is not x._trace:
            trace = getattr(trace, "parent_trace", None)
        return trace is None and not isinstance(x, DynamicJaxprTracer)

except ImportError:

    def is_over(x: Any) -> bool:
        """Whether a derivative or a batch is over to which this tracer belongs; JAX finds it later."""
        return False


__all__ = ["SHARDING", "ArrayImpl", "is_over", "untraced"]
