"""Functions that are written out for one structure: what it decides stands in their code, in Python's own words.

A call takes its arguments apart, puts those of f together, and gives gradients their form. As functions made of functions
this took a frame for each container and each leaf; written out it takes a line, and a call on a dict of six of JAX's arrays a
tenth less.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

from ..contract.nodes import NodeType
from .structures import Frozen, LeafSpec, Node, Static, Structure

#: Where a leaf stands: in which sequence, at which place.
Place = tuple[str, int]

#: From so many children on, leaves alone are handed on as one slice.
_MANY = 16


@functools.lru_cache(maxsize=1024)
def _compiled(source: str) -> CodeType:
    """Many structures have one and the same text: what they differ in has a name."""
    return compile(source, "<written by adinterface>", "exec")


class Writer:
    """The lines of a function, and what the names in them stand for."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._known: dict[str, Any] = {}
        self._count = 0

    def line(self, text: str) -> None:
        """Add a line."""
        self._lines.append(text)

    def known(self, value: Any) -> str:
        """The name of an object that is known already."""
        name = f"c{len(self._known)}"
        self._known[name] = value
        return name

    def new(self, count: int = 1) -> list[str]:
        """Names that nothing has yet."""
        names = [f"v{n}" for n in range(self._count, self._count + count)]
        self._count += count
        return names

    def assigned(self, expression: str) -> str:
        """A name for what an expression gives."""
        (name,) = self.new()
        self.line(f"{name} = {expression}")
        return name

    def unpacked(self, expression: str, count: int) -> list[str]:
        """A name for each item of what an expression gives; there is at least one."""
        names = self.new(count)
        self.line(f"{', '.join(names)}, = {expression}")
        return names

    def function(self, parameters: str, *, excepting: type[Exception] | None = None) -> Callable[..., Any]:
        """The function of these parameters and all lines; it gives None for such an exception."""
        lines = self._lines
        if excepting is not None:
            lines = ["try:", *[f"    {line}" for line in lines], f"except {self.known(excepting)}: return None"]
        body = "".join([f"    {line}\n" for line in lines])
        namespace = dict(self._known)
        exec(_compiled(f"def written({parameters}):\n{body}"), namespace)
        written: Callable[..., Any] = namespace["written"]
        return written


def put_together(writer: Writer, structure: Structure, places: Iterator[Place]) -> str:
    """The expression of the tree with leaves from these places; Constants are unwrapped, static values kept."""
    if isinstance(structure, LeafSpec):
        return _at(next(places))
    if isinstance(structure, Frozen):
        return put_together(writer, structure.inner, places)
    if isinstance(structure, Static):
        return writer.known(structure.value)
    parts = _slice([next(places) for _ in structure.children]) if _is_row(structure) else None
    if parts is None:
        own = [put_together(writer, child, places) for child in structure.children]
        source = structure.type.source(structure.data, len(own), writer.known)
        if source is not None:
            return writer.assigned(source.build(own))
        parts = f"[{', '.join(own)}]"
    return writer.assigned(f"{writer.known(structure.type.unflatten)}({writer.known(structure.data)}, {parts})")


def _at(place: Place) -> str:
    return f"{place[0]}[{place[1]}]"


def _is_row(node: Node) -> bool:
    """Whether the children are many leaves, and nothing else."""
    return len(node.children) >= _MANY and all(isinstance(child, LeafSpec) for child in node.children)


def _slice(places: Sequence[Place]) -> str:
    """Leaves at these places, as a sequence."""
    (sequence, first), (_, last) = places[0], places[-1]
    if list(places) == [(sequence, n) for n in range(first, last + 1)]:
        return f"{sequence}[{first}:{last + 1}]"
    return f"[{', '.join(map(_at, places))}]"


def gradient_of(writer: Writer, structure: Structure, gradients: Iterator[Place], slots: Iterator[Place]) -> str:
    """The expression of the gradients in a tree's structure: None for what has none.

    gradients: of the differentiated leaves. slots: of all values; a held node's own object is taken from there.
    """
    if isinstance(structure, LeafSpec):
        next(slots)
        return _at(next(gradients)) if structure.differentiated else "None"
    if isinstance(structure, Frozen):
        _skip(structure.inner, slots)
        return "None"
    if isinstance(structure, Static):
        return "None"
    kind, own, parts = structure.type, type(structure.type).gradient is not NodeType.gradient, None
    if _is_row(structure) and all(child.differentiated for child in structure.children):  # type: ignore[union-attr]
        _skip(structure, slots)
        parts = _slice([next(gradients) for _ in structure.children])
    elif kind.held:
        itself, *children = structure.children
        assert isinstance(itself, LeafSpec)
        parts = f"[{', '.join([_at(next(slots)), *[gradient_of(writer, child, gradients, slots) for child in children]])}]"
    else:
        each = [gradient_of(writer, child, gradients, slots) for child in structure.children]
        source = None if own else kind.source(structure.data, len(each), writer.known)
        if source is not None:
            return writer.assigned(source.build(each))
        parts = f"[{', '.join(each)}]"
    make = kind.gradient if own else kind.unflatten
    return writer.assigned(f"{writer.known(make)}({writer.known(structure.data)}, {parts})")


def _skip(structure: Structure, slots: Iterator[Place]) -> None:
    if isinstance(structure, LeafSpec):
        next(slots)
    elif isinstance(structure, Frozen):
        _skip(structure.inner, slots)
    elif isinstance(structure, Node):
        for child in structure.children:
            _skip(child, slots)


__all__ = ["Place", "Writer", "gradient_of", "put_together"]
