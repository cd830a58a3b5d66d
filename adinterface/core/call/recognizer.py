"""Whether arguments are like those of one plan: a function that is written out for it, and stops at the first difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..contract.library import PYTHON
from ..contract.nodes import Unkeyed
from ..tree import (
    HANDLERS,
    Constant,
    Frozen,
    Holder,
    LeafSpec,
    Node,
    Structure,
    Writer,
    count_slots,
    is_opaque_type,
)

#: From the arguments of a call to the values of a plan's slots; None if the plan was made for others.
Recognizer = Callable[[Sequence[Any], Mapping[str, Any]], "Sequence[Any] | None"]

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
    asked = _Asked(slots)
    try:
        asked.of_arguments(structures)
        asked.of_keywords({name: _inside(structure) for name, structure in keywords.items()})
    except (_Unrecognizable, Unkeyed):
        return None
    return asked.recognizer()


def tangent_recognizer(structures: Sequence[Structure], slots: Iterator[tuple[Any, Any]]) -> Recognizer | None:
    """As `recognizer`, for tangents: like the argument where all of it is differentiated, None where nothing is."""
    asked = _Asked(slots)
    like: list[Structure | None] = []
    for structure in structures:
        differentiated = set(_differentiated(structure))
        if len(differentiated) != 1 or _holders(structure):
            return None
        like.append(structure if True in differentiated else None)
    try:
        asked.of_arguments(like, [count_slots(structure) for structure in structures])
        asked.of_keywords({})
    except (_Unrecognizable, Unkeyed):
        return None
    return asked.recognizer()


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


class _Asked:
    """What a recognizer asks of the arguments, as the lines of a function."""

    def __init__(self, slots: Iterator[tuple[Any, Any]]):
        self._slots, self._leaves, self._writer = slots, _Leaves(), Writer()
        #: The values, as the items of a list.
        self._items: list[str] = []
        #: They are one argument, a leaf of its own.
        self._alone = False

    def of_arguments(self, structures: Sequence[Structure | None], counts: Sequence[int] = ()) -> None:
        """None in place of a structure: None must be passed for its argument, which has so many slots."""
        self._refuse(f"len(args) != {len(structures)}")
        names = self._writer.unpacked("args", len(structures))
        self._alone = len(structures) == 1 and isinstance(structures[0], LeafSpec)
        for n, (structure, name) in enumerate(zip(structures, names)):
            if structure is not None:
                self._look(structure, name)
                continue
            self._refuse(f"{name} is not None")
            for _ in range(counts[n]):
                next(self._slots)

    def of_keywords(self, structures: Mapping[str, Structure]) -> None:
        """By the names under which they were passed, and in that order."""
        self._alone = self._alone and not structures
        if not structures:
            self._refuse("kwargs")
            return
        self._refuse(f"[*kwargs] != {self._writer.known([*structures])}")
        for name, structure in zip(self._writer.unpacked("kwargs.values()", len(structures)), structures.values()):
            self._look(structure, name)

    def recognizer(self) -> Recognizer:
        if self._alone:
            return _of_one(self._leaves)
        writer = self._writer
        writer.line(f"values = [{', '.join(self._items)}]")
        writer.line(f"return values if {self._leaves.are_like(writer, 'values')} else None")
        return writer.function("args, kwargs", excepting=Unkeyed)

    def _refuse(self, condition: str) -> None:
        self._writer.line(f"if {condition}: return None")

    def _look(self, structure: Structure, value: str) -> None:
        if isinstance(structure, Frozen):
            self._refuse(f"type({value}) is not {self._writer.known(Constant)}")
            inner = f"{value}.value"
            self._look(structure.inner, inner if isinstance(structure.inner, LeafSpec) else self._writer.assigned(inner))
        elif isinstance(structure, Node):
            self._look_into(structure, value)
        else:
            assert isinstance(structure, LeafSpec)
            self._leaves.add(*next(self._slots))
            self._items.append(value)

    def _look_into(self, node: Node, value: str) -> None:
        writer, count = self._writer, len(node.children)
        source = node.type.source(node.data, count, writer.known)
        if source is not None:
            self._refuse(f"not ({source.test.format(value)})")
            children = source.children.format(value)
        else:
            self._refuse(f"{writer.known(HANDLERS.get)}(type({value})) is not {writer.known(node.type)}")
            children = writer.assigned(f"{writer.known(node.type.reader(node.data))}({value})")
            self._refuse(f"{children} is None")
        if node.type.held:
            for _ in range(count_slots(node)):
                next(self._slots)
                self._leaves.count += 1  # the reader looks at them
            self._items += [f"{writer.known(Holder)}({value}, {children})", f"*{children}"]
            return
        if source is None:
            self._refuse(f"len({children}) != {count}")
        if all(isinstance(child, LeafSpec) for child in node.children):
            for _ in node.children:
                self._leaves.add(*next(self._slots))
            self._items.append(f"*{children}")
            return
        for child, name in zip(node.children, writer.unpacked(children, count)):
            self._look(child, name)


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

    def are_like(self, writer: Writer, values: str) -> str:
        """The condition that values are like these: one look at the classes of all, and one at all arrays of a library."""
        if not self.each:
            return "True"
        own, classes = self._picked(writer, values, list(self.each)), [leaf.cls for leaf in self.each.values()]
        conditions = [f"[*map(type, {own})] == {writer.known(classes)}"]
        for likeness in dict.fromkeys(leaf.likeness for leaf in self.each.values() if leaf.likeness is not None):
            places = [n for n, leaf in self.each.items() if leaf.likeness == likeness]
            expected = [self.each[n].expected for n in places]
            arrays = self._picked(writer, values, places)
            conditions.append(f"[*map({writer.known(likeness)}, {arrays})] == {writer.known(expected)}")
        return " and ".join(conditions)

    def _picked(self, writer: Writer, values: str, places: list[int]) -> str:
        """The expression of the values in some places."""
        if len(places) == self.count:
            return values
        if len(places) == 1:
            return f"({values}[{places[0]}],)"
        return f"{writer.known(itemgetter(*places))}({values})"


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


def _inside(structure: Structure) -> Structure:
    """For a keyword: it is treated as the content of a Constant, and may be one."""
    assert isinstance(structure, Frozen)
    return structure.inner


__all__ = ["Recognizer", "recognizer", "tangent_recognizer"]
