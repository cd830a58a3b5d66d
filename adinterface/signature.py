"""The signature of some arguments: what a plan depends on, found in one walk that also collects the leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import tree
from .call import is_promoted
from .library import NUMPY, PYTHON, Library
from .nodes import NodeType, Unkeyed
from .tree import Constant, handler_of


def signature(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[list[Any], tuple[Any, ...]]:
    """`(values, key)`: the values in the order of a plan's slots, and a key that is equal where a plan can be used again.

    Raises Unkeyed if nothing can be said, and what taking the arguments apart raises.
    """
    values: list[Any] = []
    key: list[Any] = [len(args)]
    for arg in args:
        handler = tree._handlers.get(type(arg))
        if handler is PYTHON or (handler is not None and handler.is_library and is_promoted(handler, arg)):
            values.append(arg)
            key.append(type(arg) if handler is PYTHON else (type(arg), handler.signature(arg)))  # type: ignore[union-attr]
        else:
            _walk(arg, values, key, False)
    for name, value in kwargs.items():
        key.append(name)
        _walk(value, values, key, True)
    return values, tuple(key)


def _walk(value: Any, values: list[Any], key: list[Any], constant: bool) -> None:
    cls = type(value)
    handler = tree._handlers.get(cls)
    if handler is None:
        if cls is Constant:
            key.append(Constant)
            _walk(value.value, values, key, True)
            return
        foreign = constant and isinstance(value, np.ndarray) and not NUMPY.owns(value)
        handler = None if foreign else handler_of(value, scan=not constant)
        if handler is None:
            key.append(None)
            values.append(value)
            return
    if handler.is_library:
        _leaf(value, handler, values, key, constant)  # type: ignore[arg-type]
        return
    assert isinstance(handler, NodeType)
    if handler.held:
        if not constant:
            raise Unkeyed  # a module's parameters may change in number and kind while it stays the same object
        key.append(None)
        values.append(value)
        return
    children, data = handler.flatten(value)
    key.append(handler)
    key.append(handler.key(data))
    key.append(len(children))
    for child in children:
        _walk(child, values, key, constant)


def _leaf(value: Any, library: Library, values: list[Any], key: list[Any], constant: bool) -> None:
    values.append(value)
    if library is PYTHON:
        key.append(None if constant or type(value) is int else type(value))
    else:
        key.append((type(value), library.signature(value)))


__all__ = ["signature"]
