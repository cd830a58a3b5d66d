"""Arrays of an engine that functions close over: with them a loop is of that engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from ..._closures import captured_values
from ...core.contract.library import NUMPY, PYTHON
from ...core.contract.nodes import NodeType
from ...core.tree import Constant, handler_of
from .trees import LoopLeaf, leaf_of


def captured(*functions: Callable[..., Any]) -> Iterator[LoopLeaf]:
    """The arrays of engines that these functions, or functions in them, capture."""
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
                yield leaf
            continue
        handler = handler_of(value, scan=False)
        stack.extend(
            handler.flatten(value)[0] if isinstance(handler, NodeType) else captured_values(value)
        )


def engine_among(leaves: Iterable[LoopLeaf], *functions: Callable[..., Any]) -> list[LoopLeaf]:
    """The first captured array of an engine, if there is none among the leaves of the loop."""
    plain = all(leaf.library in (NUMPY, PYTHON) for leaf in leaves)
    return list(islice(captured(*functions), 1)) if plain else []


__all__ = ["captured", "engine_among"]
