"""Rules on torch, and code that torch cannot see, by one `torch.autograd.Function` each.

A class for each call would take longer to make than a small f takes to run.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from itertools import filterfalse
from operator import attrgetter
from typing import Any

import torch

from adinterface import BackendError
from adinterface.core.contract import Arrays, FlatRule, Point, require_linear

from .backward import backward, detached
from .dtypes import is_inexact
from .levels import dual, is_followed, is_nested_forward, outside_derivatives, plain
from .nodes import leaves_behind
from .private import (
    TransformType,
    dual_level,
    is_wrapped,
    outside_all,
    peek,
    set_forward_enabled,
    transformations,
    unwrapped,
)
from .recording import marked, recorded, settled

_REQUIRES_GRAD = attrgetter("requires_grad")
#: A derivative of a rule: from tangents or cotangents, and the point.
Map = Callable[[Arrays, Point], Arrays]


class AdinterfaceRule(torch.autograd.Function):
    """The value of a rule, with its derivatives.

    It is computed before, so that captured tensors that torch follows are found.

    count, inputs: how many leaves there are, and how many with the carried arrays. values: the
    value, flat; None inside a transformation, where it is the last of the arrays, behind the
    inputs.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(
        rule: FlatRule, count: int, inputs: int, values: Arrays | None, *arrays: torch.Tensor
    ) -> Arrays:
        return tuple([x.clone() for x in arrays[inputs:]]) if values is None else values

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.rule, ctx.count, ctx.inputs, _, *arrays = inputs
        ctx.given, ctx.passed = len(arrays), False
        aux = [x for x in output if not is_inexact(x)]
        ctx.outputs = len(output) - len(aux)
        # also if its derivative is zero everywhere (`unrecorded`); functorch makes the class of the
        # node
        ctx.keeps_all = True
        if aux:
            ctx.mark_non_differentiable(*aux)
        ctx.save_for_backward(*arrays[: ctx.inputs], *output)
        ctx.save_for_forward(*arrays[: ctx.inputs], *output)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> Any:
        rule, point = ctx.rule, _point(ctx)
        gradients = derived(
            rule, rule.pullback or _transposed(rule), cotangents[: ctx.outputs], point
        )
        if rule.innermost:
            if ctx.passed and any(map(_changed, gradients, cotangents)):
                raise _not_innermost(rule)
            ctx.passed = torch.is_grad_enabled() and any(c.requires_grad for c in cotangents)
        return None, None, None, None, *gradients, *[None] * (ctx.given - ctx.count)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        rule, point = ctx.rule, _point(ctx)
        moved = tangents[4 : 4 + ctx.inputs]
        _refuse(rule, [tangent is not None for tangent in moved[ctx.count :]])
        moved = tuple(
            [torch.zeros_like(x) if t is None else t for t, x in zip(moved, point.leaves)]
        )
        # torch turns it off here, and with it the tangents of captured tensors
        with set_forward_enabled(True):
            moved, apart = _without_tangents(moved), Point(*map(_without_tangents, point))
            pushed = derived(rule, rule.pushforward or _transposed(rule), moved, apart)
        return *pushed, *[None] * len(point.aux)


def _without_tangents(tensors: Arrays) -> Arrays:
    return tuple([dual(x)[0] for x in tensors])


def _point(ctx: Any) -> Point:
    saved, count, inputs = ctx.saved_tensors, ctx.count, ctx.inputs
    behind = inputs + ctx.outputs
    return Point(saved[:count], saved[count:inputs], saved[inputs:behind], saved[behind:])


# `Function.apply` calls this after checking a signature, which is known here.
_apply: Callable[..., Any] = super(torch.autograd.Function, AdinterfaceRule).apply


def custom(rule: FlatRule, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
    """The value of a rule, with its derivatives."""
    result: Any
    inside = peek() is not None
    if inside and is_nested_forward((*leaves, *carried)):
        as_written = rule.written(leaves, carried)
        if as_written is None:
            raise BackendError(
                f"f applies the rule {rule.name} inside a forward derivative of a forward"
                " derivative, where torch leaves its derivative out"
                " (https://github.com/pytorch/pytorch/issues/197867). Take one of the two"
                " derivatives in reverse, with AutoTorch() or AutoTorch(mode='reverse')."
            )
        return as_written
    if inside and rule.innermost:
        levels = [
            level.key() for level in transformations() or () if level.key() != TransformType.Vmap
        ]
        as_written = rule.written(leaves, carried)
        if as_written is not None and levels and levels[-1] == TransformType.Jvp:
            return as_written
        if levels.count(TransformType.Grad) + any(plain(x).requires_grad for x in leaves) > 1:
            raise _not_innermost(rule)
    followed = inside or dual_level() >= 0
    if not followed:
        live = torch.is_grad_enabled()
        if live and carried:
            _refuse(rule, [x.requires_grad for x in carried])
        if not (live and any(x.requires_grad for x in leaves)):
            return _value(rule, leaves, carried)
    # Constants, so that the author's code may call NumPy on them; what follows them then was
    # captured.
    outputs, aux = _value(rule, _constants(leaves), _constants(carried))
    inputs = (*leaves, *carried)
    if inside:
        given = (rule, len(leaves), len(inputs), None, *inputs, *outputs, *aux)
        result = AdinterfaceRule.apply(*given)  # type: ignore[no-untyped-call]
    else:
        # torch gives the sum of their cotangents to one of two that are the same
        if len({*map(id, outputs)}) < len(outputs):
            outputs = tuple(
                [
                    x.clone() if any(x is y for y in outputs[:n]) else x
                    for n, x in enumerate(outputs)
                ]
            )
        result = _apply(rule, len(leaves), len(inputs), (*outputs, *aux), *inputs)
    return tuple(filter(is_inexact, result)), tuple(filterfalse(is_inexact, result))


def _value(rule: FlatRule, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
    """The value of a rule at constants; an error if torch follows it all the same."""
    # so that it may call NumPy
    with nullcontext() if any(map(is_wrapped, (*leaves, *carried))) else outside_all():
        outputs, aux = _naming_captured(rule, rule.value, leaves, carried)
    outputs = tuple(map(settled, outputs))
    _refuse_captured(rule, outputs)
    return outputs, aux


def _constants(tensors: Arrays) -> Arrays:
    """The numbers of tensors, outside of all derivatives. Those of a batch stay in it."""
    return (
        tuple([outside_derivatives(x.detach()) for x in tensors])
        if peek() is not None
        else detached(tensors)
    )


def derived(rule: FlatRule, derivative: Map, moved: Arrays, point: Point) -> Arrays:
    """The result of a rule's derivative.

    An error if it depends on a differentiated tensor outside of the point.
    """
    inside = peek() is not None
    live = inside or torch.is_grad_enabled()
    if live:
        known = (*moved, *point.leaves, *point.carried, *point.outputs)
        # Results of calls inside the derivative stay in the graph.
        evaluate = _naming_captured if inside else _recorded
        result: Arrays = evaluate(rule, derivative, moved, point)
        if inside:
            doubtful = any(map(is_followed, result))
        else:  # whether the graph has another end, perhaps that of a derivative inside this one
            doubtful = any(True for _ in leaves_behind(result, known))
        if not doubtful:
            return result
    # At constants: what is followed then was captured.
    moved, point = detached(moved), Point(*map(detached, point))
    with torch.enable_grad():
        apart: Arrays = recorded(_apart, (derivative, moved, point))
    _refuse_captured(rule, apart)
    return result if live else apart


def _apart(derivative: Map, moved: Arrays, point: Point) -> Arrays:
    """The derivative, without the graphs of calls inside it.

    Tensors of calls outside it are captured.
    """
    return tuple(map(settled, derivative(moved, point)))


def _recorded(*args: Any) -> Arrays:
    result: Arrays = recorded(_naming_captured, args)
    return result


def _naming_captured(rule: FlatRule, function: Callable[..., Any], *args: Arrays | Point) -> Any:
    """The result.

    The error for a captured tensor, where functorch asserts that no tensor belongs to a level that
    has ended.
    """
    try:
        return function(*args)
    except RuntimeError as error:
        if "INTERNAL ASSERT FAILED" in str(error) and "functorch" in str(error):
            raise rule.captured() from error
        raise


def _changed(gradient: Any, cotangent: torch.Tensor) -> bool:
    """Whether a hook has changed the numbers of its cotangent, in any entry of a batch."""
    if gradient is not None and is_wrapped(gradient) and is_wrapped(cotangent):
        return _changed(unwrapped(gradient), unwrapped(cotangent))
    return (
        gradient is None
        or is_wrapped(gradient)
        or is_wrapped(cotangent)
        or not torch.equal(gradient, cotangent)
    )


def _not_innermost(rule: FlatRule) -> BackendError:
    return BackendError(
        f"f applies {rule.name} in a backward pass through a backward pass. torch would apply it in"
        " both, and the result would not be the derivative of the gradient. Take the outer"
        " derivative forward, with SecondOrder(AutoTorch(mode='forward'), AutoTorch())."
    )


def _refuse_captured(rule: FlatRule, outputs: Arrays) -> None:
    if any(map(_REQUIRES_GRAD if peek() is None and dual_level() < 0 else is_followed, outputs)):
        raise rule.captured()


def _refuse(rule: FlatRule, differentiated: list[bool]) -> None:
    for n, asked in enumerate(differentiated):
        if asked:
            raise rule.refused(n)


def _transposed(rule: FlatRule) -> Map:
    """The derivative that the author left out, from the other one."""
    push, back = rule.pushforward, rule.pullback
    if push is not None:
        return lambda cotangents, point: _adjoint(
            rule, lambda tangents: push(tangents, point), point.leaves, cotangents
        )
    assert back is not None
    return lambda tangents, point: _adjoint(
        rule, lambda cotangents: back(cotangents, point), point.outputs, tangents
    )


def _adjoint(
    rule: FlatRule, linear: Callable[[Arrays], Arrays], like: Arrays, vectors: Arrays
) -> Arrays:
    """The adjoint of a linear map of arrays like these, applied to vectors."""
    at = tuple(map(torch.ones_like, like))
    if peek() is not None:
        functional: Any = torch.func.vjp(lambda *x: linear(x), *at)
        images, transposed = functional
        result: Arrays = transposed(tuple(vectors))
    else:
        kept = torch.is_grad_enabled()
        with torch.enable_grad():
            inputs = marked([x.requires_grad_() for x in at])
            images = linear(inputs)
            live = [(image, v) for image, v in zip(images, vectors) if image.requires_grad]
            gradients: Any = [None] * len(inputs)
            if live:
                gradients = backward(
                    [y for y, _ in live], inputs, [v for _, v in live], create_graph=kept
                )
        result = tuple([torch.zeros_like(x) if g is None else g for g, x in zip(gradients, like)])
    # a batch has no numbers of its own
    if all(level.key() != TransformType.Vmap for level in transformations() or ()):
        epsilon = max([torch.finfo(x.dtype).eps for x in (*images, *result)])
        require_linear(rule, [*map(_number, images, vectors)], [*map(_number, at, result)], epsilon)
    return result


def _number(a: torch.Tensor, b: torch.Tensor) -> tuple[float, float]:
    """Re sum(conj(a) b), and the size of what was summed."""
    products = (a.detach().conj() * b.detach()).real
    return float(products.sum()), float(products.abs().sum())


class AdinterfaceOutside(torch.autograd.Function):
    """A function of untraced tensors, which has no derivative."""

    @staticmethod
    def forward(function: Callable[..., Arrays], *arrays: torch.Tensor) -> Arrays:
        return function(*detached(arrays))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.mark_non_differentiable(*output)

    @staticmethod
    def vmap(
        info: Any, in_dims: Any, function: Callable[..., Arrays], *arrays: torch.Tensor
    ) -> Any:
        rows: list[Any] = []
        for n in range(info.batch_size):
            entries = [x if d is None else x.select(d, n) for x, d in zip(arrays, in_dims[1:])]
            rows.append(AdinterfaceOutside.apply(function, *entries))  # type: ignore[no-untyped-call]
        stacks = tuple([torch.stack(column) for column in zip(*rows)])
        return stacks, tuple([0] * len(stacks))


def outside(function: Callable[..., Arrays], arrays: Arrays) -> Arrays:
    """The function's results for the numbers of these tensors."""
    arrays = _constants(arrays)
    if not any(map(is_wrapped, arrays)):
        return function(*arrays)
    result: Arrays = AdinterfaceOutside.apply(function, *arrays)  # type: ignore[no-untyped-call]
    return result
