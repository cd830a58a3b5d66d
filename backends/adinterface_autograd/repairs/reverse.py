"""autograd's reverse mode, with our rules (`reverse_rules.py`) where its own are wrong."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
from autograd.core import VJPNode, primitive_vjps
from autograd.tracer import notrace_primitives

from .reverse_rules import RULES

#: Functions that autograd takes for constants, although they have a derivative.
_NO_CONSTANTS = {anp.full_like}


def reverse_rule(fun: Any) -> Callable[..., Any] | None:
    """The reverse rule of a primitive, or None."""
    rule: Callable[..., Any] | None = RULES[fun] or primitive_vjps.get(fun)
    return rule


#: Numbers the nodes in the order in which they come into being.
births = itertools.count()


class ReverseNode(VJPNode):  # type: ignore[misc]
    """A node with a reverse rule."""

    __slots__ = ("birth", "real")
    birth: int
    #: Whether it is known to be of a real array.
    real: bool
    parents: Any  # in the slots of VJPNode
    vjp: Any

    def __init__(self, answer: Any, fun: Any, args: Any, kwargs: Any, argnums: Any, parents: Any):
        self.parents, self.birth, self.real = parents, next(births), is_real(answer)
        rule = RULES[fun] or primitive_vjps.get(fun)
        if rule is None:
            raise NotImplementedError(
                f"autograd has no reverse rule for {getattr(fun, '__name__', fun)}"
            )
        try:
            self.vjp = rule(argnums, answer, args, kwargs)
        except KeyError as error:
            # what autograd raises for one argument without a rule among more than two
            raise NotImplementedError(
                f"autograd has no reverse rule for {getattr(fun, '__name__', fun)} with respect to"
                f" its argument {error}"
            ) from error

    def initialize_root(self) -> None:
        super().initialize_root()
        self.birth, self.real = next(births), False

    @classmethod
    def root_of(cls, leaf: Any) -> ReverseNode:
        """A root for an array."""
        root: ReverseNode = cls.new_root()
        root.real = is_real(leaf)
        return root


def is_real(x: Any) -> bool:
    """Whether x is an array of real numbers, or a box of one."""
    return getattr(getattr(x, "dtype", None), "kind", "") == "f"


def traced_primitives(node: type) -> set[Any]:
    """The primitives that our nodes, which replace autograd's, treat as constants."""
    constants: set[Any] = notrace_primitives[node] - _NO_CONSTANTS
    return constants


notrace_primitives[ReverseNode] = traced_primitives(VJPNode)
