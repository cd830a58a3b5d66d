"""Plain data, which is not replaced; and engine arrays inside lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.contract.decisions import active
from ...core.contract.errors import NumpyCodeError
from ..array import NumpyArray, numbers_unknown
from ..made_array import MadeArray, array_of_engine, plain
from ..refusals import expression, note_unknown
from ..writes import holds_storage, stacked

#: Types whose instances are not replaced.
PLAIN = frozenset({
    int, float, bool, complex, str, bytes, bytearray, type(None), type(Ellipsis), type(NotImplemented), set, frozenset, slice,
    range, object, NumpyArray, MadeArray, np.dtype, *(type(np.dtype(code)) for code in np.typecodes["All"]),
    *np.sctypeDict.values(),
})  # fmt: skip


def first_wrapped(values: Any) -> Any:
    """The first array of an engine among these values, and in their lists, tuples and dicts."""
    return array_of_engine(tuple(values))


def assembled(value: Any) -> Any:
    """A list with engine arrays as one array, as NumPy takes lists; a list of plain arrays unchanged."""
    if isinstance(value, (list, tuple)):
        if array_of_engine(value) is not None:
            return stacked(value)
        if holds_storage(value):
            return plain(value)
    return value


def is_followed(x: Any) -> bool:
    """Whether it is an array of an engine."""
    return type(x) is NumpyArray


def unknown(x: Any) -> bool:
    """Whether these are numbers that the engine does not know yet, as while compiling."""
    if type(x) is not NumpyArray:
        return False
    if active() is not None:  # a run that records for a compiled one must take the same branches
        return True
    return numbers_unknown(x._array, x._engine)


def settled_number(x: Any) -> Any:
    """The numbers of an array of an engine's, without what follows them. Raises NumpyCodeError where they are not known yet."""
    if type(x) is tuple:
        return tuple(map(settled_number, x))
    if not isinstance(x, NumpyArray):
        return x
    if type(x) is MadeArray:
        return x._array.copy()
    decisions = active()
    numbers = known_numbers(x) if decisions is None else decisions.numbers(x._array, x._engine.library)
    if numbers is None:
        error = NumpyCodeError(
            f"numpy_function: {expression() or 'this'} goes on by the numbers of what is differentiated, which a compiled "
            f"call does not know yet. Call it without preparing it."
        )
        note_unknown(error)
        raise error
    return numbers if numbers.ndim else numbers[()]


def known_numbers(x: Any, *, uncompiled: bool = False) -> np.ndarray[Any, Any] | None:
    """The numbers of an engine's array; None while they are unknown.

    uncompiled: whether the result cannot be compiled anyway, so that an uncompiled run may read any number.
    """
    library = x._engine.library
    decisions = active()
    if decisions is not None and x.dtype.kind in "iub":
        return decisions.numbers(x._array, library)
    if decisions is not None and not (uncompiled and decisions.recording):
        return None  # others rarely come again
    numbers = library.value_under_trace(x._array) if x._traced() else x._array
    return None if numbers is None else np.array(library.to_numpy(numbers) if isinstance(numbers, library.types) else numbers)


__all__ = [
    "PLAIN",
    "assembled",
    "first_wrapped",
    "is_followed",
    "known_numbers",
    "plain",
    "settled_number",
    "unknown",
]
