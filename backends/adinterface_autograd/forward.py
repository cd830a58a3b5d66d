"""autograd's forward mode, made complete and right.

A primitive's tangent comes from our rule (`forward_rules.py`) where there is one, from autograd's forward rule where that
is right, and else from the primitive's own reverse rule, transposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from autograd.core import JVPNode, VJPNode, primitive_jvps, primitive_vjps, vspace
from autograd.tracer import new_box, notrace_primitives

from .forward_rules import RULES
from .rules import shape_of, value
from .traces import backward, new_trace, node_of


class ForwardNode(JVPNode):  # type: ignore[misc]
    """A node that carries a tangent."""

    __slots__ = ()
    g: Any  # the tangent, in the slot of JVPNode

    def __init__(self, answer: Any, fun: Any, args: Any, kwargs: Any, argnums: Any, parents: Any):
        rule = RULES.get(fun) or primitive_jvps.get(fun) or _transposed(fun)
        self.g = rule(argnums, [parent.g for parent in parents], answer, args, kwargs)


notrace_primitives[ForwardNode] = notrace_primitives[JVPNode]


def _transposed(fun: Any) -> Callable[..., Any]:
    """The forward rule that the reverse rule implies."""
    if fun not in primitive_vjps:
        name = getattr(fun, "__name__", fun)
        raise NotImplementedError(f"autograd has neither a forward nor a reverse rule for {name}")

    def rule(argnums: Sequence[int], tangents: Sequence[Any], answer: Any, args: Any, kwargs: Any) -> Any:
        back = primitive_vjps[fun](argnums, answer, args, kwargs)
        if _is_diagonal(fun, argnums, answer, args):
            terms = [list(back(tangent))[n] for n, tangent in enumerate(tangents)]
            return terms[0] if len(terms) == 1 else sum(terms[1:], terms[0])
        # back is linear in the cotangent, so its own pullback, at any point, of the tangents is the pushforward.
        # Not at zero, where some of autograd's rules leave out what they multiply by it.
        space = vspace(answer)
        with new_trace() as trace:
            root = VJPNode.new_root()
            ends = [node_of(part, trace) for part in back(new_box(space.ones(), trace, root))]
            found = backward([(end, tangent) for end, tangent in zip(ends, tangents) if end is not None])
        return found[root] if root in found else space.zeros()

    return rule


def _is_diagonal(fun: Any, argnums: Sequence[int], answer: Any, args: Any) -> bool:
    """Whether the derivative is a diagonal real matrix, which is its own transpose: a ufunc of arrays of one shape."""
    ufunc = getattr(fun, "fun", None)
    if not isinstance(ufunc, np.ufunc) or ufunc.signature is not None or ufunc.nout != 1 or np.iscomplexobj(value(answer)):
        return False
    shape = shape_of(answer)
    return all(shape_of(args[n]) == shape and not np.iscomplexobj(value(args[n])) for n in argnums)
