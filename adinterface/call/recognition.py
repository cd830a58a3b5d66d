"""Whether arguments are like those that a plan was made for: the question of every call that may use a plan again.

`Signature` answers it for any plan, with a key for a dictionary; a recognizer knows one plan, asks only what differs from
one call to the next, and stops at the first difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from .. import tree
from ..contract.library import PYTHON
from ..contract.nodes import Unkeyed
from ..tree import Constant, Frozen, LeafSpec, Node, Structure

#: From arguments and keywords to their values in the order of a plan's slots; None if the plan was made for others.
Recognizer = Callable[[Sequence[Any], Mapping[str, Any]], "Sequence[Any] | None"]
#: Appends the values of one tree; False if it is another kind of tree.
Part = Callable[[Any, list[Any]], bool]

# Values of other classes may hide arrays, which only taking them apart tells.
_AT_SIGHT = frozenset(
    {str, bytes, bool, type(None), type, int, float, complex, FunctionType, BuiltinFunctionType, np.ufunc, slice, range}
)


class _Unrecognizable(Exception):
    """Something in the arguments must be looked into in every call."""


def recognizer(
    structures: Sequence[Structure], keywords: Mapping[str, Structure], slots: Iterator[tuple[Any, Any]]
) -> Recognizer | None:
    """A recognizer of the plan with these structures; None if there is no telling at sight.

    slots: the spec and the value of each slot, in order.
    """
    try:
        parts = [_part(structure, slots) for structure in structures]
        named = [(name, _inside(structure, slots)) for name, structure in keywords.items()]
    except (_Unrecognizable, Unkeyed):
        return None
    count = len(parts)
    arrays = [part.array for part in parts if isinstance(part, _Array)]
    if arrays and len(arrays) == count and not named:
        return _of_arrays(arrays)

    def recognize(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        if len(args) != count or len(kwargs) != len(named):
            return None
        values: list[Any] = []
        try:
            for part, arg in zip(parts, args):
                if not part(arg, values):
                    return None
            if kwargs:
                for (name, part), (given, value) in zip(named, kwargs.items()):
                    if name != given or not part(value, values):
                        return None
        except Unkeyed:
            return None
        return values

    return recognize


def tangent_recognizer(structures: Sequence[Structure], slots: Iterator[tuple[Any, Any]]) -> Recognizer | None:
    """As `recognizer`, for tangents: like the argument where all of it is differentiated, None where nothing is."""
    parts = []
    try:
        for structure in structures:
            differentiated = set(_differentiated(structure))
            if len(differentiated) != 1:
                return None
            part = _part(structure, slots)
            parts.append(part if True in differentiated else _is_none)
    except (_Unrecognizable, Unkeyed):
        return None
    arrays = [part.array for part in parts if isinstance(part, _Array)]
    if len(arrays) == len(parts):
        return _of_arrays(arrays)

    def recognize(tangents: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        if len(tangents) != len(parts):
            return None
        values: list[Any] = []
        for part, tangent in zip(parts, tangents):
            if not part(tangent, values):
                return None
        return values

    return recognize


def _differentiated(structure: Structure) -> Iterator[bool]:
    """Of every slot, whether it is differentiated."""
    if isinstance(structure, LeafSpec):
        yield structure.differentiated
    elif isinstance(structure, Frozen):
        yield from _differentiated(structure.inner)
    elif isinstance(structure, Node):
        for child in structure.children:
            yield from _differentiated(child)


def _is_none(value: Any, values: list[Any]) -> bool:
    return value is None


def _of_arrays(arrays: list[tuple[Any, tuple[int, ...]]]) -> Recognizer:
    """The recognizer of calls whose arguments are arrays: the case of inner loops."""
    count = len(arrays)
    dtype, shape = arrays[0]
    ndarray = np.ndarray

    def recognize_one(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        if kwargs or len(args) != 1:
            return None
        (value,) = args
        if type(value) is not ndarray or value.shape != shape:
            return None
        found = value.dtype
        return args if found is dtype or found == dtype else None

    def recognize(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any] | None:
        if kwargs or len(args) != count:
            return None
        for value, (dtype, shape) in zip(args, arrays):
            if type(value) is not ndarray or value.shape != shape:
                return None
            found = value.dtype
            if found is not dtype and found != dtype:
                return None
        return args

    return recognize_one if count == 1 else recognize


def _part(structure: Structure, slots: Iterator[tuple[Any, Any]]) -> Part:
    if isinstance(structure, Frozen):
        inner = _part(structure.inner, slots)
        return lambda value, values: type(value) is Constant and inner(value.value, values)
    if isinstance(structure, Node):
        return _node(structure, slots)
    assert isinstance(structure, LeafSpec)
    spec, value = next(slots)
    if spec.holder is not None:
        raise _Unrecognizable
    if spec.library is None or spec.library is PYTHON:
        return _of_class(type(value))
    if type(value) is np.ndarray:
        return _Array(value.dtype, value.shape)
    return _leaf(spec.library, value)


def _inside(structure: Structure, slots: Iterator[tuple[Any, Any]]) -> Part:
    """As a part, for a keyword: it is treated as the content of a Constant, and may be one."""
    assert isinstance(structure, Frozen)
    return _part(structure.inner, slots)


def _of_class(cls: type) -> Part:
    if cls not in _AT_SIGHT and not tree.is_opaque_type(cls):
        raise _Unrecognizable

    def part(value: Any, values: list[Any]) -> bool:
        values.append(value)
        return type(value) is cls

    return part


class _Array:
    """The part of a NumPy array."""

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...]):
        self.array = dtype, shape

    def __call__(self, value: Any, values: list[Any]) -> bool:
        values.append(value)
        return type(value) is np.ndarray and (value.dtype, value.shape) == self.array


def _leaf(library: Any, example: Any) -> Part:
    cls, expected, signature = type(example), library.signature(example), library.signature

    def part(value: Any, values: list[Any]) -> bool:
        if type(value) is not cls:
            return False
        values.append(value)
        return bool(signature(value) == expected)

    return part


def _node(structure: Node, slots: Iterator[tuple[Any, Any]]) -> Part:
    node_type, flatten, key_of = structure.type, structure.type.flatten, structure.type.key
    if node_type.held:
        raise _Unrecognizable
    key, handlers = key_of(structure.data), tree._handlers
    count = len(structure.children)
    parts = [_part(child, slots) for child in structure.children]
    arrays = [part.array for part in parts if isinstance(part, _Array)]

    if count and len(arrays) == count:  # many layers or the entries of a dict: no call for each

        def of_arrays(value: Any, values: list[Any]) -> bool:
            if handlers.get(type(value)) is not node_type:
                return False
            children, data = flatten(value)
            if len(children) != count or key_of(data) != key:
                return False
            for child, (dtype, shape) in zip(children, arrays):
                if type(child) is not np.ndarray or child.shape != shape:
                    return False
                found = child.dtype
                if found is not dtype and found != dtype:
                    return False
            values.extend(children)
            return True

        return of_arrays

    def of_trees(value: Any, values: list[Any]) -> bool:
        if handlers.get(type(value)) is not node_type:
            return False
        children, data = flatten(value)
        if len(children) != count or key_of(data) != key:
            return False
        for part, child in zip(parts, children):  # noqa: SIM110 - a generator costs more
            if not part(child, values):
                return False
        return True

    return of_trees


__all__ = ["Recognizer", "recognizer", "tangent_recognizer"]
