"""A traversal of a structure together with another tree, which must match it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from ..contract.errors import TreeError
from ..contract.library import Library
from ..support.ambient import now
from ..support.static_values import key_of
from .flattening import flatten
from .recognition import handler_of
from .structures import (
    CARRIED,
    CONSTANT,
    DIFFERENTIATED,
    Constant,
    Leaf,
    LeafSpec,
    Node,
    Owner,
    Static,
    Structure,
    count_leaves,
)

#: A check of two leaves, called as `fits(first, second, "the gradients['w']", "the model")`.
Fits = Callable[[Any, Any, str, str], None]


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


# Trees of the user
# ------------------------------------------------------------------------------------------------


def flatten_tree(tree: Any) -> tuple[Structure, list[Leaf]]:
    """The structure of a tree and its numeric leaves, in order.

    Inside f, leaves that the caller wrapped in a Constant are marked as not differentiated, unless
    the tree has no others.
    """
    structure, result = flatten(tree, "the tree", with_frozen=True)
    constants = {id(value) for value in now().origins.constants}
    kept = [leaf.differentiated and id(leaf.value) not in constants for leaf in result]
    if constants and any(kept):
        result = [replace(leaf, differentiated=keeps) for leaf, keeps in zip(result, kept)]
        left = iter(kept)

        def marked(place: LeafSpec) -> Structure:
            return place if isinstance(place, Static) else DIFFERENTIATED if next(left) else CARRIED

        structure = structure.fold(marked, Node.with_children)
    return structure, result


def rebuild(structure: Structure, values: Iterator[Any]) -> Any:
    """The user's tree with other leaves. Constants stay wrapped; static values are shared.

    An object that f may write to, and that is at several places of the first tree, is one object
    here, too.
    """
    objects: dict[int | None, Any] = {}

    def made(node: Node, children: list[Any]) -> Any:
        new = node.made(node.type.replace, children)
        return new if node.identity is None else objects.setdefault(node.identity, new)

    return structure.fold(lambda place: place.build(values), made)


def along(
    structure: Structure,
    leaves: Sequence[Leaf],
    other: Any,
    name: str,
    *,
    first: str = "the first tree",
    any_value: bool = False,
    fits: Fits | None = None,
) -> list[Any]:
    """Another tree's value for each leaf; None where it has none, or in a Constant.

    leaves: those of the structure. fits: a further check of two leaves, such as `require_shape`.
    Raises TreeError, naming both trees, for another structure, or without `any_value` for a value
    that is not numeric.
    """
    matcher = _Beside(name, first)
    result: list[Any] = []
    for path, place, part in matcher.walk(structure, other, ""):
        if isinstance(place, Node):
            result.extend([None] * count_leaves(place))
        elif not isinstance(place, Static):
            leaf = leaves[len(result)]
            result.append(part)
            if part is None:
                continue
            if not any_value and not isinstance(handler_of(part, scan=False), Library):
                raise matcher.misfit(type(leaf.value), part, path)
            if fits is not None and leaf.differentiated:
                fits(leaf.value, part, name + path, first)
    return result


class _Beside(Matcher):
    """Compares a user's second tree with the first."""

    strict = True

    def __init__(self, name: str, first: str):
        self.name, self.first = name, first

    def misfit(self, cls: type, other: Any, path: str) -> TreeError:
        remedy = ""
        if type(other) is tuple and len(other) == 1 and not path:
            remedy = (
                " A gradient comes as a tuple with an entry for each argument of f: pass the entry,"
                " gradient(...)[0]."
            )
        return TreeError(
            f"{self.name}{path} is a {type(other).__name__}, but {self.first} has a {cls.__name__}"
            f" there.{remedy}"
        )

    def children(self, node: Node, other: Any) -> tuple[Sequence[Any], Sequence[str]]:
        return node.type.parts(node.data, other)

    def of_other_class(self, node: Node, other: Any, path: str) -> TreeError:
        return self.misfit(node.cls, other, path)

    def of_other_keys(
        self, node: Node, keys: Sequence[str], seen: Sequence[str], other: Any, path: str
    ) -> TreeError:
        if len(keys) != len(seen):
            return TreeError(
                f"{self.name}{path} has {len(seen)} children, but {self.first} has {len(keys)}"
                " there."
            )
        mine, others = [", ".join([key.strip("[].") for key in some]) for some in (keys, seen)]
        return TreeError(
            f"{self.name}{path} has the keys {others}, but {self.first} has {mine} there."
        )


def structure_key(structure: Structure) -> Any:
    """A key that is equal for structures that f cannot tell apart."""
    return structure.fold(
        _place_key, lambda node, keys: (node.type, node.type.key(node.data, False), tuple(keys))
    )


def _place_key(place: LeafSpec) -> Any:
    if not isinstance(place, Static):
        return place.differentiated
    # its children have keys of their own
    return None if type(place.value) is Owner else key_of(place.value)
