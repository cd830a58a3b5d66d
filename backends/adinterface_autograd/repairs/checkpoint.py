"""Segments that are computed again in the backward pass.

`autograd.differential_operators.checkpoint` forgets the boxes that a function closes over. Here
every node carries the number of its birth, so the graph of a segment ends where the nodes are older
than the segment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd.core import vspace
from autograd.tracer import isbox, new_box

from . import several
from .box import boxed
from .reverse import ReverseNode, births
from .traces import backward

Arrays = tuple[Any, ...]


def checkpoint(function: Callable[..., Arrays], arrays: Arrays) -> Arrays:
    """`function(*arrays)`, whose intermediate values the backward pass computes again."""
    begin = next(births)
    results = function(*arrays)
    trace = max([result._trace for result in results if isbox(result)], default=-1)
    nodes = [
        result._node if isbox(result) and result._trace == trace else None for result in results
    ]
    if not any(type(node) is ReverseNode for node in nodes):
        return results  # a forward derivative keeps nothing
    parents = _older(nodes, begin)
    segment = several.node(parents, _Again(function, arrays, trace, parents))
    return tuple(
        [_result(result, node, segment, n) for n, (result, node) in enumerate(zip(results, nodes))]
    )


def _older(nodes: Sequence[Any], begin: int) -> tuple[Any, ...]:
    """The nodes from before `begin` on which these depend directly."""
    result: dict[Any, None] = {}
    seen = set()
    stack = [node for node in nodes if node is not None]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if type(node) is not ReverseNode or node.birth < begin:
            result[node] = None
        else:
            stack.extend(node.parents)
    return tuple(result)


def _result(result: Any, node: Any, segment: ReverseNode, n: int) -> Any:
    if node is None:
        return result
    return boxed(new_box(result._value, result._trace, several.part(segment, n, result._value)))


class _Again:
    """The reverse rule of a segment: evaluate it again, and continue to older nodes."""

    def __init__(
        self, function: Callable[..., Arrays], arrays: Arrays, trace: int, parents: tuple[Any, ...]
    ):
        self.function, self.arrays, self.trace, self.parents = function, arrays, trace, parents

    def __call__(self, cotangents: several.Cotangents) -> tuple[Any, ...]:
        results = self.function(*self.arrays)
        # With zeros for those that have none, so that every parent is reached.
        seeds = [
            (result._node, cotangents[n] if n in cotangents else vspace(result._value).zeros())
            for n, result in enumerate(results)
            if isbox(result) and result._trace == self.trace
        ]
        computed = backward(seeds, frozenset(self.parents))
        return tuple([computed[parent] for parent in self.parents])
