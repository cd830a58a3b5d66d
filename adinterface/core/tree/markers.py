"""What says something of the tree that it wraps: nodes with one child, which f and the gradient do not see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..contract.nodes import NodeType
from ..contract.structures import Each
from .recognition import register_marker


class Marker(NodeType):
    """A node in which there is one tree, its `value`, and nothing else."""

    def __init__(self, cls: type):
        self.cls = cls

    def matches(self, value: object) -> bool:
        return type(value) is self.cls

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        return (value.value,), None

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        return children[0]

    def replace(self, data: Any, children: Sequence[Any]) -> Any:
        return self.cls(children[0])

    def paths(self, data: Any, count: int) -> list[str]:
        return [""]


EACH = Marker(Each)
register_marker(Each, EACH)
