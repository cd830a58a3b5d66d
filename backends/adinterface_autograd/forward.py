"""autograd's forward mode, made complete: where a function has no forward rule, its reverse rule is transposed."""

from __future__ import annotations

from typing import Any

from autograd.core import JVPNode, make_vjp, primitive_jvps, primitive_vjps, vspace
from autograd.tracer import notrace_primitives, register_notrace


class ForwardNode(JVPNode):  # type: ignore[misc]
    """A node that carries a tangent."""

    __slots__ = ()
    g: Any  # the tangent, in the slot of JVPNode

    def __init__(self, value: Any, fun: Any, args: Any, kwargs: Any, parent_argnums: Any, parents: Any):
        if fun in primitive_jvps:
            super().__init__(value, fun, args, kwargs, parent_argnums, parents)
            return
        if fun not in primitive_vjps:
            name = getattr(fun, "__name__", fun)
            raise NotImplementedError(f"autograd has neither a forward nor a reverse rule for {name}")
        back = primitive_vjps[fun](parent_argnums, value, args, kwargs)
        tangents = [parent.g for parent in parents]
        # back is linear in the cotangent, so the transpose of it, at any point, applied to the tangents is the pushforward.
        # Not at zero, where some of autograd's rules leave out what they multiply by it.
        total: Any = None
        for n, tangent in enumerate(tangents):
            transpose, _ = make_vjp(lambda g, n=n: list(back(g))[n], vspace(value).ones())
            term = transpose(tangent)
            total = term if total is None else total + term
        self.g = total


for _fun in notrace_primitives[JVPNode]:
    register_notrace(ForwardNode, _fun)
