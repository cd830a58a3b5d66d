"""Node types: how a container comes apart into children and is built again.

The built-in ones stand in `containers`; an engine brings its own (`torch.nn.Module`, JAX's pytrees) through its backend,
and a user adds a class with `register_node`.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar


class Unkeyed(Exception):
    """Some arguments have no signature, because something in them cannot be compared."""


class NodeType(ABC):
    """One kind of container.

    Laws: `unflatten(data, children)` of what `flatten` gave equals the original; `flatten` reads, and never writes.
    """

    is_library: ClassVar[bool] = False
    #: f reaches the children through the object itself, and an engine may differentiate them where they are. Such a type
    #: keeps no object in its data: `unflatten` and `gradient` get, in front of the children, a pair of the object and its own.
    held: ClassVar[bool] = False
    #: Its one child is an array, and it stands for that wherever an array is expected: as what f returns, as a tangent.
    stands_for_array: bool = False

    @abstractmethod
    def matches(self, value: object) -> bool:
        """Whether value is such a container. Asked once per class."""

    @abstractmethod
    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        """The children and everything else that is needed to build the container again."""

    @abstractmethod
    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        """A container of the same class with other children."""

    def key(self, data: Any) -> Any:
        """What of `data` tells one signature from another. Raises Unkeyed if it cannot be compared."""
        return data if data is None or type(data) is type else exactly(data)

    def hidden(self, value: Any, data: Any) -> Iterable[tuple[str, Any]]:
        """What the container holds without declaring it, by path: a floating array there would silently have no gradient."""
        return ()

    def gradient(self, data: Any, children: Sequence[Any]) -> Any:
        """The container of the children's gradients; None where a child has none."""
        return self.unflatten(data, children)

    def reader(self, data: Any) -> Callable[[Any], Sequence[Any] | None]:
        """For a type that is held: from another object to its children, or None if its data would differ."""
        raise NotImplementedError

    @abstractmethod
    def paths(self, data: Any, count: int) -> list[str]:
        """What to append to the container's own path for each child: `[0]`, `['a']`, `.weight`."""


def exactly(value: Any) -> Any:
    """A key that is equal only for what f cannot tell apart: 1, 1.0 and True differ, as 0.0 and -0.0 do, at any depth.

    Raises Unkeyed if there is none.
    """
    cls = type(value)
    if cls is float:
        return cls, value.hex()
    if cls is complex:
        return cls, value.real.hex(), value.imag.hex()
    if isinstance(value, (tuple, frozenset)):
        return cls, (tuple if isinstance(value, tuple) else frozenset)([exactly(part) for part in value])
    try:
        hash(value)
    except TypeError:
        raise Unkeyed from None
    if dataclasses.is_dataclass(cls) and cls.__hash__ is not object.__hash__:
        # Not by its own ==, which leaves out what has compare=False.
        return cls, tuple([exactly(getattr(value, field.name, None)) for field in dataclasses.fields(cls)])
    return cls, value
