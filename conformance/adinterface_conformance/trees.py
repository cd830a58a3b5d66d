"""Comparison of results with the expected structure; each difference has its path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adinterface import Constant
from adinterface.core.contract.library import PYTHON, Library, dtype_kind
from adinterface.core.contract.nodes import NodeType
from adinterface.core.support.static_values import Unkeyed
from adinterface.core.tree import handler_of, is_differentiated, owner_of
from adinterface.tools.evidence import decide
from adinterface.tools.numbers import distances

#: What is asked of a leaf that has a derivative: `(template, result, path)`.
LeafRule = Callable[[Any, Any, str], None]


def is_number(value: Any) -> bool:
    """Whether value is an array or a number of some library."""
    return isinstance(handler_of(value, scan=False), Library)


def dtype_of(value: Any) -> str:
    """The dtype's name; `float`, `complex` or `int` for Python's numbers."""
    handler = handler_of(value, scan=False)
    assert isinstance(handler, Library), type(value)
    return handler.dtype(value)


def array_dtype_of(value: Any) -> str:
    """The dtype's name, of Python's numbers that of an array made of them."""
    name = dtype_of(value)
    return {"float": "float64", "complex": "complex128", "int": "float64"}.get(name, name)


def shape_of(value: Any) -> tuple[int, ...]:
    handler = handler_of(value, scan=False)
    assert isinstance(handler, Library), type(value)
    return handler.shape(value)


def as_numpy(value: Any) -> np.ndarray[Any, Any]:
    """A leaf as a NumPy array."""
    handler = handler_of(value, scan=False)
    assert isinstance(handler, Library), f"{value!r} is no number"
    return np.asarray(handler.to_numpy(value))


def numbers_of(value: Any) -> Any:
    """The numbers of a leaf as a NumPy array, wide enough to compare."""
    array = as_numpy(value)
    if array.dtype.name in ("longdouble", "clongdouble", "float128", "complex256"):
        return array
    return array.astype("complex128" if dtype_kind(dtype_of(value)) == "complex" else "float64")


def describe(value: Any) -> str:
    """A value in a few words."""
    handler = handler_of(value, scan=False)
    if isinstance(handler, Library) and handler is not PYTHON:
        return f"{type(value).__name__} of {handler.dtype(value)} {handler.shape(value)}"
    text = repr(value)
    return text if len(text) <= 60 else f"a {type(value).__name__}"


def has_derivative(leaf: Any, argument: Any = None) -> bool:
    """Whether a leaf has a derivative.

    argument: the argument that the leaf is in, or that it is itself.
    """
    handler = handler_of(leaf, scan=False)
    return isinstance(handler, Library) and is_differentiated(
        handler.dtype(leaf), alone=leaf is argument
    )


def leaves_of(tree: Any, path: str = "result") -> Iterator[tuple[str, Any]]:
    """Every place of a tree that is no node, with its path."""
    handler = handler_of(tree, scan=False)
    if not isinstance(handler, NodeType):
        yield path, tree
        return
    children, data = handler.flatten(tree)
    for child, key in zip(children, handler.paths(data, len(children))):
        yield from leaves_of(child, path + key)


def leaves_inside(tree: Any, path: str) -> Iterator[tuple[str, Any]]:
    """As `leaves_of`, also what is wrapped in Constant."""
    for where, leaf in leaves_of(tree, path):
        if isinstance(leaf, Constant):
            yield from leaves_inside(leaf.value, where)
        else:
            yield where, leaf


def mapped(change: Callable[[Any], Any], tree: Any, *, derivative: bool = False) -> Any:
    """The tree with `change(leaf)` at every place that is no node.

    With `derivative` as its gradient is built.
    """
    handler = handler_of(tree, scan=False)
    if not isinstance(handler, NodeType):
        return change(tree)
    children, data = handler.flatten(tree)
    changed = [mapped(change, child, derivative=derivative) for child in children]
    changed = [*owner_of(handler, tree, children), *changed]
    return handler.gradient(data, changed) if derivative else handler.unflatten(data, changed)


def filled(tree: Any, leaves: Iterator[Any], *, argument: bool = False) -> Any:
    """A tree of derivatives: one of `leaves` for each leaf that has one, None for everything else.

    argument: whether `tree` is a whole argument.
    """
    whole = tree if argument else None
    return mapped(
        lambda leaf: next(leaves) if has_derivative(leaf, whole) else None, tree, derivative=True
    )


def floating(tree: Any) -> list[Any]:
    """The numbers of the leaves that have a derivative, in order."""
    return [numbers_of(leaf) for _, leaf in leaves_of(tree) if has_derivative(leaf)]


def nodes(template: Any, result: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """Two trees side by side: pairs of leaves with their path.

    Raises AssertionError where their nodes differ.
    """
    handler = handler_of(template, scan=False)
    if not isinstance(handler, NodeType):
        yield template, result, path
        return
    assert type(result) is type(template), (
        f"{path}: got {describe(result)}, wanted a {type(template).__name__}"
    )
    children, data = handler.flatten(template)
    others, other_data = handler.flatten(result)
    keys, other_keys = handler.paths(data, len(children)), handler.paths(other_data, len(others))
    assert keys == other_keys, (
        f"{path}: got the children {' '.join(other_keys)}, wanted {' '.join(keys)}"
    )
    assert handler.is_owner or _alike(handler, data, other_data), (
        f"{path}: got {other_data!r} beside its leaves, wanted {data!r}"
    )
    for child, other, key in zip(children, others, keys):
        yield from nodes(child, other, path + key)


def _alike(handler: NodeType, data: Any, other: Any) -> bool:
    """Whether two nodes have the same structure, apart from their children: a default_factory,
    static fields.
    """
    try:
        return bool(handler.key(data) == handler.key(other))
    except Unkeyed:
        return bool(data == other)


def like(template: Any, result: Any, path: str, rule: LeafRule, *, argument: bool = False) -> None:
    """A tree of derivatives: the nodes of `template`, `rule` at each leaf that has a derivative,
    None at all others.

    argument: whether `template` is a whole argument.
    """
    for leaf, other, where in nodes(template, result, path):
        if type(leaf) is not Constant and has_derivative(leaf, template if argument else None):
            rule(leaf, other, where)
        else:
            assert other is None, (
                f"{where}: got {describe(other)}, wanted None, since {describe(leaf)} has no"
                " derivative"
            )


def assert_numbers(
    got: Any, wanted: Any, path: str, rtol: float, scale: float | None = None
) -> None:
    """Numbers within `rtol` of the largest expected one (of 1 if all are zero), or of `scale`."""
    a, e = numbers_of(got), as_numpy(wanted) if is_number(wanted) else np.asarray(wanted)
    assert a.shape == e.shape, f"{path}: got the shape {a.shape}, wanted {e.shape}"
    if not a.size:
        return
    finite = np.isfinite(e)
    if scale is None:
        scale = float(np.max(np.abs(e), where=finite, initial=0.0)) or 1.0
    apart = distances(a, e)
    where = np.unravel_index(int(np.argmax(apart)), apart.shape)
    if decide(float(apart[where]), 0.0, scale, rtol) == "wrong":
        place = path + (f"[{', '.join(str(int(i)) for i in where)}]" if where else "")
        off = f"off by {abs(a[where] - e[where]):.3g} where {rtol * scale:.3g} is allowed"
        raise AssertionError(f"{place}: got {a[where]}, wanted {e[where]}, {off}")


def assert_close(got: Any, wanted: Any, path: str, rtol: float, scale: float | None = None) -> None:
    """Trees of numbers; other values must be equal.

    `wanted` may be less specific about types than the result.
    """
    handler = handler_of(got, scan=False)
    if isinstance(handler, Library):
        assert not isinstance(wanted, (str, type(None))), (
            f"{path}: got {describe(got)}, wanted {wanted!r}"
        )
        assert_numbers(got, wanted, path, rtol, scale)
        return
    if not isinstance(handler, NodeType):
        same = got is wanted or (type(got) is type(wanted) and got == wanted)
        assert same, f"{path}: got {describe(got)}, wanted {describe(wanted)}"
        return
    pairs, wanted_pairs = list(leaves_of(got, path)), list(leaves_of(wanted, path))
    keys, wanted_keys = [where for where, _ in pairs], [where for where, _ in wanted_pairs]
    assert keys == wanted_keys, (
        f"{path}: got the leaves {', '.join(keys)}, wanted {', '.join(wanted_keys)}"
    )
    for (where, leaf), (_, other) in zip(pairs, wanted_pairs):
        assert_close(leaf, other, where, rtol, scale)
