"""The contents of values that no node type flattens. May import the contract.

A gradient that is silently None for an object full of numbers would be wrong, so the attributes and
entries of an opaque object are looked at, with the containers among them, but not objects inside.
"""

from __future__ import annotations

import enum
import functools
import types
from collections import deque
from collections.abc import Callable, MappingView
from typing import Any

import numpy as np

from ..contract.library import has_floats

_NEVER_HIDES = (
    str, bytes, bool, int, float, complex, type(None), type, enum.Enum, types.FunctionType,
    types.BuiltinFunctionType, types.MethodType, types.ModuleType, np.ufunc, np.dtype,
)  # fmt: skip


@functools.lru_cache(maxsize=32)  # bounded: it keeps the classes alive
def cached_names(cls: type) -> tuple[str, ...]:
    """The cached properties of a class, which are computed again where they are missing."""
    members = [item for base in cls.__mro__ for item in vars(base).items()]
    cached = functools.cached_property
    return tuple([name for name, member in members if isinstance(member, cached)])


def state_of(value: object) -> dict[str, Any]:
    """A copy of the instance attributes of an object: `__dict__` and slots, unset ones left out."""
    state = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in ("__dict__", "__weakref__"):
                continue
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{cls.__name__.lstrip('_')}{name}"
            try:
                state[name] = object.__getattribute__(value, name)
            except AttributeError:  # a slot that was never set
                continue
    return state


def is_number(value: object) -> bool:
    """Whether value is a Python or NumPy real or complex number, or of a class derived from one."""
    return isinstance(value, (float, complex, np.inexact)) and not isinstance(value, enum.Enum)


def buffer_has_floats(value: object) -> bool | None:
    """Whether a value that NumPy can convert, such as a `memoryview`, has a floating dtype.

    None for any other value.
    """
    cls = type(value)
    if hasattr(cls, "__array__"):
        # without reading the data, which may be in a file
        kind = getattr(getattr(value, "dtype", None), "kind", "O")
        if kind != "O":
            return kind in ("f", "c")
        source: object = value
    else:
        try:
            source = memoryview(value)  # type: ignore[arg-type]
        except TypeError:
            return None
    try:
        array = np.asarray(source)
    except (TypeError, ValueError, RuntimeError):
        return None
    if array.dtype.kind == "O":  # a table of several types; a missing string is NaN
        return any(is_number(entry) and entry == entry for entry in array.flat)
    return has_floats(array.dtype)


def hidden(
    value: object, is_array: Callable[[object], bool], *, numbers: bool = False
) -> str | None:
    """The path in an opaque object to a floating array, or with `numbers` to a number; or None.

    `".layers[0]"` for an object whose attribute `layers` is a list of arrays.
    """
    ids: set[int] = set()
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        path, node = stack.pop()
        if numbers and path and is_number(node):
            return path
        if isinstance(node, _NEVER_HIDES) or id(node) in ids:
            continue
        ids.add(id(node))
        if path and is_array(node):
            return path
        buffer = None if isinstance(node, (np.ndarray, np.generic)) else buffer_has_floats(node)
        if path and buffer:
            return path
        if buffer is not None:
            continue
        if isinstance(node, (dict, types.MappingProxyType)):
            stack.extend((f"{path}[{key!r}]", item) for key, item in list(node.items()))
        elif isinstance(node, (list, tuple, set, frozenset, deque, MappingView)):
            items: Any = node
            stack.extend((f"{path}[{i}]", item) for i, item in enumerate(items))
        if node is value and not isinstance(node, np.ndarray):
            stack.extend((f"{path}.{name}", item) for name, item in state_of(node).items())
    return None
