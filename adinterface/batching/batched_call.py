"""Batched calls: some arrays have a leading axis, and an operator is repeated over its entries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..core.call.call import Call
from ..core.call.cotangents import NativeMatch, name_of_tangent, require_one_each
from ..core.call.plan import Plan
from ..core.contract.arrays import full_like, library_of
from ..core.contract.backend import Arrays, Backend
from ..core.contract.errors import TreeError
from ..core.contract.library import PYTHON
from ..core.contract.nodes import Around
from ..core.contract.registry import REGISTRY
from ..core.derive.basis import namespace_of, zero_entry
from ..core.tree import Node, Slot, Structure
from ..core.tree.structures import Marker
from .duplicated import DUPLICATED

T = TypeVar("T")
_ANOTHER = "There is one axis; for another, call batched inside f."


class Each(Generic[T]):
    """Marks an array with a leading axis for `batched`, or a tree in which every array has one.

    It may be at any node of an argument, around or inside a Constant, and in keyword arguments; f
    receives one entry.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, Each, batched, derivative
    >>> batched(derivative, lambda x: x**2, AutoFiniteDifferences(), Each(np.array([1.0, 2.0,
    ...     3.0]))).round(6)
    array([2., 4., 6.])
    """

    __slots__ = ("value",)

    def __init__(self, value: T):
        self.value: T = value

    def __repr__(self) -> str:
        return f"Each({self.value!r})"


@dataclass(frozen=True)
class Axis:
    """The leading axis of a call: the marks of its plan."""

    #: Whether each slot has the axis.
    each: tuple[bool, ...]
    #: The length of the axis; None if no slot has it.
    count: int | None
    #: How many numbers one entry differentiates.
    inputs: int

    def shape_in_f(self, n: int, shape: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of a slot's value as f gets it: that of one entry."""
        return shape[1:] if self.each[n] else shape


class _Each(Marker):
    marks_argument = True

    def around(self, operator: Any, plan: Any) -> Around | None:
        if not isinstance(plan.marks, Axis):
            raise TypeError(
                f"{operator.name}: Each(...) marks a leading axis for batched alone. Call"
                f" batched({operator.name}, f, backend, ...), or pass the array itself."
            )
        return None


EACH = _Each(Each)
REGISTRY.node_types[Each] = EACH


def axis_of(plan: Plan, values: Sequence[Any]) -> Axis:
    """The axis of a batched call.

    Raises TreeError for values in Each without a leading axis, or of unequal lengths.
    """
    if DUPLICATED in plan.node_types():
        raise TypeError(
            "batched: Duplicated(...) has room for one gradient, not for one of each entry. Pass"
            " the model itself, or the gradient of a mean over the entries with Duplicated."
        )
    shapes: list[tuple[int, ...] | None] = []
    count, first = None, ""
    for path, structure in plan.places():
        for place, marked in _marked(structure, path, False):
            n = len(shapes)
            shape = (
                _shape_of_stack(plan.backend, plan.slots[n], values[n], place) if marked else None
            )
            shapes.append(shape)
            if shape is None:
                continue
            if not shape:
                raise TreeError(
                    f"batched: {place} is 0-d and has no leading axis, so it cannot stand in"
                    " Each(...)."
                )
            if count is None:
                count, first = shape[0], place
            elif shape[0] != count:
                raise TreeError(
                    "batched: everything in Each(...) must have the same leading axis, but that of"
                    f" {place} has length {shape[0]}, and that of {first} {count}."
                )
    slots = [(plan.slots[n].library, values[n], shapes[n]) for n in plan.active]
    entries = [
        library.shape(value) if stack is None else stack[1:]
        for library, value, stack in slots
        if library is not None
    ]
    each = tuple([shape is not None for shape in shapes])
    return Axis(each, count, sum(map(math.prod, entries)))


def _shape_of_stack(backend: Backend, slot: Slot, value: Any, path: str) -> tuple[int, ...] | None:
    """The shape of a marked value.

    None for strings, functions and integers inside trees, which have no axis.
    """
    if slot.library is PYTHON:
        raise TreeError(
            f"batched: {path} is the {type(value).__name__} {value!r}, which has no leading axis."
            " Make it an array with an entry for each, or leave it outside of Each(...), and it is"
            " shared."
        )
    if slot.library is not None:
        return slot.library.shape(value)
    library = backend.library
    if library is not None and library.owns(value):  # random keys
        return library.shape(value)
    return None


def _marked(structure: Structure, path: str, marked: bool) -> Iterator[tuple[str, bool]]:
    """The path of every slot, and whether it is inside an Each."""
    if not isinstance(structure, Node):
        yield path, marked
        return
    if structure.type is EACH:
        if marked:
            raise TreeError(f"batched: {path} is an Each inside an Each. {_ANOTHER}")
        marked = True
    if structure.type.is_owner and marked:
        raise TreeError(
            f"batched: {path} is an object whose code computes with one set of parameters, so it"
            " cannot stand in Each(...). Stack the parameters as a dict, Each(dict), and call the"
            " object with them inside f."
        )
    for _ in structure.children[len(structure.inner) :]:  # the object itself, or data
        yield path, False
    for key, child in zip(structure.keys(), structure.inner):
        yield from _marked(child, path + key, marked)


class _BatchedMatch(NativeMatch):
    """Tangents that may be in an Each or not, independent of the arguments.

    Those of `push` are stacks without it.
    """

    #: Why an Each cannot stand in a stack.
    refusal = f"is an Each inside an Each. {_ANOTHER}"

    def walk(
        self, structure: Structure, other: Any, path: str
    ) -> Iterator[tuple[str, Structure, Any]]:
        if isinstance(structure, Node) and structure.type is EACH:
            structure = structure.children[0]
        if type(other) is not Each:
            yield from super().walk(structure, other, path)
            return
        if self.stacked or type(other.value) is Each:
            raise TreeError(f"batched: {path} {self.refusal}")
        self.stacked = True
        yield from self.walk(structure, other.value, path)
        self.stacked = False

    def _leaf(self, array: Any, given: Any, path: str) -> Any:
        return super()._leaf(array, given, path), self.stacked


def stacked_tangents(call: Call, tangents: Sequence[Any], stacked: bool = False) -> Arrays:
    """A native stack of tangents for each active leaf of the call, after `enter`."""
    if stacked:
        raise TypeError(
            "batched: push.stacked has no place for a second axis next to that of the entries. Call"
            " push for each of the stack."
        )
    plan, axis = call.plan, call.plan.marks
    assert isinstance(axis, Axis)
    backend = plan.backend
    require_one_each(plan, tangents)
    entries = tuple(
        [zero_entry(backend, x) if axis.each[n] else x for n, x in zip(plan.active, call.leaves)]
    )
    match = _BatchedMatch(backend, entries, "the tangent")
    match.count = axis.count
    if plan.operator.name == "linearize":
        match.stacked, match.refusal = (
            True,
            "is an Each, but push takes stacks as back does. Pass the array itself.",
        )
    for i, (structure, tangent) in enumerate(zip(plan.structures, tangents)):
        match.read(structure, tangent, name_of_tangent(plan, i))
    if match.count is None:
        raise TypeError(no_each(plan.operator.name))
    stacks: list[Any] = []
    for entry, given in match.pairs:
        if given is None:
            stacks.append(full_like(backend, entry, 0.0, match.count))
            continue
        array, stacked = given
        call.occupy(array)
        shape = library_of(backend, entry).shape(entry)
        stacks.append(
            array
            if stacked
            else namespace_of(backend, (array,)).broadcast_to(array, (match.count, *shape))
        )
    return tuple(stacks)


def no_each(operator: str) -> str:
    return (
        f"batched({operator}, f, backend, ...): nothing is marked with Each(...), so there is no"
        " axis to repeat over. Mark what has one, such as Constant(Each(x)) for data, or call"
        f" {operator} itself."
    )
