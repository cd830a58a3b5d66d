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
    """An object as a key, which keeps it alive: by hash and equality, or else by identity."""

    __slots__ = ("_hash", "value")

    def __init__(self, value: Any):
        self.value: Any = value
        try:
            self._hash: int | None = hash(value)
        except TypeError:
            self._hash = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Same):
            return False
        if self.value is other.value:
            return True
        known = self._hash is not None and self._hash == other._hash
        return known and bool(self.value == other.value)

    def __hash__(self) -> int:
        return id(self.value) if self._hash is None else self._hash


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
    cls: Any = type(value)
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
    return cls, Same(value)


__all__ = ["Same", "Unkeyed", "key_of"]
