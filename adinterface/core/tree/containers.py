"""The common containers, and classes that users register.

May import the contract and `opaque`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..contract.nodes import NodeType
from ..support.static_values import key_of
from .opaque import cached_names, state_of
from .structures import Constant

#: The largest number of entries of a cache by class.
KEPT_CLASSES = 1024


class _Sequence(NodeType):
    """`[x, {"a": y}]` has the children `[x, {"a": y}]` and no data."""

    def __init__(self, cls: type):
        self.cls: type = cls

    def matches(self, value: object) -> bool:
        return type(value) is self.cls

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        return value, None

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        return self.cls(children)

    def paths(self, data: Any, count: int) -> list[str]:
        return [f"[{i}]" for i in range(count)]


class _NamedTuple(NodeType):
    def matches(self, value: object) -> bool:
        cls = type(value)
        return issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_make")

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        return value, type(value)

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        return data._make(children)

    def paths(self, data: Any, count: int) -> list[str]:
        return [f".{name}" for name in data._fields]


class _Dict(NodeType):
    """`{"b": x, 1: y}` has children `(x, y)` and data `(dict, None, ("b", 1))`, in its order."""

    def matches(self, value: object) -> bool:
        return type(value) in (dict, OrderedDict, defaultdict)

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        factory = value.default_factory if type(value) is defaultdict else None
        return tuple(value.values()), (type(value), factory, tuple(value))

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        cls, factory, keys = data
        if cls is dict:
            return dict(zip(keys, children))
        items = zip(keys, children)
        return defaultdict(factory, items) if cls is defaultdict else cls(items)

    def key(self, data: Any, fixed: bool = True) -> Any:
        cls, factory, keys = data
        same = factory is None and {str}.issuperset(map(type, keys))
        return data if same else (cls, key_of(factory, fixed), key_of(keys, fixed))

    def paths(self, data: Any, count: int) -> list[str]:
        return [f"[{key!r}]" for key in data[2]]


class _RecordDict(NodeType):
    """A dataclass that is also a dict of its fields, such as Hugging Face model outputs.

    Its `__init__` keeps attributes and entries equal, so a copy is made by a call of the class.
    """

    def matches(self, value: object) -> bool:
        return isinstance(value, dict) and dataclasses.is_dataclass(value)

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        return tuple(value.values()), (type(value), tuple(value.keys()))

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        cls, names = data
        return cls(**dict(zip(names, children)))

    def hidden(self, value: Any, data: Any) -> Iterable[tuple[str, Any]]:
        return [(f".{name}", held) for name, held in state_of(value).items() if name not in data[1]]

    def paths(self, data: Any, count: int) -> list[str]:
        return [f".{name}" for name in data[1]]


@functools.lru_cache(maxsize=KEPT_CLASSES)
def _names(cls: Any) -> tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]:
    """The names of all fields, of static ones, and of cached properties."""
    is_dataclass = dataclasses.is_dataclass(cls)
    fields = dataclasses.fields(cls) if is_dataclass else tuple(cls.__attrs_attrs__)
    static = [field.name for field in fields if field.metadata.get("static", False)]
    return tuple([field.name for field in fields]), frozenset(static), cached_names(cls)


class _Fields(NodeType):
    """Dataclasses and attrs, rebuilt without `__init__`: no check runs on a gradient."""

    def matches(self, value: object) -> bool:
        declared = dataclasses.is_dataclass(value) or hasattr(type(value), "__attrs_attrs__")
        return declared and not isinstance(value, type)

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        cls: Any = type(value)
        names, static, cached = _names(cls)
        state = state_of(value)
        for name in cached:
            state.pop(name, None)  # cached: f computes it again from the new children
        declared = [name for name in names if name not in static]
        dynamic = tuple([name for name in declared if name in state or hasattr(value, name)])
        # A field with a default and `init=False` is a class attribute until it is set.
        children = [state.pop(name) if name in state else getattr(value, name) for name in dynamic]
        return children, (cls, dynamic, tuple(state.items()))

    def key(self, data: Any, fixed: bool = True) -> Any:
        cls, dynamic, state = data
        if not state:
            return data
        return cls, dynamic, tuple([(name, key_of(value, fixed)) for name, value in state])

    def hidden(self, value: Any, data: Any) -> Iterable[tuple[str, Any]]:
        cls, _, state = data
        others = [each for each in state if each[0] not in _names(cls)[1]]
        return [(f"{cls.__qualname__}.{name}", other) for name, other in others]

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        cls, names, state = data
        new = object.__new__(cls)
        for name, value in state:
            object.__setattr__(new, name, value)
        for name, value in zip(names, children):
            object.__setattr__(new, name, value)
        return new

    def paths(self, data: Any, count: int) -> list[str]:
        return [f".{name}" for name in data[1]]


class Attributes(_Fields):
    """A class registered with `fields`: other attributes are children in a Constant."""

    def __init__(self, cls: type, names: Iterable[str]):
        self.cls: type = cls
        self.names: frozenset[str] = frozenset(names)
        for name in sorted(self.names):
            if isinstance(getattr(cls, name, None), property):
                raise TypeError(
                    f"register_node: {cls.__qualname__}.{name} is a property, which cannot be set."
                    " Name the attribute in which it is kept."
                )

    def matches(self, value: object) -> bool:
        return type(value) is self.cls

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        state = state_of(value)
        for name in cached_names(self.cls):
            state.pop(name, None)
        children = [part if name in self.names else Constant(part) for name, part in state.items()]
        return children, (self.cls, tuple(state), ())

    def replace(self, data: Any, children: Sequence[Any]) -> Any:
        return self.unflatten(
            data, [part.value if type(part) is Constant else part for part in children]
        )


class Registered(NodeType):
    """A class given to `register_node(cls, flatten, unflatten)`."""

    def __init__(
        self,
        cls: type,
        flatten: Callable[[Any], tuple[Iterable[Any], Any]],
        unflatten: Callable[[Any, Sequence[Any]], Any],
    ):
        self.cls: type = cls
        self._flatten = flatten
        self._unflatten = unflatten

    def matches(self, value: object) -> bool:
        return type(value) is self.cls

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        children, data = self._flatten(value)
        return tuple(children), data

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        return self._unflatten(data, tuple(children))

    def key(self, data: Any, fixed: bool = True) -> Any:
        # Data of a stand-in is compared by identity: its caches change.
        return data if self.stands_for_array else super().key(data, fixed)

    def paths(self, data: Any, count: int) -> list[str]:
        return [f"<{self.cls.__qualname__} child {i}>" for i in range(count)]


#: Tried before the node types of engines: plain containers are the same for every engine, and
#: import none.
PLAIN: tuple[NodeType, ...] = (_Dict(), _Sequence(list), _Sequence(tuple), _NamedTuple())
#: Tried after the node types of engines: an engine may know such a class better.
RECORDS: tuple[NodeType, ...] = (_RecordDict(), _Fields())
