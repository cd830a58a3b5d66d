"""Python numbers in code that runs as a copy: they raise Python's errors where NumPy's return
nan.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .array import OF_PYTHON, NumpyArray, binary, known_numbers
from .storage import PYTHON

_POWER = np.power
#: Python's operator for each ufunc that may raise one of Python's errors.
_FAILING: dict[np.ufunc, Callable[[Any, Any], Any]] = {
    np.true_divide: operator.truediv, np.floor_divide: operator.floordiv,
    np.remainder: operator.mod, np.divmod: divmod, np.power: operator.pow,
}  # fmt: skip


def python_number(x: Any) -> Any:
    """A 0-d array as a Python number; anything else unchanged."""
    if type(x) is not NumpyArray or x.ndim:
        return x
    number = NumpyArray(x.native, x.engine)
    number.origin = PYTHON
    return number


def item(x: NumpyArray, *index: Any) -> Any:
    """x.item(*index): the element as a Python number."""
    places = index[0] if len(index) == 1 and type(index[0]) is tuple else index
    if not places:
        if x.size != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return _settled(np.reshape(x, ()))
    return _settled(np.ravel(x)[places[0]] if len(places) == 1 else x[tuple(places)])


def listed(x: NumpyArray) -> Any:
    """x.tolist(): its elements as Python's numbers, in lists of lists."""
    return [listed(row) for row in x] if x.ndim else _settled(x)


def _settled(x: Any) -> Any:
    """An element as Python has it: integers and truth values have no derivative."""
    kind = x.dtype.kind
    return int(x) if kind in "iu" else bool(x) if kind == "b" else python_number(x)


def is_python_number(x: Any) -> bool:
    """Whether x would be a Python number in the original code."""
    return x.origin is PYTHON if type(x) is NumpyArray else type(x) in (float, int, bool, complex)


def _operated(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """The result of Python's operator for two numbers, at least one of them traced.

    None if one is a NumPy number.
    """
    if not (is_python_number(a) and is_python_number(b)):
        return None
    real = _FAILING.get(ufunc)
    if real is not None:
        value = checked(real, (a, b))
        if isinstance(value, complex) and ufunc is _POWER:  # of a negative number, as Python has it
            a = a + 0j
    result = _computed(ufunc, a, b)
    return tuple(map(python_number, result)) if type(result) is tuple else python_number(result)


def _operands(a: NumpyArray, b: NumpyArray) -> tuple[Any, Any]:
    """The arrays of two operands; a Python number takes the dtype of the other."""
    if is_python_number(a) == is_python_number(b):
        return a.native, b.native
    number, other = (a, b) if is_python_number(a) else (b, a)
    if (
        other.dtype.kind in "fc"
        and number.dtype != other.dtype
        and (number.dtype.kind == "f" or other.dtype.kind == "c")
    ):
        dtype = other.dtype if number.dtype.kind == "c" else other.real.dtype
        number = NumpyArray(number.native, number.engine).astype(dtype)
    return (number.native, other.native) if other is b else (other.native, number.native)


def _computed(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    if type(a) is NumpyArray:
        return binary(ufunc)(NumpyArray(a.native, a.engine), b)
    return ufunc(a, NumpyArray(b.native, b.engine))


def checked(real: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Lets a Python function raise its error for known numbers, and returns its result.

    None for unknown numbers.
    """
    known = _known(args)
    return None if known is None else real(*known)


def _known(args: Sequence[Any]) -> list[Any] | None:
    """The arguments as plain numbers and arrays; None while some are unknown."""
    known = [known_numbers(x) if type(x) is NumpyArray else x for x in args]
    if any(x is None for x in known):
        return None
    return [x.item() if isinstance(x, np.ndarray) and x.size == 1 else x for x in known]


OF_PYTHON.update(operator=_operated, operands=_operands, item=item, tolist=listed)

__all__ = ["checked", "is_python_number", "python_number"]
