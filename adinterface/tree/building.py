"""Results are built on a structure again."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..contract.nodes import NodeType
from .structures import Frozen, LeafSpec, Node, Static, Structure, count_slots


def build(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The tree with these leaves; Constants are unwrapped, static values kept."""
    if isinstance(structure, LeafSpec):
        return next(leaves)
    if isinstance(structure, Node):
        return structure.type.unflatten(structure.data, [build(child, leaves) for child in structure.children])
    return build(structure.inner, leaves) if isinstance(structure, Frozen) else structure.value


def builder(structure: Structure, first: int = 0) -> tuple[Callable[[Sequence[Any]], Any], int]:
    """`build` for one structure, made once: from the values of all slots to the tree. And the number of the slot behind it."""
    if isinstance(structure, LeafSpec):
        return operator.itemgetter(first), first + 1
    if isinstance(structure, Frozen):
        return builder(structure.inner, first)
    if isinstance(structure, Static):
        value = structure.value
        return lambda leaves: value, first
    make, data, last = structure.type.unflatten, structure.data, first + len(structure.children)
    if structure.children and all(isinstance(child, LeafSpec) for child in structure.children):
        return lambda leaves: make(data, leaves[first:last]), last
    parts = []
    last = first
    for child in structure.children:
        part, last = builder(child, last)
        parts.append(part)
    if len(parts) == 1:
        return lambda leaves: make(data, (part(leaves),)), last
    return lambda leaves: make(data, [part(leaves) for part in parts]), last


#: From the gradients of all differentiated leaves, and the values of all slots, to the gradient of one tree.
GradientBuilder = Callable[[Sequence[Any], Sequence[Any]], Any]


def gradient_builder(structure: Structure, first: int = 0, slot: int = 0) -> tuple[GradientBuilder, int, int]:
    """As `builder`, for `build_gradient`; also the number of the slot after the structure's last."""
    if isinstance(structure, LeafSpec):
        if structure.differentiated:
            return lambda gradients, values: gradients[first], first + 1, slot + 1
        return _no_gradient, first, slot + 1
    if isinstance(structure, Frozen):
        return _no_gradient, first, slot + count_slots(structure)
    if isinstance(structure, Static):
        return _no_gradient, first, slot
    kind, data, last = structure.type, structure.data, first + len(structure.children)
    own = type(kind).gradient is not NodeType.gradient
    make = kind.gradient if own else kind.unflatten
    if structure.children and all(isinstance(child, LeafSpec) and child.differentiated for child in structure.children):
        return lambda gradients, values: make(data, gradients[first:last]), last, slot + len(structure.children)
    parts: list[GradientBuilder] = []
    last, held = first, slot
    for child in structure.children:
        part, last, slot = gradient_builder(child, last, slot)
        parts.append(part)
    if not structure.type.held:
        return lambda gradients, values: make(data, [part(gradients, values) for part in parts]), last, slot
    del parts[0]
    if len(parts) == last - first:
        return lambda gradients, values: make(data, [values[held], *gradients[first:last]]), last, slot

    def around(gradients: Sequence[Any], values: Sequence[Any]) -> Any:
        return make(data, [values[held], *[part(gradients, values) for part in parts]])

    return around, last, slot


def gradients_builder(makes: Sequence[GradientBuilder]) -> Callable[[Sequence[Any], Sequence[Any]], tuple[Any, ...]]:
    """From the same to a tuple of trees, by the builder of each; most often there is one."""
    if len(makes) == 1:
        (make,) = makes
        return lambda gradients, values: (make(gradients, values),)
    own = [None if make is _no_gradient else make for make in makes]
    return lambda gradients, values: tuple([None if make is None else make(gradients, values) for make in own])


def _no_gradient(gradients: Sequence[Any], values: Sequence[Any]) -> None:
    return None


def build_gradient(structure: Structure, gradients: Iterator[Any]) -> Any:
    """The tree of gradients: one for each differentiated leaf, None for everything else."""
    if isinstance(structure, LeafSpec):
        return next(gradients) if structure.differentiated else None
    if isinstance(structure, Node):
        children = [build_gradient(child, gradients) for child in structure.children]
        if structure.type.held:
            (itself, *_) = structure.children
            assert isinstance(itself, Static)
            children[0] = itself.value
        return structure.type.gradient(structure.data, children)
    return None
