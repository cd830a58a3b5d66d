"""A backward pass without the Python code of `torch.autograd.grad`.

That function checks for overrides, batches and other forms of arguments. This takes longer than the
backward pass of a small f. For plain tensors this file calls the same engine function; torch's own
modules (checkpointing, its graph utilities) do so, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from .nodes import refuse_again, refuse_underived, walk
from .private import run_backward
from .unrecorded import custom_nodes, recorded_pass

#: The classes of outputs that it is used for; None without it.
_PLAIN = {torch.Tensor} if run_backward is not None else None
_ones_like, _STRIDED = torch.ones_like, torch.strided


def backward(
    outputs: Sequence[torch.Tensor],
    leaves: Sequence[torch.Tensor],
    seeds: Sequence[torch.Tensor] | None = None,
    *,
    retain_graph: bool = False,
    create_graph: bool = False,
) -> tuple[Any, ...]:
    """As `torch.autograd.grad` of outputs that require grad, but dense.

    None for a leaf on which none of them depends.

    Without seeds, outputs are real and 0-d, and their gradients are taken.
    """
    if create_graph:
        nodes = walk(outputs, leaves)
        refuse_again(nodes, leaves)
        if custom := custom_nodes(nodes):
            return dense(recorded_pass(custom, outputs, leaves, seeds))
    try:
        if {*map(type, outputs)} != _PLAIN:
            result = torch.autograd.grad(
                outputs,
                leaves,
                seeds,
                retain_graph=retain_graph or create_graph,
                create_graph=create_graph,
                allow_unused=True,
            )
        else:
            # New ones each time: a user's backward function may write to them.
            given = tuple(map(_ones_like, outputs) if seeds is None else seeds)
            retained = retain_graph or create_graph
            result = run_backward(
                tuple(outputs),
                given,
                retained,
                create_graph,
                tuple(leaves),
                True,
                accumulate_grad=False,
            )
    except RuntimeError as error:
        refuse_underived(error)
        raise
    for gradient in result:
        if gradient is not None and gradient.layout is not _STRIDED:
            return dense(result)
    return result


def dense(gradients: Iterable[torch.Tensor | None]) -> tuple[Any, ...]:
    """Dense tensors for sparse ones, such as gradients of `nn.Embedding(sparse=True)`."""
    return tuple([g if g is None or g.layout is _STRIDED else g.to_dense() for g in gradients])


def detached(tensors: Iterable[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    return tuple(map(torch.Tensor.detach, tensors))
