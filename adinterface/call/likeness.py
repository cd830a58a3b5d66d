"""Whether arguments are like those that a plan was made for: the question of every call that may use a plan again.

`Signature` answers it for any plan, with a key for a dictionary; a `Recognizer` knows one plan, asks only what differs from
one call to the next, and stops at the first difference. Both also collect the values of the plan's slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any

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
#: Appends the values of one tree; False if it is another kind of tree.
Part = Callable[[Any, list[Any]], bool]


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
    try:
        parts = [_part(structure, slots) for structure in structures]
        named = [(name, _inside(structure, slots)) for name, structure in keywords.items()]
    except (_Unrecognizable, Unkeyed):
        return None
    if not named and len(parts) == 1 and isinstance(parts[0], _Leaf):
        return _of_one(parts[0])
    return _of_parts(parts, named)


def _of_one(leaf: _Leaf) -> Recognizer:
    """The recognizer of calls with one array: the case of inner loops."""
    cls, likeness, expected = leaf.cls, leaf.likeness, leaf.expected

    def recognize(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        if kwargs or len(args) != 1:
            return None
        (value,) = args
        return args if type(value) is cls and likeness(value) == expected else None

    return recognize


def _of_parts(parts: list[Part], named: list[tuple[str, Part]]) -> Recognizer:
    count = len(parts)

    def recognize(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        if len(args) != count or len(kwargs) != len(named):
            return None
        values: list[Any] = []
        try:
            for part, arg in zip(parts, args):
                if not part(arg, values):
                    return None
            if kwargs:
                for (name, part), (given, value) in zip(named, kwargs.items()):
                    if name != given or not part(value, values):
                        return None
        except Unkeyed:
            return None
        return values

    return recognize


def tangent_recognizer(structures: Sequence[Structure], slots: Iterator[tuple[Any, Any]]) -> Recognizer | None:
    """As `recognizer`, for tangents: like the argument where all of it is differentiated, None where nothing is."""
    parts: list[Part] = []
    try:
        for structure in structures:
            differentiated = set(_differentiated(structure))
            if len(differentiated) != 1 or _holders(structure):
                return None
            part = _part(structure, slots)
            parts.append(part if True in differentiated else _is_none)
    except (_Unrecognizable, Unkeyed):
        return None
    return _of_one(parts[0]) if len(parts) == 1 and isinstance(parts[0], _Leaf) else _of_parts(parts, [])


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


def _part(structure: Structure, slots: Iterator[tuple[Any, Any]]) -> Part:
    if isinstance(structure, Frozen):
        inner = _part(structure.inner, slots)
        return lambda value, values: type(value) is Constant and inner(value.value, values)
    if isinstance(structure, Node):
        return _held(structure, slots) if structure.type.held else _node(structure, slots)
    assert isinstance(structure, LeafSpec)
    slot, value = next(slots)
    if slot.library is None or slot.library is PYTHON:
        return _of_class(type(value))
    likeness = None if slot.library.traced(value) else slot.library.likeness
    return _Leaf(type(value), likeness or slot.library.signature, value)


def _inside(structure: Structure, slots: Iterator[tuple[Any, Any]]) -> Part:
    """As a part, for a keyword: it is treated as the content of a Constant, and may be one."""
    assert isinstance(structure, Frozen)
    return _part(structure.inner, slots)


def _of_class(cls: type) -> Part:
    if cls not in _AT_SIGHT and not is_opaque_type(cls):
        raise _Unrecognizable

    def part(value: Any, values: list[Any]) -> bool:
        values.append(value)
        return type(value) is cls

    return part


class _Leaf:
    """The part of an array."""

    __slots__ = ("cls", "expected", "likeness")

    def __init__(self, cls: type, likeness: Callable[[Any], Any], example: Any):
        self.cls, self.likeness, self.expected = cls, likeness, likeness(example)

    def __call__(self, value: Any, values: list[Any]) -> bool:
        values.append(value)
        return type(value) is self.cls and bool(self.likeness(value) == self.expected)


def _node(structure: Node, slots: Iterator[tuple[Any, Any]]) -> Part:
    node_type, handlers, read = structure.type, HANDLERS, structure.type.reader(structure.data)
    count = len(structure.children)
    parts = [_part(child, slots) for child in structure.children]
    leaves = [part for part in parts if isinstance(part, _Leaf)]

    if count and len(leaves) == count and all(leaf.likeness == leaves[0].likeness for leaf in leaves):
        # Many layers or the entries of a dict: one look at all of them.
        classes, expected, likeness = [leaf.cls for leaf in leaves], [leaf.expected for leaf in leaves], leaves[0].likeness

        def of_leaves(value: Any, values: list[Any]) -> bool:
            if handlers.get(type(value)) is not node_type:
                return False
            children = read(value)
            if children is None or [*map(type, children)] != classes or [*map(likeness, children)] != expected:
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
        for part, child in zip(parts, children):  # noqa: SIM110 - a generator costs more
            if not part(child, values):
                return False
        return True

    return of_trees


def _held(structure: Node, slots: Iterator[tuple[Any, Any]]) -> Part:
    for _ in range(count_slots(structure)):
        next(slots)
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
