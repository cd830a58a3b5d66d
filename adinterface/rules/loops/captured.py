"""Arrays of an engine that functions close over: with them a loop is of that engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..._closures import captured_values
from ...core.contract.library import NUMPY, PYTHON
from ...core.contract.nodes import NodeType
from ...core.tree import Constant, handler_of
from .trees import LoopLeaf, leaf_of


def captured(*functions: Callable[..., Any]) -> list[LoopLeaf]:
    """The first array of an engine that these functions, or functions in them, capture."""
    seen: set[int] = set()
    stack: list[Any] = list(reversed(functions))
    while stack:
        value = stack.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) is Constant:
            value = value.value
        leaf = leaf_of(value)
        if leaf is not None:
            if leaf.library not in (NUMPY, PYTHON):
                return [leaf]
            continue
        handler = handler_of(value, scan=False)
        stack.extend(
            handler.flatten(value)[0] if isinstance(handler, NodeType) else captured_values(value)
        )
    return []


def engine_among(leaves: Iterable[LoopLeaf], *functions: Callable[..., Any]) -> list[LoopLeaf]:
    """As `captured`, if there is no array of an engine among the leaves of the loop.

    Else nothing.
    """
    plain = all(leaf.library in (NUMPY, PYTHON) for leaf in leaves)
    return captured(*functions) if plain else []


__all__ = ["captured", "engine_among"]
