"""Objects with `__array__`, which NumPy takes as arrays: its C code refuses those whose arrays are
an engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.contract.library import Library
from ..core.tree import handler_of
from .names import ARITHMETIC
from .storage import Storage


class ArrayHolder:
    """An object of a subclass of ndarray in code that runs as a copy: it holds its array."""

    __slots__ = ("_inner",)
    _inner: Any


def holder_among(value: Any) -> Any:
    """The first holder, also in lists, tuples and dicts; None without one."""
    if isinstance(value, (tuple, list, dict)):
        parts = value.values() if isinstance(value, dict) else value
        return next((inner for part in parts if (inner := holder_among(part)) is not None), None)
    return value if isinstance(value, ArrayHolder) else None


def subclass_among(values: Iterable[Any]) -> Any:
    """The class of holders, or the subclass of ndarray, among the arguments of `view`.

    None without one.
    """
    classes = [
        x
        for x in values
        if isinstance(x, type) and issubclass(x, (np.ndarray, ArrayHolder)) and x is not np.ndarray
    ]
    return classes[0] if classes else None


_REFLECTED = {ufunc: f"__r{name}__" for name, ufunc in ARITHMETIC.items()}


def array_of(x: Any) -> Any:
    """The array that NumPy makes of an object with `__array__`.

    Any other value unchanged, arrays too.
    """
    if not hasattr(type(x), "__array__") or isinstance(x, (Storage, np.ndarray, np.generic)):
        return x
    if isinstance(handler_of(x, scan=False), Library):  # whose `__array__` drops the gradient
        return x
    array = x.__array__()
    return array if isinstance(array, (Storage, np.ndarray)) else x


def operand_of(x: Any) -> Any:
    """As `array_of`, for an operand x of an array; x itself if NumPy leaves the operator to it."""
    own = getattr(type(x), "__array_ufunc__", _ufunc) is not _ufunc
    return x if own or getattr(x, "__array_priority__", 0) > 0 else array_of(x)


def protocols(cls: type) -> dict[str, Callable[..., Any]]:
    """Methods for a class with `__array__`, so that NumPy's functions ask it before their C code
    does.
    """
    if (
        not hasattr(cls, "__array__")
        or hasattr(cls, "__array_ufunc__")
        or hasattr(cls, "__array_function__")
    ):
        return {}
    return {"__array_ufunc__": _ufunc, "__array_function__": _function}


def _ufunc(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
    if (
        self is not inputs[0]
        and hasattr(self, _REFLECTED.get(ufunc, ""))
        and operand_of(self) is self
    ):
        # without this method, NumPy would leave its operators to the object
        return getattr(self, _REFLECTED[ufunc])(inputs[0])
    return getattr(ufunc, method)(*map(array_of, inputs), **keywords)


def _function(
    self: Any, function: Callable[..., Any], types: Any, args: Any, keywords: dict[str, Any]
) -> Any:
    return function(*arrays_in(args), **arrays_in(keywords))


def arrays_in(value: Any) -> Any:
    """As `array_of`, for each object in a list, tuple or dict."""
    return (
        with_each(arrays_in, value) if isinstance(value, (tuple, list, dict)) else array_of(value)
    )


def with_each(of: Callable[[Any], Any], value: Any) -> Any:
    """A list, tuple, namedtuple or dict with `of(part)` for each part.

    The value itself if no part changes.
    """
    if not isinstance(value, (tuple, list, dict)):
        return value
    given = list(value.values() if isinstance(value, dict) else value)
    parts = [of(part) for part in given]
    if all(a is b for a, b in zip(parts, given)):
        return value
    if isinstance(value, dict):
        return dict(zip(value, parts))
    if isinstance(value, list):
        return parts
    return value._make(parts) if hasattr(value, "_make") else tuple(parts)
