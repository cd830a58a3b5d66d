"""Node types: how a container comes apart into children and is built again.

The built-in ones stand in `containers`; an engine brings its own (`torch.nn.Module`, JAX's pytrees) through its backend,
and a user adds a class with `register_node`.
"""

from __future__ import annotations

import enum
import functools
import logging
import pickle
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np


class Unkeyed(Exception):
    """Some arguments have no signature, because something in them cannot be compared."""


class NodeType(ABC):
    """One kind of container.

    Laws: `unflatten(data, children)` of what `flatten` gave equals the original; `flatten` reads, and never writes.
    """

    is_library: ClassVar[bool] = False
    #: f reaches the children through the object itself, and an engine may differentiate them where they are. Such a type
    #: keeps no object in its data: `unflatten` and `gradient` get, in front of the children, a pair of the object and its own.
    held: ClassVar[bool] = False
    #: It has one child, an array or a container of Python's own, and stands for that wherever one is expected: as what f
    #: returns, as a tangent.
    stands_for_array: bool = False

    #: Python numbers anywhere inside are structure: hyperparameters, not what is trained.
    fixes_numbers: ClassVar[bool] = False

    #: f may write into such objects; what it leaves in the private one that it gets is written into the caller's.
    stateful: ClassVar[bool] = False

    @abstractmethod
    def matches(self, value: object) -> bool:
        """Whether value is such a container. Asked once per class."""

    @abstractmethod
    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        """The children and everything else that is needed to build the container again."""

    @abstractmethod
    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        """A container of the same class with other children."""

    def key(self, data: Any) -> Any:
        """What of `data` tells one signature from another. Raises Unkeyed if it cannot be compared."""
        return data if data is None or type(data) is type else exactly(data)

    def leaf_keys(self, children: Sequence[Any]) -> Iterable[Any] | None:
        """The signatures of the children of a held node, all leaves with a gradient; None where each is asked on its own."""
        return None

    def own(self, data: Any) -> Any:
        """`data` for a plan, which outlives the call: with copies of what its owner may change, if `key` allows such."""
        return data

    def hidden(self, value: Any, data: Any) -> Iterable[tuple[str, Any]]:
        """What the container holds without declaring it, by path: a floating array there would silently have no gradient."""
        return ()

    def gradient(self, data: Any, children: Sequence[Any]) -> Any:
        """The container of the children's gradients; None where a child has none."""
        return self.unflatten(data, children)

    def replace(self, data: Any, children: Sequence[Any]) -> Any:
        """A container of the user's own with other children: what `tree.map` gives."""
        return self.unflatten(data, children)

    def parts(self, data: Any, other: Any) -> tuple[Sequence[Any], list[str]]:
        """What another container of this kind has for children, whatever that is, and their paths."""
        children, own = self.flatten(other)
        return children, self.paths(own, len(children))

    def state(self, value: Any) -> tuple[Any, ...]:
        """For a type that is held: what differs after f has changed what the object holds beside the children."""
        return ()

    def writable(self, value: Any) -> bool:
        """For a type that is stateful: whether `write` can give this object another value."""
        return False

    def write(self, value: Any, child: Any) -> None:
        """Give a writable object another value in place of its one child."""
        raise NotImplementedError

    @abstractmethod
    def paths(self, data: Any, count: int) -> list[str]:
        """What to append to the container's own path for each child: `[0]`, `['a']`, `.weight`."""


# Content ----------------------------------------------------------------------------------------------------------------

# What no other value equals of which f could tell it apart, apart from the type.
_AT_SIGHT = frozenset(
    {
        bool, int, str, bytes, type(None), type(...), type(NotImplemented), type, types.FunctionType,
        types.BuiltinFunctionType, types.MethodType, types.ModuleType, np.ufunc,
    }
)  # fmt: skip

# How an object that does not come apart says so.
_INDIVISIBLE = (TypeError, ValueError, AttributeError, RuntimeError, pickle.PickleError)


#: What tells the keys of values of which others know more, such as arrays of engines; each gives None for any other.
TOLD_BY: list[Callable[[Any], Any]] = []


def exactly(value: Any) -> Any:
    """A key that is equal only for what f cannot tell apart: 1, 1.0 and True differ, as 0.0 and -0.0 do, at any depth.

    An object whose class compares it by identity is told by itself and by what its attributes are now. Any other is told by
    what pickle would write of it, since its own `==` may leave out what f looks at: `Decimal("1.0") == Decimal("1.00")`.
    A function is told by itself alone, with all that it captures, and so are classes and modules.
    Raises Unkeyed if there is none, as for what may change while it is the same object to its own `==`: a list, a set.
    """
    if type(value) is tuple and _AT_SIGHT.issuperset(kinds := tuple(map(type, value))):
        return kinds, value
    return key_and_change(value, False)[0]


def contents(value: Any) -> Any:
    """As `exactly`, but what may change, a list or a set, is told by what it holds now."""
    return key_and_change(value, True)[0]


def key_and_change(value: Any, changing: bool) -> tuple[Any, bool]:
    """The key, as `contents` has it if `changing`, else as `exactly`; and whether the same object may have another later."""
    walk = _Walk()
    try:
        return walk.content(value, changing, ()), changing or walk.met_state
    except RecursionError:
        raise Unkeyed from None


@functools.lru_cache(maxsize=32)  # it keeps the classes alive
def cached_names(cls: type) -> tuple[str, ...]:
    """The properties that a class caches in its instances, which are computed again where they are missing."""
    members = [item for base in cls.__mro__ for item in vars(base).items()]
    return tuple([name for name, member in members if isinstance(member, functools.cached_property)])


def state_of(value: object) -> Iterable[tuple[str, Any]]:
    """The instance attributes of an object: `__dict__` and slots, unset ones left out."""
    yield from list(getattr(value, "__dict__", {}).items())  # which another thread may be writing to
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in ("__dict__", "__weakref__"):
                continue
            mangled = f"_{cls.__name__.lstrip('_')}{name}" if name.startswith("__") and not name.endswith("__") else name
            try:
                yield mangled, object.__getattribute__(value, mangled)
            except AttributeError:  # a slot that was never set
                continue


class Same:
    """An object as a key that is equal only for this very object."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class _Walk:
    """One walk through a value."""

    def __init__(self) -> None:
        #: Whether there was an object that may change while it is the same.
        self.met_state = False
        #: Such objects, each of which is looked into once.
        self._seen: dict[int, Any] = {}

    def content(self, value: Any, changing: bool, above: tuple[int, ...]) -> Any:
        cls = type(value)
        if cls in _BOUND and not isinstance(value.__self__, (type, types.ModuleType, type(None))):
            function = value.__func__ if cls is types.MethodType else value.__name__
            return cls, function, self.content(value.__self__, changing, above)
        if cls in _AT_SIGHT:
            return cls, value
        if cls is float:
            return cls, value.hex()
        if cls is complex:
            return cls, value.real.hex(), value.imag.hex()
        if cls is tuple:
            return cls, tuple([self.content(part, changing, above) for part in value])
        if isinstance(value, (type, np.dtype)):
            return cls, value
        if callable(value) and "__wrapped__" in getattr(value, "__dict__", ()):  # a function that a decorator made of another
            return cls, Same(value)
        for told in TOLD_BY:
            if (key := told(value)) is not None:
                return cls, key
        if not changing or cls.__hash__ is not None:
            try:
                hash(value)
            except TypeError:
                if not changing:
                    raise Unkeyed from None
            else:
                if _compares(cls) is object.__eq__:
                    return self._identical(value, above)
        if id(value) in above:  # it holds itself
            return cls, len(above) - above.index(id(value))
        above = (*above, id(value))
        if cls is list:
            return cls, tuple([self.content(part, changing, above) for part in value])
        if cls is dict:
            items = list(value.items())
            return cls, tuple(
                [(self.content(key, changing, above), self.content(part, changing, above)) for key, part in items]
            )
        if isinstance(value, (set, frozenset)):
            return (
                cls,
                frozenset([self.content(part, changing, above) for part in list(value)]),
                self._state(value, changing, above),
            )
        if cls is types.MappingProxyType:
            return cls, tuple([self.content(item, changing, above) for item in value.items()])
        if cls is memoryview:
            return cls, value.format, value.shape, value.tobytes()
        parts = _reduced(value)
        if parts is None:
            return _indivisible(value)
        # Lists that only stand in what pickle writes are no part of the object that could change.
        changing = changing or not isinstance(_compares(cls), types.FunctionType)
        return cls, *self._parts(cls, parts, changing, above)

    def _parts(self, cls: type, parts: tuple[Any, ...], changing: bool, above: tuple[int, ...]) -> Iterable[Any]:
        make, arguments, state, *items = (*parts, None, None, None)[:5]
        yield from [self.content(part, changing, above) for part in (make, arguments, _without_cached(cls, state))]
        for item in items:
            yield item if item is None else tuple([self.content(part, changing, above) for part in list(item)])

    def _state(self, value: Any, changing: bool, above: tuple[int, ...]) -> Any:
        if type(value) in (set, frozenset):
            return None
        return self.content(_without_cached(type(value), value.__getstate__()), changing, above)

    def _identical(self, value: Any, above: tuple[int, ...]) -> Any:
        """The key of an object that is equal to itself alone: it, and what it holds now."""
        cls: type = type(value)
        key = Same(value)
        if isinstance(value, _BY_NAME) or id(value) in self._seen:
            return cls, key
        state = dict(state_of(value))
        # What a class written in C holds beside its attributes.
        parts = _reduced(value) if _reduces_in_c(cls) else None
        if parts is None and not state:
            return cls, key
        self.met_state, self._seen[id(value)] = True, value
        cached = cached_names(cls)
        items = [(name, self.content(held, True, above)) for name, held in state.items() if name not in cached]
        return cls, key, tuple(items), parts and tuple(self._parts(cls, parts, True, above))


# There is one of each, whose attributes f does not compute with; those of a logger reach all others.
_BY_NAME = (enum.Enum, logging.Logger)
_BOUND = (types.MethodType, types.BuiltinFunctionType)
_compares: Callable[[type], object] = attrgetter("__eq__")


def _reduced(value: Any) -> tuple[Any, ...] | None:
    """What pickle would write of an object; None where it says that it does not come apart."""
    try:
        parts = value.__reduce_ex__(4)
    except _INDIVISIBLE:
        return None
    return parts if type(parts) is tuple else None


def _reduces_in_c(cls: type) -> bool:
    methods = [cls.__reduce_ex__, cls.__reduce__]
    own = [method for method, plain in zip(methods, (object.__reduce_ex__, object.__reduce__)) if method is not plain]
    return bool(own) and not any(isinstance(method, types.FunctionType) for method in own)


def _without_cached(cls: type, state: Any) -> Any:
    if type(state) is not dict:
        return state
    cached = cached_names(cls)
    return tuple([item for item in state.items() if item[0] not in cached])


def _indivisible(value: Any) -> Any:
    """The key of what cannot be taken apart: by its own `==`, unless that is a user's, who may leave something out."""
    if type(value).__hash__ is None:
        raise Unkeyed
    if isinstance(_compares(type(value)), types.FunctionType):
        return type(value), Same(value)
    return type(value), value
