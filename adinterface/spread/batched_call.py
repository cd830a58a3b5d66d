"""Batched calls: some arrays have a leading axis, and an operator is repeated over its entries."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.call.call import Call
from ..core.call.cotangents import NativeMatch, require_one_each
from ..core.call.plan import Plan, holds
from ..core.contract.arrays import full_like, library_of, library_of_array
from ..core.contract.backend import Arrays
from ..core.contract.errors import TreeError
from ..core.contract.library import PYTHON
from ..core.derive.basis import namespace_of, zero_entry
from ..core.tree import DUPLICATED, EACH, Each, Leaf, Node, Structure, flatten_argument, is_promoted

_ANOTHER = "There is one axis; for another, call batched inside f."


class BatchedPlan(Plan):
    """A plan that records which slots have the leading axis."""

    def _see_markers(self, values: Sequence[Any]) -> None:
        if any(holds(structure, DUPLICATED) for structure in (*self.structures, *self.keywords.values())):
            raise TypeError(
                "batched: Duplicated(...) has room for one gradient, not for one of each entry. Pass the model itself, or the "
                "gradient of a mean over the entries with Duplicated."
            )
        self.duplicated: tuple[int, ...] = ()
        #: For every slot, whether it has the axis; and the length of the axis, or None if no slot has it.
        self.each: list[bool] = []
        self.count: int | None = None
        places = [*[(f"args[{i}]", structure) for i, structure in enumerate(self.structures)], *self.keywords.items()]
        first = ""
        for path, structure in places:
            for place, marked in _marked(structure, path, False):
                n = len(self.each)
                shape = self._shape_of_stack(n, values[n], place) if marked else None
                self.each.append(shape is not None)
                if shape is None:
                    continue
                if not shape:
                    raise TreeError(f"batched: {place} is 0-d and has no leading axis, so it cannot stand in Each(...).")
                if self.count is None:
                    self.count, first = shape[0], place
                elif shape[0] != self.count:
                    raise TreeError(
                        f"batched: everything in Each(...) must have the same leading axis, but that of {place} has length "
                        f"{shape[0]}, and that of {first} {self.count}."
                    )
        #: The count of numbers that one entry differentiates.
        shapes = [
            (slot.library.shape(value), each)
            for slot, value, each in zip(self.slots, values, self.each)
            if slot.differentiated and slot.library is not None
        ]
        self.inputs: int = sum(math.prod(shape[1:] if each else shape) for shape, each in shapes)

    def _shape_of_stack(self, n: int, value: Any, path: str) -> tuple[int, ...] | None:
        """The shape of a marked value; None for strings, functions and integers inside trees, which have no axis."""
        slot = self.slots[n]
        if slot.library is PYTHON:
            raise TreeError(
                f"batched: {path} is the {type(value).__name__} {value!r}, which has no leading axis. Make it an array with an "
                f"entry for each, or leave it outside of Each(...), and it is shared."
            )
        if slot.library is not None:
            return slot.library.shape(value)
        library = self.backend.library
        if library is not None and library.compiles_other and library.owns(value):  # random keys
            return library.shape(value)
        return None

    def _flatten(self, i: int, arg: Any, leaves: list[Leaf]) -> Structure:
        if type(arg) is Each and type(arg.value) is not int and is_promoted(arg.value):  # as without the axis
            self.promoted.append(i)
            return Node(EACH, None, (flatten_argument(arg.value, leaves, f"args[{i}]"),), Each)
        return super()._flatten(i, arg, leaves)

    def shape_of(self, n: int) -> tuple[int, ...]:
        shape = super().shape_of(n)
        return shape[1:] if self.each[n] else shape


def _marked(structure: Structure, path: str, marked: bool) -> Iterator[tuple[str, bool]]:
    """The path of every slot, and whether it is inside an Each."""
    if not isinstance(structure, Node):
        yield path, marked
        return
    if structure.type is EACH:
        if marked:
            raise TreeError(f"batched: {path} is an Each inside an Each. {_ANOTHER}")
        marked = True
    if structure.type.held and marked:
        raise TreeError(
            f"batched: {path} is an object whose code computes with one set of parameters, so it cannot stand in "
            f"Each(...). Stack the parameters as a dict, Each(dict), and call the object with them inside f."
        )
    for _ in structure.children[len(structure.inner) :]:  # the object itself, or data
        yield path, False
    for key, child in zip(structure.keys(), structure.inner):
        yield from _marked(child, path + key, marked)


class _BatchedMatch(NativeMatch):
    """Tangents that may be in an Each or not, independent of the arguments."""

    def walk(self, structure: Structure, other: Any, path: str) -> Iterator[tuple[str, Structure, Any]]:
        if isinstance(structure, Node) and structure.type is EACH:
            structure = structure.children[0]
        if type(other) is not Each:
            yield from super().walk(structure, other, path)
            return
        if self.stacked or type(other.value) is Each:
            raise TreeError(f"batched: {path} is an Each inside an Each. {_ANOTHER}")
        self.stacked = True
        yield from self.walk(structure, other.value, path)
        self.stacked = False

    def _leaf(self, array: Any, given: Any, path: str) -> Any:
        return super()._leaf(array, given, path), self.stacked


def stacked_tangents(call: Call, tangents: Sequence[Any], stacked: bool, name: str | None) -> Arrays:
    """A native stack of tangents for each active leaf of the call, after `enter`."""
    if stacked:
        raise TypeError(
            "batched: push.stacked has no place for a second axis next to that of the entries. Call push for each of the stack."
        )
    plan = call.plan
    assert isinstance(plan, BatchedPlan)
    backend = plan.backend
    require_one_each(plan, tangents)
    entries = tuple([zero_entry(backend, x) if plan.each[n] else x for n, x in zip(plan.active, call.native)])
    match = _BatchedMatch(backend, entries, "the tangent")
    match.count = plan.count
    for i, (structure, tangent) in enumerate(zip(plan.structures, tangents)):
        match.read(structure, tangent, name or f"tangents[{i}]")
    if match.count is None:
        raise TypeError(no_each(plan.operator))
    stacks: list[Any] = []
    for entry, given in match.pairs:
        if given is None:
            stacks.append(full_like(backend, entry, 0.0, match.count))
            continue
        array, stacked = given
        call.take(array)
        shape = library_of(backend, entry).shape(entry)
        stacks.append(array if stacked else namespace_of(backend, (array,)).broadcast_to(array, (match.count, *shape)))
    return tuple(stacks)


class BatchedCall(Call):
    """A call whose results have the leading axis."""

    __slots__ = ()

    native_tangents = stacked_tangents

    def gradients(self, native: Sequence[Any]) -> tuple[Any, ...]:
        return self.plan.gradients([self._gradient(k, gradient) for k, gradient in enumerate(native)], self.values)

    def _gradient(self, k: int, gradient: Any) -> Any:
        n = self.plan.active[k]
        library: Any = self.plan.slots[n].library
        if library is PYTHON:
            return self._in_form(self.present(gradient), library)
        like = self.values[n]
        restored = library.restore(gradient, library_of_array(gradient), like, self.plan.dtypes[k], self.taken)
        return self._in_form(restored, library)


def no_each(operator: str) -> str:
    return (
        f"batched({operator}, f, backend, ...): nothing is marked with Each(...), so there is no axis to repeat over. Mark "
        f"what has one, such as Constant(Each(x)) for data, or call {operator} itself."
    )
