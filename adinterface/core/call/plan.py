"""Plans: what the arguments of a call decide, whatever their numbers are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Any, NamedTuple

import numpy as np

from ..contract.backend import Backend
from ..contract.errors import AdinterfaceError
from ..contract.library import (
    NUMPY,
    PYTHON,
    Enter,
    Library,
    Scoping,
    ToLeaf,
    complex_of,
    widest,
)
from ..contract.nodes import Around, NodeType
from ..support.static_values import Unkeyed
from ..tree import (
    CONSTANT,
    DIFFERENTIATED,
    Flattening,
    Node,
    Owner,
    Signature,
    Slot,
    Structure,
    count_leaves,
    is_floating_array,
    is_in_front,
    is_promoted,
)
from ..tree.structures import is_stateful
from .row import Compute, OperatorRow


class Engines(NamedTuple):
    """The backends of an operator on a backend value."""

    #: Those of second derivatives, both the same otherwise.
    outer: Backend
    inner: Backend
    #: The one whose arrays f gets, and all whose options hold for a call.
    backend: Backend
    backends: tuple[Backend, ...]


@dataclass(frozen=True)
class Plan:
    """Where each value of a call stands in the arguments of f, and how it is converted.

    `slots` has an entry for each leaf and for each static value, in the order in which `structures`
    and `keywords` refer to them. All calls with one signature share a plan.
    """

    operator: OperatorRow
    #: See `Engines`.
    outer: Backend
    inner: Backend
    backend: Backend
    backends: tuple[Backend, ...]
    #: Whether one of them estimates its errors.
    estimates: bool
    #: What the engine computes: that of the operator, or compiled.
    compute: Compute

    # places

    #: One for each argument, and for each keyword argument.
    structures: tuple[Structure, ...]
    keywords: Mapping[str, Structure]
    slots: tuple[Slot, ...]
    #: The differentiated slots, and the others.
    active: tuple[int, ...]
    carried: tuple[int, ...]
    #: The dtype of each active leaf as f gets it, and all dtypes of the call.
    dtypes: tuple[str, ...]
    all_dtypes: tuple[str, ...]
    #: The slots of arrays without numbers, such as strings and dates: compiled code contains their
    #: values.
    without_numbers: tuple[int, ...]
    #: The slots of `Owner` objects and `CallData`, see `is_in_front`.
    owners: tuple[int, ...]
    #: Indices into active: leaves in an owner, such as the parameters of a module that f gets
    #: itself.
    owned: frozenset[int]
    #: The indices of the arguments in which something is differentiated, and of the promoted
    #: integers.
    active_arguments: tuple[int, ...]
    promoted: tuple[int, ...]
    #: The slots of Python numbers, of 0-d NumPy arrays, and of floating leaves of Constants inside
    #: arguments.
    python_numbers: tuple[int, ...]
    zero_d_arrays: tuple[int, ...]
    inner_constants: tuple[int, ...]
    #: Whether each argument is one differentiated leaf, and there are no keywords.
    single: bool
    #: The slots of Constants and keywords that may be in a graph of the engine.
    side_inputs: tuple[int, ...]
    #: The signature of the differentiated arguments: tangents with that signature need no other
    #: check. None: unknown.
    tangent_key: Any
    #: What an extension's markers, such as `Each`, say of the slots.
    marks: Any = None

    # conversions, made by `with_conversions`

    #: The library of f's arrays, and that of results without a leaf's shape: of the first
    #: differentiated array.
    library: Library = NUMPY
    result_library: Library = NUMPY
    #: Whether a 0-d result is a Python number.
    python_result: bool = False
    #: The conversion of each slot for f; None where all are the identity.
    enters: tuple[Enter, ...] | None = None
    #: The conversions of gradients; None where all are the identity.
    to_leaf: tuple[ToLeaf, ...] | None = None
    #: The direct conversion of a result to the result library; None where there is none.
    to_user: ToLeaf | None = None
    #: Wraps an array in the class that represents one array in the arguments; None if there is no
    #: such class.
    stand_in: Callable[[Any], Any] | None = None
    #: Makes the context in which the engine evaluates the call; None if there is none.
    scope: Scoping | None = None

    #: Whether the engine does not mark what it traces, so that the core records that f is
    #: evaluated.
    records_evaluation: bool = False
    #: What surrounds the calls, for objects that they write to.
    around: tuple[Around, ...] = ()

    def of(self, row: OperatorRow) -> Plan:
        """This plan for another operator with the same arguments."""
        return replace(self, operator=row, compute=row.compute)

    def places(self) -> Iterator[tuple[str, Structure]]:
        """The structure of each argument and keyword, with its path."""
        yield from [(f"args[{i}]", structure) for i, structure in enumerate(self.structures)]
        yield from self.keywords.items()

    def node_types(self) -> list[NodeType]:
        nodes = [node for _, structure in self.places() for node in structure.nodes()]
        return list(dict.fromkeys([node.type for node in nodes]))

    def arguments(self, values: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments and keywords of f, from the values of all slots."""
        each = iter(values)
        args = [structure.build(each) for structure in self.structures]
        return args, {name: structure.build(each) for name, structure in self.keywords.items()}

    def gradients(self, gradients: Sequence[Any], values: Sequence[Any]) -> tuple[Any, ...]:
        """One tree for each argument, from the gradients and the values of all slots."""
        if self.single:
            return tuple(gradients)
        each, owners = iter(gradients), iter([values[n] for n in self.owners])
        return tuple([structure.gradient(each, owners) for structure in self.structures])

    def values_like_arguments(self, tangents: Sequence[Any]) -> Sequence[Any] | None:
        """The leaves of tangents whose signatures are those of the arguments; or None."""
        active = self.active_arguments
        if self.tangent_key is None or len(tangents) != len(self.structures):
            return None
        if len(active) < len(tangents):
            if any(tangents[i] is not None for i in range(len(tangents)) if i not in active):
                return None
            tangents = [tangents[i] for i in active]
        try:
            signature = Signature(tangents, {})
        except (Unkeyed, AdinterfaceError, RecursionError):
            return None
        return signature.values if signature.key == self.tangent_key else None


def lay_out(
    row: OperatorRow, engines: Engines, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Plan, Sequence[Any]]:
    """The plan of such calls, without conversions yet; and the values of its slots."""
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
    native_dtypes, all_dtypes = _dtypes(slots)
    library = engines.backend.library or NUMPY
    plan = Plan(
        operator=row,
        **engines._asdict(),
        estimates=engines.outer.estimates or engines.inner.estimates,
        compute=row.compute,
        structures=tuple(structures),
        keywords=keywords,
        slots=tuple(slots),
        active=active,
        carried=tuple([n for n, slot in enumerate(slots) if not slot.differentiated]),
        dtypes=native_dtypes,
        all_dtypes=all_dtypes,
        without_numbers=tuple(
            [n for n, slot in enumerate(slots) if slot.library is None and slot.dtype]
        ),
        owners=tuple([n for n, value in enumerate(values) if is_in_front(value)]),
        owned=frozenset(_owned_once(slots, values)),
        active_arguments=tuple(active_arguments),
        promoted=tuple(promoted),
        python_numbers=tuple([n for n, x in enumerate(values) if type(x) in (float, complex, int)]),
        zero_d_arrays=tuple(
            [n for n, x in enumerate(values) if type(x) is np.ndarray and not x.ndim]
        ),
        inner_constants=tuple(_inner_constants((*structures, *keywords.values()), values)),
        single=not keywords and all(place is DIFFERENTIATED for place in structures),
        side_inputs=tuple(
            [n for n, value in enumerate(values) if _may_be_recorded(library, slots[n], value)]
        ),
        tangent_key=_tangent_key(structures, active, active_arguments, promoted, args),
        records_evaluation="traced" not in library.gives,
    )
    return plan, values


def _dtypes(slots: Sequence[Slot]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The dtype of each active leaf as f gets it, and all dtypes of the call.

    Slots of dtype float32, "float" and "int" -> `("float32", "float32", "float32")`,
    `("float32",)`.
    """
    array_dtypes = [slot.dtype for slot in slots if slot.library not in (None, PYTHON)]
    real = widest(array_dtypes)
    dtypes: list[str] = []
    for slot in slots:
        if not slot.differentiated:
            continue
        if slot.dtype == "complex":
            dtypes.append(complex_of(real))
        elif slot.dtype == "float" or is_promoted(slot.dtype):
            dtypes.append(real)
        else:
            dtypes.append(slot.dtype)
    return tuple(dtypes), tuple(dict.fromkeys([*array_dtypes, *dtypes]))


def _owned_once(slots: Sequence[Slot], values: Sequence[Any]) -> Iterator[int]:
    """The active leaves in an owner, as indices.

    The second place of a leaf is another variable, so only the first counts.
    """
    ids: set[int] = set()
    active = [(slot, value) for slot, value in zip(slots, values) if slot.differentiated]
    for k, (slot, value) in enumerate(active):
        if slot.owner is not None and id(value) not in ids:
            ids.add(id(value))
            yield k


def _inner_constants(structures: Sequence[Structure], values: Sequence[Any]) -> Iterator[int]:
    places = iter(range(len(values)))
    for structure in structures:
        yield from [n for n in _frozen(structure, places) if _is_floating(values[n])]


def _is_floating(value: Any) -> bool:
    return type(value) in (float, complex) or is_floating_array(value)


def _frozen(
    structure: Structure, places: Iterator[int], inside: bool = False, root: bool = True
) -> Iterator[int]:
    """The places in a Constant inside an argument, not those in a Constant that is an argument."""
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


#: Static values that refer to no array of an engine. An owner refers to the leaves of the call
#: alone.
_PLAIN = frozenset({bool, str, bytes, type, NoneType, Owner, float, complex, int})


def _may_be_recorded(library: Library, slot: Slot, value: Any) -> bool:
    if slot.differentiated:
        return False
    if slot.library is None:
        return type(value) not in _PLAIN
    return slot.owner is None and (slot.library is library or slot.library not in (NUMPY, PYTHON))


def _tangent_key(
    structures: Sequence[Structure],
    active: Sequence[int],
    active_arguments: Sequence[int],
    promoted: Sequence[int],
    args: Sequence[Any],
) -> Any:
    count = sum([count_leaves(structures[i]) for i in active_arguments])
    if promoted or count != len(active):
        return None
    try:
        return Signature([args[i] for i in active_arguments], {}).key
    except Unkeyed:
        return None
