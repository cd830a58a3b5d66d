"""Whether arguments are like those that a plan was made for: the question of every call that may use a plan again.

`Signature` answers it for any plan, with a key for a dictionary; a `Recognizer` (see there) knows one plan, and asks only what
differs from one call to the next. Both also collect the values of the plan's slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..contract.library import NUMPY, PYTHON, Library, kind
from ..contract.nodes import NodeType
from ..tree import (
    HANDLERS,
    Constant,
    handler_of,
    holder_of,
)


def is_promoted(handler: object, arg: Any) -> bool:
    """Whether an argument of its own is an integer, which is differentiated as a float."""
    if handler is PYTHON:
        return type(arg) is int
    return isinstance(handler, Library) and kind(handler.dtype(arg)) == "integer"


class Signature:
    """What one walk through the arguments finds.

    Raises Unkeyed if something cannot be compared, and what taking the arguments apart raises.
    """

    __slots__ = ("held", "key", "static", "values")

    def __init__(self, args: Sequence[Any], kwargs: Mapping[str, Any]):
        #: The values in the order of a plan's slots.
        self.values: list[Any] = []
        #: Those of them that a compiler takes as they are, all but arrays and Python floats; and where they stand.
        self.static: list[tuple[int, Any]] = []
        #: Leaves that f reaches through objects that hold them.
        self.held: list[int] = []
        key: list[Any] = [len(args)]
        for arg in args:
            handler = HANDLERS.get(type(arg))
            if handler is None and type(arg) is not Constant:
                handler = handler_of(arg, alone=True)
            if handler is not None and handler.is_library and is_promoted(handler, arg):
                self.values.append(arg)
                key.append(type(arg) if handler is PYTHON else (type(arg), handler.signature(arg)))  # type: ignore[union-attr]
            else:
                self._walk(arg, key, False)
        for name, value in kwargs.items():
            key.append(name)
            self._walk(value, key, True)
        if self.held:  # one leaf in two places is two variables, of which f can reach only one through its holder
            key.append(tuple([self.held.index(leaf) for leaf in self.held]))
        #: Equal where a plan can be used again.
        self.key = tuple(key)

    def _walk(self, value: Any, key: list[Any], constant: bool, held: bool = False, fixed: bool = False) -> None:
        cls = type(value)
        handler = HANDLERS.get(cls)
        if handler is None:
            if cls is Constant:
                key.append(Constant)
                self._walk(value.value, key, True)
                return
            foreign = constant and isinstance(value, np.ndarray) and not NUMPY.owns(value)
            handler = None if foreign else handler_of(value, scan=not constant)
            if handler is None:
                self._static(value, key)
                return
        if handler.is_library:
            if held:
                self.held.append(id(value))
            if fixed and handler is PYTHON:
                self._static(value, key)
            else:
                self._leaf(value, handler, key, constant)  # type: ignore[arg-type]
            return
        assert isinstance(handler, NodeType)
        if handler.held and constant:
            self._static(value, key)
            return
        children, data = handler.flatten(value)
        key.append(handler)
        key.append(handler.key(data))
        key.append(len(children))
        for holder in holder_of(handler, value, children):
            self._static(holder, key)
        held, fixed = held or handler.held, fixed or handler.fixes_numbers
        for child in children:
            self._walk(child, key, constant, held, fixed)

    def _static(self, value: Any, key: list[Any]) -> None:
        self.static.append((len(self.values), value))
        self.values.append(value)
        key.append(type(value))

    def _leaf(self, value: Any, library: Library, key: list[Any], constant: bool) -> None:
        if library is not PYTHON:
            if kind(library.dtype(value)) == "other" and not library.compiles_other:
                self.static.append((len(self.values), value))
            self.values.append(value)
            key.append((type(value), library.signature(value)))
        elif type(value) is int:
            self._static(value, key)
        else:
            self.values.append(value)
            key.append(type(value))


__all__ = ["Signature", "is_promoted"]
