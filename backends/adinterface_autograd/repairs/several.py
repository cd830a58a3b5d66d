"""Nodes of a function with several outputs.

An autograd primitive returns one array, or a tuple whose parts pass through primitives again. Here
each output has its own node, and all share one parent, which gets their cotangents together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd.core import VSpace, add_outgrads

from .reverse import ReverseNode


class Cotangents(dict[int, Any]):
    """The cotangents of those outputs that have one."""


class _CotangentsSpace(VSpace):  # type: ignore[misc]
    """How autograd adds them."""

    def __init__(self, value: Cotangents):
        pass

    def add(self, first: Cotangents, second: Cotangents) -> Cotangents:
        total = Cotangents(first)
        for n, cotangent in second.items():
            total[n] = add_outgrads((total[n], False), cotangent)[0] if n in total else cotangent
        return total

    mut_add = add


_CotangentsSpace.register(Cotangents)


def node(parents: Any, vjp: Callable[[Any], Any], output: Any = None) -> ReverseNode:
    """A node with these parents, whose cotangents `vjp` gives."""
    result = ReverseNode.root_of(output)
    result.parents, result.vjp = parents, vjp
    return result


def part(together: ReverseNode, n: int, output: Any) -> ReverseNode:
    """The node of one output of a node that takes `Cotangents`."""
    return node((together,), lambda cotangent: (Cotangents({n: cotangent}),), output)
