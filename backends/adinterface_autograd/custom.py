"""Users' rules on autograd: nodes that hold their derivatives, without a primitive each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from autograd.core import JVPNode
from autograd.tracer import find_top_boxed_args, isbox

from adinterface.core.contract import Arrays, FlatRule, Point, epsilon, require_linear

from .repairs import several
from .repairs.box import Box
from .repairs.functions import astype, conjugate, ones_like, value, zeros_like
from .repairs.reverse import ReverseNode
from .repairs.traces import backward, new_trace, node_of, traces_of

Linear = Callable[[Arrays], Arrays]
#: From tangents, or cotangents, at a point.
Map = Callable[[Arrays, Point], Arrays]


def custom(rule: FlatRule, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
    """The value of a rule with its derivatives, level by level of traces, innermost first."""
    boxed, trace, node_class, *_ = find_top_boxed_args((*leaves, *carried))
    if not boxed:
        return rule.value(leaves, carried)
    if boxed[-1][0] >= len(leaves):
        raise rule.refused(boxed[-1][0] - len(leaves))
    below = list(leaves)
    for n, box in boxed:
        below[n] = box._value
    outputs, aux = (rule.written(tuple(below), carried) if rule.innermost else None) or custom(
        rule, tuple(below), carried
    )
    if any(isbox(x) and x._trace >= trace for x in outputs):
        raise rule.captured()
    outputs = tuple([x if isbox(x) else np.asarray(x) for x in outputs])
    point = Point(tuple(below), carried, outputs, aux)
    if issubclass(node_class, JVPNode):
        given = {n: _like(box._node.g, box._value) for n, box in boxed}
        tangents = tuple([given[n] if n in given else zeros_like(x) for n, x in enumerate(below)])
        if rule.pushforward is not None:
            pushed = _checked(rule, rule.pushforward, tangents, point, trace)
        else:
            back = rule.pullback
            assert back is not None
            pushed = _adjoint(
                rule,
                lambda cotangents: _checked(rule, back, cotangents, point, trace),
                outputs,
                tangents,
            )
        nodes = [node_class.new_root(tangent) for tangent in pushed]
    else:
        nodes = _reverse(rule, point, [n for n, _ in boxed], [box._node for _, box in boxed], trace)
    return tuple([Box(x, trace, node) for x, node in zip(outputs, nodes)]), aux


def _checked(rule: FlatRule, derivative: Map, moved: Arrays, point: Point, trace: int) -> Arrays:
    """A rule's derivative in a trace; an error if it captures a value of that or an inner one."""
    result = derivative(moved, point)
    if any(
        inner >= trace
        for inner in traces_of(result) - traces_of((*moved, *point.leaves, *point.outputs))
    ):
        raise rule.captured()
    return result


def _reverse(
    rule: FlatRule, point: Point, followed: list[int], parents: list[Any], trace: int
) -> list[Any]:
    """A node for each output."""

    def back(cotangents: Arrays) -> list[Any]:
        # autograd transposes the derivative; its adjoint in the real inner product is the conjugate
        # of that.
        seeds = tuple([_like(conjugate(c), x) for c, x in zip(cotangents, point.outputs)])
        if rule.pullback is not None:
            gradients = _checked(rule, rule.pullback, seeds, point, trace)
        else:
            push = rule.pushforward
            assert push is not None
            gradients = _adjoint(
                rule,
                lambda tangents: _checked(rule, push, tangents, point, trace),
                point.leaves,
                seeds,
            )
        return [conjugate(gradients[n]) for n in followed]

    outputs = point.outputs
    if len(outputs) == 1:
        return [several.node(parents, lambda cotangent: back((cotangent,)), outputs[0])]
    together = several.node(
        parents,
        lambda known: back(
            tuple([known[n] if n in known else zeros_like(x) for n, x in enumerate(outputs)])
        ),
    )
    return [several.part(together, n, x) for n, x in enumerate(outputs)]


def _like(moved: Any, x: Any) -> Any:
    """A tangent or cotangent in the dtype of its array; autograd's rules may return a wider one."""
    dtype = value(x).dtype
    if value(moved).dtype == dtype or value(moved).dtype.kind != dtype.kind:
        return moved
    return astype(moved, dtype)


def _adjoint(rule: FlatRule, linear: Linear, like: Arrays, vectors: Arrays) -> Arrays:
    """The adjoint of a linear map of arrays like these, applied to vectors."""
    # Not at zero, where some of autograd's rules leave out products with zero.
    at = [ones_like(x) for x in like]
    roots = [ReverseNode.new_root() for _ in like]
    with new_trace() as trace:
        images = linear(tuple([Box(x, trace, root) for x, root in zip(at, roots)]))
        ends = [node_of(image, trace) for image in images]
    result = backward([(end, conjugate(v)) for end, v in zip(ends, vectors) if end is not None])
    adjoint = tuple(
        [
            conjugate(result[root]) if root in result else zeros_like(x)
            for root, x in zip(roots, like)
        ]
    )
    numbers = [_number(image, v) for image, v in zip(images, vectors)]
    coarsest = max([epsilon(np.result_type(value(x)).name) for x in (*images, *adjoint)])
    require_linear(rule, numbers, [_number(a, x) for a, x in zip(at, adjoint)], coarsest)
    return adjoint


def _number(a: Any, b: Any) -> tuple[float, float]:
    """Re sum(conj(a) b), and the size of what was summed."""
    products = np.real(np.conj(value(a)) * value(b))
    return float(np.sum(products)), float(np.sum(np.abs(products)))
