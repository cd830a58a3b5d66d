"""The engine arrays that a function captures, and the same function with other values for them.

To differentiate a function by captured arrays, at other numbers or in another trace, they must be
arguments.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._closures import captured_values, copied
from ..core.contract.library import Library
from ..core.tree import handler_of
from ..numpy_code.array import NumpyArray
from .dispatch import PLAIN, is_native

#: Values that hold nothing.
_HOLD_NOTHING = PLAIN | {
    bytes, np.ndarray, types.BuiltinFunctionType, types.ModuleType
}  # fmt: skip
#: Packages whose objects hold no captured arrays.
_CLOSED = frozenset(sys.stdlib_module_names - {"__main__"}) | {"numpy", "adinterface"}


def library_of(x: Any) -> Library:
    """The library of an engine array, also behind a wrapper."""
    library = x.engine.library if type(x) is NumpyArray else handler_of(x, scan=False)
    assert isinstance(library, Library)
    return library


def native_of(x: Any) -> Any:
    return x.native if type(x) is NumpyArray else x


def is_traced(x: Any) -> bool:
    """Whether it is a traced array, possibly behind a wrapper."""
    known = type(x) is NumpyArray or (type(x) not in _HOLD_NOTHING and is_native(x))
    return known and library_of(x).traced(native_of(x))


class Captured:
    """Arrays in values and functions: in containers, closures, defaults, partials and attributes.

    These are arrays behind wrappers, and traced engine arrays.
    """

    def __init__(self, value: Any):
        self._value = value
        #: In the order in which they were found, each once.
        self.arrays: list[Any] = []
        self._holders: dict[int, list[int]] = {}
        self._seen: list[Any] = []  # kept alive, because the key is the identity
        self._visit()
        #: What holds one of the arrays, itself or in what it holds.
        self._changed: set[int] = set()
        waiting = [id(x) for x in self.arrays]
        while waiting:
            for holder in self._holders.get(waiting.pop(), ()):
                if holder not in self._changed:
                    self._changed.add(holder)
                    waiting.append(holder)

    def _visit(self) -> None:
        seen: set[int] = set()
        waiting = [self._value]
        while waiting:
            x = waiting.pop()
            if type(x) in _HOLD_NOTHING or id(x) in seen:
                continue
            seen.add(id(x))
            self._seen.append(x)
            if type(x) is NumpyArray or is_traced(x):
                self.arrays.append(x)
                continue
            parts = _parts(x)
            self._seen.append(parts)
            for part in parts:
                if type(part) not in _HOLD_NOTHING:
                    self._holders.setdefault(id(part), []).append(id(x))
                    waiting.append(part)

    def with_values(self, values: Sequence[Any]) -> Any:
        """The value or function with these in place of the arrays.

        Unchanged if it contains none of them.
        """
        made = {id(x): value for x, value in zip(self.arrays, values)}

        def of(x: Any) -> Any:
            if id(x) in made:
                return made[id(x)]
            return (
                _again(x, of, functools.partial(made.__setitem__, id(x)))
                if id(x) in self._changed
                else x
            )

        return of(self._value)


def _parts(x: Any) -> list[Any]:
    if isinstance(x, (types.FunctionType, types.MethodType, functools.partial)):
        return captured_values(x)
    if isinstance(x, (list, tuple)):
        return list(x)
    if isinstance(x, dict):
        return list(x.values())
    return list(_attributes(x).values())


def _again(x: Any, of: Callable[[Any], Any], announce: Callable[[Any], None]) -> Any:
    """The same value with its parts replaced; recorded first, for a value that contains itself."""
    if isinstance(x, types.FunctionType):
        return copied(x, of, lambda name, value: False, announce)
    if isinstance(x, types.MethodType):
        return types.MethodType(of(x.__func__), of(x.__self__))
    if isinstance(x, functools.partial):
        return functools.partial(
            of(x.func), *map(of, x.args), **{name: of(value) for name, value in x.keywords.items()}
        )
    if isinstance(x, list):
        listed: list[Any] = []
        announce(listed)
        listed += map(of, x)
        return listed
    if isinstance(x, tuple):
        parts = tuple(map(of, x))
        return x._make(parts) if hasattr(x, "_make") else parts
    if isinstance(x, dict):
        captured: dict[Any, Any] = {}
        announce(captured)
        captured.update({key: of(value) for key, value in x.items()})
        return captured
    new = object.__new__(type(x))
    announce(new)
    for name, value in _attributes(x).items():
        object.__setattr__(new, name, of(value))
    return new


def _attributes(x: Any) -> dict[str, Any]:
    """The attributes of an object of a user's class.

    Empty for a class or an object of a compiled class.
    """
    cls: Any = type(x)
    if isinstance(x, (type, types.ModuleType)) or cls.__module__.partition(".")[0] in _CLOSED:
        return {}
    if cls.__flags__ & _HEAP == 0 or cls.__new__ is not object.__new__:
        return {}
    slots = [name for base in cls.__mro__ for name in _slots(base)]
    return {
        **{name: getattr(x, name) for name in slots if hasattr(x, name)},
        **getattr(x, "__dict__", {}),
    }


#: The flag of classes that are made by a class statement.
_HEAP = 1 << 9


def _slots(cls: type) -> list[str]:
    slots = cls.__dict__.get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    return [name for name in names if name not in ("__dict__", "__weakref__")]


__all__ = ["Captured", "is_traced", "library_of", "native_of"]
