"""Parts of torch's graph without a second derivative: an error, never a zero.

The backward of a custom function may leave the graph: under `once_differentiable` or `no_grad`,
through NumPy, in compiled code. torch takes what it returns for a constant, so second derivatives
would lack a part. A backward is linear in what comes in, so what comes out of a recorded one
requires grad if that does. A pass that may be differentiated again checks this at the nodes of
custom functions, and raises an error that names the function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch.autograd.function import BackwardCFunction

from adinterface import NotRecordedError
from adinterface.core.contract import Arrays

from .levels import is_followed, plain
from .private import is_zero, peek
from .recording import marked


def custom_nodes(nodes: set[Any]) -> list[Any]:
    """Those of the nodes that belong to custom functions, in Python and C++."""
    custom = {
        cls
        for cls in {*map(type, nodes)}
        if issubclass(cls, BackwardCFunction) or cls.__name__ == "CppFunction"
    }
    return [node for node in nodes if type(node) in custom] if custom else []


@contextmanager
def _requiring_records(nodes: Iterable[Any]) -> Iterator[None]:
    """A backward pass that raises NotRecordedError at a custom node without a record."""

    def look(node: Any, gradients: Iterable[Any], incoming: Iterable[Any]) -> None:
        followed = any(x is not None and is_followed(x) for x in incoming)
        if followed and any(
            _is_missing(node, gradient) for gradient in gradients if gradient is not None
        ):
            raise NotRecordedError(_message(node))

    handles = [node.register_hook(partial(look, node)) for node in nodes]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def recorded_pass(
    nodes: Iterable[Any],
    outputs: Sequence[torch.Tensor],
    leaves: Sequence[torch.Tensor],
    seeds: Sequence[torch.Tensor] | None,
) -> tuple[torch.Tensor | None, ...]:
    """A backward pass through custom nodes, all of which is recorded."""
    live = [*map(_live, map(torch.ones_like, outputs) if seeds is None else seeds)]
    with _requiring_records(nodes):
        return torch.autograd.grad(outputs, leaves, live, create_graph=True, allow_unused=True)


def _live(seed: torch.Tensor) -> torch.Tensor:
    """A seed that requires grad, so that all which depends on it does, if it is recorded."""
    if seed.requires_grad:
        return seed
    if peek() is None:
        return marked((seed.detach().requires_grad_(),))[0]
    (one,) = marked((torch.ones((), dtype=seed.dtype, device=seed.device, requires_grad=True),))
    return seed * one  # in a batch


def transposed(
    nodes: Iterable[Any], back: Callable[[Arrays], Arrays], cotangents: Arrays, leaves: Arrays
) -> Arrays:
    """A functorch pullback through custom nodes, recorded at the levels around it."""
    # Seeds of the levels of the leaves.
    anchor: Any = sum(leaf.sum() for leaf in leaves)
    never = torch.zeros((), dtype=torch.bool, device=anchor.device)
    with _requiring_records(nodes):
        return back(tuple([torch.where(never, anchor.to(c.dtype), c) for c in cotangents]))


def _is_missing(node: Any, gradient: torch.Tensor) -> bool:
    """Whether what comes out of a node is not recorded, though what comes in is."""
    numbers = plain(gradient)
    if is_followed(gradient):
        # torch's own mark of once_differentiable leads nowhere, so a pass to given leaves does not
        # meet it.
        return any(
            type(x.grad_fn).__name__ == "Error" for x in (gradient, numbers)
        ) or _is_compiled(node)
    if is_zero(numbers) or not bool(numbers.detach().to_dense().any()):
        # The zeros of a step, or of what has an extremum here. The former has no need to keep
        # anything.
        return isinstance(node, BackwardCFunction) and _keeps(node)
    return True


def _is_compiled(node: Any) -> bool:
    return type(node).__name__ == "CompiledFunctionBackward"


def _keeps(node: Any) -> bool:
    """Whether a custom function keeps arrays for its backward pass."""
    if getattr(node, "keeps_all", False):
        return False
    return any(hasattr(x, "__array__") for x in (*node.saved_tensors, *vars(node).values()))


def _message(node: Any) -> str:
    """The message for a node that is not recorded."""
    differences = "SecondOrder(AutoFiniteDifferences(), AutoTorch())"
    if _is_compiled(node):
        return (
            "f runs code of torch.compile, whose backward pass torch cannot differentiate again:"
            " the derivative would lack a part. Pass the function or module that it was made from"
            " (model._orig_mod), or take second derivatives with"
            f" SecondOrder(AutoTorch(mode='forward'), AutoTorch()) or {differences}."
        )
    cls: Any = getattr(node, "_forward_cls", None)  # of a function in Python
    name: str = node.name() if cls is None else cls.__qualname__
    name = name.removesuffix("Generated").removeprefix("Vmapped")  # as functorch calls it
    return (
        f"f applies {name}, a torch.autograd.Function whose backward torch did not record"
        " (once_differentiable, no_grad, or NumPy in it): a derivative of its derivative would"
        " lack a part. Write that backward with torch operations, or take second derivatives with"
        f" {differences}."
    )
