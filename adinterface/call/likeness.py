"""Whether arguments are like those that a plan was made for: the question of every call that may use a plan again.

`Signature` answers it for any plan, with a key for a dictionary; a `Recognizer` knows one plan, asks only what differs from
one call to the next, and stops at the first difference. Both also collect the values of the plan's slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..contract.library import NUMPY, PYTHON, Library, kind
from ..contract.nodes import NodeType, Unkeyed
from ..tree import (
    HANDLERS,
    Constant,
    Frozen,
    Holder,
    LeafSpec,
    Node,
    Structure,
    count_slots,
    handler_of,
    holder_of,
    is_opaque_type,
)

#: From arguments and keywords to the values of a plan's slots; None if the plan was made for others.
Recognizer = Callable[[Sequence[Any], Mapping[str, Any]], "Sequence[Any] | None"]
#: Appends the values of one tree, which nobody has looked at yet; False if its containers are others.
Gather = Callable[[Any, list[Any]], bool]
#: Whether the values that were gathered are like those of the plan.
Like = Callable[[Sequence[Any]], bool]
#: From all values to some of them.
Pick = Callable[[Sequence[Any]], Sequence[Any]]


def is_promoted(handler: object, arg: Any) -> bool:
    """Whether an argument of its own is an integer, which is differentiated as a float."""
    if handler is PYTHON:
        return type(arg) is int
    return isinstance(handler, Library) and kind(handler.dtype(arg)) == "integer"


# Any plan ------------------------------------------------------------------------------------------------------------


class Signature:
    """What one walk through the arguments finds.

    Raises Unkeyed if something cannot be compared, and what taking the arguments apart raises.
    """

    __slots__ = ("held", "key", "static", "values")

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]):
        #: The values in the order of a plan's slots.
        self.values: list[Any] = []
        #: Those of them that a compiler takes as they are, all but arrays and Python floats; and where they stand.
        self.static: list[tuple[int, Any]] = []
        #: Leaves that f reaches through objects that hold them.
        self.held: list[int] = []
        key: list[Any] = [len(args)]
        for arg in args:
            handler = HANDLERS.get(type(arg))
            if handler is None and type(arg) is not Constant:
                handler = handler_of(arg, alone=True)
            if handler is not None and handler.is_library and is_promoted(handler, arg):
                self.values.append(arg)
                key.append(type(arg) if handler is PYTHON else (type(arg), handler.signature(arg)))  # type: ignore[union-attr]
            else:
                self._walk(arg, key, False)
        for name, value in kwargs.items():
            key.append(name)
            self._walk(value, key, True)
        if self.held:  # one leaf in two places is two variables, of which f can reach only one through its holder
            key.append(tuple([self.held.index(leaf) for leaf in self.held]))
        #: Equal where a plan can be used again.
        self.key = tuple(key)

    def _walk(self, value: Any, key: list[Any], constant: bool, held: bool = False, fixed: bool = False) -> None:
        cls = type(value)
        handler = HANDLERS.get(cls)
        if handler is None:
            if cls is Constant:
                key.append(Constant)
                self._walk(value.value, key, True)
                return
            foreign = constant and isinstance(value, np.ndarray) and not NUMPY.owns(value)
            handler = None if foreign else handler_of(value, scan=not constant)
            if handler is None:
                self._static(value, key)
                return
        if handler.is_library:
            if held:
                self.held.append(id(value))
            if fixed and handler is PYTHON:
                self._static(value, key)
            else:
                self._leaf(value, handler, key, constant)  # type: ignore[arg-type]
            return
        assert isinstance(handler, NodeType)
        if handler.held and constant:
            self._static(value, key)
            return
        children, data = handler.flatten(value)
        key.append(handler)
        key.append(handler.key(data))
        key.append(len(children))
        for holder in holder_of(handler, value, children):
            self._static(holder, key)
        held, fixed = held or handler.held, fixed or handler.fixes_numbers
        for child in children:
            self._walk(child, key, constant, held, fixed)

    def _static(self, value: Any, key: list[Any]) -> None:
        self.static.append((len(self.values), value))
        self.values.append(value)
        key.append(type(value))

    def _leaf(self, value: Any, library: Library, key: list[Any], constant: bool) -> None:
        if library is not PYTHON:
            if kind(library.dtype(value)) == "other" and not library.compiles_other:
                self.static.append((len(self.values), value))
            self.values.append(value)
            key.append((type(value), library.signature(value)))
        elif type(value) is int:
            self._static(value, key)
        else:
            self.values.append(value)
            key.append(type(value))


# One plan ------------------------------------------------------------------------------------------------------------

# Values of other classes may hide arrays, which only taking them apart tells.
_AT_SIGHT = frozenset(
    {str, bytes, bool, type(None), type, int, float, complex, FunctionType, BuiltinFunctionType, np.ufunc, slice, range}
)


class _Unrecognizable(Exception):
    """Something in the arguments must be looked into in every call."""


def recognizer(
    structures: Sequence[Structure], keywords: Mapping[str, Structure], slots: Iterator[tuple[Any, Any]]
) -> Recognizer | None:
    """A recognizer of the plan with these structures; None if there is no telling at sight.

    slots: each slot with its value, in order.
    """
    if sum(map(_holders, structures)) > 1:  # which may hold the same leaves or not
        return None
    leaves = _Leaves()
    try:
        gathers = [_gather(structure, slots, leaves) for structure in structures]
        named = [(name, _gather(_inside(structure), slots, leaves)) for name, structure in keywords.items()]
    except (_Unrecognizable, Unkeyed):
        return None
    return _recognizer(gathers, named, leaves)


def tangent_recognizer(structures: Sequence[Structure], slots: Iterator[tuple[Any, Any]]) -> Recognizer | None:
    """As `recognizer`, for tangents: like the argument where all of it is differentiated, None where nothing is."""
    leaves = _Leaves()
    gathers: list[Gather] = []
    try:
        for structure in structures:
            differentiated = set(_differentiated(structure))
            if len(differentiated) != 1 or _holders(structure):
                return None
            given = True in differentiated
            gather = _gather(structure, slots, leaves if given else _Leaves())
            gathers.append(gather if given else _is_none)
    except (_Unrecognizable, Unkeyed):
        return None
    return _recognizer(gathers, [], leaves)


def _recognizer(gathers: list[Gather], named: list[tuple[str, Gather]], leaves: _Leaves) -> Recognizer:
    if not named and gathers == [_append]:
        return _of_one(leaves)
    count, like = len(gathers), leaves.like()
    if not named and count == 1:
        return _of_one_tree(gathers[0], like)

    def recognize(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        if len(args) != count or len(kwargs) != len(named):
            return None
        values: list[Any] = []
        try:
            for gather, arg in zip(gathers, args):
                if not gather(arg, values):
                    return None
            if kwargs:
                for (name, gather), (given, value) in zip(named, kwargs.items()):
                    if name != given or not gather(value, values):
                        return None
            return values if like(values) else None
        except Unkeyed:
            return None

    return recognize


def _of_one(leaves: _Leaves) -> Recognizer:
    """The recognizer of calls with one leaf: the case of inner loops."""
    (leaf,) = leaves.each.values()
    cls, likeness, expected = leaf.cls, leaf.likeness, leaf.expected

    def recognize(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        if kwargs or len(args) != 1:
            return None
        (value,) = args
        return args if type(value) is cls and (likeness is None or likeness(value) == expected) else None

    return recognize


def _of_one_tree(gather: Gather, like: Like) -> Recognizer:
    def recognize(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        if kwargs or len(args) != 1:
            return None
        values: list[Any] = []
        try:
            return values if gather(args[0], values) and like(values) else None
        except Unkeyed:
            return None

    return recognize


class _Leaf(NamedTuple):
    """What the value of a slot must be."""

    cls: type
    #: What else of it must be equal; None for what is no array, and for those whose containers look at them.
    likeness: Callable[[Any], Any] | None
    expected: Any


class _Leaves:
    """The leaves that gathering comes to, by their places among the values."""

    def __init__(self) -> None:
        self.each: dict[int, _Leaf] = {}
        self.count = 0

    def add(self, slot: Any, value: Any) -> None:
        cls, likeness = type(value), None
        if slot.library is None or slot.library is PYTHON:
            if cls not in _AT_SIGHT and not is_opaque_type(cls):
                raise _Unrecognizable
        else:
            likeness = (None if slot.library.traced(value) else slot.library.likeness) or slot.library.signature
        self.each[self.count] = _Leaf(cls, likeness, None if likeness is None else likeness(value))
        self.count += 1

    def like(self) -> Like:
        """Whether values are like these: one look at the classes of all, and one at all arrays of a library."""
        count, classes, pick = self.count, [leaf.cls for leaf in self.each.values()], self._picker(list(self.each))
        looks = []
        for likeness in dict.fromkeys(leaf.likeness for leaf in self.each.values() if leaf.likeness is not None):
            own = [n for n, leaf in self.each.items() if leaf.likeness == likeness]
            looks.append((likeness, self._picker(own), [self.each[n].expected for n in own]))
        if pick is None and len(looks) == 1:
            return _at_one_look(classes, *looks[0])

        def like(values: Sequence[Any]) -> bool:
            if len(values) != count or [*map(type, values if pick is None else pick(values))] != classes:
                return False
            for look, own, expected in looks:  # noqa: SIM110 - a generator costs more
                if [*map(look, values if own is None else own(values))] != expected:
                    return False
            return True

        return like

    def _picker(self, places: list[int]) -> Pick | None:
        """From all values to those in some places; None if these are all."""
        if len(places) == self.count:
            return None
        if len(places) > 1:
            return itemgetter(*places)
        first = slice(places[0], places[0] + 1) if places else slice(0)
        return itemgetter(first)


def _at_one_look(classes: list[type], likeness: Callable[[Any], Any], pick: Pick | None, expected: list[Any]) -> Like:
    """The usual case: arrays of one library, Python numbers, and no module."""
    if pick is None:
        return lambda values: [*map(type, values)] == classes and [*map(likeness, values)] == expected
    return lambda values: [*map(type, values)] == classes and [*map(likeness, pick(values))] == expected


def _differentiated(structure: Structure) -> Iterator[bool]:
    """Of every slot, whether it is differentiated."""
    if isinstance(structure, LeafSpec):
        yield structure.differentiated
    elif isinstance(structure, Frozen):
        yield from _differentiated(structure.inner)
    elif isinstance(structure, Node):
        for child in structure.children:
            yield from _differentiated(child)


def _holders(structure: Structure) -> int:
    """How many nodes of a structure are reached through an object that holds them."""
    if isinstance(structure, Node):
        return structure.type.held + sum(map(_holders, structure.children))
    return 0


def _is_none(value: Any, values: list[Any]) -> bool:
    return value is None


def _append(value: Any, values: list[Any]) -> bool:
    values.append(value)
    return True


def _append_content(value: Any, values: list[Any]) -> bool:
    if type(value) is not Constant:
        return False
    values.append(value.value)
    return True


def _inside(structure: Structure) -> Structure:
    """For a keyword: it is treated as the content of a Constant, and may be one."""
    assert isinstance(structure, Frozen)
    return structure.inner


def _gather(structure: Structure, slots: Iterator[tuple[Any, Any]], leaves: _Leaves) -> Gather:
    if isinstance(structure, Frozen):
        inner = _gather(structure.inner, slots, leaves)
        if inner is _append:
            return _append_content
        return lambda value, values: type(value) is Constant and inner(value.value, values)
    if isinstance(structure, Node):
        return _of_held(structure, slots, leaves) if structure.type.held else _of_node(structure, slots, leaves)
    assert isinstance(structure, LeafSpec)
    leaves.add(*next(slots))
    return _append


def _of_node(structure: Node, slots: Iterator[tuple[Any, Any]], leaves: _Leaves) -> Gather:
    node_type, handlers, read = structure.type, HANDLERS, structure.type.reader(structure.data)
    count = len(structure.children)
    inner = [_gather(child, slots, leaves) for child in structure.children]

    if all(gather is _append for gather in inner):

        def of_leaves(value: Any, values: list[Any]) -> bool:
            if handlers.get(type(value)) is not node_type:
                return False
            children = read(value)
            if children is None or len(children) != count:
                return False
            values.extend(children)
            return True

        return of_leaves

    def of_trees(value: Any, values: list[Any]) -> bool:
        if handlers.get(type(value)) is not node_type:
            return False
        children = read(value)
        if children is None or len(children) != count:
            return False
        for gather, child in zip(inner, children):  # noqa: SIM110 - a generator costs more
            if not gather(child, values):
                return False
        return True

    return of_trees


def _of_held(structure: Node, slots: Iterator[tuple[Any, Any]], leaves: _Leaves) -> Gather:
    for _ in range(count_slots(structure)):
        next(slots)
        leaves.count += 1  # the reader looks at them
    node_type, handlers, read = structure.type, HANDLERS, structure.type.reader(structure.data)

    def of_held(value: Any, values: list[Any]) -> bool:
        if handlers.get(type(value)) is not node_type:
            return False
        children = read(value)
        if children is None:
            return False
        values.append(Holder(value, children))
        values.extend(children)
        return True

    return of_held


__all__ = ["Recognizer", "Signature", "is_promoted", "recognizer", "tangent_recognizer"]
