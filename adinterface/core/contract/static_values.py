"""The cache keys of static values: strings, functions, configuration objects and whatever else is no array and no float."""

from __future__ import annotations

import enum
import functools
import logging
import pickle
import types
from array import array
from collections.abc import Callable, Collection, Mapping
from operator import length_hint
from typing import Any

import numpy as np


class Unkeyed(Exception):
    """Some arguments have no signature, because they contain a value that cannot be compared."""


#: The bound of a key, in bytes of arrays and of containers that are keyed without a look at each entry; and what any other
#: entry costs.
_LIMIT = 2**20
_ENTRY = _LIMIT // 1000

#: Classes whose values are equal only if f cannot tell them apart, given equal types.
_PLAIN = frozenset(
    {
        bool, int, str, bytes, type(None), type(...), type(NotImplemented), type, types.FunctionType, types.ModuleType,
        np.ufunc,
    }
)  # fmt: skip
_BOUND = (types.MethodType, types.BuiltinFunctionType)
_BUFFERS = (bytearray, memoryview, array)
#: Singletons whose attributes f does not compute with; a logger's attributes reach all other loggers.
_SINGLETONS = (enum.Enum, logging.Logger)

#: Key functions of engines for their own values. Each returns None for any other value. It calls its second argument with the
#: number of bytes that the key copies.
KEY_FUNCTIONS: list[Callable[[Any, Callable[[int], None]], Any]] = []


def key_of(value: Any, fixed: bool = False) -> Any:
    """A key that is equal only for values that f cannot tell apart: 1, 1.0 and True differ, as 0.0 and -0.0 do, at any depth.

    - A function, a class, a module, a logger, a member of an enum, an immutable array and a module of torch: by identity.
    - An object whose class has no `==` of its own: by identity and its current attributes.
    - Any other object: by what pickle would write, since `==` may ignore a difference: `Decimal("1.0") == Decimal("1.00")`.
    - The bound is 1,000 entries in all, or 1 MB of arrays and flat containers. A container or an object beyond it is keyed by
      its identity and length, so a change inside is not seen. The key keeps it alive.

    fixed: whether a plan keeps the value and hands it to f in later calls. Only a value that cannot change, and that f cannot
    tell by `is` from another one with this key, has such a key.

    Raises Unkeyed for a value without a key.
    """
    if type(value) in _PLAIN:
        return type(value), value
    try:
        return _Walk(fixed).key(value)
    except RecursionError:
        raise Unkeyed from None


@functools.lru_cache(maxsize=32)  # bounded: it keeps the classes alive
def cached_names(cls: type) -> tuple[str, ...]:
    """The cached properties of a class, which are computed again where they are missing."""
    members = [item for base in cls.__mro__ for item in vars(base).items()]
    return tuple([name for name, member in members if isinstance(member, functools.cached_property)])


def state_of(value: object) -> dict[str, Any]:
    """A copy of the instance attributes of an object: `__dict__` and slots, unset ones left out."""
    state = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in ("__dict__", "__weakref__"):
                continue
            mangled = f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") and not name.endswith("__") else name
            try:
                state[mangled] = object.__getattribute__(value, mangled)
            except AttributeError:  # a slot that was never set
                continue
    return state


class Identity:
    """A key that is equal only for this very object."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value: Any = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class _TooLarge(Exception):
    """A container has more entries than the key may still contain."""


class _Walk:
    """One traversal of a value."""

    def __init__(self, fixed: bool) -> None:
        self._fixed = fixed
        #: How much the key may still contain.
        self._left = _LIMIT
        #: The objects met so far, by id, with their number: an object may contain itself.
        self._met: dict[int, tuple[int, Any]] = {}

    def key(self, value: Any) -> Any:
        cls = type(value)
        if cls in _PLAIN:
            return cls, value
        if cls is float:
            return cls, value.hex()
        try:
            return cls, *self._parts(cls, value)
        except _TooLarge:
            return cls, Identity(value), _length(value)

    def _parts(self, cls: Any, value: Any) -> tuple[Any, ...]:
        if cls is tuple:
            return self._entries(value)
        if cls is complex:
            return value.real.hex(), value.imag.hex()
        if cls in _BOUND:
            owner = value.__self__
            if owner is None or isinstance(owner, (type, types.ModuleType)):
                return (value,)
            return value.__func__ if cls is types.MethodType else value.__name__, self.key(owner)
        if isinstance(value, (type, np.dtype)):
            return (value,)
        # A function that a decorator wrapped, or a singleton.
        if isinstance(value, _SINGLETONS) or (callable(value) and "__wrapped__" in getattr(value, "__dict__", ())):
            return (Identity(value),)
        met = self._met.get(id(value))
        if met is not None:
            return (met[0],)
        self._met[id(value)] = len(self._met), value
        if cls is not list and cls is not dict:
            for key_function in KEY_FUNCTIONS:
                if (key := key_function(value, self._spend)) is not None:
                    if self._fixed and type(key) is not Identity:
                        raise Unkeyed
                    return (key,)
            if cls.__eq__ is object.__eq__:
                return self._object(cls, value)
        if self._fixed:
            raise Unkeyed
        if cls is list:
            return self._entries(value)
        if cls is dict or cls is types.MappingProxyType:
            return self._mapping(value)
        if isinstance(value, (set, frozenset)):
            self._spend(len(value) * _ENTRY)
            return frozenset(map(self.key, list(value))), self.key(_without_cached(cls, value.__getstate__()))
        if cls is np.ndarray or isinstance(value, np.generic):
            return value.dtype, value.shape, value.flags.fnc, self._numbers(value)
        if cls in _BUFFERS:
            view = memoryview(value)
            self._spend(view.nbytes)
            return view.format, view.shape, view.tobytes()
        return self._pickled(cls, value)

    def _entries(self, values: Collection[Any]) -> tuple[Any, ...]:
        self._require(8 * len(values))
        values = tuple(values)  # another thread may write to them
        classes = {*map(type, values)}
        if classes == {float}:
            self._spend(8 * len(values))
            return None, array("d", values).tobytes()
        if classes <= _PLAIN:
            self._spend(8 * len(values))
            return None, (*classes,) if len(classes) == 1 else tuple(map(type, values)), values
        self._spend(len(values) * _ENTRY)
        return tuple([self.key(part) for part in values])

    def _mapping(self, value: Mapping[Any, Any]) -> tuple[Any, ...]:
        self._require(8 * len(value))
        value = dict(value)
        return self._entries(value), self._entries(value.values())

    def _numbers(self, value: np.ndarray[Any, Any]) -> Any:
        if not value.dtype.hasobject:
            self._spend(value.nbytes)
            return value.tobytes()
        self._spend(value.size * _ENTRY)
        return tuple([self.key(part) for part in value.ravel().tolist()])

    def _object(self, cls: type, value: Any) -> tuple[Any, ...]:
        """An object that is compared by identity."""
        state = state_of(value)
        # The state of a class written in C, beyond its attributes.
        reduced = _reduced(value) if _reduces_in_c(cls) else None
        if reduced is None and not state:
            return (Identity(value),)
        if self._fixed:
            raise Unkeyed
        attributes = self._mapping(_without_cached(cls, state))
        return Identity(value), attributes, reduced and self._written(cls, reduced)

    def _pickled(self, cls: Any, value: Any) -> tuple[Any, ...]:
        """An object with an `==` of its own."""
        if isinstance(value, np.ndarray):
            self._require(value.nbytes)
        self._require((_length(value) + 8) * _ENTRY)  # before it is copied; pickle adds some entries
        reduced = _reduced(value)
        if reduced is not None:
            return self._written(cls, reduced)
        if cls.__hash__ is None:
            raise Unkeyed
        # The == of a user may be coarse.
        return (Identity(value) if isinstance(cls.__eq__, types.FunctionType) else value,)

    def _written(self, cls: type, reduced: tuple[Any, ...]) -> tuple[Any, ...]:
        make, arguments, state, *items = (*reduced, None, None, None)[:5]
        lists = [item if item is None else self._entries(list(item)) for item in items]
        return self.key(make), self.key(arguments), self.key(_without_cached(cls, state)), *lists

    def _require(self, cost: int) -> None:
        if cost > self._left:
            raise _TooLarge

    def _spend(self, cost: int) -> None:
        self._require(cost)
        self._left -= cost


def _length(value: Any) -> int:
    """The length that a class written in C gives."""
    return 0 if isinstance(getattr(type(value), "__len__", None), types.FunctionType) else length_hint(value)


def _reduced(value: Any) -> tuple[Any, ...] | None:
    """What pickle would write of an object; None where it cannot be pickled."""
    try:
        reduced = value.__reduce_ex__(4)
    except (TypeError, ValueError, AttributeError, RuntimeError, pickle.PickleError):
        return None
    return reduced if type(reduced) is tuple else None


def _reduces_in_c(cls: type) -> bool:
    methods = [cls.__reduce_ex__, cls.__reduce__]
    own = [method for method, plain in zip(methods, (object.__reduce_ex__, object.__reduce__)) if method is not plain]
    return bool(own) and not any(isinstance(method, types.FunctionType) for method in own)


def _without_cached(cls: type, state: Any) -> Any:
    if type(state) is not dict:
        return state
    cached = cached_names(cls)
    return {name: part for name, part in state.items() if name not in cached} if cached else state


__all__ = ["KEY_FUNCTIONS", "Identity", "Unkeyed", "cached_names", "key_of", "state_of"]
