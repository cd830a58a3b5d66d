"""A structure and another tree side by side: what stands in the other tree at each place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from ..contract.structures import CONSTANT, Constant, Node, Structure
from .recognition import handler_of


class Matcher(ABC):
    """Walks a structure and another tree side by side. A subclass says what it raises where the two differ."""

    #: Containers must be of one class; otherwise of one kind, as dict and OrderedDict are.
    strict: ClassVar[bool] = False
    #: None may stand anywhere: there is nothing below.
    optional: ClassVar[bool] = True

    def walk(self, structure: Structure, other: Any, path: str) -> Iterator[tuple[str, Structure, Any]]:
        """For each place, a Constant being one: its path, the place, and what stands there; None where there is nothing."""
        if isinstance(structure, Node) and structure.type is CONSTANT:
            yield path, structure, other
            return
        if type(other) is Constant:
            other = other.value
        if not isinstance(structure, Node):
            yield path, structure, other
            return
        if structure.type.stands_for_array and other is not None and handler_of(other, scan=False) is not structure.type:
            yield from self.walk(structure.children[0], other, path)
            return
        keys = structure.keys()
        parts = [None] * len(keys) if other is None and self.optional else self.parts(structure, keys, other, path)
        for child, key, part in zip(structure.inner(), keys, parts):
            yield from self.walk(child, part, path + key)

    def parts(self, node: Node, keys: Sequence[str], other: Any, path: str) -> Sequence[Any]:
        """What the other tree has for each child of a node, in the order of the node."""
        if handler_of(other, scan=False) is not node.type or (self.strict and type(other) is not node.cls):
            raise self.of_other_class(node, other, path)
        parts, seen = self.children(node, other)
        if seen == keys:
            return parts
        by_key = dict(zip(seen, parts))
        if len(seen) != len(keys) or by_key.keys() != {*keys}:
            raise self.of_other_keys(node, keys, seen, other, path)
        return [by_key[key] for key in keys]

    def children(self, node: Node, other: Any) -> tuple[Sequence[Any], Sequence[str]]:
        """The children of a container of the node's type, and their paths."""
        children, data = node.type.flatten(other)
        return children, node.type.paths(data, len(children))

    @abstractmethod
    def of_other_class(self, node: Node, other: Any, path: str) -> Exception:
        """The error for what is no container like the node."""

    @abstractmethod
    def of_other_keys(self, node: Node, keys: Sequence[str], seen: Sequence[str], other: Any, path: str) -> Exception:
        """The error for a container with other children; keys, seen: the paths of the node's and of its own."""
