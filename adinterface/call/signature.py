"""The signature of some arguments: what a plan depends on, found in one walk that also collects the leaves.

Raises Unkeyed if something cannot be compared, and what taking the arguments apart raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import tree
from ..contract.library import NUMPY, PYTHON, Library, kind
from ..contract.nodes import NodeType, Unkeyed
from ..tree import Constant, handler_of
from .plan import is_promoted


class Signature:
    """What one walk through the arguments finds."""

    __slots__ = ("key", "static", "values")

    def __init__(self, args: Sequence[Any], kwargs: dict[str, Any]):
        #: The values in the order of a plan's slots.
        self.values: list[Any] = []
        #: Those of them that a compiler takes as they are: all but arrays and Python floats; and where they stand.
        self.static: list[tuple[int, Any]] = []
        key: list[Any] = [len(args)]
        for arg in args:
            handler = tree._handlers.get(type(arg))
            if handler is None and type(arg) is not Constant:
                handler = handler_of(arg)
            if handler is not None and handler.is_library and is_promoted(handler, arg):
                self.values.append(arg)
                key.append(type(arg) if handler is PYTHON else (type(arg), handler.signature(arg)))  # type: ignore[union-attr]
            else:
                self._walk(arg, key, False)
        for name, value in kwargs.items():
            key.append(name)
            self._walk(value, key, True)
        #: Equal where a plan can be used again.
        self.key = tuple(key)

    def _walk(self, value: Any, key: list[Any], constant: bool) -> None:
        cls = type(value)
        handler = tree._handlers.get(cls)
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
            self._leaf(value, handler, key, constant)  # type: ignore[arg-type]
            return
        assert isinstance(handler, NodeType)
        if handler.held:
            if not constant:
                raise Unkeyed  # a module's parameters may change in number and kind while it stays the same object
            self._static(value, key)
            return
        children, data = handler.flatten(value)
        key.append(handler)
        key.append(handler.key(data))
        key.append(len(children))
        for child in children:
            self._walk(child, key, constant)

    def _static(self, value: Any, key: list[Any]) -> None:
        self.static.append((len(self.values), value))
        self.values.append(value)
        key.append(None)

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
            key.append(None if constant else type(value))


__all__ = ["Signature"]
