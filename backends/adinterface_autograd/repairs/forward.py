"""The forward mode of autograd, completed and corrected.

The tangent of a primitive comes from a rule in `forward_rules.py`, or from a right forward rule of autograd, or from its
transposed reverse rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import JVPNode, primitive_jvps, vspace
from autograd.numpy import numpy_wrapper as wrapper
from autograd.tracer import new_box, notrace_primitives

from .forward_rules import RULES
from .functions import shape_of, value
from .reverse import ReverseNode, reverse_rule, traced_primitives
from .traces import backward, new_trace, node_of


class ForwardNode(JVPNode):  # type: ignore[misc]
    """A node that carries a tangent."""

    __slots__ = ()
    g: Any  # the tangent, in the slot of JVPNode

    def __init__(self, answer: Any, fun: Any, args: Any, kwargs: Any, argnums: Any, parents: Any):
        rule = RULES.get(fun) or primitive_jvps.get(fun) or _transposed(fun)
        self.g = rule(argnums, [parent.g for parent in parents], answer, args, kwargs)


notrace_primitives[ForwardNode] = traced_primitives(JVPNode)


def _transposed(fun: Any) -> Callable[..., Any]:
    """The forward rule that the reverse rule implies."""
    reverse = reverse_rule(fun)
    if reverse is None:
        name = getattr(fun, "__name__", fun)
        raise NotImplementedError(f"autograd has neither a forward nor a reverse rule for {name}")

    def rule(argnums: Sequence[int], tangents: Sequence[Any], answer: Any, args: Any, kwargs: Any) -> Any:
        back = reverse(argnums, answer, args, kwargs)
        if _is_diagonal(fun, argnums, answer, args):
            terms = [list(back(tangent))[n] for n, tangent in enumerate(tangents)]
            return terms[0] if len(terms) == 1 else sum(terms[1:], terms[0])
        # back is linear in the cotangent, so its pullback at any point, applied to the tangents, is the pushforward.
        # Not at zero, where some of autograd's rules leave out products with zero.
        space = vspace(answer)
        with new_trace() as trace:
            root = ReverseNode.new_root()
            ends = [node_of(part, trace) for part in back(new_box(space.ones(), trace, root))]
            result = backward([(end, tangent) for end, tangent in zip(ends, tangents) if end is not None])
        return result[root] if root in result else space.zeros()

    return rule


def _or_transposed(fun: Any) -> Callable[..., Any]:
    """The forward rule for the calls that it covers; for others, the transposed reverse rule."""
    known, transposed = RULES[fun], _transposed(fun)

    def rule(argnums: Any, tangents: Any, answer: Any, args: Any, kwargs: Any) -> Any:
        try:
            return known(argnums, tangents, answer, args, kwargs)
        except NotImplementedError:
            return transposed(argnums, tangents, answer, args, kwargs)

    return rule


for _function in (anp.prod, anp.clip):  # autograd's rules ignore `where` and the bounds
    RULES[_function] = _transposed(_function)


def _is_diagonal(fun: Any, argnums: Sequence[int], answer: Any, args: Any) -> bool:
    """Whether the derivative is a real diagonal matrix, which is its own transpose: a ufunc of arrays of one shape."""
    ufunc = getattr(fun, "fun", None)
    if not isinstance(ufunc, np.ufunc) or ufunc.signature is not None or ufunc.nout != 1 or np.iscomplexobj(value(answer)):
        return False
    shape = shape_of(answer)
    return all(shape_of(args[n]) == shape and not np.iscomplexobj(value(args[n])) for n in argnums)


_norm = anp.linalg._primitive_norm
for _function in (anp.max, anp.min, anp.amax, anp.amin, wrapper._primitive_var, wrapper._primitive_std, anp.pad, _norm):
    RULES[_function] = _or_transposed(_function)
