"""A tree in a loop: which values are arrays in it, and whether another tree has the same structure.

Unlike in an argument of an operator, every number is an array here, integers and bools too, since a
loop may change it; other values, and the contents of Constants, are unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.contract.errors import TreeError
from ...core.contract.library import NUMPY, PYTHON, Library
from ...core.contract.nodes import NodeType
from ...core.contract.registry import REGISTRY
from ...core.support.static_values import Unkeyed, key_of
from ...core.tree import CARRIED, Constant, Matcher, Node, Static, Structure, handler_of

NUMBERS = (bool, int, float, complex)


class LoopLeaf(NamedTuple):
    """A number or an array in a loop."""

    value: Any
    library: Library
    #: Wraps an array in a stand-in like that of this one; None if this one was in none.
    wrap: Callable[[Any], Any] | None


def leaf_of(value: Any) -> LoopLeaf | None:
    """A number or an array, taken out of a stand-in; None for any other value."""
    if type(value) is bool:
        return LoopLeaf(value, PYTHON, None)
    handler = NUMPY if isinstance(value, np.ndarray) else handler_of(value, scan=False)
    if isinstance(handler, Library):
        return LoopLeaf(value, handler, None)
    if isinstance(handler, NodeType) and handler.stands_for_array:
        (inner,), data = handler.flatten(value)
        library, stands = handler_of(inner, scan=False), handler
        assert isinstance(library, Library)
        return LoopLeaf(inner, library, lambda array: stands.unflatten(data, (array,)))
    return None


class LoopTree(Matcher):
    """One tree of a loop, with which later ones are compared.

    message: the error for one that differs, with places for the path, the actual and the expected
    value.
    """

    optional = False

    def __init__(self, value: Any, path: str, message: str = ""):
        self.path: str = path
        self.message: str = message
        self.leaves: list[LoopLeaf] = []
        self.structure: Structure = _flattened(value, self.leaves)
        self._described: list[str] = []

    def build(self, leaves: Sequence[Any]) -> Any:
        return self.structure.build(iter(leaves))

    def without_arrays(self) -> LoopTree:
        """The same without its leaves, which in a trace of an engine would outlive it."""
        self._described, self.leaves = [described(leaf.value) for leaf in self.leaves], []
        return self

    def read(self, value: Any) -> list[Any]:
        """The leaves of another tree. Raises TreeError if it has another structure."""
        leaves: list[Any] = []
        for path, place, part in self.walk(self.structure, value, self.path):
            if isinstance(place, Static):
                if part is not place.value and not _is_same(place.value, part):
                    raise self._of_other_value(place, part, path)
                continue
            if not isinstance(REGISTRY.handlers.get(type(part)), Library) and leaf_of(part) is None:
                wanted = self._described or [described(leaf.value) for leaf in self.leaves]
                raise self.refusal(path, described(part), wanted[len(leaves)])
            leaves.append(part)
        return leaves

    def paths(self) -> list[str]:
        return [
            path
            for path, place in self.structure.places(self.path)
            if not isinstance(place, Static)
        ]

    def refusal(self, path: str, seen: str, wanted: str) -> TreeError:
        """The error for a tree that differs at this path."""
        return TreeError(self.message.format(path=path, seen=seen, wanted=wanted))

    def parts(self, node: Node, keys: Sequence[str], other: Any, path: str) -> Sequence[Any]:
        if type(other) is not node.cls:
            raise self.of_other_class(node, other, path)
        parts, data = node.type.flatten(other)
        if len(parts) == len(keys) and (
            data is node.data or _key(node.type, data) == _key(node.type, node.data)
        ):
            return parts
        by_key = dict(zip(node.type.paths(data, len(parts)), parts))
        if not isinstance(other, dict) or by_key.keys() != {*keys}:
            raise self.of_other_keys(node, keys, [*by_key], other, path)
        return [by_key[key] for key in keys]

    def of_other_class(self, node: Node, other: Any, path: str) -> TreeError:
        return self.refusal(path, described(other), f"a {node.cls.__name__}")

    def of_other_keys(
        self, node: Node, keys: Sequence[str], seen: Sequence[str], other: Any, path: str
    ) -> TreeError:
        one, two = [
            f"a {node.cls.__name__} with {', '.join(some) or 'nothing in it'}"
            for some in (seen, keys)
        ]
        return self.refusal(path, one, two)

    def _of_other_value(self, place: Static, value: Any, path: str) -> TreeError:
        if type(place.value) is type(value):
            return self.refusal(
                path, "another one", f"a {type(value).__name__} that {place.reason}"
            )
        return self.refusal(path, described(value), described(place.value))


def _flattened(value: Any, leaves: list[LoopLeaf]) -> Structure:
    if type(value) is Constant:
        return Static(value.value, "a Constant holds fixed")
    leaf = leaf_of(value)
    if leaf is not None:
        leaves.append(leaf)
        return CARRIED
    handler = handler_of(value, scan=False)
    if not isinstance(handler, NodeType) or handler.is_owner:
        return Static(value, "is no array")
    children, data = handler.flatten(value)
    if handler.fixes_numbers:
        children = [Constant(child) if type(child) in NUMBERS else child for child in children]
    return Node(handler, data, [_flattened(child, leaves) for child in children], type(value))


def _key(handler: NodeType, data: Any) -> Any:
    try:
        return handler.key(data, False)
    except Unkeyed:
        return None


def _is_same(known: Any, value: Any) -> bool:
    """Whether a value that is not an array can replace another."""
    try:
        return bool(key_of(known) == key_of(value))
    except Unkeyed:
        return False


def described(value: Any) -> str:
    """A value in words: `float64 of shape (3,)`, `a Python float`, `a dict`."""
    if type(value) is Constant:
        value = value.value
    leaf = leaf_of(value)
    if value is None or leaf is None:
        return "None" if value is None else f"a {type(value).__name__}"
    if type(leaf.value) in NUMBERS:
        return f"a Python {type(leaf.value).__name__}"
    return of_kind(leaf.library.dtype(leaf.value), leaf.library.shape(leaf.value))


def of_kind(dtype: str, shape: tuple[int, ...]) -> str:
    return f"{dtype} of shape {shape}"


__all__ = ["NUMBERS", "LoopLeaf", "LoopTree", "described", "leaf_of", "of_kind"]
