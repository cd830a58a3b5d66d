"""The leaves of arguments and results by path, and arguments with other leaves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from .._closures import copied
from ..core.contract.library import PYTHON, Library, dtype_kind, epsilon
from ..core.contract.nodes import NodeType
from ..core.tree import (
    CONSTANT,
    DIFFERENTIATED,
    Constant,
    Leaf,
    Node,
    Static,
    Structure,
    flatten,
    handler_of,
    owner_of,
)
from .numbers import widened


def named_leaves(value: Any, root: str) -> Iterator[tuple[str, Leaf]]:
    """The numeric leaves of a tree with their paths.

    Those inside Constants and frozen parameters are included.
    """
    structure, leaves = flatten(value, root)
    remaining = iter(leaves)

    def walk(structure: Structure, path: str) -> Iterator[tuple[str, Leaf]]:
        for where, place in structure.places(path):
            if isinstance(place, Node):
                yield from walk(place.children[0], where)
            elif not isinstance(place, Static):
                yield where, next(remaining)

    yield from walk(structure, root)


def taken_apart(args: Iterable[Any]) -> tuple[list[Structure], list[Leaf]]:
    """The arguments of f as structures and leaves.

    An integer that is an argument of its own is differentiated, too.
    """
    leaves: list[Leaf] = []
    return [flatten(arg, f"args[{i}]", leaves, alone=True)[0] for i, arg in enumerate(args)], leaves


def differentiated_paths(structures: Iterable[Structure]) -> list[str]:
    return [
        path
        for i, structure in enumerate(structures)
        for path, place in structure.places(f"args[{i}]")
        if place is DIFFERENTIATED
    ]


def native_leaves(structures: Iterable[Structure], args: Iterable[Any]) -> list[Any]:
    """The differentiated leaves of `args`, as f got them from an engine.

    structures: of the user's arguments.
    """
    return [leaf for structure, arg in zip(structures, args) for leaf in _native(structure, arg)]


def _native(structure: Structure, arg: Any) -> Iterator[Any]:
    if structure is DIFFERENTIATED:
        # a module hands out what is frozen as a Constant
        yield arg.value if type(arg) is Constant else arg
    elif isinstance(structure, Node) and structure.type is not CONSTANT:
        for child, inner in zip(structure.inner, structure.type.flatten(arg)[0]):
            yield from _native(child, inner)


def with_native_leaves(
    structures: Iterable[Structure], args: Iterable[Any], leaves: Sequence[Any]
) -> list[Any]:
    """The arguments of f with other leaves in place of those of `native_leaves`."""
    remaining = iter(leaves)
    return [_replaced(structure, arg, remaining) for structure, arg in zip(structures, args)]


def _replaced(structure: Structure, arg: Any, leaves: Iterator[Any]) -> Any:
    if structure is DIFFERENTIATED:
        return next(leaves)
    if not isinstance(structure, Node) or structure.type is CONSTANT:
        return arg.value if type(arg) is Constant else arg
    children, data = structure.type.flatten(arg)
    replaced = [_replaced(one, inner, leaves) for one, inner in zip(structure.inner, children)]
    return structure.type.unflatten(data, [*owner_of(structure.type, arg, children), *replaced])


def with_other_arrays(
    tree: Any,
    change: Callable[[Library, Any], Any],
    whole: Callable[[NodeType, Any], Any] | None = None,
) -> Any:
    """The tree with `change(library, array)` in place of each floating leaf.

    Leaves in Constants are included.

    A function gets others in place of the arrays that it captures or knows as globals; it keeps all
    else.
    whole: changes an owner, such as a module, at once; None changes its arrays one by one.
    """
    if isinstance(tree, FunctionType):
        return _with_other_captures(tree, change, whole)
    if type(tree) is partial:
        first, keywords = (
            with_other_arrays(each, change, whole)
            for each in ([tree.func, *tree.args], tree.keywords)
        )
        return partial(*first, **keywords)
    if type(tree) is Constant:
        return Constant(with_other_arrays(tree.value, change, whole))
    handler = handler_of(tree, scan=False)
    if isinstance(handler, Library):
        return (
            change(handler, tree)
            if dtype_kind(handler.dtype(tree)) in ("real", "complex")
            else tree
        )
    if not isinstance(handler, NodeType):
        return tree
    if handler.is_owner and whole is not None:
        return whole(handler, tree)
    children, data = handler.flatten(tree)
    changed = [with_other_arrays(child, change, whole) for child in children]
    return handler.replace(data, [*owner_of(handler, tree, children), *changed])


def _with_other_captures(
    f: FunctionType, change: Callable[[Library, Any], Any], whole: Any
) -> FunctionType:
    def other(value: Any) -> Any:
        if isinstance(value, FunctionType) and (value is f or value.__module__ != f.__module__):
            return value  # not the code of packages
        found = list[Any]()

        def noted(make: Callable[[Any, Any], Any], kind: Any, old: Any) -> Any:
            found.append(old)
            return make(kind, old)

        made = with_other_arrays(value, partial(noted, change), whole and partial(noted, whole))
        return made if found else value

    known = {name: other(value) for name, value in inspect.getclosurevars(f).globals.items()}
    return copied(
        f, other, lambda name, value: other(value) is value, known={**f.__globals__, **known}
    )


def in_double_precision(tree: Any, *, as_numpy: bool = False) -> Any:
    """The tree with its arrays in double precision; NumPy arrays where their library has none."""

    def change(library: Library, array: Any) -> Any:
        numbers = widened(library.to_numpy(array))
        if library is PYTHON:
            return array
        if as_numpy:
            return numbers
        wide = library.asarray(numbers, dtype=numbers.dtype.name, like=array)
        return wide if library.dtype(wide) == numbers.dtype.name else numbers

    def whole(node: NodeType, held: Any) -> Any:
        wide = node.widened(held)
        return held if wide is None else wide

    return with_other_arrays(tree, change, whole)


def nearby(tree: Any, random: np.random.Generator) -> Any:
    """The tree with each floating number changed by a few units in its last place."""

    def change(library: Library, array: Any) -> Any:
        numbers, dtype = widened(library.to_numpy(array)), library.dtype(array)
        return library.asarray(
            numbers * (1 + 4 * epsilon(dtype) * random.uniform(-1, 1, numbers.shape)),
            dtype=dtype,
            like=array,
        )

    return with_other_arrays(tree, change)
