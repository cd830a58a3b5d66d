"""The cache keys of static values: whatever is no array and no float."""

from __future__ import annotations

import enum
import types
from typing import Any

import numpy as np


class Unkeyed(Exception):
    """Some arguments have no signature, because they contain a value that cannot be compared."""


#: Classes whose values are equal only if f cannot tell them apart, given equal types.
_PLAIN = frozenset(
    {
        bool, int, str, bytes, type(None), type(...), type(NotImplemented), type,
        types.FunctionType, types.ModuleType, types.BuiltinFunctionType, np.ufunc,
    }
)  # fmt: skip


class Same:
    """An object without a hash as a key, by its identity, which keeps the object alive."""

    __slots__ = ("value",)

    def __init__(self, value: object):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def key_of(value: Any, fixed: bool = False) -> Any:
    """A key by which values are told apart, as `jax.jit` does.

    The type comes first: 1, 1.0 and True differ, as 0.0 and -0.0 do. Numbers, strings, arrays
    without numbers, and built-in containers of them are compared by content. Any other object is
    compared by its hash and equality, or by its identity if it has no hash: a change inside it is
    not seen.

    fixed: whether a plan keeps the value and hands it to f in later calls. Then only what cannot
    change has a key.

    Raises Unkeyed for a value without a key.
    """
    cls = type(value)
    if cls in _PLAIN:
        return cls, value
    if cls in (float, complex):
        return cls, repr(value)
    try:
        if isinstance(value, tuple):
            return cls, *[key_of(part, fixed) for part in value]
        if isinstance(value, (type, enum.Enum, np.dtype)):
            return cls, value
        if isinstance(value, np.generic):
            return cls, value.dtype, value.tobytes()
        if fixed:
            raise Unkeyed
        if cls is list:
            return cls, *map(key_of, list(value))
        if cls is dict:
            return cls, *[(key_of(name), key_of(part)) for name, part in list(value.items())]
        if cls in (set, frozenset):
            return cls, frozenset(map(key_of, list(value)))
        if cls is np.ndarray:
            objects = value.dtype.hasobject
            content = key_of(value.ravel().tolist()) if objects else value.tobytes()
            return value.dtype, value.shape, content
    except RecursionError:
        raise Unkeyed from None
    try:
        hash(value)
    except TypeError:
        return cls, Same(value)
    return cls, value
