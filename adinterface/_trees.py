"""Trees of the user side by side: flattened, compared leaf by leaf, and built again.

For extensions: the core compares no two trees of the user. May import the core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from .core.contract.errors import TreeError
from .core.contract.library import Library
from .core.support.ambient import now
from .core.support.static_values import key_of
from .core.tree import (
    CARRIED,
    DIFFERENTIATED,
    Leaf,
    LeafSpec,
    Matcher,
    Node,
    Owner,
    Static,
    Structure,
    count_leaves,
    flatten,
    handler_of,
)

#: A check of two leaves, called as `fits(first, second, "the gradients['w']", "the model")`.
Fits = Callable[[Any, Any, str, str], None]


def flatten_tree(tree: Any) -> tuple[Structure, list[Leaf]]:
    """The structure of a tree and its numeric leaves, in order.

    Inside f, leaves that the caller wrapped in a Constant are marked as not differentiated, unless
    the tree has no others.
    """
    structure, result = flatten(tree, "the tree", with_frozen=True)
    constants = {id(value) for value in now().constants}
    kept = [leaf.differentiated and id(leaf.value) not in constants for leaf in result]
    if constants and any(kept):
        result = [replace(leaf, differentiated=keeps) for leaf, keeps in zip(result, kept)]
        left = iter(kept)

        def marked(place: LeafSpec) -> Structure:
            if isinstance(place, Static):
                return place
            return DIFFERENTIATED if next(left) else CARRIED

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
        return TreeError(
            f"{self.name}{path} has the keys {_listed(seen)}, but {self.first} has"
            f" {_listed(keys)} there."
        )


def _listed(keys: Sequence[str]) -> str:
    return ", ".join([key.strip("[].") for key in keys])


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
