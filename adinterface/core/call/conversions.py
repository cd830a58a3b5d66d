"""How each leaf becomes an array of the engine, and each result an array like its leaf: chosen when a call is planned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from operator import call, itemgetter
from typing import Any

import numpy as np

from ..contract.auto import BUILT_IN
from ..contract.backend import Backend
from ..contract.errors import ConversionError
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
    note_memory,
    width,
)
from ..contract.nodes import NodeType
from ..tree import Slot
from .layout import Layout

# The array dtypes that every compiling engine takes from NumPy as they are.
_PLAIN = frozenset(
    {"float16", "float32", "float64", "bool", "int8", "int16", "int32", "int64", "uint8", "complex64", "complex128"}
)


#: The conversion of some slots: from the values of all slots to the engine's arrays of these.
EnterSlots = Callable[[Sequence[Any], set[int]], tuple[Any, ...]]


def enter_slots(enters: Sequence[Enter], places: Sequence[int]) -> EnterSlots:
    """One conversion of the slots at these places. enters: the conversion of each."""
    if not places:
        return lambda values, taken: ()
    choose, single = itemgetter(*places), len(places) == 1
    as_they_are = all(enter is as_it_is for enter in enters)

    def enter(values: Sequence[Any], taken: set[int]) -> tuple[Any, ...]:
        leaves = (choose(values),) if single else choose(values)
        return leaves if as_they_are else tuple(map(call, enters, leaves, repeat(taken)))

    return enter


@dataclass(frozen=True)
class Conversions:
    """The conversions of one call, in both directions, and the contexts in which it is evaluated."""

    #: The library of f's arrays, and the library of results without a leaf's shape: that of the first differentiated array.
    library: Library
    result_library: Library
    #: Whether a 0-d result is a Python number.
    python_result: bool
    #: The conversions of the active leaves, and of the carried values.
    enter: EnterSlots
    enter_carried: EnterSlots
    #: Whether the native leaves are new arrays that only this call refers to.
    owns_leaves: bool
    #: The conversions of gradients: one by one, and all at once. None where they are the identity, or there is none.
    leave: tuple[Leave, ...] | None
    leave_all: LeaveAll | None
    #: The direct conversion of a result to the result library, where there is one.
    present: Leave | None
    #: The same for several results at once.
    present_all: LeaveAll | None
    #: Wraps an array in the class that represents one array in the arguments; None if no argument has such a class.
    stand_in: Callable[[Any], Any] | None
    #: Makes the context in which the engine evaluates the call; None if there is none.
    scope: Scoping | None


def conversions(
    backend: Backend, layout: Layout, values: Sequence[Any], *, copy: bool, backends: Sequence[Backend]
) -> Conversions:
    """The conversions of values like these. copy: whether the call computes with copies of the arguments.

    backends: those whose options hold for the call. Raises ConversionError where the engine cannot take a leaf.
    """
    slots, active = layout.slots, layout.active
    libraries = [slots[n].library for n in active]
    library = backend.library or NUMPY
    result_library: Any = next((each for each in libraries if each is not PYTHON), NUMPY)
    python_result = all(each is PYTHON for each in libraries)
    stand_in = _stand_in(layout)
    direct = backend.library is not None and not python_result and stand_in is None
    enters = [conversion_in(backend, slots[n], values[n], dtype, copy=copy) for n, dtype in zip(active, layout.dtypes)]
    leaves = [conversion_out(backend, slots[n], values[n], dtype) for n, dtype in zip(active, layout.dtypes)]
    leave = None if all(each is as_it_is for each in leaves) else tuple(leaves)
    return Conversions(
        library=library,
        result_library=result_library,
        python_result=python_result,
        enter=enter_slots(enters, active),
        enter_carried=enter_slots([_carried_in(backend, slots[n], values[n], copy) for n in layout.carried], layout.carried),
        owns_leaves=not library.plain_numpy and all(each in (NUMPY, PYTHON) for each in libraries) and not copy,
        leave=leave,
        leave_all=None if leave is None else _conversion_of_all(backend, layout, values),
        present=backend.library.leave(None, result_library) if direct and backend.library is not None else None,
        present_all=backend.library.leave_all((None,), (result_library,)) if direct and backend.library is not None else None,
        stand_in=stand_in,
        scope=_scope(backend, layout, backends),
    )


def _stand_in(layout: Layout) -> Callable[[Any], Any] | None:
    nodes = [node for _, structure in layout.places() for node in structure.nodes()]
    return next((partial(_standing, node.type, node.data) for node in nodes if node.type.stands_for_array), None)


def _standing(node_type: NodeType, data: Any, array: Any) -> Any:
    return node_type.unflatten(data, (array,))


# Contexts ---------------------------------------------------------------------------------------------------------------


def _scope(backend: Backend, layout: Layout, backends: Sequence[Backend]) -> Scoping | None:
    """The context of a call: the scopes of the options of its backends, and those of the dtypes."""
    options = [each.scope() for each in dict.fromkeys(backends)]
    needed = [scope for scope in (*options, *_precisions(backend, layout)) if scope is not None]
    if len(needed) <= 1:
        return needed[0] if needed else None

    def together() -> AbstractContextManager[Any]:
        scopes = ExitStack()
        for scope in filter(None, [scoping() for scoping in needed]):
            scopes.enter_context(scope)
        return scopes

    return together


def _precisions(backend: Backend, layout: Layout) -> list[Scoping | None]:
    """The contexts in which the engine's arrays keep the dtypes of the call."""
    if backend.library is not None:
        return [backend.library.precision(layout.all_dtypes)]
    leaves = [(slot.library, slot.dtype) for slot in layout.slots if slot.library is not None]
    libraries = list(dict.fromkeys(library for library, _ in leaves))
    if len(libraries) == 1:
        return [libraries[0].precision(layout.all_dtypes)]
    return [library.precision(tuple([dtype for owner, dtype in leaves if owner is library])) for library in libraries]


# Into the engine --------------------------------------------------------------------------------------------------------


def conversion_in(backend: Backend, slot: Slot, example: Any, dtype: str | None, *, copy: bool) -> Enter:
    """The conversion of a leaf like the example to the engine's array, of this dtype if it is given.

    With `copy` it shares no memory with the leaf. Raises ConversionError where the engine cannot take such a leaf.
    """
    target, source = backend.library, slot.library
    assert source is not None
    if slot.owner is not None:
        return _owned_in(backend, slot, example)
    if slot.dtype == "int" and dtype is not None:
        return _of_int(conversion_in(backend, slot._replace(dtype="float"), 0.0, dtype, copy=copy), dtype)
    copy = copy and source.mutable  # other arrays cannot be written to
    if backend.device is None and (source is PYTHON or (not copy and dtype in (None, slot.dtype))):
        library = NUMPY if source is PYTHON else source
        shortest = (target or library).enter(example, source, dtype)
        if shortest is not None:
            return shortest
    if target is None:
        return _recording_memory(source, lambda value: source.asarray(value, dtype=dtype, copy=copy))
    if source is target or source is NUMPY or source is PYTHON:
        return _recording_memory(target, lambda value: target.asarray(value, dtype=dtype, like=backend.device, copy=copy))

    def converted(value: Any) -> Any:
        if source.traced(value):
            raise ConversionError(
                f"A leaf is traced by {source.name} ({type(value).__name__}), and {type(backend.auto).__name__} cannot "
                f"see through that trace. Use one engine for nested calls, or AutoFiniteDifferences() for the outer one."
            )
        return target.asarray(target.foreign(value, source), dtype=dtype, like=backend.device, copy=copy)

    return _recording_memory(target, converted)


def _carried_in(backend: Backend, slot: Slot, example: Any, copy: bool) -> Enter:
    if slot.library is None:
        return as_it_is
    copy = copy and slot.owner is None  # an owner keeps its frozen leaves
    return conversion_in(backend, slot._replace(owner=None), example, None, copy=copy)


def _of_int(enter: Enter, dtype: str) -> Enter:
    """The conversion of a promoted int of any size, which engines take up to 64 bits."""
    number: Any = float if width(dtype) <= 64 else int

    def entered(value: Any, taken: set[int]) -> Any:
        try:
            return enter(number(value), taken)
        except OverflowError:
            raise ConversionError(
                f"An integer argument has {value.bit_length():,} bits, too many for a float, as which it would be "
                f"differentiated. Wrap it in Constant(...)."
            ) from None

    return entered


def _owned_in(backend: Backend, slot: Slot, example: Any) -> Enter:
    target, source, owner = backend.library, slot.library, slot.owner
    assert source is not None
    assert owner is not None
    if target is source:
        return source.enter(example, source, None) or _recording_memory(source, lambda value: value)
    if target is None:  # f is called many times, so it must not get the owner itself
        return _recording_memory(source, lambda value: source.asarray(value, copy=True))
    raise ConversionError(
        f"The code of {owner.__name__} computes with {source.name} alone, so {backend.auto!r} cannot "
        f"take it. Use {_auto_name(source)}(), or AutoFiniteDifferences() without `native`."
    )


def _recording_memory(library: Library, convert: Callable[[Any], Any]) -> Enter:
    def enter(value: Any, taken: set[int]) -> Any:
        array = convert(value)
        note_memory(library, array, taken)
        return array

    return enter


def _auto_name(library: Library) -> str:
    return next((cls.__name__ for cls in BUILT_IN if cls.name == library.name), f"a backend of {library.name}")


# Back to the user -------------------------------------------------------------------------------------------------------


def conversion_out(backend: Backend, slot: Slot, example: Any, dtype: str) -> Leave:
    """A fast conversion of a gradient to an array like the example. It gives None where `Library.restore` must convert."""
    source = slot.library
    assert source is not None
    if backend.device is not None or (source is not PYTHON and slot.dtype != dtype):
        return _no_direct_conversion
    if backend.library is not None:
        return backend.library.leave(example, source) or _no_direct_conversion
    library = NUMPY if source is PYTHON else source
    shortest = library.leave(example, source)
    if shortest is None:
        return _no_direct_conversion
    if library is NUMPY and type(example) is np.ndarray:
        return shortest  # it checks the result itself
    # The engine does not convert: it computes with the arrays that f returned.
    return lambda result, taken: shortest(result, taken) if library.owns(result) else None


def _conversion_of_all(backend: Backend, layout: Layout, values: Sequence[Any]) -> LeaveAll | None:
    """As `conversion_out`, for the gradients of all leaves at once."""
    slots = [layout.slots[n] for n in layout.active]
    if backend.library is None or backend.device is not None:
        return None
    if any(slot.library is not PYTHON and slot.dtype != dtype for slot, dtype in zip(slots, layout.dtypes)):
        return None
    sources = [slot.library for slot in slots if slot.library is not None]
    return backend.library.leave_all([values[n] for n in layout.active], sources)


def _no_direct_conversion(result: Any, taken: set[int]) -> None:
    return None


# Into compiled code -----------------------------------------------------------------------------------------------------


def conversions_into_compiled(
    backend: Backend, layout: Layout, values: Sequence[Any], *, copy: bool
) -> tuple[list[Enter], list[Enter]]:
    """The conversions of each active leaf and of each carried value into compiled code.

    Plain NumPy arrays and NumPy numbers are passed unconverted.
    """
    narrow = not any_wide(layout.all_dtypes)

    def conversion(n: int, dtype: str | None) -> Enter:
        slot, example = layout.slots[n], values[n]
        if slot.library is PYTHON and dtype is not None:
            number = np.dtype(dtype).type
            convert: Enter = lambda value, taken: number(value)
            return _of_int(convert, dtype) if slot.dtype == "int" else convert
        narrowed = narrow and slot.dtype in ("int64", "uint64")
        plain = type(example) is np.ndarray and slot.dtype in _PLAIN and example.dtype.isnative and slot.owner is None
        if plain and backend.device is None and (dtype is None or dtype == slot.dtype) and not narrowed:
            return _copied if copy else as_it_is
        return conversion_in(backend, slot, example, dtype, copy=copy)

    active = [conversion(n, dtype) for n, dtype in zip(layout.active, layout.dtypes)]
    return active, [as_it_is if layout.slots[n].library is None else conversion(n, None) for n in layout.carried]


def _copied(value: Any, taken: set[int]) -> Any:
    return value.copy()


__all__ = ["Conversions", "EnterSlots", "conversions", "conversions_into_compiled", "enter_slots"]
