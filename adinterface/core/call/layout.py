"""The layout of a call: which values f gets, and where. It depends on the arguments, not on the backend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contract.ambient import Kinds
from ..contract.library import PYTHON, complex_of, widest
from ..contract.nodes import NodeType
from ..contract.structures import is_stateful
from ..tree import (
    CONSTANT,
    DIFFERENTIATED,
    Flattening,
    Node,
    Slot,
    Structure,
    is_floating_array,
    is_in_front,
    is_promoted,
)


@dataclass(frozen=True)
class Layout:
    """Where the values of a call stand in the arguments of f.

    `slots` has an entry for each leaf and for each static value, in the order in which `structures` and `keywords` refer to
    them. Structures hold slots in place of values, so a layout keeps no argument alive.
    """

    #: One for each argument, and for each keyword argument.
    structures: tuple[Structure, ...]
    keywords: Mapping[str, Structure]
    slots: tuple[Slot, ...]
    #: The differentiated slots, and the others.
    active: tuple[int, ...]
    carried: tuple[int, ...]
    #: For each slot, its index into active + carried.
    order: tuple[int, ...]
    #: The dtype of each active leaf as f gets it, and all dtypes of the call.
    dtypes: tuple[str, ...]
    all_dtypes: tuple[str, ...]
    #: The slots of arrays without numbers, such as strings and dates: compiled code contains their values.
    without_numbers: tuple[int, ...]
    #: The slots of `Owner` objects and `Given` data, see `is_in_front`.
    owners: tuple[int, ...]
    #: Indices into active: leaves in an owner, such as the parameters of a module that f gets itself.
    owned: frozenset[int]
    #: The indices of the arguments in which something is differentiated, and of the promoted integers.
    active_arguments: tuple[int, ...]
    promoted: tuple[int, ...]
    #: Indices into active + carried: 0-d NumPy arrays, Python numbers, and leaves of Constants inside arguments.
    kinds: Kinds
    #: Whether each argument is one differentiated leaf, and there are no keywords.
    single: bool

    def places(self) -> Iterator[tuple[str, Structure]]:
        """The structure of each argument and keyword, with its path."""
        yield from [(f"args[{i}]", structure) for i, structure in enumerate(self.structures)]
        yield from self.keywords.items()

    def node_types(self) -> list[NodeType]:
        return list(dict.fromkeys(node.type for _, structure in self.places() for node in structure.nodes()))

    def arguments(self, active: Sequence[Any], carried: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments and keywords of f, from the values of the active slots and of the carried ones."""
        both = (*active, *carried)
        leaves = iter(both if not carried else [both[n] for n in self.order])
        args = [structure.build(leaves) for structure in self.structures]
        return args, {name: structure.build(leaves) for name, structure in self.keywords.items()}

    def gradients(self, gradients: Sequence[Any], values: Sequence[Any]) -> tuple[Any, ...]:
        """One tree for each argument, from the gradients of all active leaves and the values of all slots."""
        each, owners = iter(gradients), iter([values[n] for n in self.owners])
        return tuple([structure.gradient(each, owners) for structure in self.structures])


def lay_out(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Layout, Sequence[Any]]:
    """The layout of such arguments, and the values of its slots."""
    traversal = Flattening()
    slots, values = traversal.slots, traversal.values
    structures: list[Structure] = []
    active_arguments: list[int] = []
    promoted: list[int] = []
    for i, arg in enumerate(args):
        before = len(slots)
        structures.append(traversal.argument(arg, f"args[{i}]"))
        dtypes = [slot.dtype for slot in slots[before:] if slot.differentiated]
        if dtypes:
            active_arguments.append(i)
        if any(map(is_promoted, dtypes)):
            promoted.append(i)
    keywords = {name: traversal.keyword(value, name) for name, value in kwargs.items()}
    active = tuple([n for n, slot in enumerate(slots) if slot.differentiated])
    carried = tuple([n for n, slot in enumerate(slots) if not slot.differentiated])
    order = tuple(sorted(range(len(slots)), key=(*active, *carried).__getitem__))
    native_dtypes, all_dtypes = _dtypes(slots)
    layout = Layout(
        structures=tuple(structures),
        keywords=keywords,
        slots=tuple(slots),
        active=active,
        carried=carried,
        order=order,
        dtypes=native_dtypes,
        all_dtypes=all_dtypes,
        without_numbers=tuple([n for n, slot in enumerate(slots) if slot.library is None and slot.dtype]),
        owners=tuple([n for n, value in enumerate(values) if is_in_front(value)]),
        owned=frozenset(_owned_once(slots, values)),
        active_arguments=tuple(active_arguments),
        promoted=tuple(promoted),
        kinds=_kinds((*structures, *keywords.values()), order, [values[n] for n in (*active, *carried)]),
        single=not keywords and all(place is DIFFERENTIATED for place in structures),
    )
    return layout, values


def _dtypes(slots: Sequence[Slot]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The dtype of each active leaf as f gets it, and all dtypes of the call.

    Slots of dtype float32, "float" and "int" -> `("float32", "float32", "float32")`, `("float32",)`.
    """
    array_dtypes = [slot.dtype for slot in slots if slot.library is not None and slot.library is not PYTHON]
    real = widest(array_dtypes)
    dtypes: list[str] = []
    for slot in slots:
        if slot.differentiated:
            number = slot.dtype == "float" or is_promoted(slot.dtype)
            dtypes.append(complex_of(real) if slot.dtype == "complex" else real if number else slot.dtype)
    return tuple(dtypes), tuple(dict.fromkeys([*array_dtypes, *dtypes]))


def _owned_once(slots: Sequence[Slot], values: Sequence[Any]) -> Iterator[int]:
    """The active leaves in an owner, as indices. The second place of a leaf is another variable, so only the first counts."""
    ids: set[int] = set()
    for k, (slot, value) in enumerate([pair for pair in zip(slots, values) if pair[0].differentiated]):
        if slot.owner is not None and id(value) not in ids:
            ids.add(id(value))
            yield k


def _kinds(structures: Sequence[Structure], order: Sequence[int], both: Sequence[Any]) -> Kinds:
    places = iter(order)
    frozen = [k for structure in structures for k in _frozen(structure, places)]
    return Kinds(
        arrays=tuple([k for k, value in enumerate(both) if type(value) is np.ndarray and not value.ndim]),
        numbers=tuple([k for k, value in enumerate(both) if type(value) in (float, complex, int)]),
        constants=tuple([k for k in frozen if type(both[k]) in (float, complex) or is_floating_array(both[k])]),
    )


def _frozen(structure: Structure, places: Iterator[int], inside: bool = False, root: bool = True) -> Iterator[int]:
    """The places in a Constant inside an argument: one that is the whole argument does not count."""
    if not isinstance(structure, Node):
        place = next(places)
        if inside:
            yield place
        return
    # f gets an owner or a stateful object itself, with the Constants in it.
    plain = not structure.type.is_owner and not is_stateful(structure.type)
    inside = plain and (inside or (structure.type is CONSTANT and not root))
    for child in structure.children:
        yield from _frozen(child, places, inside, False)


__all__ = ["Layout", "lay_out"]
