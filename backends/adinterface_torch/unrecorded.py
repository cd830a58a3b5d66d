"""Parts of torch's graph that cannot be differentiated again: "not recorded" is an error, never "does not depend".

The backward of a custom function may leave the graph: under `once_differentiable` or `no_grad`, through NumPy, in compiled
code. torch takes what it returns for a constant, so second derivatives silently lack a part. A backward is linear in what
comes in, so what comes out of a recorded one requires grad if that does. A pass that may be differentiated again checks this
at the nodes of custom functions. The error comes where that derivative is taken and the part counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction
from torch.utils.checkpoint import CheckpointFunction

from adinterface import BackendError, NotRecordedError
from adinterface.core.contract import Arrays

from .nested_forward import is_followed, plain
from .private import is_zero, peek, will_be_visited
from .reaching import nodes_behind


def refuse_checkpoints(outputs: Sequence[torch.Tensor], leaves: Iterable[torch.Tensor]) -> None:
    """Refuse a reentrant checkpoint, which hides what its function captures from all but a plain `backward()`."""
    if CheckpointFunction._backward_cls in map(type, nodes_behind(outputs, leaves)):
        raise BackendError(
            "f calls torch.utils.checkpoint with use_reentrant=True, which hides parameters and captured tensors from "
            "torch.autograd.grad: their gradients would be zero. Write use_reentrant=False."
        )


def custom_nodes(nodes: set[Any]) -> list[Any]:
    """Those of the nodes that belong to custom functions, in Python and C++."""
    custom = {cls for cls in {*map(type, nodes)} if issubclass(cls, BackwardCFunction) or cls.__name__ == "CppFunction"}
    return [node for node in nodes if type(node) in custom] if custom else []


@contextmanager
def _watching(nodes: Iterable[Any]) -> Iterator[list[tuple[Any, list[torch.Tensor]]]]:
    """Collects what a backward pass does not record at custom nodes: the nodes, and what comes in there."""
    missing: list[tuple[Any, list[torch.Tensor]]] = []

    def look(node: Any, gradients: Iterable[Any], incoming: Iterable[Any]) -> None:
        live = [x for x in incoming if x is not None and is_followed(x)]
        if live and any(_is_missing(node, gradient) for gradient in gradients if gradient is not None):
            missing.append((node, live))

    handles = [node.register_hook(partial(look, node)) for node in nodes]
    try:
        yield missing
    finally:
        for handle in handles:
            handle.remove()


def watched(
    nodes: Iterable[Any],
    outputs: Sequence[torch.Tensor],
    leaves: Sequence[torch.Tensor],
    seeds: Sequence[torch.Tensor] | None,
) -> tuple[torch.Tensor | None, ...]:
    """A backward pass that is recorded, through custom nodes.

    If a part is not recorded, the gradients raise an error where a derivative of the part counts.
    """
    live = [*map(_live, map(torch.ones_like, outputs) if seeds is None else seeds)]
    with _watching(nodes) as missing:
        result: list[Any] = [*torch.autograd.grad(outputs, leaves, live, create_graph=True, allow_unused=True)]
    if missing:
        incoming = [x.view_as(x) for _, live in missing for x in live]
        on_the_way = [*[node for node, _ in missing], *[plain(x).grad_fn for x in incoming]]
        refusing: Any = partial(_NotRecorded.apply, missing[0][0], on_the_way)
        result = [None if x is None else refusing(x, *outputs, *incoming) for x in result]
    return tuple(result)


def _live(seed: torch.Tensor) -> torch.Tensor:
    """A seed that requires grad, so that all which depends on it does, if it is recorded."""
    if seed.requires_grad:
        return seed
    if peek() is None:
        return seed.detach().requires_grad_()
    return seed * torch.ones((), dtype=seed.dtype, device=seed.device, requires_grad=True)  # in a batch


def transposed(nodes: Iterable[Any], back: Callable[[Arrays], Arrays], cotangents: Arrays, leaves: Arrays) -> Arrays:
    """A pullback of functorch through custom nodes; an error where levels around it differentiate what is not recorded."""
    # Seeds of the levels of the leaves.
    anchor: Any = sum(leaf.sum() for leaf in leaves)
    never = torch.zeros((), dtype=torch.bool, device=anchor.device)
    with _watching(nodes) as missing:
        result = back(tuple([torch.where(never, anchor.to(c.dtype), c) for c in cotangents]))
    if missing:
        raise NotRecordedError(_message(missing[0][0]))
    return result


def _is_missing(node: Any, gradient: torch.Tensor) -> bool:
    """Whether what comes out of a node is not recorded, though what comes in is."""
    numbers = plain(gradient)
    if is_followed(gradient):
        # torch's own mark of once_differentiable leads nowhere, so a pass to given leaves does not meet it.
        return any(type(x.grad_fn).__name__ == "Error" for x in (gradient, numbers)) or _is_compiled(node)
    if is_zero(numbers) or not bool(numbers.detach().to_dense().any()):
        # The zeros of a step, or of what has an extremum here. The former has no need to keep anything.
        return isinstance(node, BackwardCFunction) and _keeps(node)
    return True


def _is_compiled(node: Any) -> bool:
    return type(node).__name__ == "CompiledFunctionBackward"


def _keeps(node: Any) -> bool:
    """Whether a custom function keeps arrays for its backward pass, on which its derivative may depend."""
    if getattr(node, "keeps_all", False):
        return False
    return any(hasattr(x, "__array__") for x in (*node.saved_tensors, *vars(node).values()))


class _NotRecorded(torch.autograd.Function):
    """A gradient with a part that a node did not record; differentiating it through that part is an error.

    on_the_way: the node, and those of what comes in there. The inputs lead to them.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(node: Any, on_the_way: Any, gradient: torch.Tensor, *inputs: torch.Tensor) -> torch.Tensor:
        return gradient.view_as(gradient)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.node, ctx.on_the_way, *_ = inputs
        ctx.inputs = len(inputs) - 3

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        if any(map(will_be_visited, ctx.on_the_way)):
            raise NotRecordedError(_message(ctx.node))
        return None, None, cotangent, *[None] * ctx.inputs


def _message(node: Any) -> str:
    """The message for a node that is not recorded."""
    differences = "SecondOrder(AutoFiniteDifferences(), AutoTorch())"
    if _is_compiled(node):
        return (
            "f runs code of torch.compile, whose backward pass torch cannot differentiate again: the derivative would lack a "
            "part. Pass the function or module that it was made from (model._orig_mod), or take second derivatives with "
            f"SecondOrder(AutoTorch(mode='forward'), AutoTorch()) or {differences}."
        )
    cls: Any = getattr(node, "_forward_cls", None)  # of a function in Python
    name: str = node.name() if cls is None else cls.__qualname__
    name = name.removesuffix("Generated").removeprefix("Vmapped")  # as functorch calls it
    return (
        f"f applies {name}, a torch.autograd.Function whose backward torch did not record (once_differentiable, no_grad, or "
        f"NumPy in it): a derivative of its derivative would lack a part. Write that backward with torch operations, or take "
        f"second derivatives with {differences}."
    )
