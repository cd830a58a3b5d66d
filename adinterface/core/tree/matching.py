"""A traversal of a structure together with another tree, which must match it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from .recognition import handler_of
from .structures import (
    CONSTANT,
    Constant,
    Node,
    Structure,
)


class Matcher(ABC):
    """Walks a structure and another tree. A subclass defines the errors where they differ."""

    #: Whether containers must have the same class. Otherwise an OrderedDict matches a dict.
    strict: ClassVar[bool] = False
    #: Whether None may replace any subtree.
    optional: ClassVar[bool] = True

    def walk(
        self, structure: Structure, other: Any, path: str
    ) -> Iterator[tuple[str, Structure, Any]]:
        """Each place with its path and the other tree's value, or None. A Constant is one place.

        The structure of `[x, {"a": y}]` and `[1, {"a": 2}]` give `("[0]", place, 1)` and
        `("[1]['a']", place, 2)`.
        """
        if isinstance(structure, Node) and structure.type is CONSTANT:
            yield path, structure, other
            return
        if type(other) is Constant:
            other = other.value
        if not isinstance(structure, Node):
            yield path, structure, other
            return
        stands = structure.type.stands_for_array and other is not None
        if stands and handler_of(other, scan=False) is not structure.type:
            yield from self.walk(structure.children[0], other, path)
            return
        keys = structure.keys()
        parts: Sequence[Any] = [None] * len(keys)
        if other is not None or not self.optional:
            parts = self.parts(structure, keys, other, path)
        for child, key, part in zip(structure.inner, keys, parts):
            yield from self.walk(child, part, path + key)

    def parts(self, node: Node, keys: Sequence[str], other: Any, path: str) -> Sequence[Any]:
        """The other tree's values for the children of a node, in the node's order."""
        if handler_of(other, scan=False) is not node.type or (
            self.strict and type(other) is not node.cls
        ):
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
        """The error for a value that is not a container like the node."""

    @abstractmethod
    def of_other_keys(
        self, node: Node, keys: Sequence[str], seen: Sequence[str], other: Any, path: str
    ) -> Exception:
        """The error for a container with other children. keys: the expected paths."""
