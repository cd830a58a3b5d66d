"""Plans: what the arguments of a call decide, independent of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from types import NoneType
from typing import Any

import numpy as np

from ..contract.backend import Backend
from ..contract.cache import Cache
from ..contract.errors import AdinterfaceError, NotDifferentiableError
from ..contract.library import (
    NUMPY,
    PYTHON,
    Enter,
    Leave,
    LeaveAll,
    Library,
    Scoping,
    any_wide,
    as_it_is,
    complex_of,
    kind,
    widest,
)
from ..contract.nodes import NodeType, Unkeyed
from ..tree import (
    CARRIED,
    CONSTANT,
    DIFFERENTIATED,
    DUPLICATED,
    EACH,
    Constant,
    Given,
    GivenConstant,
    Holder,
    Leaf,
    Node,
    Static,
    Structure,
    count_leaves,
    flatten,
    flatten_argument,
    handler_of,
    is_floating_array,
    is_promoted,
)
from .messages import nothing_differentiable
from .passages import (
    Entrance,
    Slot,
    entering,
    entering_compiled,
    leaving,
    leaving_all,
    number_of,
    unless_as_they_are,
)
from .signature import Signature


class Plan:
    """Everything that a call's arguments decide independent of their numbers: made once for each signature.

    `slots` has an entry for each leaf and for each value without a gradient, in the order in which `structures` and `keywords`
    refer to them. Structures hold slots in place of values, so a plan keeps no argument alive.
    """

    def __init__(
        self,
        operator: str,
        backend: Backend,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        *,
        copy: bool = False,
        backends: Sequence[Backend] = (),
    ):
        self.operator: str = operator
        self.backend: Backend = backend
        #: The indices of the promoted integer arguments, and of the arguments in which something is differentiated.
        self.promoted: list[int] = []
        self.active_arguments: list[int] = []
        #: Whether the call computes with copies of the arguments.
        self.copy = copy
        values = self._take_apart(args, kwargs)
        self._see_markers(values)
        #: Whether a call writes into an argument: f's changes, or gradients in buffers.
        self.writes: bool = self.stateful or bool(self.duplicated)
        slots = self.slots
        #: The differentiated slots, and the others.
        self.active: tuple[int, ...] = tuple([n for n, slot in enumerate(slots) if slot.differentiated])
        self.carried: tuple[int, ...] = tuple([n for n, slot in enumerate(slots) if not slot.differentiated])
        self._choose_dtypes()
        #: The library of f's arrays, and the library of results without a leaf's shape: that of the first differentiated array.
        self.library: Library = backend.library or NUMPY
        libraries = [slots[n].library for n in self.active]
        self.result_library: Library = next((library for library in libraries if library is not PYTHON), NUMPY)  # type: ignore[assignment]
        self.python_result: bool = all(library is PYTHON for library in libraries)
        #: The direct conversion to that library, where there is one.
        self.present = None if backend.library is None or self.python_result else backend.library.present(self.result_library)
        #: Wraps an array in the class that represents one array in the arguments; None if no argument has such a class.
        wraps = map(_stand_in, [*self.structures, *self.keywords.values()])
        self.stand_in: Callable[[Any], Any] | None = next(filter(None, wraps), None)
        if self.stand_in is not None:
            self.present = None
        #: The active leaves that f reaches through the object that holds them. A leaf in two places is two variables, so the
        #: second place gets a copy.
        holders = [values[n] if slots[n].holder is not None else None for n in self.active]
        self.held: frozenset[int] = frozenset(_held_once(holders))
        both = [values[n] for n in (*self.active, *self.carried)]
        #: Indices, into active + carried, of 0-d NumPy arrays.
        self.of_no_axes: tuple[int, ...] = tuple([k for k, value in enumerate(both) if _is_of_no_axes(value)])
        #: Indices, into active + carried, of Python numbers.
        self.of_python: tuple[int, ...] = tuple([k for k, value in enumerate(both) if type(value) in _PYTHONS])
        #: Arrays without numbers, such as strings, which a compiler takes unconverted.
        given = [k for k, n in enumerate(self.carried) if self._may_be_recorded(slots[n], values[n])]
        #: Indices, into carried, of Constants and keywords that may be in a graph of the engine.
        self.given: tuple[int, ...] = tuple(given)
        inert = [n for n, slot in enumerate(slots) if slot.library is None and _is_inert(values[n])]
        self.inert: tuple[int, ...] = tuple(inert)
        self._choose_passages(values)
        self._choose_builders()
        order = iter(self.order)
        frozen = [k for root in (*self.structures, *self.keywords.values()) for k in _frozen(root, order)]
        #: Indices, into active + carried, of the floating numbers in Constants inside the arguments.
        self.constants: tuple[int, ...] = tuple([k for k in frozen if _is_floating(both[k])])
        #: Enters the context of the evaluation; None if there is none.
        self.scope: Scoping | None = self._scope(backends or (backend,))
        #: The values of the arguments that the plan was made for; None once it is cached.
        self.values: Sequence[Any] = values
        #: The signature of the differentiated arguments: tangents with that signature need no other check.
        self._active_key: Any = None

    # the arguments

    def _take_apart(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        leaves: list[Leaf] = []
        flat: list[Structure] = []
        for i, arg in enumerate(args):
            before = len(leaves)
            flat.append(self._flatten(i, arg, leaves))
            if any(leaf.differentiated for leaf in leaves[before:]):
                self.active_arguments.append(i)
        words = {name: flatten(Constant(value), leaves, lambda name=name: name) for name, value in kwargs.items()}  # type: ignore[misc]
        remaining = iter(leaves)
        slots: list[Slot] = []
        values: list[Any] = []
        self.structures: tuple[Structure, ...] = tuple([_slotted(structure, remaining, slots, values) for structure in flat])
        self.keywords: dict[str, Structure] = {name: _slotted(word, remaining, slots, values) for name, word in words.items()}
        self.slots: tuple[Slot, ...] = tuple(slots)
        #: Indices of the objects through which f reaches leaves, and of the data of nodes.
        self.holders: tuple[int, ...] = tuple([n for n, value in enumerate(values) if type(value) in (Holder, Given)])
        #: Whether f can write into an argument, so that the caller's object must be updated.
        self.stateful: bool = any(node.type.stateful for structure in (*flat, *words.values()) for node in structure.nodes())
        if not self.active_arguments:
            raise NotDifferentiableError(nothing_differentiable(self.operator, self.structures, zip(slots, values)))
        return values

    def _flatten(self, i: int, arg: Any, leaves: list[Leaf]) -> Structure:
        structure = flatten_argument(arg, leaves, f"args[{i}]")
        if is_promoted(arg):
            self.promoted.append(i)
        return structure

    def _see_markers(self, values: Sequence[Any]) -> None:
        """Check the markers around arguments, other than Constant."""
        places = [*self.structures, *self.keywords.values()]
        if any(holds(structure, EACH) for structure in places):
            raise TypeError(
                f"{self.operator}: Each(...) marks a leading axis for batched alone. Call batched({self.operator}, f, backend, "
                f"...), or pass the array itself."
            )
        #: The indices of the arguments whose gradients are kept in buffers.
        marked = [i for i, place in enumerate(self.structures) if _is_marked(place, DUPLICATED)]
        self.duplicated: tuple[int, ...] = tuple(marked)
        if any(node.type is DUPLICATED and node is not place for place in places for node in place.nodes()):
            raise TypeError(
                f"{self.operator}: Duplicated(...) must be an argument itself, not stand inside a tree, a Constant or a "
                f"keyword argument. Wrap the whole argument, Duplicated(model)."
            )

    def shape_of(self, n: int) -> tuple[int, ...]:
        """The shape of a differentiated slot, as f gets it; only before the plan is cached."""
        library: Any = self.slots[n].library
        shape: tuple[int, ...] = library.shape(self.values[n])
        return shape

    def _choose_dtypes(self) -> None:
        """Each active leaf's dtype: its own; for a Python number and a promoted integer the widest of the call."""
        dtypes = [slot.dtype for slot in self.slots if slot.library is not None and slot.library is not PYTHON]
        real = widest(dtypes)
        self.dtypes: list[str] = []
        for n in self.active:
            own = self.slots[n].dtype
            if own == "complex":
                self.dtypes.append(complex_of(real))
            else:
                self.dtypes.append(real if own in ("float", "int") or kind(own) == "integer" else own)
        self.all_dtypes: tuple[str, ...] = tuple(dict.fromkeys([*dtypes, *self.dtypes]))

    def _may_be_recorded(self, slot: Slot, value: Any) -> bool:
        if slot.library is None:
            return type(value) not in _PLAIN
        return slot.holder is None and slot.library is self.library

    def _precisions(self) -> list[Scoping | None]:
        """The contexts in which the engine's arrays keep the dtypes of the call."""
        if self.backend.library is not None:
            return [self.backend.library.precision(self.all_dtypes)]
        leaves = [(slot.library, slot.dtype) for slot in self.slots if slot.library is not None]
        libraries = list(dict.fromkeys(library for library, _ in leaves))
        if len(libraries) == 1:
            return [libraries[0].precision(self.all_dtypes)]
        return [library.precision(tuple([dtype for owner, dtype in leaves if owner is library])) for library in libraries]

    def _scope(self, backends: Sequence[Backend]) -> Scoping | None:
        """The context of a call: the scopes of the options of its backends, and those of the dtypes."""
        options = [backend.scope() for backend in dict.fromkeys(backends)]
        needed = [scope for scope in (*options, *self._precisions()) if scope is not None]
        if len(needed) <= 1:
            return needed[0] if needed else None

        def together() -> AbstractContextManager[Any]:
            scopes = ExitStack()
            for scope in filter(None, [scoping() for scoping in needed]):
                scopes.enter_context(scope)
            return scopes

        return together

    # conversions

    def _choose_passages(self, values: Sequence[Any]) -> None:
        backend, slots, copy = self.backend, self.slots, self.copy
        enters: list[Enter] = []
        leaves: list[Leave] = []
        for n, dtype in zip(self.active, self.dtypes):
            enters.append(entering(backend, slots[n], values[n], dtype, copy=copy))
            leaves.append(leaving(backend, slots[n], values[n], dtype))
        #: The conversions of the active leaves, and of the carried values.
        self.enter: Entrance = Entrance(enters, self.active)
        carried = [self._entering_carried(n, values[n]) for n in self.carried]
        self.enter_carried: Entrance = Entrance(carried, self.carried)
        #: The conversions of gradients: one by one, or all at once.
        self.leave: tuple[Leave, ...] | None = unless_as_they_are(leaves)
        active = [slots[n] for n in self.active], [values[n] for n in self.active]
        self.leave_all: LeaveAll | None = None if self.leave is None else leaving_all(backend, *active, self.dtypes)
        #: Whether the native leaves are new arrays that only this call refers to.
        adopted = self.library.adopts_new and all(slots[n].library in (NUMPY, PYTHON) for n in self.active)
        self.fresh: bool = adopted and not copy

    def _entering_carried(self, n: int, value: Any) -> Enter:
        slot = self.slots[n]
        if slot.library is None:
            return as_it_is
        copy = self.copy and slot.holder is None  # a held object keeps its frozen leaves
        return entering(self.backend, slot._replace(holder=None), value, None, copy=copy)

    def compiled_passages(self, values: Sequence[Any], *, copy: bool) -> tuple[list[Enter], list[Enter]]:
        """The conversions into compiled code of each active leaf and of each carried value."""
        narrow = not any_wide(self.all_dtypes)

        def way(n: int, dtype: str | None) -> Enter:
            narrowed = narrow and self.slots[n].dtype in ("int64", "uint64")
            return entering_compiled(self.backend, self.slots[n], values[n], dtype, copy=copy, narrowed=narrowed)

        active = [way(n, dtype) for n, dtype in zip(self.active, self.dtypes)]
        plain = as_it_is if self.backend.takes_trees else number_of(widest(self.all_dtypes))
        return active, [plain if self.slots[n].library is None else way(n, None) for n in self.carried]

    def _choose_builders(self) -> None:
        #: Whether each argument is one differentiated array, and there are no keywords.
        differentiated = all(place is DIFFERENTIATED for place in self.structures)
        self.bare: bool = differentiated and not self.keywords and not self.of_no_axes
        #: For each slot, its index into active + carried.
        self.order: list[int] = sorted(range(len(self.slots)), key=(*self.active, *self.carried).__getitem__)

    def arguments(self, active: Sequence[Any], carried: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments and keywords of f, from the values of the active slots and of the carried ones."""
        both = (*active, *carried)
        leaves = iter(both if not carried else [both[n] for n in self.order])
        args = [structure.build(leaves) for structure in self.structures]
        return args, {name: structure.build(leaves) for name, structure in self.keywords.items()}

    def gradients(self, gradients: Sequence[Any], values: Sequence[Any]) -> tuple[Any, ...]:
        """One tree for each argument, from the gradients of all active leaves and the values of all slots."""
        each, holders = iter(gradients), iter([values[n] for n in self.holders])
        return tuple([structure.gradient(each, holders) for structure in self.structures])

    def values_like_arguments(self, tangents: Sequence[Any]) -> Sequence[Any] | None:
        """The leaves of tangents whose signatures are those of the arguments; None for any others."""
        if self._active_key is None:
            return None
        try:
            signature = Signature([tangents[i] for i in self.active_arguments], {})
        except (Unkeyed, AdinterfaceError, RecursionError):
            return None
        others = any(tangents[i] is not None for i in range(len(tangents)) if i not in self.active_arguments)
        return None if others or signature.key != self._active_key else signature.values

    def keep(self, args: Sequence[Any]) -> None:
        """Drop the first arguments: a cached plan must not keep them alive."""
        self.values = ()
        active = [args[i] for i in self.active_arguments]
        if not self.promoted and sum([count_leaves(self.structures[i]) for i in self.active_arguments]) == len(self.active):
            self._active_key = Signature(active, {}).key

    # an operator's requirements

    def require_one(self) -> None:
        """Only the first argument may be differentiated."""
        if self.active_arguments != [0]:
            others = ", ".join(f"args[{i}]" for i in self.active_arguments if i != 0)
            problem = f"but {others} would be, too" if 0 in self.active_arguments else "but args[0] has no gradient"
            raise NotDifferentiableError(
                f"{self.operator} differentiates exactly one argument, the first, {problem}. Wrap every further argument "
                f"in Constant(...), or pass one tuple or dict that holds them all."
            )

    def require_real(self, remedy: str = "Pass its real and imaginary parts as two real arrays.") -> None:
        """Second derivatives with respect to complex numbers are not defined here."""
        if not any(kind(dtype) == "complex" for dtype in self.dtypes):
            return
        dtypes = iter(self.dtypes)
        for i, structure in enumerate(self.structures):
            for path in [path for path, place in structure.places(f"args[{i}]") if place is DIFFERENTIATED]:
                if kind(next(dtypes)) == "complex":
                    raise NotDifferentiableError(
                        f"{self.operator} is taken with respect to real arguments only, but {path} is complex. {remedy}"
                    )

    def require_number(self) -> None:
        """Only one real number may be differentiated."""
        self.require_one()
        shape = self.shape_of(self.active[0])
        if len(self.active) != 1 or shape != ():
            seen = f"{len(self.active)} arrays" if len(self.active) != 1 else f"an array of shape {shape}"
            raise NotDifferentiableError(
                f"{self.operator} differentiates with respect to one real number, but args[0] holds {seen}. "
                f"Use jacobian, or pushforward for the derivative in one direction."
            )
        self.require_real(
            "A holomorphic derivative is a jacobian; otherwise pass the real and imaginary parts as two real arguments."
        )


_PYTHONS = frozenset({float, complex, int})
#: Static values that refer to no array of an engine. A holder refers to the leaves of the call alone.
_PLAIN = frozenset({bool, str, bytes, type, NoneType, Holder, *_PYTHONS})


def _is_of_no_axes(value: Any) -> bool:
    return type(value) is np.ndarray and not value.ndim


def _is_floating(value: Any) -> bool:
    return type(value) in (float, complex) or is_floating_array(value)


def _is_inert(value: Any) -> bool:
    if isinstance(value, np.ndarray) and not NUMPY.owns(value):
        return False  # a subclass in a Constant, whose signature says so
    library = handler_of(value, scan=False)
    return isinstance(library, Library) and library is not PYTHON and not library.compiles_other


def _is_marked(structure: Structure, marker: NodeType) -> bool:
    return isinstance(structure, Node) and structure.type is marker


def holds(structure: Structure, marker: NodeType) -> bool:
    """Whether a structure contains a node of this type."""
    return any(node.type is marker for node in structure.nodes())


def _held_once(values: Sequence[Any]) -> Iterator[int]:
    seen: set[int] = set()
    for n, value in enumerate(values):
        if value is not None and id(value) not in seen:
            seen.add(id(value))
            yield n


def _stand_in(structure: Structure) -> Callable[[Any], Any] | None:
    """Wraps an array in the class that represents one array in this structure; None if no node is of such a class."""
    for node in structure.nodes():
        if node.type.stands_for_array:
            return partial(_standing, node.type, node.data)
    return None


def _standing(node_type: NodeType, data: Any, array: Any) -> Any:
    return node_type.unflatten(data, (array,))


def _slotted(
    structure: Structure, leaves: Iterator[Leaf], slots: list[Slot], values: list[Any], constant: bool = False
) -> Structure:
    """The structure with a slot for every value without a gradient; appends the leaves and those values in order."""
    if isinstance(structure, Node):
        constant = constant or structure.type is CONSTANT
        data = None if _is_keyed(structure) else (GivenConstant if constant else Given)(structure.data, structure.type)
        both = structure.children if data is None else (Static(data, "it may change"), *structure.children)
        children = [_slotted(child, leaves, slots, values, constant) for child in both]
        return structure.with_children(children) if data is None else structure.taking_data(children)
    if isinstance(structure, Static):
        slots.append(Slot(None, "", False, None, structure.reason))
        values.append(structure.value)
        return CARRIED
    leaf = next(leaves)
    holder = None if leaf.holder is None else type(leaf.holder)
    slots.append(Slot(leaf.library, leaf.library.dtype(leaf.value), leaf.differentiated, holder))
    values.append(leaf.value)
    return structure


def _frozen(structure: Structure, slots: Iterator[int], inside: bool = False, root: bool = True) -> Iterator[int]:
    """The slots that are in a Constant below the root."""
    if not isinstance(structure, Node):
        slot = next(slots)
        if inside:
            yield slot
        return
    # An object that f gets itself tells again what is constant in it.
    plain = not structure.type.held and not structure.type.stateful
    inside = plain and (inside or (structure.type is CONSTANT and not root))
    for child in structure.children:
        yield from _frozen(child, slots, inside, False)


def _is_keyed(node: Node) -> bool:
    try:
        node.type.key(node.data)
    except Unkeyed:
        return node.type.held
    return True


class Plans:
    """The plans of one operator on one backend, for one-shot and prepared calls alike."""

    def __init__(self, make: Callable[[Sequence[Any], Mapping[str, Any]], Plan], bound: int = 128):
        self._make = make
        self._known: Cache[Plan] = Cache(bound)

    def find(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Plan, Sequence[Any], Signature | None]:
        """The plan for such arguments, their values, and their signature; without a signature (None) nothing is cached."""
        try:
            signature = Signature(args, kwargs)
        except (Unkeyed, AdinterfaceError, RecursionError):
            plan = self._make(args, kwargs)  # which raises the error, with its path
            return plan, plan.values, None
        known = self._known.get(signature.key)
        if known is None:
            known = self._make(args, kwargs)
            known.keep(args)
            self._known.add(signature.key, known)
        return known, signature.values, signature


__all__ = ["Plan", "Plans"]
