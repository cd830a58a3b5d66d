"""Results are built on a structure again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from operator import itemgetter
from typing import Any

from .structures import Frozen, LeafSpec, Node, Static, Structure
from .written import Place, Writer, gradient_of, put_together


def build(structure: Structure, leaves: Iterator[Any]) -> Any:
    """The tree with these leaves; Constants are unwrapped, static values kept."""
    if isinstance(structure, LeafSpec):
        return next(leaves)
    if isinstance(structure, Node):
        return structure.type.unflatten(structure.data, [build(child, leaves) for child in structure.children])
    return build(structure.inner, leaves) if isinstance(structure, Frozen) else structure.value


def builder(structure: Structure) -> Callable[[Sequence[Any]], Any]:
    """`build` for one structure, made once: from the values of all slots to the tree."""
    if isinstance(structure, LeafSpec):
        return itemgetter(0)
    writer = Writer()
    writer.line(f"return {put_together(writer, structure, _places('leaves', count()))}")
    return writer.function("leaves")


def arguments_builder(
    structures: Sequence[Structure], keywords: Mapping[str, Structure], places: Iterable[Place]
) -> Callable[[Sequence[Any], Sequence[Any]], tuple[Sequence[Any], dict[str, Any]]]:
    """From the values of some slots, and those of the others, to the arguments and keywords.

    places: of every slot, in which of the two it stands ("active", "carried") and where.
    """
    writer, remaining = Writer(), iter(places)
    args = [put_together(writer, structure, remaining) for structure in structures]
    # Not as text: the name may be of a class of its own, such as a member of a StrEnum.
    words = [f"{writer.known(name)}: {put_together(writer, structure, remaining)}" for name, structure in keywords.items()]
    writer.line(f"return [{', '.join(args)}], {{{', '.join(words)}}}")
    return writer.function("active, carried")


def gradients_builder(structures: Sequence[Structure]) -> Callable[[Sequence[Any], Sequence[Any]], tuple[Any, ...]]:
    """`build_gradient` for some structures, made once: from the gradients of all differentiated leaves, and the values of all
    slots, to a tuple of trees.
    """
    writer, gradients, slots = Writer(), _places("gradients", count()), _places("values", count())
    trees = [gradient_of(writer, structure, gradients, slots) for structure in structures]
    writer.line(f"return ({''.join([f'{tree}, ' for tree in trees])})")
    return writer.function("gradients, values")


def _places(sequence: str, numbers: Iterable[int]) -> Iterator[Place]:
    return ((sequence, n) for n in numbers)


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
