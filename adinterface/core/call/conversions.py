"""How each leaf becomes an array of the engine, and each result an array like its leaf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from ..contract.auto import BUILT_IN
from ..contract.backend import Backend
from ..contract.errors import ConversionError
from ..contract.library import (
    NUMPY,
    PYTHON,
    Enter,
    Library,
    Scoping,
    ToLeaf,
    any_wide,
    as_it_is,
    note_memory,
    width,
)
from ..tree import Slot
from .plan import Plan

# The array dtypes that every compiling engine takes from NumPy as they are.
_PLAIN = frozenset({
    "float16", "float32", "float64", "bool", "int8", "int16", "int32", "int64", "uint8",
    "complex64", "complex128",
})  # fmt: skip


def with_conversions(plan: Plan, values: Sequence[Any]) -> Plan:
    """The plan with conversions. Raises ConversionError where the engine cannot take a leaf."""
    backend, slots, copy = plan.backend, plan.slots, plan.operator.outlives
    libraries = [each for n in plan.active if (each := slots[n].library) is not None]
    library = backend.library or NUMPY
    result_library = next((each for each in libraries if each is not PYTHON), NUMPY)
    python_result = all(each is PYTHON for each in libraries)
    stand_in = _stand_in(plan)
    direct = None if python_result or stand_in is not None else backend.library
    dtypes = dict(zip(plan.active, plan.dtypes))
    enters = [
        _entering(backend, slots[n], value, dtypes.get(n), copy) for n, value in enumerate(values)
    ]
    leaves = [
        conversion_to_leaf(backend, slots[n], values[n], dtype) for n, dtype in dtypes.items()
    ]
    if plan.marks is not None:  # results have other shapes than the leaves
        leaves = [_no_direct_conversion] * len(leaves)
    to_leaf = None if all(each is as_it_is for each in leaves) else tuple(leaves)
    return replace(
        plan,
        library=library,
        result_library=result_library,
        python_result=python_result,
        enters=_unless_identity(enters),
        to_leaf=to_leaf,
        to_user=None if direct is None else direct.to_leaf(None, result_library),
        stand_in=stand_in,
        scope=_scope(backend, plan),
    )


def _unless_identity(enters: Sequence[Enter]) -> tuple[Enter, ...] | None:
    """The conversions; None if all are the identity, so that a call skips them."""
    return None if all(enter is as_it_is for enter in enters) else tuple(enters)


def _stand_in(plan: Plan) -> Callable[[Any], Any] | None:
    """Makes a result such as the first stand-in among the arguments; None if there is none."""
    nodes = [node for _, structure in plan.places() for node in structure.nodes()]
    found = next((node for node in nodes if node.type.stands_for_array), None)
    return None if found is None else lambda array: found.type.unflatten(found.data, (array,))


# Contexts
# ------------------------------------------------------------------------------------------------


def _scope(backend: Backend, plan: Plan) -> Scoping | None:
    """The context of a call: the scopes of the options of its backends, and those of the dtypes."""
    options = [each.scope() for each in plan.backends]
    # An engine without a library takes each leaf in its own.
    of_leaves = dict.fromkeys([slot.library for slot in plan.slots if slot.library is not None])
    libraries = of_leaves if backend.library is None else [backend.library]
    precisions = [library.precision(plan.all_dtypes) for library in libraries]
    needed = [scope for scope in (*options, *precisions) if scope is not None]
    if len(needed) <= 1:
        return needed[0] if needed else None

    def together() -> AbstractContextManager[Any]:
        scopes = ExitStack()
        for scope in filter(None, [scoping() for scoping in needed]):
            scopes.enter_context(scope)
        return scopes

    return together


# Into the engine
# ------------------------------------------------------------------------------------------------


def conversion_in(
    backend: Backend, slot: Slot, example: Any, dtype: str | None, *, copy: bool
) -> Enter:
    """The conversion of a leaf like the example to the engine's array, of this dtype if not None.

    With `copy` it shares no memory with the leaf. Raises ConversionError where the engine cannot
    take such a leaf.
    """
    target, source = backend.library, slot.library
    assert source is not None
    if slot.owner is not None:
        return _owned_in(backend, slot, example)
    if slot.dtype == "int" and dtype is not None:
        return _of_int(
            conversion_in(backend, slot._replace(dtype="float"), 0.0, dtype, copy=copy), dtype
        )
    copy = copy and source.mutable  # other arrays cannot be written to
    if backend.device is None and (source is PYTHON or (not copy and dtype in (None, slot.dtype))):
        library = NUMPY if source is PYTHON else source
        shortest = (target or library).enter(example, source, dtype)
        if shortest is not None:
            return shortest
    if target is None:
        return _recording_memory(
            source, lambda value: source.asarray(value, dtype=dtype, copy=copy)
        )
    if source is target or source is NUMPY or source is PYTHON:
        return _recording_memory(
            target, lambda value: target.asarray(value, dtype=dtype, like=backend.device, copy=copy)
        )

    def converted(value: Any) -> Any:
        if source.traced(value):
            raise ConversionError(
                f"A leaf is traced by {source.name} ({type(value).__name__}), and"
                f" {type(backend.auto).__name__} cannot see through that trace. Use one engine for"
                " nested calls, or AutoFiniteDifferences() for the outer one."
            )
        return target.asarray(
            target.foreign(value, source), dtype=dtype, like=backend.device, copy=copy
        )

    return _recording_memory(target, converted)


def _entering(backend: Backend, slot: Slot, example: Any, dtype: str | None, copy: bool) -> Enter:
    """The conversion of a slot. dtype: None for a slot that is not differentiated."""
    if slot.library is None:
        return as_it_is
    if dtype is None:
        # an owner keeps its frozen leaves
        copy, slot = copy and slot.owner is None, slot._replace(owner=None)
    return conversion_in(backend, slot, example, dtype, copy=copy)


def _of_int(enter: Enter, dtype: str) -> Enter:
    """The conversion of a promoted int, which a long double holds beyond the digits of a float."""
    number: Any = float if width(dtype) <= 64 else int

    def entered(value: Any, occupied: set[int]) -> Any:
        try:
            return enter(number(value), occupied)
        except OverflowError as error:
            error.add_note("An integer argument is differentiated as a float. Wrap it in Constant.")
            raise

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
        f"The code of {owner.__name__} computes with {source.name} alone, so {backend.auto!r}"
        f" cannot take it. Use {_auto_name(source)}(), or AutoFiniteDifferences() without `native`."
    )


def _recording_memory(library: Library, convert: Callable[[Any], Any]) -> Enter:
    def enter(value: Any, occupied: set[int]) -> Any:
        array = convert(value)
        note_memory(library, array, occupied)
        return array

    return enter


def _auto_name(library: Library) -> str:
    names = [cls.__name__ for cls in BUILT_IN if cls.name == library.name]
    return names[0] if names else f"a backend of {library.name}"


# Back to the user
# ------------------------------------------------------------------------------------------------


def conversion_to_leaf(backend: Backend, slot: Slot, example: Any, dtype: str) -> ToLeaf:
    """A fast conversion of a gradient to a leaf. It gives None where `restore` must convert."""
    source = slot.library
    assert source is not None
    if backend.device is not None or (source is not PYTHON and slot.dtype != dtype):
        return _no_direct_conversion
    if backend.library is not None:
        return backend.library.to_leaf(example, source) or _no_direct_conversion
    library = NUMPY if source is PYTHON else source
    shortest = library.to_leaf(example, source)
    if shortest is None:
        return _no_direct_conversion
    if library is NUMPY and type(example) is np.ndarray:
        return shortest  # it checks the result itself
    # The engine does not convert: it computes with the arrays that f returned.
    return lambda result, occupied: shortest(result, occupied) if library.owns(result) else None


def _no_direct_conversion(result: Any, occupied: set[int]) -> None:
    return None


# Into compiled code
# ------------------------------------------------------------------------------------------------


def into_compiled(plan: Plan, values: Sequence[Any]) -> Plan:
    """The plan with conversions into compiled code, which takes plain NumPy arrays as they are."""
    backend, copy = plan.backend, copies_for_compiled(plan)
    narrow = not any_wide(plan.all_dtypes)
    dtypes = dict(zip(plan.active, plan.dtypes))

    def conversion(n: int) -> Enter:
        slot, example, dtype = plan.slots[n], values[n], dtypes.get(n)
        if slot.library is None:
            return as_it_is
        if slot.library is PYTHON and dtype is not None:
            number = np.dtype(dtype).type
            convert: Enter = lambda value, occupied: number(value)
            return _of_int(convert, dtype) if slot.dtype == "int" else convert
        narrowed = narrow and slot.dtype in ("int64", "uint64")
        plain = type(example) is np.ndarray and slot.dtype in _PLAIN and example.dtype.isnative
        kept = dtype in (None, slot.dtype) and not narrowed and slot.owner is None
        if plain and kept and backend.device is None:
            return _copied if copy else as_it_is
        return conversion_in(backend, slot, example, dtype, copy=copy)

    return replace(plan, enters=_unless_identity([conversion(n) for n in range(len(plan.slots))]))


def copies_for_compiled(plan: Plan) -> bool:
    """Whether compiled code must get copies of the caller's arrays.

    The call waits for the engine if a result is a NumPy array or a Python number. Otherwise the
    engine may still read an argument while the caller writes into it.
    """
    forms = plan.operator.forms
    like_leaves = "arguments" in forms or "argument" in forms
    libraries = [plan.slots[n].library for n in plan.active] if like_leaves else []
    waits = plan.result_library is NUMPY or NUMPY in libraries or PYTHON in libraries
    return plan.operator.outlives or not waits


def _copied(value: Any, occupied: set[int]) -> Any:
    return value.copy()
