"""Structures: a tree without its leaves, with places for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

from ..contract.library import Library
from ..contract.nodes import NodeType

T = TypeVar("T")


class Constant:
    """Marks a value that is not differentiated: an argument, or any node inside one.

    f receives the wrapped value; the gradient there is None. A frozen layer of a model, an axis, a
    batch of data:

    >>> from adinterface import AutoFiniteDifferences, Constant, gradient
    >>> gradient(lambda x, n: x**n, AutoFiniteDifferences(), 3.0, Constant(2))[1] is None
    True
    """

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value: Any = value

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


class LeafSpec:
    """A place for a numeric leaf, which is differentiated or carried along."""

    __slots__ = ("differentiated",)

    def __init__(self, differentiated: bool):
        self.differentiated: bool = differentiated

    def build(self, leaves: Iterator[Any]) -> Any:
        """The tree with these leaves; Constants are unwrapped, static values kept."""
        return next(leaves)

    def gradient(self, gradients: Iterator[Any], owners: Iterator[Any]) -> Any:
        """The tree of gradients: one for each differentiated leaf, None for everything else.

        owners: the objects of its owners, and `CALL_DATA` data.
        """
        return next(gradients) if self.differentiated else None

    def fold(self, place: Callable[[LeafSpec], T], node: Callable[[Node, list[T]], T]) -> T:
        """Computes bottom-up: `place` for each place, `node` for a node and its results."""
        return place(self)

    def places(self, path: str) -> Iterator[tuple[str, Structure]]:
        """Every place with its path; a Constant counts as one place."""
        yield path, self

    def nodes(self) -> Iterator[Node]:
        """Every node, parents first."""
        return iter(())


class Static(LeafSpec):
    """A value without a gradient, kept unchanged."""

    __slots__ = ("reason", "value")

    def __init__(self, value: Any, reason: str):
        super().__init__(False)
        self.value: Any = value
        self.reason: str = reason

    def build(self, leaves: Iterator[Any]) -> Any:
        return self.value


DIFFERENTIATED, CARRIED = LeafSpec(True), LeafSpec(False)


#: In place of the data of a node, if the data may change: a plan holds none, and each call has it
#: in front of the children.
CALL_DATA = object()


class Node:
    """A container as a structure: its type, the data to build it again, and its class."""

    __slots__ = (
        "_keys", "children", "cls", "data", "differentiated", "flat", "identity", "inner", "type",
    )  # fmt: skip

    def __init__(self, node_type: NodeType, data: Any, children: Sequence[Structure], cls: type):
        self.type: NodeType = node_type
        self.data: Any = data
        self.children: tuple[Structure, ...] = tuple(children)
        self.cls: type = cls
        #: The children, without what an owner and `CALL_DATA` data have in front.
        self.inner: tuple[Structure, ...] = (
            self.children[1:] if node_type.is_owner or data is CALL_DATA else self.children
        )
        #: Whether every child is a leaf, and whether each of `inner` has a gradient.
        self.flat: bool = _LEAVES.issuperset(self.children)
        self.differentiated: bool = _DIFFERENTIATED.issuperset(self.inner)
        self._keys: list[str] | None = None
        #: In a user's tree, what identifies an object that f may write to: a tree of the same form
        #: has one there, too.
        self.identity: int | None = None

    def with_children(self, children: Sequence[Structure]) -> Node:
        new = Node(self.type, self.data, children, self.cls)
        new.identity = self.identity
        return new

    def keys(self) -> list[str]:
        """For each of `inner` the last part of its path."""
        if self._keys is None:
            self._keys = self.type.paths(self.data, len(self.inner))
        return self._keys

    def taking_data(self, children: Sequence[Structure]) -> Node:
        """This node with these children, of which the first is the data of a call."""
        new = Node(self.type, CALL_DATA, children, self.cls)
        new._keys = self.keys()
        return new

    def made(self, make: Callable[[Any, Sequence[Any]], Any], children: Sequence[Any]) -> Any:
        """A container made by a method of the type, from data and children."""
        if self.data is CALL_DATA:
            return make(children[0].value, children[1:])
        return make(self.data, children)

    def build(self, leaves: Iterator[Any]) -> Any:
        if self.flat:
            return self.made(self.type.unflatten, [*islice(leaves, len(self.children))])
        return self.made(self.type.unflatten, [child.build(leaves) for child in self.children])

    def gradient(self, gradients: Iterator[Any], owners: Iterator[Any]) -> Any:
        if self.type is CONSTANT:
            return None
        children: list[Any] = []
        if len(self.inner) < len(self.children):
            first = self.children[0]
            children.append(first.value if type(first) is Static else next(owners))
        if self.differentiated:
            children += islice(gradients, len(self.inner))
        else:
            children += [child.gradient(gradients, owners) for child in self.inner]
        return self.made(self.type.gradient, children)

    def fold(self, place: Callable[[LeafSpec], T], node: Callable[[Node, list[T]], T]) -> T:
        return node(self, [child.fold(place, node) for child in self.children])

    def places(self, path: str) -> Iterator[tuple[str, Structure]]:
        if self.type is CONSTANT:
            yield path, self
            return
        for key, child in zip(self.keys(), self.inner):
            yield from child.places(path + key)

    def nodes(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.nodes()


#: A `Node` with children, or a place: a `LeafSpec` for a numeric leaf, or a `Static` value.
Structure: TypeAlias = LeafSpec | Node

_LEAVES, _DIFFERENTIATED = frozenset({DIFFERENTIATED, CARRIED}), frozenset({DIFFERENTIATED})


class Marker(NodeType):
    """A node that contains one tree, its `value`, and marks it; f does not see the marker."""

    #: An integer in it is promoted, as the argument itself would be.
    marks_argument: ClassVar[bool] = False

    def __init__(self, cls: type):
        self.cls = cls

    def matches(self, value: object) -> bool:
        return type(value) is self.cls

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        return (value.value,), None

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        return children[0]

    def replace(self, data: Any, children: Sequence[Any]) -> Any:
        return self.cls(children[0])

    def paths(self, data: Any, count: int) -> list[str]:
        return [""]


def is_stateful(node_type: NodeType) -> bool:
    """Whether f may write into such objects: something surrounds their calls; f sees no marker."""
    return "around" in node_type.gives and not isinstance(node_type, Marker)


def marks_argument(node_type: NodeType) -> bool:
    return isinstance(node_type, Marker) and node_type.marks_argument


#: A Constant: nothing in it is differentiated, and its whole gradient is None.
CONSTANT = Marker(Constant)


class Owner(NamedTuple):
    """The first child of an owner: the object itself, with its own children."""

    value: Any
    children: Sequence[Any]


class CallData(NamedTuple):
    """The first child of a node with `CALL_DATA` data: that of a call."""

    value: Any
    type: NodeType
    #: Whether it is in a Constant, which has no gradient.
    constant: bool

    def key(self) -> Any:
        return self.type.key(self.value, False)


def is_in_front(value: Any) -> bool:
    """Whether a slot's value is no child, but builds the gradient of a node: owner, data."""
    return type(value) is Owner or (type(value) is CallData and not value.constant)


@dataclass(frozen=True, slots=True)
class Leaf:
    """A numeric leaf, as found in a tree."""

    value: Any
    library: Library
    #: The object through which f reaches the leaf (a module that holds its parameter), or None.
    owner: Any
    differentiated: bool


class Slot(NamedTuple):
    """The place of a leaf or a static value in a plan. It keeps no value alive."""

    #: None for a static value.
    library: Library | None
    #: Of a static value: that of an array without numbers, such as strings, which compiled code
    #: contains; otherwise empty.
    dtype: str
    differentiated: bool
    #: The class of the object that holds the leaf for f, if there is one.
    owner: type | None
    #: Why a static value has no gradient.
    reason: str = ""


def count_leaves(structure: Structure) -> int:
    """How many numeric leaves a structure has."""
    return structure.fold(
        lambda place: int(type(place) is LeafSpec), lambda node, counts: sum(counts)
    )


def build_gradient(structure: Structure, gradients: Iterator[Any]) -> Any:
    """The tree of gradients: one for each differentiated leaf, None for everything else."""
    return structure.gradient(gradients, iter(()))
