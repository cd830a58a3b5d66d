"""Flattening: from trees to their leaves, their structures, and the signature that decides a plan.

`Flattening.trees` decides what each value of a tree is: a leaf, a node or a static value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..contract.errors import TreeError
from ..contract.library import NUMPY, PYTHON, Library, check_ndarray, dtype_kind
from ..contract.nodes import NodeType
from ..contract.registry import REGISTRY
from ..support.static_values import Unkeyed
from .recognition import handler_of, refuse_hidden_arrays
from .structures import (
    CARRIED,
    CONSTANT,
    DIFFERENTIATED,
    CallData,
    Constant,
    Leaf,
    Node,
    Owner,
    Slot,
    Static,
    Structure,
    is_stateful,
    marks_argument,
)


class _Place(NamedTuple):
    """Where some siblings are: the children of one node, or the arguments of a call."""

    #: The path of each in error messages: `paths(0)` is `"args[0]['w']"`.
    paths: Callable[[int], str]
    constant: bool = False
    #: The outermost object that f gets itself and that holds them, as an `nn.Module` its
    #: parameters; or None.
    owner: Any = None
    #: Whether Python numbers are static there, as in an Equinox module.
    fixed: bool = False
    #: Whether each is a whole argument.
    alone: bool = False

    def inside(self, node_type: NodeType, value: Any, paths: Callable[[int], str]) -> _Place:
        """The place of the children of a node."""
        if self.constant:
            return _Place(paths, True)
        owner = value if node_type.is_owner and self.owner is None else self.owner
        fixed = self.fixed or node_type.fixes_numbers
        return _Place(paths, False, owner, fixed, self.alone and marks_argument(node_type))


def _no_path(n: int) -> str:
    return "argument"


_ARGUMENTS, _INSIDE = _Place(_no_path, alone=True), _Place(_no_path)
_CONSTANT = _Place(_no_path, constant=True)


def is_promoted(dtype: str) -> bool:
    """Whether an argument of this dtype, not a leaf inside a tree, is made a float."""
    return dtype_kind(dtype) == "integer"


def is_differentiated(dtype: str, *, alone: bool) -> bool:
    """Whether numbers of this dtype have a derivative. alone: they are a whole argument."""
    return dtype_kind(dtype) in ("real", "complex") or (alone and is_promoted(dtype))


class Flattening:
    """One traversal of trees, which decides for each value: a leaf, a node or a static value.

    With `leaves`, leaves are appended to that list, and static values stay in the structures.
    Without, each leaf and each static value gets a slot, and structures keep no value alive. A
    `Signature` makes a key in place of structures and slots.

    with_frozen: whether to include what an owner has frozen, as in a gradient.
    """

    __slots__ = ("_key", "_leaves", "_with_frozen", "owned", "slots", "static_slots", "values")

    def __init__(self, leaves: list[Leaf] | None = None, *, with_frozen: bool = False):
        self._leaves, self._with_frozen = leaves, with_frozen
        self._key: list[Any] | None = None
        self.slots: list[Slot] = []
        self.values: list[Any] = []
        #: The `id` of each leaf in an owner.
        self.owned: list[int] = []
        self.static_slots: list[int] = []

    def argument(self, arg: Any, path: str) -> Structure:
        """The structure of a whole argument: an integer is promoted."""
        return self.tree(arg, _Place(lambda n: path, alone=True))

    def keyword(self, arg: Any, path: str) -> Structure:
        return self.tree(Constant(arg), _Place(lambda n: path))

    def tree(self, value: Any, place: _Place) -> Structure:
        try:
            return self.trees((value,), place)[0]
        except RecursionError:
            raise endless(place.paths(0) or "the tree") from None

    def trees(self, values: Sequence[Any], place: _Place) -> list[Structure]:
        structures: list[Structure] = []
        key, owner, handlers = self._key, place.owner, REGISTRY.handlers
        for n, value in enumerate(values):
            cls = type(value)
            handler = handlers.get(cls)
            if handler is None:
                if cls is Constant:
                    structures.append(self._constant(value, place, n))
                    continue
                if not (place.constant and isinstance(value, np.ndarray) and not NUMPY.owns(value)):
                    handler = handler_of(
                        value,
                        scan=not place.constant,
                        alone=place.alone,
                        path=partial(place.paths, n),
                    )
            if handler is None or (
                handler is PYTHON
                and (
                    place.fixed or (cls is int and not is_differentiated("int", alone=place.alone))
                )
            ):
                structures.append(self._static(value, place))
            elif handler.is_library:
                if key is None:
                    structures.append(self._leaf(value, handler, place, n))  # type: ignore[arg-type]
                    continue
                self.values.append(value)
                if handler is PYTHON:
                    key.append(cls)
                else:
                    key += cls, handler.signature(value)  # type: ignore[union-attr]
                if owner is not None:
                    self.owned.append(id(value))
            elif handler.is_owner and place.constant:  # type: ignore[union-attr]
                structures.append(self._static(value, place))
            elif key is None:
                structures.append(self._node(value, handler, place, n))  # type: ignore[arg-type]
            else:
                self._key_of_node(value, handler, place, key)  # type: ignore[arg-type]
        return structures

    def _constant(self, value: Constant, place: _Place, n: int) -> Structure:
        if self._key is not None:
            self._key.append(Constant)
            self.trees((value.value,), _CONSTANT)
            return CARRIED
        inside = _Place(lambda _: place.paths(n), True, place.owner)
        return Node(CONSTANT, None, self.trees((value.value,), inside), Constant)

    def _static(self, value: Any, place: _Place) -> Structure:
        if self._key is not None:
            self.static_slots.append(len(self.values))
            self.values.append(value)
            self._key.append(type(value))
            return CARRIED
        return self._add(value, None, place, False, _reason(value, place))

    def _leaf(self, value: Any, library: Library, place: _Place, n: int) -> Structure:
        if library is PYTHON and place.constant:
            return self._static(value, place)
        dtype = library.dtype(value)
        if dtype_kind(dtype) == "other":
            if library is NUMPY and isinstance(value, np.ndarray) and not place.constant:
                check_ndarray(value, place.paths(n))
            return self._add(value, library, place, False, f"dtype {dtype}")
        differentiated = not place.constant and is_differentiated(dtype, alone=place.alone)
        return self._add(value, library, place, differentiated)

    def _add(
        self,
        value: Any,
        library: Library | None,
        place: _Place,
        differentiated: bool,
        reason: str = "",
    ) -> Structure:
        """Keep a leaf, or a static value with its reason, and return its place."""
        if self._leaves is not None:
            if library is None or reason:
                return Static(value, reason)
            self._leaves.append(Leaf(value, library, place.owner, differentiated))
        else:
            # Compiled code takes the arrays without numbers of engines, such as random keys, and
            # contains those of NumPy.
            known = library is not None and (not reason or library is NUMPY)
            dtype = library.dtype(value) if known else ""  # type: ignore[union-attr]
            owner = None if place.owner is None or reason else type(place.owner)
            self.values.append(value)
            library = None if reason else library
            self.slots.append(Slot(library, dtype, differentiated, owner, reason))
        return DIFFERENTIATED if differentiated else CARRIED

    def _key_of_node(self, value: Any, node_type: NodeType, place: _Place, key: list[Any]) -> None:
        children, data = node_type.flatten(value)
        try:
            key += node_type, node_type.key(data), len(children)
        except Unkeyed:
            if node_type.is_owner:
                raise
            key += node_type, tuple(node_type.paths(data, len(children)))
            _refuse_hidden(value, node_type, data, place)  # the next call may have other data
            self._static(CallData(data, node_type, place.constant), place)
        if node_type.is_owner:
            self._static(owner_of(node_type, value, children)[0], place)
        elif not node_type.fixes_numbers and (
            place is _INSIDE or (place is _ARGUMENTS and not marks_argument(node_type))
        ):
            self.trees(children, _INSIDE)  # the usual place, without a new object
            return
        self.trees(children, place.inside(node_type, value, _no_path))

    def _node(self, value: Any, node_type: NodeType, place: _Place, n: int) -> Structure:
        children, data = node_type.flatten(value)
        _refuse_hidden(value, node_type, data, place)
        first: list[Structure] = []
        if self._leaves is None and not node_type.is_owner and not _is_keyed(node_type, data):
            first.append(self._static(CallData(data, node_type, place.constant), place))
        itself = [self._static(owner, place) for owner in owner_of(node_type, value, children)]
        with_frozen = self._with_frozen and node_type.is_owner
        if with_frozen and all(type(child) is Constant for child in children):
            children = [child.value for child in children]
        paths: Callable[[int], str] = lambda k: (
            place.paths(n) + node_type.paths(data, len(children))[k]
        )
        inner = self.trees(children, place.inside(node_type, value, paths))
        node = Node(node_type, data, (*itself, *inner), type(value))
        if self._with_frozen and is_stateful(node_type):
            node.identity = id(value)
        return node.taking_data((*first, *node.children)) if first else node


def _is_keyed(node_type: NodeType, data: Any) -> bool:
    try:
        node_type.key(data)
    except Unkeyed:
        return False
    return True


class Signature(Flattening):
    """The key of the plan of such calls: structure, dtypes, shapes; and the values of the slots.

    Raises Unkeyed for a value that cannot be compared, and the errors of flattening.
    """

    __slots__ = ("key",)

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]):
        parts: list[Any] = [len(args)]
        self._leaves, self._key = None, parts
        self.values, self.owned, self.static_slots = [], [], []
        self.trees(args, _ARGUMENTS)
        for name, value in kwargs.items():
            parts.append(name)
            self.trees((value,), _CONSTANT)
        if self.owned:  # a leaf in two places is two variables, and f reaches one through its owner
            first: dict[int, int] = {}
            parts.append(tuple(map(first.setdefault, self.owned, count())))
        #: The cache key of a plan.
        self.key: tuple[Any, ...] = tuple(parts)


def _refuse_hidden(value: Any, node_type: NodeType, data: Any, place: _Place) -> None:
    if not place.constant:
        for where, hidden in node_type.hidden(value, data):
            refuse_hidden_arrays(hidden, where, value)


def owner_of(node_type: NodeType, value: Any, children: Sequence[Any]) -> list[Owner]:
    """The first child of an owner: `[Owner(value, its children)]`; `[]` for any other node."""
    if not node_type.is_owner:
        return []
    own = [child.value if type(child) is Constant else child for child in children]
    return [Owner(value, tuple(own))]


def flatten(
    value: Any,
    name: str | Callable[[], str],
    leaves: list[Leaf] | None = None,
    *,
    alone: bool = False,
    with_frozen: bool = False,
) -> tuple[Structure, list[Leaf]]:
    """The structure of a tree, and its numeric leaves in order, appended to `leaves` if given.

    name: of the tree, in error messages. alone: whether the tree is a whole argument, which is
        promoted if it is an integer.
    with_frozen: whether to include what an owner has frozen, as in a gradient. Raises TreeError for
        a tree that contains itself, or is nested too deep.
    """
    leaves = [] if leaves is None else leaves
    place = _Place(lambda n: name if isinstance(name, str) else name(), alone=alone)
    return Flattening(leaves, with_frozen=with_frozen).tree(value, place), leaves


def endless(path: str) -> TreeError:
    """The error for a tree in which a RecursionError was raised."""
    return TreeError(
        f"{path} contains itself, or is nested deeper than Python's recursion limit lets it be"
        " taken apart. Leave out a reference to a parent, or hold a weakref.ref; put the levels of"
        " a deep tree into a list."
    )


def _reason(value: Any, place: _Place) -> str:
    """Why a static value has no gradient."""
    if place.constant:
        return "inside a Constant"
    if type(value) is Owner:
        return "it holds what is differentiated"
    if type(value) is int:
        return "an int inside a tree has no gradient"
    if type(value) in (float, complex):
        return "a number inside such a module is a hyperparameter"
    if isinstance(value, bool):
        return "a bool has no gradient"
    return f"{'None' if value is None else type(value).__name__} has no gradient"
