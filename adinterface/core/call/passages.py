"""How each leaf is converted and how its gradient is converted back: functions that are chosen when a call is planned."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import call, itemgetter
from typing import Any, NamedTuple

import numpy as np

from ..contract.auto import BUILT_IN
from ..contract.backend import Backend
from ..contract.errors import ConversionError
from ..contract.library import NUMPY, PYTHON, Enter, Leave, LeaveAll, Library, as_it_is, complex_of, width

# The array dtypes that every compiling engine takes from NumPy as they are.
_PLAIN = frozenset(
    {"float16", "float32", "float64", "bool", "int8", "int16", "int32", "int64", "uint8", "complex64", "complex128"}
)


class Slot(NamedTuple):
    """A plan's record of one leaf, or of one value without a gradient."""

    #: None for a value that is not a leaf.
    library: Library | None
    dtype: str
    differentiated: bool
    #: The class of the object that holds the leaf for f, if there is one.
    holder: type | None
    #: Why a value has no gradient.
    reason: str = ""


def entering(backend: Backend, slot: Slot, example: Any, dtype: str | None, *, copy: bool) -> Enter:
    """The conversion of a leaf like the example to the engine's array, of this dtype if it is given.

    With `copy` it shares no memory with the leaf. Raises ConversionError where the engine cannot take such a leaf.
    """
    target, source = backend.library, slot.library
    assert source is not None
    if slot.holder is not None:
        return _entering_held(backend, slot, example)
    if slot.dtype == "int" and dtype is not None:
        return _of_int(entering(backend, slot._replace(dtype="float"), 0.0, dtype, copy=copy), dtype)
    copy = copy and source.mutable  # other arrays cannot be written to
    if backend.device is None and (source is PYTHON or (not copy and dtype in (None, slot.dtype))):
        own = NUMPY if source is PYTHON else source
        shortest = (target or own).enter(example, source, dtype)
        if shortest is not None:
            return shortest
    if target is None:
        return _noting(source, lambda value: source.asarray(value, dtype=dtype, copy=copy))
    if source is target or source is NUMPY or source is PYTHON:
        return _noting(target, lambda value: target.asarray(value, dtype=dtype, like=backend.device, copy=copy))

    def converted(value: Any) -> Any:
        if source.traced(value):
            raise ConversionError(
                f"A leaf is traced by {source.name} ({type(value).__name__}), and {type(backend.auto).__name__} cannot "
                f"see through that trace. Use one engine for nested calls, or AutoFiniteDifferences() for the outer one."
            )
        return target.asarray(target.foreign(value, source), dtype=dtype, like=backend.device, copy=copy)

    return _noting(target, converted)


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


def _entering_held(backend: Backend, slot: Slot, example: Any) -> Enter:
    target, source, holder = backend.library, slot.library, slot.holder
    assert source is not None
    assert holder is not None
    if target is source:
        return source.enter(example, source, None) or _noting(source, lambda value: value)
    if target is None:  # f is called many times, so it must not get the holder itself
        return _noting(source, lambda value: source.asarray(value, copy=True))
    raise ConversionError(
        f"The code of {holder.__name__} computes with {source.name} alone, so {backend.auto!r} cannot "
        f"take it. Use {_auto_name(source)}(), or AutoFiniteDifferences() without `native`."
    )


def _noting(library: Library, convert: Any) -> Enter:
    memory = library.memory

    def enter(value: Any, taken: set[int]) -> Any:
        array = convert(value)
        key = memory(array)
        if key is not None:
            taken.add(key)
        return array

    return enter


def leaving(backend: Backend, slot: Slot, example: Any, dtype: str) -> Leave:
    """A direct conversion of a gradient to an array like the example; None if only `restore` of its library serves."""
    source = slot.library
    assert source is not None
    if backend.device is not None or (source is not PYTHON and slot.dtype != dtype):
        return _the_long_way
    if backend.library is not None:
        return backend.library.leave(example, source) or _the_long_way
    own = NUMPY if source is PYTHON else source
    shortest = own.leave(example, source)
    if shortest is None:
        return _the_long_way
    if own is NUMPY and type(example) is np.ndarray:
        return shortest  # it checks the result itself
    # The engine does not convert: it computes with the arrays that f returned.
    return lambda result, taken: shortest(result, taken) if own.owns(result) else None


def leaving_all(backend: Backend, slots: Sequence[Slot], examples: Sequence[Any], dtypes: Sequence[str]) -> LeaveAll | None:
    """As `leaving`, for the gradients of all leaves at once."""
    library = backend.library
    if library is None or backend.device is not None:
        return None
    sources = [slot.library for slot in slots if slot.library is not None]
    if any(slot.library is not PYTHON and slot.dtype != dtype for slot, dtype in zip(slots, dtypes)):
        return None
    return library.leave_all(examples, sources)


def _the_long_way(result: Any, taken: set[int]) -> None:
    return None


class Entrance:
    """The conversion of some slots: from the values of all slots to the engine's arrays of these."""

    def __init__(self, enters: Sequence[Enter], places: Sequence[int]):
        self.enters: Sequence[Enter] = enters
        #: Takes these slots out of all; one slot gives its value alone.
        self.chosen: itemgetter[Any] | None = itemgetter(*places) if places else None
        self.as_they_are: bool = all(enter is as_it_is for enter in enters)

    def __call__(self, values: Sequence[Any], taken: set[int]) -> tuple[Any, ...]:
        if self.chosen is None:
            return ()
        leaves = self.chosen(values) if len(self.enters) > 1 else (self.chosen(values),)
        if self.as_they_are:
            return leaves
        return tuple(map(call, self.enters, leaves, repeat(taken)))


def unless_as_they_are(leaves: Sequence[Leave]) -> tuple[Leave, ...] | None:
    """The conversions of results; None if all of them are the identity."""
    return None if all(leave is as_it_is for leave in leaves) else tuple(leaves)


# Into compiled code --------------------------------------------------------------------------------------------------


def entering_compiled(backend: Backend, slot: Slot, example: Any, dtype: str | None, *, copy: bool, narrowed: bool) -> Enter:
    """As `entering`, for compiled code: plain NumPy arrays and NumPy numbers are passed unconverted.

    narrowed: whether the call computes with fewer bits than the array has.
    """
    source = slot.library
    if source is PYTHON and dtype is not None:
        number = np.dtype(dtype).type
        convert: Enter = lambda value, taken: number(value)
        return _of_int(convert, dtype) if slot.dtype == "int" else convert
    plain = type(example) is np.ndarray and slot.dtype in _PLAIN and example.dtype.isnative and slot.holder is None
    if plain and backend.device is None and (dtype is None or dtype == slot.dtype) and not narrowed:
        return _copied if copy else as_it_is
    return entering(backend, slot, example, dtype, copy=copy)


def number_of(real: str) -> Enter:
    """Python numbers as NumPy numbers in this precision: a compiler of arrays alone would choose one itself."""
    names = {float: real, complex: complex_of(real)}
    return lambda value, taken: np.dtype(names[type(value)]).type(value) if type(value) in names else value


def _copied(value: Any, taken: set[int]) -> Any:
    return value.copy()


def _auto_name(library: Library) -> str:
    return next((cls.__name__ for cls in BUILT_IN if cls.name == library.name), f"a backend of {library.name}")
