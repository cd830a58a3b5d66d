"""What messages say of a call: its places, its values in a few words, and warnings at the user's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..contract.auto import BUILT_IN
from ..contract.errors import DisconnectedWarning
from ..contract.library import PYTHON, Library, kind
from ..tree import Frozen, Leaf, Static, Structure, count_leaves, handler_of, paths_of


class Place(NamedTuple):
    """One place of the arguments, for messages."""

    path: str
    value: str
    #: Why it has no gradient.
    note: str
    #: Its leaf, if it is differentiated.
    leaf: Leaf | None = None


def places_of(structures: Iterable[Structure], found: Iterable[Leaf]) -> Iterator[Place]:
    """Every place of some arguments, with what a message says of it."""
    leaves = iter(found)
    for i, structure in enumerate(structures):
        for path, spec in paths_of(structure, f"args[{i}]"):
            if isinstance(spec, Static):
                yield Place(path, _short(spec.value), spec.reason)
            elif isinstance(spec, Frozen):
                for _ in range(count_leaves(spec.inner)):
                    next(leaves)
                yield Place(path, "Constant", "marked as not differentiated")
            else:
                leaf = next(leaves)
                integers = kind(leaf.library.dtype(leaf.value)) == "integer"
                note = "integers inside a tree are structure" if integers else "a bool is structure"
                yield Place(path, describe(leaf.value), note, leaf if leaf.differentiated else None)


def nothing_differentiable(operator: str, structures: Sequence[Structure], leaves: Iterable[Leaf]) -> str:
    lines = [f"{operator}: no argument has a gradient."]
    lines.extend(f"  {place.path}: {place.value} ({place.note})" for place in places_of(structures, leaves))
    if not structures:
        lines.append(f"  There is no argument at all: write {operator}(f, backend, x, ...).")
    lines.append("Pass floating numbers or arrays; a model's arrays must be floating to be trained.")
    return "\n".join(lines)


def describe(value: Any) -> str:
    """A value in a few words, for an error message: its library, dtype and shape, or its type."""
    handler = handler_of(value, scan=False)
    if isinstance(handler, Library) and handler is not PYTHON:
        article = "an" if handler.name[0] in "aeiou" else "a"
        return f"{article} {handler.name} array of dtype {handler.dtype(value)} and shape {handler.shape(value)}"
    if handler is PYTHON:
        return f"the {type(value).__name__} {value}"
    return f"a {type(value).__name__}"


def _short(value: Any) -> str:
    if value is None:
        return "None"
    text = repr(value)
    return f"{type(value).__name__} {text}" if len(text) <= 40 else type(value).__name__


def warn_disconnected(operator: str) -> None:
    """Tell the user that every gradient is zero."""
    warnings.warn(
        f"{operator}: the value of f depends on none of its differentiated arguments, so every gradient is zero. "
        f"Only what is computed inside f, from the arguments that f receives, is differentiated.",
        DisconnectedWarning,
        stacklevel=_levels_to_the_user(),
    )


def _levels_to_the_user() -> int:
    """The `stacklevel` at which a warning of our caller points at the line that called this package."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "adinterface":
        level, frame = level + 1, frame.f_back
    return level + 1


def auto_name(library: Library) -> str:
    return next((cls.__name__ for cls in BUILT_IN if cls.name == library.name), f"a backend of {library.name}")
