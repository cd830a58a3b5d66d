"""autograd's boxes around a list, tuple or dict, as `autograd.builtins` makes them, as nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd.builtins import DictBox, SequenceBox

from adinterface.core.contract import NodeType

from .repairs.functions import value as numbers_of


class Boxed(NodeType):
    stands_for_array = True

    def matches(self, value: object) -> bool:
        return isinstance(value, (DictBox, SequenceBox))

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        held = numbers_of(value)
        if isinstance(held, dict):
            return ({key: value[key] for key in held},), None
        parts = [value[n] for n in range(len(held))]
        return (parts if isinstance(held, list) else tuple(parts),), None

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        return children[0]

    def paths(self, data: Any, count: int) -> list[str]:
        return [""]
