"""Objects of a class whose user names the differentiated attributes; all others are carried along."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..contract.nodes import NodeType
from ..contract.static_values import cached_names, state_of
from ..contract.structures import Constant


class Attributes(NodeType):
    """Copies instances attribute by attribute, without `__init__`: no check or default runs on a gradient."""

    def __init__(self, cls: type, names: Iterable[str]):
        self.cls: type = cls
        self.names: frozenset[str] = frozenset(names)
        for name in sorted(self.names):
            if isinstance(getattr(cls, name, None), property):
                raise TypeError(
                    f"register_node: {cls.__qualname__}.{name} is a property, which cannot be set. Name the attribute in which "
                    f"it is kept."
                )

    def matches(self, value: object) -> bool:
        return type(value) is self.cls

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        state = state_of(value)
        for name in cached_names(self.cls):
            state.pop(name, None)  # cached: f computes it again from the new children
        return [part if name in self.names else Constant(part) for name, part in state.items()], (self.cls, tuple(state))

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        cls, names = data
        new = object.__new__(cls)
        for name, part in zip(names, children):
            object.__setattr__(new, name, part)
        return new

    def replace(self, data: Any, children: Sequence[Any]) -> Any:
        return self.unflatten(data, [part.value if type(part) is Constant else part for part in children])

    def paths(self, data: Any, count: int) -> list[str]:
        return [f".{name}" for name in data[1]]


__all__ = ["Attributes"]
