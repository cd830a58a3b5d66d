"""A structure and another tree side by side: what stands in the other tree at each place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

from ..contract.errors import TreeError
from ..contract.library import Library
from ..contract.nodes import Unkeyed, contents, exactly
from ..contract.structures import CONSTANT, Constant, Holder, Leaf, LeafSpec, Node, Static, Structure, count_leaves
from .flattening import flatten
from .recognition import handler_of

#: A demand on a leaf and what stands beside it: from the two, the name and path of the second, the name of the first tree.
Fits = Callable[[Any, Any, str, str], None]


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


# Trees of the user ------------------------------------------------------------------------------------------------------


def apart(tree: Any) -> tuple[Structure, list[Leaf]]:
    """The structure of a tree and its numeric leaves, in order."""
    result: list[Leaf] = []
    return flatten(tree, result, lambda: "the tree", thaws=True), result


def rebuild(structure: Structure, values: Iterator[Any]) -> Any:
    """The tree with these leaves, for the user: Constants stay, and a container that is held is one of its own."""
    return structure.fold(lambda place: place.build(values), lambda node, children: node.type.replace(node.data, children))


def along(
    structure: Structure,
    leaves: Sequence[Leaf],
    other: Any,
    name: str,
    *,
    first: str = "the first tree",
    whatever: bool = False,
    fits: Fits | None = None,
) -> list[Any]:
    """What another tree has in the place of each leaf; None where it has none, or the leaf is in a Constant.

    leaves: those of the structure. fits: a further demand on two leaves, such as `require_shape`.
    Raises TreeError, with both, where that has another structure, or has no number or array, unless `whatever` may stand there.
    """
    matcher = _Beside(name, first)
    result: list[Any] = []
    for path, place, part in matcher.walk(structure, other, ""):
        if isinstance(place, Node):
            result.extend([None] * count_leaves(place))
        elif not isinstance(place, Static):
            leaf = leaves[len(result)]
            if part is not None and not whatever and not isinstance(handler_of(part, scan=False), Library):
                raise matcher.misfit(type(leaf.value), part, path)
            if part is not None and fits is not None and leaf.differentiated:
                fits(leaf.value, part, name + path, first)
            result.append(part)
    return result


class _Beside(Matcher):
    """A user's second tree beside the first."""

    strict = True

    def __init__(self, name: str, first: str):
        self.name, self.first = name, first

    def misfit(self, cls: type, other: Any, path: str) -> TreeError:
        remedy = ""
        if type(other) is tuple and len(other) == 1 and not path:
            remedy = " A gradient comes as a tuple with an entry for each argument of f: pass the entry, gradient(...)[0]."
        return TreeError(f"{self.name}{path} is a {type(other).__name__}, but {self.first} has a {cls.__name__} there.{remedy}")

    def children(self, node: Node, other: Any) -> tuple[Sequence[Any], Sequence[str]]:
        return node.type.parts(node.data, other)

    def of_other_class(self, node: Node, other: Any, path: str) -> TreeError:
        return self.misfit(node.cls, other, path)

    def of_other_keys(self, node: Node, keys: Sequence[str], seen: Sequence[str], other: Any, path: str) -> TreeError:
        if len(keys) != len(seen):
            return TreeError(f"{self.name}{path} has {len(seen)} children, but {self.first} has {len(keys)} there.")
        mine, others = [", ".join([key.strip("[].") for key in some]) for some in (keys, seen)]
        return TreeError(f"{self.name}{path} has the keys {others}, but {self.first} has {mine} there.")


def structure_key(structure: Structure) -> Any:
    """Equal for structures between which f could not tell."""
    return structure.fold(_place_key, lambda node, keys: (node.type, node.type.key(node.data), tuple(keys)))


def _place_key(place: LeafSpec) -> Any:
    if not isinstance(place, Static):
        return place.differentiated
    if type(place.value) is Holder:  # its children have their own
        return None
    try:
        return exactly(place.value)
    except Unkeyed:
        return contents(place.value)
