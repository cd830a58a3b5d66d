"""Flattening: from an argument to its leaves and its `Structure`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..contract.errors import TreeError
from ..contract.library import NUMPY, PYTHON, Library, check_ndarray, kind
from ..contract.nodes import NodeType
from ..contract.structures import CARRIED, CONSTANT, DIFFERENTIATED, Constant, Holder, Leaf, Node, Static, Structure
from .recognition import HANDLERS, handler_of, refuse_hidden_arrays

#: A tree of at most this depth did not cause a RecursionError.
_DEEP = 100


def flatten(value: Any, leaves: list[Leaf], path: Callable[[], str], *, thaws: bool = False) -> Structure:
    """Append the numeric leaves of a tree to `leaves`, in its own order, and return its structure.

    `path` is called only for an error message. thaws: whether to include what a held container has frozen as one, as in a
    gradient. Raises TreeError for a tree that contains itself, or is nested too deep.
    """
    try:
        return _flatten(value, leaves, path, thaws)
    except RecursionError:
        refuse_endless(path() or "the tree", value)
        raise


def _flatten(
    value: Any, leaves: list[Leaf], path: Callable[[], str], thaws: bool, holder: Any = None, fixed: bool = False
) -> Structure:
    """fixed: whether the tree is inside a node that treats Python numbers as structure."""
    if type(value) is Constant:
        return Node(CONSTANT, None, (_flatten_constant(value.value, leaves, path, holder),), Constant)
    handler = HANDLERS.get(type(value))
    if handler is None:
        handler = handler_of(value, path=_Later(path))
        if handler is None:
            return Static(value, _reason(value))
    if isinstance(handler, NodeType):
        children, data = handler.flatten(value)
        for where, hidden in handler.hidden(value, data):
            refuse_hidden_arrays(hidden, where, value)
        if handler.held and holder is None:
            holder = value
        fixed = fixed or handler.fixes_numbers
        itself = [Static(holder, "it holds what is differentiated") for holder in holder_of(handler, value, children)]
        if thaws and handler.held and all(type(child) is Constant for child in children):
            children = [child.value for child in children]
        parts = [
            _flatten(child, leaves, _child_path(path, handler, data, children, i), thaws, holder, fixed)
            for i, child in enumerate(children)
        ]
        return Node(handler, data, (*itself, *parts), type(value))
    if fixed and handler is PYTHON:
        return Static(value, "a number inside such a module is a hyperparameter")
    return _flatten_leaf(value, handler, leaves, path, True, holder)


def is_promoted(arg: Any) -> bool:
    """Whether an argument is itself an integer or an integer array, which is differentiated as a float."""
    handler = handler_of(arg, scan=False)
    return isinstance(handler, Library) and kind(handler.dtype(arg)) == "integer"


def flatten_argument(arg: Any, leaves: list[Leaf], path: str) -> Structure:
    """As `flatten` for a whole argument, which is promoted if it is an integer."""
    handler = None if type(arg) is Constant else handler_of(arg, alone=True, path=path)
    if isinstance(handler, Library) and is_promoted(arg):
        leaves.append(Leaf(arg, handler, None, True))
        return DIFFERENTIATED
    return flatten(arg, leaves, lambda: path)


def refuse_endless(path: str, root: Any) -> None:
    """After a RecursionError: raise TreeError for a value that contains itself, or is nested too deep for Python."""
    depth = 0
    above: dict[int, str] = {}  # the nodes between the root and this one, with the key of each
    done: set[int] = set()
    stack: list[tuple[Any, str, bool]] = [(root, path, True)]
    while stack:
        value, key, enters = stack.pop()
        if not enters:
            del above[id(value)]
            done.add(id(value))
            continue
        if type(value) is Constant:
            value = value.value
        if id(value) in above:
            keys = list(above)
            first = "".join([above[k] for k in keys[: keys.index(id(value)) + 1]])
            raise TreeError(
                f"{''.join(above.values())}{key} is {first} itself, so there is no end to it. Leave such a reference out, "
                f"or hold a weakref.ref."
            )
        handler = handler_of(value, scan=False)
        if id(value) in done or not isinstance(handler, NodeType):
            continue
        above[id(value)] = key
        depth = max(depth, len(above))
        stack.append((value, key, False))
        children, data = handler.flatten(value)
        stack.extend([(child, name, True) for child, name in zip(children, handler.paths(data, len(children)))])
    if depth > _DEEP:
        raise TreeError(
            f"{path} is nested {depth:,} levels deep, deeper than Python's recursion limit lets it be taken apart. Put its "
            f"levels one after another into a list."
        )


def holder_of(node_type: NodeType, value: Any, children: Sequence[Any]) -> list[Holder]:
    """The object itself, in front of its children, if f reaches its leaves through it."""
    if not node_type.held:
        return []
    return [Holder(value, tuple([child.value if type(child) is Constant else child for child in children]))]


def _flatten_leaf(
    value: Any, library: Library, leaves: list[Leaf], path: Callable[[], str], differentiated: bool, holder: Any
) -> Structure:
    if library is PYTHON:
        if not differentiated or type(value) is int:
            return Static(value, "an int inside a tree is structure" if type(value) is int else "inside a Constant")
        leaves.append(Leaf(value, library, holder, True))
        return DIFFERENTIATED
    kind_ = kind(library.dtype(value))
    if kind_ == "other":
        if library is NUMPY and isinstance(value, np.ndarray) and differentiated:
            check_ndarray(value, path())
        return Static(value, f"dtype {library.dtype(value)}")
    floating = differentiated and kind_ in ("real", "complex")
    leaves.append(Leaf(value, library, holder, floating))
    return DIFFERENTIATED if floating else CARRIED


def _flatten_constant(value: Any, leaves: list[Leaf], path: Callable[[], str], holder: Any = None) -> Structure:
    """As `flatten`, but without differentiated leaves; opaque objects may hold anything."""
    if type(value) is Constant:
        return Node(CONSTANT, None, (_flatten_constant(value.value, leaves, path),), Constant)
    if isinstance(value, np.ndarray) and not NUMPY.owns(value):
        return Static(value, "inside a Constant")
    handler = handler_of(value, scan=False)
    if handler is None or (isinstance(handler, NodeType) and handler.held):
        return Static(value, "inside a Constant")
    if isinstance(handler, NodeType):
        children, data = handler.flatten(value)
        return Node(handler, data, [_flatten_constant(child, leaves, path) for child in children], type(value))
    return _flatten_leaf(value, handler, leaves, path, False, holder)


class _Later(str):
    """A path that is computed only if an error message prints it."""

    def __new__(cls, path: Callable[[], str]) -> _Later:
        new = super().__new__(cls)
        new._path = path  # type: ignore[attr-defined]
        return new

    def __str__(self) -> str:
        return self._path()  # type: ignore[attr-defined,no-any-return]

    def __format__(self, spec: str) -> str:
        return str(self)


def _child_path(path: Callable[[], str], handler: NodeType, data: Any, children: Sequence[Any], i: int) -> Callable[[], str]:
    return lambda: path() + handler.paths(data, len(children))[i]


def _reason(value: Any) -> str:
    if isinstance(value, bool):
        return "a bool is structure"
    if value is None:
        return "it is structure"
    return f"{type(value).__name__} has no gradient"
