"""autograd's boxes around a whole list, tuple or dict, as `autograd.builtins` makes them: read as what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd.builtins import DictBox, SequenceBox

from adinterface.contract.nodes import NodeType

from .rules import value as numbers_of


class Boxed(NodeType):
    def matches(self, value: object) -> bool:
        return isinstance(value, (DictBox, SequenceBox))

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        held = numbers_of(value)
        keys = tuple(held) if isinstance(held, dict) else range(len(held))
        return [value[key] for key in keys], (type(held), keys)

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        cls, keys = data
        return (
            dict(zip(keys, children)) if issubclass(cls, dict) else list(children) if issubclass(cls, list) else tuple(children)
        )

    def paths(self, data: Any, count: int) -> list[str]:
        return [f"[{key!r}]" for key in data[1]]
