"""What a tree is when its leaves are taken out: a `Structure`, with places for them.

Every structure has two methods. `build(leaves)` puts the tree together again. `gradient(gradients, values)` gives the tree of
gradients, with None for what has none; `values` has an entry for each slot of a plan, or is endless for a structure without
slots.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from .library import Library
from .nodes import NodeType

T = TypeVar("T")


class Constant:
    """Marks a value that is not differentiated: an argument, or any node inside one.

    f receives what it wraps; the gradient there is None. A frozen layer of a model, an axis, a batch of data:

    >>> from adinterface import AutoFiniteDifferences, Constant, gradient
    >>> gradient(lambda x, n: x**n, AutoFiniteDifferences(), 3.0, Constant(2))[1] is None
    True
    """

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __repr__(self) -> str:
        return f"Constant({self.value!r})"


class Each(Generic[T]):
    """Marks what has a leading axis for `batched`: an array, or a tree in which every array has one.

    It may stand at any node of an argument, around or inside a Constant, and in keyword arguments; f receives one entry.

    >>> import numpy as np
    >>> from adinterface import AutoFiniteDifferences, Each, batched, derivative
    >>> batched(derivative, lambda x: x**2, AutoFiniteDifferences(), Each(np.array([1.0, 2.0, 3.0]))).round(6)
    array([2., 4., 6.])
    """

    __slots__ = ("value",)

    def __init__(self, value: T):
        self.value = value

    def __repr__(self) -> str:
        return f"Each({self.value!r})"


class LeafSpec:
    """A place that a numeric leaf fills: differentiated, or only carried along."""

    __slots__ = ("differentiated",)

    def __init__(self, differentiated: bool):
        self.differentiated = differentiated

    def build(self, leaves: Iterator[Any]) -> Any:
        return next(leaves)

    def gradient(self, gradients: Iterator[Any], values: Iterator[Any]) -> Any:
        next(values)
        return next(gradients) if self.differentiated else None


DIFFERENTIATED, CARRIED = LeafSpec(True), LeafSpec(False)


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """A value without a gradient, kept as it is."""

    value: Any
    reason: str

    def build(self, leaves: Iterator[Any]) -> Any:
        return self.value

    def gradient(self, gradients: Iterator[Any], values: Iterator[Any]) -> None:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Frozen:
    """A Constant inside a tree: its content is carried along, its gradient is None as a whole."""

    inner: Structure

    def build(self, leaves: Iterator[Any]) -> Any:
        return self.inner.build(leaves)

    def gradient(self, gradients: Iterator[Any], values: Iterator[Any]) -> None:
        for _ in range(count_slots(self.inner)):
            next(values)


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    type: NodeType
    data: Any
    children: tuple[Structure, ...]

    def build(self, leaves: Iterator[Any]) -> Any:
        return self.type.unflatten(self.data, [child.build(leaves) for child in self.children])

    def gradient(self, gradients: Iterator[Any], values: Iterator[Any]) -> Any:
        if not self.type.held:
            return self.type.gradient(self.data, [child.gradient(gradients, values) for child in self.children])
        itself, *children = self.children
        value = itself.value if isinstance(itself, Static) else next(values)
        return self.type.gradient(self.data, [value, *[child.gradient(gradients, values) for child in children]])


Structure = LeafSpec | Static | Frozen | Node


class Holder(NamedTuple):
    """The first child of a held node: the object itself, with the children that it has of its own."""

    value: Any
    children: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A numeric leaf where it was found."""

    value: Any
    library: Library
    #: The object through which f reaches the leaf (a module that holds its parameter), if there is one.
    holder: Any
    differentiated: bool


def children_of(node: Node) -> tuple[Structure, ...]:
    """The children of a node, without the object itself in front of those of a held one."""
    return node.children[1:] if node.type.held else node.children


def paths_of(structure: Structure, path: str) -> Iterator[tuple[str, LeafSpec | Static | Frozen]]:
    """Every place of a structure with its path."""
    if isinstance(structure, Node):
        children = children_of(structure)
        for key, child in zip(structure.type.paths(structure.data, len(children)), children):
            yield from paths_of(child, path + key)
    else:
        yield path, structure


def count_slots(structure: Structure) -> int:
    """How many slots a structure has in which each value without a gradient has one too."""
    if isinstance(structure, Node):
        return sum([count_slots(child) for child in structure.children])
    return count_slots(structure.inner) if isinstance(structure, Frozen) else 1


def count_leaves(structure: Structure) -> int:
    """How many numeric leaves a structure has."""
    if isinstance(structure, LeafSpec):
        return 1
    if isinstance(structure, Node):
        return sum([count_leaves(child) for child in structure.children])
    return count_leaves(structure.inner) if isinstance(structure, Frozen) else 0
