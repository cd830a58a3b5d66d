"""Node types: how a container is flattened into children and built again.

The built-in types are in `containers`. An engine adds its own (`torch.nn.Module`, JAX's pytrees) through its backend, and a
user adds a class with `register_node`.
"""

from __future__ import annotations

import enum
import functools
import logging
import pickle
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np


class Unkeyed(Exception):
    """Some arguments have no signature, because they contain a value that cannot be compared."""


class Wrapping:
    """What surrounds a call for objects that the call writes to. This one changes nothing."""

    #: The operation in place of the one that is called; None for the same. Only one wrapping of a call has one.
    kind: Any = None

    def wrap(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """f as the call inside gets it."""
        return f

    def arguments(self, args: Sequence[Any]) -> Sequence[Any]:
        """The arguments of f as the call inside gets them."""
        return args

    def finish(self, results: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The user's results from those of the call inside, after the objects in the arguments are written to."""
        return results


class NodeType(ABC):
    """One kind of container.

    Laws: with `children, data = flatten(x)`, `unflatten(data, children)` equals x; `flatten` never writes.
    """

    is_library: ClassVar[bool] = False
    #: f reaches the children through the object itself, and an engine may differentiate them in place. The data of such a type
    #: holds no object: `unflatten` and `gradient` get a pair of the object and its own children in front of the children.
    held: ClassVar[bool] = False
    #: It has one child, an array or a built-in container, and is accepted wherever that is expected: as f's value, as a
    #: tangent.
    stands_for_array: bool = False

    #: Python numbers anywhere inside are structure: hyperparameters, not parameters.
    fixes_numbers: ClassVar[bool] = False

    #: f may write into such objects: it gets private ones. Then `wrapping` must write their new state into the caller's.
    stateful: ClassVar[bool] = False

    @abstractmethod
    def matches(self, value: object) -> bool:
        """Whether value is such a container. Called once per class."""

    @abstractmethod
    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        """The children, and all other data needed to build the container again."""

    @abstractmethod
    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        """A container of the same class with other children."""

    def key(self, data: Any) -> Any:
        """The part of `data` that belongs to the signature.

        Raises Unkeyed for data that may change, or that f can tell from equal data: a plan then takes it from each call.
        """
        return data if data is None or type(data) is type else identically(data)

    def contents(self, data: Any) -> Any:
        """As `key`, for any data, by its current contents. Raises Unkeyed if it cannot be compared."""
        return contents(data)

    def hidden(self, value: Any, data: Any) -> Iterable[tuple[str, Any]]:
        """Undeclared contents of the container, by path: a floating array there would silently have no gradient."""
        return ()

    def gradient(self, data: Any, children: Sequence[Any]) -> Any:
        """The container of the children's gradients; None where a child has none."""
        return self.unflatten(data, children)

    def replace(self, data: Any, children: Sequence[Any]) -> Any:
        """The user's container with other children: the result of `tree.map`."""
        return self.unflatten(data, children)

    def widened(self, value: Any) -> Any:
        """For a held type: a copy in double precision, with what is no child; None if there can be none."""
        return None

    def parts(self, data: Any, other: Any) -> tuple[Sequence[Any], list[str]]:
        """The children of another container of this kind, and their paths."""
        children, own = self.flatten(other)
        return children, self.paths(own, len(children))

    def state(self, value: Any) -> tuple[Any, ...]:
        """For a held type: the contents beyond the children, to compare after f has changed them."""
        return ()

    def wrapping(self, operation: Any, layout: Any) -> Wrapping | None:
        """What surrounds the calls of an operation whose arguments contain such objects; None for nothing.

        It is made when such calls are planned. Raises TypeError for an operation that takes no such objects.
        """
        return None

    @abstractmethod
    def paths(self, data: Any, count: int) -> list[str]:
        """The suffix of the container's path for each child: `[0]`, `['a']`, `.weight`."""


# Content ----------------------------------------------------------------------------------------------------------------

# Classes whose values are equal only if f cannot tell them apart, given equal types.
_AT_SIGHT = frozenset(
    {
        bool, int, str, bytes, type(None), type(...), type(NotImplemented), type, types.FunctionType,
        types.BuiltinFunctionType, types.MethodType, types.ModuleType, np.ufunc,
    }
)  # fmt: skip

# The errors of an object that does not support pickling.
_INDIVISIBLE = (TypeError, ValueError, AttributeError, RuntimeError, pickle.PickleError)


#: Key functions of engines and extensions, for values such as their arrays; each returns None for any other value.
TOLD_BY: list[Callable[[Any], Any]] = []


def exactly(value: Any) -> Any:
    """A key that is equal only for values that f cannot tell apart: 1, 1.0 and True differ, as 0.0 and -0.0 do, at any depth.

    An object whose class compares by identity is keyed by its identity and its current attributes. Any other object is keyed by
    what pickle would write, since its `==` may ignore a difference: `Decimal("1.0") == Decimal("1.00")`. A function, a class
    and a module are keyed by identity alone. Raises Unkeyed for a value without a key, such as a mutable list or set.
    """
    if type(value) is tuple and _AT_SIGHT.issuperset(kinds := tuple(map(type, value))):
        return kinds, value
    return key_and_change(value, False)[0]


def identically(value: Any) -> Any:
    """As `exactly`, but raises Unkeyed for an object that is keyed by its contents: f can tell it from an equal one by `is`."""
    if type(value) is tuple and _AT_SIGHT.issuperset(kinds := tuple(map(type, value))):
        return kinds, value
    return _Walk(by_identity=True).content(value, False, ())


def contents(value: Any) -> Any:
    """As `exactly`, but a mutable value, such as a list or a set, is keyed by its current contents."""
    return key_and_change(value, True)[0]


def key_and_change(value: Any, changing: bool) -> tuple[Any, bool]:
    """The key, with `contents` if `changing`, else with `exactly`; and whether the same object may get another key later."""
    walk = _Walk()
    try:
        return walk.content(value, changing, ()), changing or walk.met_state
    except RecursionError:
        raise Unkeyed from None


@functools.lru_cache(maxsize=32)  # bounded: it keeps the classes alive
def cached_names(cls: type) -> tuple[str, ...]:
    """The cached properties of a class, which are computed again where they are missing."""
    members = [item for base in cls.__mro__ for item in vars(base).items()]
    return tuple([name for name, member in members if isinstance(member, functools.cached_property)])


def state_of(value: object) -> Iterable[tuple[str, Any]]:
    """The instance attributes of an object: `__dict__` and slots, unset ones left out."""
    yield from list(getattr(value, "__dict__", {}).items())  # a copy: another thread may write to it
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
    """A key that is equal only for this very object."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value: Any = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class _Walk:
    """One traversal of a value."""

    def __init__(self, by_identity: bool = False) -> None:
        #: Whether to raise for an object that is keyed by its contents.
        self._by_identity = by_identity
        #: Whether a mutable object was found.
        self.met_state = False
        #: The mutable objects, each of which is visited once.
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
        if callable(value) and "__wrapped__" in getattr(value, "__dict__", ()):  # a function that a decorator wrapped
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
        if self._by_identity and not isinstance(value, enum.Enum):
            raise Unkeyed
        if id(value) in above:  # it contains itself
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
        # Lists that exist only in the pickled form are not part of the object.
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
        """The key of an object that is compared by identity: the object and its current contents."""
        cls: type = type(value)
        key = Same(value)
        if isinstance(value, _BY_NAME) or id(value) in self._seen:
            return cls, key
        state = dict(state_of(value))
        # The state of a class written in C, beyond its attributes.
        parts = _reduced(value) if _reduces_in_c(cls) else None
        if parts is None and not state:
            return cls, key
        self.met_state, self._seen[id(value)] = True, value
        cached = cached_names(cls)
        items = [(name, self.content(held, True, above)) for name, held in state.items() if name not in cached]
        return cls, key, tuple(items), parts and tuple(self._parts(cls, parts, True, above))


# Singletons whose attributes f does not compute with; a logger's attributes reach all other loggers.
_BY_NAME = (enum.Enum, logging.Logger)
_BOUND = (types.MethodType, types.BuiltinFunctionType)
_compares: Callable[[type], object] = attrgetter("__eq__")


def _reduced(value: Any) -> tuple[Any, ...] | None:
    """What pickle would write of an object; None where it cannot be pickled."""
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
    """The key of an object that cannot be taken apart: the object itself, unless its `==` is a user's, which may be coarse."""
    if type(value).__hash__ is None:
        raise Unkeyed
    if isinstance(_compares(type(value)), types.FunctionType):
        return type(value), Same(value)
    return type(value), value
