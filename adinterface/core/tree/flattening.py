"""Flattening: from trees to their leaves, their structures, and the signature that decides a plan.

`_Traversal.trees` decides what each value of a tree is: a leaf, a node or a static value. The other classes say what is kept.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..contract.errors import TreeError
from ..contract.library import NUMPY, PYTHON, Kind, Library, check_ndarray, kind
from ..contract.nodes import NodeType, Unkeyed
from ..contract.structures import (
    CARRIED,
    CONSTANT,
    DIFFERENTIATED,
    Constant,
    Given,
    GivenConstant,
    Holder,
    Leaf,
    Marker,
    Node,
    Slot,
    Static,
    Structure,
)
from .recognition import HANDLERS, handler_of, refuse_hidden_arrays

#: A tree of at most this depth did not cause a RecursionError.
_DEEP = 100

T = TypeVar("T")


class _Place(NamedTuple):
    """Where some values are."""

    #: The path of each, by its index: for error messages.
    paths: Callable[[int], str]
    #: Whether they are in a Constant.
    constant: bool = False
    #: The object through which f reaches them, or None.
    holder: Any = None
    #: Whether a Python number is structure there.
    fixed: bool = False
    #: Whether each is a whole argument.
    alone: bool = False


class _Traversal(ABC, Generic[T]):
    """One traversal of trees. A subclass says what is kept of each leaf, static value and node."""

    __slots__ = ()

    def trees(self, values: Sequence[Any], place: _Place) -> list[T]:
        """What is kept of each of some trees."""
        results: list[T] = []
        for n, value in enumerate(values):
            cls = type(value)
            handler = HANDLERS.get(cls)
            if handler is None:
                if cls is Constant:
                    results.append(self.constant(value, place, n))
                    continue
                if not (place.constant and isinstance(value, np.ndarray) and not NUMPY.owns(value)):
                    handler = handler_of(value, scan=not place.constant, alone=place.alone, path=_Later(place, n))
            if handler is None or (handler is PYTHON and (place.fixed or (cls is int and not place.alone))):
                results.append(self.static(value, place))
            elif handler.is_library:
                results.append(self.leaf(value, handler, place, n))  # type: ignore[arg-type]
            elif handler.held and place.constant:  # type: ignore[union-attr]
                results.append(self.static(value, place))
            else:
                results.append(self.node(value, handler, place, n))  # type: ignore[arg-type]
        return results

    @abstractmethod
    def constant(self, value: Constant, place: _Place, n: int) -> T: ...

    @abstractmethod
    def static(self, value: Any, place: _Place) -> T: ...

    @abstractmethod
    def leaf(self, value: Any, library: Library, place: _Place, n: int) -> T: ...

    @abstractmethod
    def node(self, value: Any, node_type: NodeType, place: _Place, n: int) -> T: ...


def is_differentiated(kind: Kind, *, alone: bool) -> bool:
    """Whether numbers of this kind have a derivative; an integer has if it is an argument itself, promoted to a float."""
    return kind in ("real", "complex") or (alone and kind == "integer")


# The signature -----------------------------------------------------------------------------------------------------------


class Signature(_Traversal[None]):
    """What of the arguments of a call decides its plan, and the values of the plan's slots.

    Raises Unkeyed for a value that cannot be compared, and the errors of flattening.
    """

    __slots__ = ("_key", "held", "key", "static_slots", "values")

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]):
        #: The values in the order of a plan's slots.
        self.values: list[Any] = []
        #: The indices of static values: a compiler takes them unconverted.
        self.static_slots: list[int] = []
        #: The identities of leaves that f reaches through objects that hold them.
        self.held: list[int] = []
        self._key: list[Any] = [len(args)]
        self.trees(args, _ARGUMENTS)
        for name, value in kwargs.items():
            self._key.append(name)
            self.trees((value,), _KEYWORD)
        if self.held:  # a leaf in two places is two variables, and f reaches one through its holder
            first: dict[int, int] = {}
            self._key.append(tuple(map(first.setdefault, self.held, count())))
        #: The cache key of a plan.
        self.key: tuple[Any, ...] = tuple(self._key)

    def constant(self, value: Constant, place: _Place, n: int) -> None:
        self._key.append(Constant)
        self.trees((value.value,), _KEYWORD)

    def static(self, value: Any, place: _Place) -> None:
        self.static_slots.append(len(self.values))
        self.values.append(value)
        self._key.append(type(value))

    def leaf(self, value: Any, library: Library, place: _Place, n: int) -> None:
        self.values.append(value)
        if library is PYTHON:
            self._key.append(type(value))
        else:
            self._key += type(value), library.signature(value)
        if place.holder is not None:
            self.held.append(id(value))

    def node(self, value: Any, node_type: NodeType, place: _Place, n: int) -> None:
        children, data = node_type.flatten(value)
        self._key += node_type, len(children)
        given, key = _data_of_call(node_type, data, len(children), place.constant)
        self._key.append(key)
        if given is not None:
            _refuse_hidden(value, node_type, data, place)  # the next call may have other data
            self.static(given, place)
        for holder in holder_of(node_type, value, children):
            self.static(holder, place)
        self.trees(children, _inside(node_type, value, place, _no_path))


def _data_of_call(node_type: NodeType, data: Any, count: int, constant: bool) -> tuple[Given | None, Any]:
    """The data of a node as a plan takes it from each call, None if the plan keeps it; and the part of it in the signature."""
    try:
        return None, node_type.key(data)
    except Unkeyed:
        if node_type.held:
            raise
        return (GivenConstant if constant else Given)(data, node_type), tuple(node_type.paths(data, count))


def _refuse_hidden(value: Any, node_type: NodeType, data: Any, place: _Place) -> None:
    if not place.constant:
        for where, hidden in node_type.hidden(value, data):
            refuse_hidden_arrays(hidden, where, value)


def holder_of(node_type: NodeType, value: Any, children: Sequence[Any]) -> list[Holder]:
    """The object itself, in front of its children, if f reaches its leaves through it."""
    if not node_type.held:
        return []
    return [Holder(value, tuple([child.value if type(child) is Constant else child for child in children]))]


def _inside(node_type: NodeType, value: Any, place: _Place, paths: Callable[[int], str]) -> _Place:
    """The place of the children of a node."""
    if place.constant:
        return _Place(paths, True)
    holder = value if node_type.held and place.holder is None else place.holder
    return _Place(paths, False, holder, place.fixed or node_type.fixes_numbers, place.alone and isinstance(node_type, Marker))


def _no_path(n: int) -> str:
    return "argument"


_ARGUMENTS, _KEYWORD = _Place(_no_path, alone=True), _Place(_no_path, constant=True)


# Structures --------------------------------------------------------------------------------------------------------------


class _Building(_Traversal[Structure]):
    """Builds the structures of trees."""

    @abstractmethod
    def add(self, value: Any, library: Library | None, place: _Place, differentiated: bool, reason: str) -> Structure:
        """Keep a leaf; or a static value, which has a reason."""

    def constant(self, value: Constant, place: _Place, n: int) -> Structure:
        inside = _Place(lambda _: place.paths(n), True, place.holder)
        return Node(CONSTANT, None, self.trees((value.value,), inside), Constant)

    def static(self, value: Any, place: _Place) -> Structure:
        return self.add(value, None, place, False, _reason(value, place))

    def leaf(self, value: Any, library: Library, place: _Place, n: int) -> Structure:
        if library is PYTHON and place.constant:
            return self.static(value, place)
        dtype = library.dtype(value)
        kind_ = kind(dtype)
        if kind_ == "other":
            if library is NUMPY and isinstance(value, np.ndarray) and not place.constant:
                check_ndarray(value, place.paths(n))
            return self.add(value, library, place, False, f"dtype {dtype}")
        differentiated = not place.constant and is_differentiated(kind_, alone=place.alone)
        return self.add(value, library, place, differentiated, "")

    def node(self, value: Any, node_type: NodeType, place: _Place, n: int) -> Structure:
        children, data = node_type.flatten(value)
        _refuse_hidden(value, node_type, data, place)
        return self.built(value, node_type, children, data, place, n)

    def built(self, value: Any, node_type: NodeType, children: Sequence[Any], data: Any, place: _Place, n: int) -> Structure:
        """The structure of a node."""
        itself = [self.static(holder, place) for holder in holder_of(node_type, value, children)]
        inside = _inside(node_type, value, place, lambda k: place.paths(n) + node_type.paths(data, len(children))[k])
        return Node(node_type, data, (*itself, *self.trees(children, inside)), type(value))


class _Flattening(_Building):
    """Static values stay in the structures. thaws: whether to include what a held container has frozen as one."""

    def __init__(self, leaves: list[Leaf], thaws: bool):
        self.leaves, self.thaws = leaves, thaws

    def add(self, value: Any, library: Library | None, place: _Place, differentiated: bool, reason: str) -> Structure:
        if library is None or reason:
            return Static(value, reason)
        self.leaves.append(Leaf(value, library, place.holder, differentiated))
        return DIFFERENTIATED if differentiated else CARRIED

    def built(self, value: Any, node_type: NodeType, children: Sequence[Any], data: Any, place: _Place, n: int) -> Structure:
        if self.thaws and node_type.held and all(type(child) is Constant for child in children):
            children = [child.value for child in children]
        return super().built(value, node_type, children, data, place, n)


class SlotTraversal(_Building):
    """Every value without a gradient gets a slot, too, so that the structures keep no value alive."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.values: list[Any] = []

    def argument(self, arg: Any, path: str) -> Structure:
        """The structure of an argument, which is promoted if it is an integer."""
        return _of_one(self, arg, _Place(lambda n: path, alone=True))

    def keyword(self, arg: Any, path: str) -> Structure:
        """The structure of a keyword argument, in a Constant."""
        return _of_one(self, Constant(arg), _Place(lambda n: path))

    def add(self, value: Any, library: Library | None, place: _Place, differentiated: bool, reason: str) -> Structure:
        self.values.append(value)
        dtype = "" if library is None or (reason and library.compiles_other) else library.dtype(value)
        holder = None if place.holder is None or reason else type(place.holder)
        self.slots.append(Slot(None if reason else library, dtype, differentiated, holder, reason))
        return DIFFERENTIATED if differentiated else CARRIED

    def built(self, value: Any, node_type: NodeType, children: Sequence[Any], data: Any, place: _Place, n: int) -> Structure:
        given = None if node_type.held else _data_of_call(node_type, data, len(children), place.constant)[0]
        if given is None:
            return super().built(value, node_type, children, data, place, n)
        slot = self.add(given, None, place, False, "it may change")
        node = super().built(value, node_type, children, data, place, n)
        assert isinstance(node, Node)
        return node.taking_data((slot, *node.children))


def flatten(value: Any, leaves: list[Leaf], path: Callable[[], str], *, alone: bool = False, thaws: bool = False) -> Structure:
    """Append the numeric leaves of a tree to `leaves`, in its own order, and return its structure.

    `path` is called only for an error message. alone: whether the tree is a whole argument, which is promoted if it is an
    integer. thaws: whether to include what a held container has frozen as one, as in a gradient. Raises TreeError for a tree
    that contains itself, or is nested too deep.
    """
    return _of_one(_Flattening(leaves, thaws), value, _Place(lambda n: path(), alone=alone))


def _of_one(building: _Building, value: Any, place: _Place) -> Structure:
    try:
        return building.trees((value,), place)[0]
    except RecursionError:
        refuse_endless(place.paths(0) or "the tree", value)
        raise


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


class _Later(str):
    """A path that is computed only if an error message prints it."""

    def __new__(cls, place: _Place, n: int) -> _Later:
        new = super().__new__(cls)
        new._where = place, n  # type: ignore[attr-defined]
        return new

    def __str__(self) -> str:
        place, n = self._where  # type: ignore[attr-defined]
        path: str = place.paths(n)
        return path

    def __format__(self, spec: str) -> str:
        return str(self)


def _reason(value: Any, place: _Place) -> str:
    """Why a static value has no gradient."""
    if place.constant:
        return "inside a Constant"
    if type(value) is Holder:
        return "it holds what is differentiated"
    if type(value) is int:
        return "an int inside a tree is structure"
    if type(value) in (float, complex):
        return "a number inside such a module is a hyperparameter"
    if isinstance(value, bool):
        return "a bool is structure"
    return "it is structure" if value is None else f"{type(value).__name__} has no gradient"


__all__ = ["Signature", "SlotTraversal", "flatten", "holder_of", "is_differentiated", "refuse_endless"]
