"""The form of a tree in a loop: what is an array in it, and whether another tree has the same form.

Other than in an argument of an operator, every number is an array here, integers and truth values too, since a loop may change
it; what is no number, and all that a Constant wraps, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.contract.errors import TreeError
from ...core.contract.library import NUMPY, PYTHON, Library
from ...core.contract.nodes import NodeType, Unkeyed, exactly
from ...core.tree import CARRIED, Constant, LeafSpec, Node, Static, Structure, handler_of
from .foreign import library_of

NUMBERS = (bool, int, float, complex)

#: Appends the arrays of a tree; False if the tree has another form.
Reader = Callable[[Any, list[Any]], bool]


class Found(NamedTuple):
    """A leaf as it was found."""

    value: Any
    library: Library
    #: Puts an array behind the protocols under which this one was found; None if it was found as it is.
    wrap: Callable[[Any], Any] | None


def found(value: Any) -> Found | None:
    """A number or an array, out of what stands for it; None for any other value."""
    if type(value) is bool:
        return Found(value, PYTHON, None)
    handler = NUMPY if isinstance(value, np.ndarray) else handler_of(value, scan=False)
    if isinstance(handler, Library):
        return Found(value, handler, None)
    if isinstance(handler, NodeType) and handler.stands_for_array:
        (inner,), data = handler.flatten(value)
        library, stands = handler_of(inner, scan=False), handler
        assert isinstance(library, Library)
        return Found(inner, library, lambda array: stands.unflatten(data, (array,)))
    foreign = library_of(value) if handler is None else None
    return None if foreign is None else Found(value, foreign, None)


class _Kind:
    """Stands for an array in an example."""

    def __init__(self, leaf: Found):
        self.said = described(leaf.value)


class Form:
    """The form of one tree."""

    def __init__(self, value: Any, path: str):
        self.path = path
        leaves: list[Found] = []
        self.structure = _taken_apart(value, leaves)
        #: The leaves of this tree.
        self.leaves = leaves
        self._read = _reader(self.structure, value)
        self._example = value

    def build(self, leaves: Sequence[Any]) -> Any:
        """The tree with these leaves."""
        return self.structure.build(iter(leaves))

    def without_arrays(self) -> Form:
        """The same form as one that keeps no array alive, which in a trace of an engine's would outlive it."""
        example = self.build([_Kind(leaf) for leaf in self.leaves])
        self.leaves, self._example, self._read = [], example, _reader(self.structure, example)
        return self

    def read(self, value: Any) -> list[Any] | None:
        """The leaves of another tree, as they are there; None if it has another form."""
        leaves: list[Any] = []
        return leaves if self._read(value, leaves) else None

    def paths(self) -> list[str]:
        """The path of each leaf."""
        paths: list[str] = []
        _collect_paths(self.structure, self.path, paths)
        return paths

    def difference(self, value: Any) -> tuple[str, str, str]:
        """Where a tree of another form differs first: the path, what is there, and what is here."""
        return _difference(self.structure, self._example, value, self.path)


def _taken_apart(value: Any, leaves: list[Found]) -> Structure:
    if type(value) is Constant:
        return Static(value.value, "inside a Constant")
    leaf = found(value)
    if leaf is not None:
        leaves.append(leaf)
        return CARRIED
    handler = handler_of(value, scan=False)
    if not isinstance(handler, NodeType) or handler.held:
        return Static(value, "not an array")
    children, data = handler.flatten(value)
    if handler.fixes_numbers:
        children = [Constant(child) if type(child) in NUMBERS else child for child in children]
    return Node(handler, data, tuple([_taken_apart(child, leaves) for child in children]))


def _reader(structure: Structure, example: Any) -> Reader:
    """What reads trees of this structure, made once."""
    if isinstance(structure, LeafSpec):

        def read_leaf(value: Any, leaves: list[Any]) -> bool:
            leaves.append(value)
            return True

        return read_leaf
    if isinstance(structure, Static):
        known = structure.value
        return lambda value, leaves: value is known or _is_same(known, value)
    assert isinstance(structure, Node)
    cls, handler, data = type(example), structure.type, structure.data
    children = handler.flatten(example)[0]
    parts = [_reader(part, child) for part, child in zip(structure.children, children)]
    key = _key(handler, data)

    def read(value: Any, leaves: list[Any]) -> bool:
        if type(value) is not cls:
            return False
        inner, other = handler.flatten(value)
        if len(inner) != len(parts):
            return False
        if other is not data and _key(handler, other) != key:
            reordered = _reordered(example, value)
            if reordered is None:
                return False
            inner = reordered
        return all(part(child, leaves) for part, child in zip(parts, inner))

    if cls in (tuple, list):
        count = len(parts)

        def read_sequence(value: Any, leaves: list[Any]) -> bool:
            if type(value) is not cls or len(value) != count:
                return False
            for part, child in zip(parts, value):  # noqa: SIM110 - a generator costs more
                if not part(child, leaves):
                    return False
            return True

        return read_sequence
    return read


def _key(handler: NodeType, data: Any) -> Any:
    try:
        return handler.key(data)
    except Unkeyed:
        return None


def _reordered(example: Any, value: Any) -> list[Any] | None:
    """The entries of a dict in the order of the example's, if the two have the same keys."""
    if isinstance(example, dict) and example.keys() == value.keys():
        return [value[key] for key in example]
    return None


def _is_same(known: Any, value: Any) -> bool:
    """Whether a value that is no array can stand for another."""
    if type(known) is not type(value):
        return False
    try:
        return bool(exactly(known) == exactly(value))
    except Unkeyed:
        return False


def _collect_paths(structure: Structure, path: str, paths: list[str]) -> None:
    if isinstance(structure, LeafSpec):
        paths.append(path)
    elif isinstance(structure, Node):
        for key, child in zip(structure.type.paths(structure.data, len(structure.children)), structure.children):
            _collect_paths(child, path + key, paths)


def _difference(structure: Structure, example: Any, value: Any, path: str) -> tuple[str, str, str]:
    if isinstance(structure, Node) and type(value) is type(example):
        handler = structure.type
        children, data = handler.flatten(example)
        others, other = handler.flatten(value)
        keys = handler.paths(data, len(children))
        reordered = _reordered(example, value) if len(children) == len(others) else None
        if reordered is None and (len(children) != len(others) or _key(handler, data) != _key(handler, other)):
            seen = handler.paths(other, len(others))
            return path, _with_keys(value, seen), _with_keys(example, keys)
        for part, child, key, inner in zip(structure.children, children, keys, reordered or others):
            reads = _reader(part, child)
            if not reads(inner, []) or (isinstance(part, LeafSpec) and found(inner) is None):
                return _difference(part, child, inner, path + key)
    if isinstance(structure, Static) and type(structure.value) is type(value):
        held = type(example) is Constant
        return path, "another one", f"a {type(value).__name__} that " + ("a Constant holds fixed" if held else "is no array")
    return path, described(value), described(example)


def _with_keys(value: Any, keys: Sequence[str]) -> str:
    return f"a {type(value).__name__} with {', '.join(keys) or 'nothing in it'}"


def described(value: Any) -> str:
    """What a message says of a value: an array's dtype and shape, another's type."""
    if type(value) is Constant:
        value = value.value
    if type(value) is _Kind:
        return value.said
    leaf = found(value)
    if value is None or leaf is None:
        return "None" if value is None else f"a {type(value).__name__}"
    if type(leaf.value) in NUMBERS:
        return f"a Python {type(leaf.value).__name__}"
    return of_kind(leaf.library.dtype(leaf.value), leaf.library.shape(leaf.value))


def of_kind(dtype: str, shape: tuple[int, ...]) -> str:
    """What a message says of an array."""
    return f"{dtype} of shape {shape}"


def refuse_form(message: str, form: Form, value: Any) -> TreeError:
    """The error for a tree of another form; `message` has places for the path, what was seen, and what it should be."""
    path, seen, wanted = form.difference(value)
    return TreeError(message.format(path=path, seen=seen, wanted=wanted))


__all__ = ["NUMBERS", "Form", "Found", "described", "found", "of_kind", "refuse_form"]
