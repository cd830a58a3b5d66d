"""Node types: how a container comes apart into children and is built again.

The built-in ones stand in `containers`; an engine brings its own (`torch.nn.Module`, JAX's pytrees) through its backend,
and a user adds a class with `register_node`.
"""

from __future__ import annotations

import functools
import pickle
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np


class Unkeyed(Exception):
    """Some arguments have no signature, because something in them cannot be compared."""


class Source(NamedTuple):
    """A kind of container in Python's own words, for functions that are written out for one structure."""

    #: Whether `{0}` is such a container, and would tell the same signature.
    test: str
    #: The children of `{0}`, as something that can be unpacked.
    children: str
    #: From an expression for each child to that of the container.
    build: Callable[[Sequence[str]], str]


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

    def reader(self, data: Any) -> Callable[[Any], Sequence[Any] | None]:
        """From another object of the type to its children, or None if its data would tell another signature."""
        key = self.key(data)

        def read(value: Any) -> Sequence[Any] | None:
            children, found = self.flatten(value)
            return children if self.key(found) == key else None

        return read

    def source(self, data: Any, count: int, known: Callable[[Any], str]) -> Source | None:
        """The same as `reader` and `unflatten` of so many children in Python's own words; None leaves it to them.

        known: from an object to a name for it in the words.
        """
        return None

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


def exactly(value: Any) -> Any:
    """A key that is equal only for what f cannot tell apart: 1, 1.0 and True differ, as 0.0 and -0.0 do, at any depth.

    An object whose class compares it by identity is itself the key. Any other is told by what pickle would write of it, since
    its own `==` may leave out what f looks at (`Decimal("1.0")` is equal to `Decimal("1.00")`).
    Raises Unkeyed if there is none, as for what may change while it is the same object.
    """
    try:
        return _content(value, False, ())
    except RecursionError:
        raise Unkeyed from None


def contents(value: Any) -> Any:
    """As `exactly`, but what may change, a list or a set, is told by what it holds now."""
    try:
        return _content(value, True, ())
    except RecursionError:
        raise Unkeyed from None


def cached_names(cls: type) -> list[str]:
    """The properties that a class caches in its instances, which are computed again where they are missing."""
    members = [item for base in cls.__mro__ for item in vars(base).items()]
    return [name for name, member in members if isinstance(member, functools.cached_property)]


class _Same:
    """An object as a key that is equal only for this very object."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _content(value: Any, changing: bool, above: tuple[int, ...]) -> Any:
    cls = type(value)
    if cls in _AT_SIGHT:
        return cls, value
    if cls is float:
        return cls, value.hex()
    if cls is complex:
        return cls, value.real.hex(), value.imag.hex()
    if cls is tuple:
        return cls, tuple([_content(part, changing, above) for part in value])
    if isinstance(value, (type, np.dtype)):
        return cls, value
    if not changing or cls.__hash__ is not None:
        try:
            hash(value)
        except TypeError:
            if not changing:
                raise Unkeyed from None
        else:
            if _compares(cls) is object.__eq__:
                return cls, value
    if id(value) in above:  # it holds itself
        return cls, len(above) - above.index(id(value))
    above = (*above, id(value))
    if isinstance(value, (set, frozenset)):
        return cls, frozenset([_content(part, changing, above) for part in value]), _state_of(value, changing, above)
    if cls is types.MappingProxyType:
        return cls, tuple([_content(item, changing, above) for item in value.items()])
    if cls is memoryview:
        return cls, value.format, value.shape, value.tobytes()
    try:
        parts = value.__reduce_ex__(4)
    except _INDIVISIBLE:
        parts = None
    if type(parts) is not tuple:
        return _indivisible(value)
    # Lists that only stand in what pickle writes are no part of the object that could change.
    changing = changing or not isinstance(_compares(cls), types.FunctionType)
    make, arguments, state, *items = (*parts, None, None, None)[:5]
    three = [_content(part, changing, above) for part in (make, arguments, _without_cached(cls, state))]
    return cls, *three, *[item if item is None else tuple([_content(part, changing, above) for part in item]) for item in items]


_compares: Callable[[type], object] = attrgetter("__eq__")


def _state_of(value: Any, changing: bool, above: tuple[int, ...]) -> Any:
    return (
        None
        if type(value) in (set, frozenset)
        else _content(_without_cached(type(value), value.__getstate__()), changing, above)
    )


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
        return type(value), _Same(value)
    return type(value), value
