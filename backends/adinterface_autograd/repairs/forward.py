"""The forward mode of autograd, completed and corrected.

The tangent of a primitive comes from a rule in `forward_rules.py`, or from a right forward rule of
autograd, or from its transposed reverse rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import JVPNode, primitive_jvps, vspace
from autograd.tracer import new_box, notrace_primitives

from .forward_rules import RULES
from .functions import primitive_of, shape_of, value
from .reverse import ReverseNode, reverse_rule, traced_primitives
from .reverse_rules import Usual, pads_with_constants, unless
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

    def rule(
        argnums: Sequence[int], tangents: Sequence[Any], answer: Any, args: Any, kwargs: Any
    ) -> Any:
        back = reverse(argnums, answer, args, kwargs)
        if _is_diagonal(fun, argnums, answer, args):
            terms = [list(back(tangent))[n] for n, tangent in enumerate(tangents)]
            return terms[0] if len(terms) == 1 else sum(terms[1:], terms[0])
        # back is linear in the cotangent, so its pullback at any point, applied to the tangents, is
        # the pushforward. Not at zero, where some of autograd's rules leave out products with zero.
        space = vspace(answer)
        with new_trace() as trace:
            root = ReverseNode.new_root()
            ends = [node_of(part, trace) for part in back(new_box(space.ones(), trace, root))]
            result = backward(
                [(end, tangent) for end, tangent in zip(ends, tangents) if end is not None]
            )
        return result[root] if root in result else space.zeros()

    return rule


def _is_diagonal(fun: Any, argnums: Sequence[int], answer: Any, args: Any) -> bool:
    """Whether the derivative is a real diagonal matrix: a ufunc of arrays of one shape."""
    ufunc = getattr(fun, "fun", None)
    if (
        not isinstance(ufunc, np.ufunc)
        or ufunc.signature is not None
        or ufunc.nout != 1
        or np.iscomplexobj(value(answer))
    ):
        return False
    shape = shape_of(answer)
    return all(shape_of(args[n]) == shape and not np.iscomplexobj(value(args[n])) for n in argnums)


def _reduces(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """A reduction of a real array over one axis or all, without keywords that autograd ignores."""
    axis = args[1] if len(args) > 1 else kwargs.get("axis")
    known = len(args) <= 2 and kwargs.keys() <= {"axis", "ddof", "keepdims"}
    return known and (axis is None or type(axis) is int) and not np.iscomplexobj(value(args[0]))


def _replace(fun: Any, usual: Usual | None = None) -> None:
    """The transposed reverse rule in place of autograd's, for all calls or unusual ones."""
    RULES[fun] = (
        _transposed(fun) if usual is None else unless(usual, primitive_jvps[fun], _transposed(fun))
    )


# autograd's rules ignore `where`, bounds, axes
for _function in (anp.prod, anp.clip, anp.partition):
    _replace(_function)
for _function in (
    anp.max,
    anp.min,
    anp.amax,
    anp.amin,
    primitive_of(anp.var),
    primitive_of(anp.std),
):
    _replace(_function, _reduces)
# autograd's rules ignore keepdims and other axes, and treat every mode of pad as linear.
_replace(
    primitive_of(anp.linalg.norm),
    lambda args, kwargs: len(args) == 1 and "keepdims" not in kwargs and _reduces(args, kwargs),
)
_replace(
    anp.sort, lambda args, kwargs: len(args) == 1 and len(shape_of(args[0])) == 1 and not kwargs
)
_replace(anp.pad, pads_with_constants)
