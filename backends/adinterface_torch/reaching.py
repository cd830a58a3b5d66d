"""What leads to what in the graph of torch. Nothing here touches a leaf, which may belong to a call
in another thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch


def nodes_behind(
    tensors: Iterable[torch.Tensor], ends: Iterable[torch.Tensor] = ()
) -> Iterator[Any]:
    """The nodes of the graph that a backward pass from tensors visits, up to these ends."""
    seen: set[Any] = {(None, 0), *[(x.grad_fn, x.output_nr) for x in ends]}
    stack: list[Any] = [(x.grad_fn, x.output_nr) for x in tensors]
    while stack:
        edge = stack.pop()
        if edge not in seen and edge[0] is not None:
            seen.add(edge)
            yield edge[0]
            stack += edge[0].next_functions


def leaves_behind(
    tensors: Iterable[torch.Tensor], ends: Iterable[torch.Tensor] = ()
) -> Iterator[torch.Tensor]:
    """The leaf tensors that a backward pass from tensors arrives at, but for these ends."""
    tensors, ends = [*tensors], [*ends]
    own = {*map(id, ends)}
    yield from [x for x in tensors if x.requires_grad and x.grad_fn is None and id(x) not in own]
    for node in nodes_behind(tensors, ends):
        if hasattr(node, "variable") and id(node.variable) not in own:
            yield node.variable
