"""The arguments of a scenario, flattened by this package: the values that f must get, and the
results that are due.

It uses nothing of `adinterface.core.call`, which is judged here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adinterface import Constant
from adinterface.core.contract.library import NUMPY, PYTHON, Library, dtype_kind
from adinterface.core.contract.nodes import NodeType
from adinterface.core.tree import handler_of

from .trees import (
    as_numpy,
    describe,
    dtype_of,
    filled,
    has_derivative,
    is_number,
    leaves_inside,
    leaves_of,
    mapped,
    shape_of,
)


class Arguments:
    """The arguments of f, and those of their leaves that are differentiated."""

    def __init__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]):
        self.args, self.kwargs = args, kwargs
        places = [
            (path, leaf)
            for i, arg in enumerate(args)
            for path, leaf in leaves_of(arg, f"args[{i}]")
            if has_derivative(leaf, arg)
        ]
        self.paths = [path for path, _ in places]
        self.leaves = [leaf for _, leaf in places]
        #: For each argument, whether it is an integer that is differentiated as a float.
        self.promoted = [has_derivative(arg, arg) and not has_derivative(arg) for arg in args]
        #: Whether all differentiated leaves are Python's numbers, as 0-d results then are.
        self.python = all(handler_of(leaf) is PYTHON for leaf in self.leaves)
        everything = [leaf for _, leaf in leaves_inside((args, dict(kwargs)), "")]
        real = _widest(
            [
                dtype_of(leaf)
                for leaf in everything
                if is_number(leaf) and handler_of(leaf) is not PYTHON
            ]
        )
        #: The dtype that a Python float takes in this call.
        self.number = real.name
        #: What each differentiated leaf is computed in: its own dtype; for Python's numbers the
        #: widest of the call.
        self.dtypes = [_computed_in(dtype_of(leaf), real) for leaf in self.leaves]

    @property
    def point(self) -> list[Any]:
        """The differentiated leaves as arrays."""
        return [np.array(as_numpy(leaf), dtype) for leaf, dtype in zip(self.leaves, self.dtypes)]

    @property
    def first_array(self) -> Any:
        """The differentiated leaf that decides the library of other results.

        A NumPy array if there is none.
        """
        return next((leaf for leaf in self.leaves if handler_of(leaf) is not PYTHON), np.zeros(()))

    def with_leaves(self, leaves: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of f with these numbers for the differentiated leaves.

        Arrays are copies.
        """
        entries = iter([np.array(leaf)[()] for leaf in leaves])

        def one(arg: Any, leaf: Any) -> Any:
            return next(entries) if has_derivative(leaf, arg) else unwrapped(leaf)

        args = [mapped(functools.partial(one, arg), arg) for arg in self.args]
        return args, {name: unwrapped(value) for name, value in self.kwargs.items()}

    def mistaken(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, prepared: bool) -> str:
        """The errors in the types, shapes and fixed values that f got.

        Empty if they are those of the call.
        """
        if len(args) != len(self.args) or set(kwargs) != set(self.kwargs):
            return f"f got {len(args)} arguments and the keywords {sorted(kwargs)}"
        rule = functools.partial(_received, self, prepared)
        try:
            for i, (mine, got, promoted) in enumerate(zip(self.args, args, self.promoted)):
                if not promoted:
                    _side_by_side(mine, got, f"args[{i}]", rule)
            for name, mine in self.kwargs.items():
                _side_by_side(Constant(mine), kwargs[name], f"kwargs[{name!r}]", rule)
        except AssertionError as error:
            return str(error).partition("\nassert ")[0]
        return ""

    def tangents(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """These numbers, one for each differentiated leaf, on the structure of the arguments."""
        entries = iter(leaves)
        return tuple([filled(arg, entries, argument=True) for arg in self.args])

    def completed(self, tangents: Sequence[Any]) -> list[Any]:
        """The numbers of some tangents, one for each differentiated leaf; None is zero."""
        known = dict(
            place
            for i, tangent in enumerate(tangents)
            for place in leaves_of(tangent, f"args[{i}]")
        )
        return [
            under(known, path, np.zeros_like(leaf)) for path, leaf in zip(self.paths, self.point)
        ]


def unwrapped(value: Any) -> Any:
    """The value that f gets without an engine for one that is not differentiated: a copy without
    `Constant`.
    """
    if isinstance(value, Constant):
        return unwrapped(value.value)
    handler = handler_of(value, scan=False)
    if isinstance(handler, NodeType):
        return value if handler.is_owner else mapped(unwrapped, value)
    if isinstance(value, np.ndarray):
        return value.copy()
    return (
        as_numpy(value).copy()
        if isinstance(handler, Library) and handler not in (NUMPY, PYTHON)
        else value
    )


def shifted(value: Any, factor: float = 0.96875) -> Any:
    """A copy with slightly smaller numbers in arrays, Python numbers and Constants, but not in
    integers.
    """
    if isinstance(value, Constant):
        return Constant(shifted(value.value, factor))
    handler = handler_of(value, scan=False)
    if isinstance(handler, NodeType):
        return value if handler.is_owner else mapped(lambda leaf: shifted(leaf, factor), value)
    if isinstance(value, np.ndarray):
        return (
            np.array(value * factor, dtype=value.dtype)
            if value.dtype.kind in "fc"
            else value.copy()
        )
    cls: Any = type(value)
    return cls(value * factor) if isinstance(value, (float, complex, np.inexact)) else value


def under(known: Mapping[str, Any], path: str, zero: Any) -> Any:
    """The number for a path; zero if it or a node above it is None."""
    return zero if known.get(path) is None else np.asarray(known[path])


def _widest(dtypes: Sequence[str]) -> np.dtype[Any]:
    """The dtype of the real parts of the widest of these; float64 if none is floating."""
    real = [
        np.finfo(np.dtype(name)).dtype for name in dtypes if dtype_kind(name) in ("real", "complex")
    ]
    return np.result_type(*real) if real else np.dtype("float64")


def _computed_in(dtype: str, real: np.dtype[Any]) -> str:
    if dtype == "complex":
        return np.result_type(real, np.complex64).name
    return real.name if dtype == "float" or dtype_kind(dtype) == "integer" else dtype


def _side_by_side(
    mine: Any, got: Any, path: str, rule: Callable[..., None], constant: bool = False
) -> None:
    """`rule` at every leaf of an argument and of what f got for it."""
    if isinstance(mine, Constant):
        _side_by_side(mine.value, got, path, rule, True)
        return
    handler = handler_of(mine, scan=False)
    if not isinstance(handler, NodeType) or handler.is_owner:
        rule(mine, got, path, constant)
        return
    assert type(got) is type(mine), f"{path}: f got {describe(got)}, wanted a {type(mine).__name__}"
    children, data = handler.flatten(mine)
    others, other_data = handler.flatten(got)
    keys, other_keys = handler.paths(data, len(children)), handler.paths(other_data, len(others))
    assert keys == other_keys, (
        f"{path}: f got the children {' '.join(other_keys)}, wanted {' '.join(keys)}"
    )
    for child, other, key in zip(children, others, keys):
        _side_by_side(child, other, path + key, rule, constant)


def _received(
    arguments: Arguments, prepared: bool, mine: Any, got: Any, path: str, constant: bool
) -> None:
    """A leaf that f got.

    A floating number must have the passed dtype and shape; other values must be equal.
    """
    number = is_number(mine) and type(mine) not in (int, bool)
    if not number or (constant and not prepared and type(mine) in (float, complex)):
        same = got is mine or (type(got) is type(mine) and _equal(got, mine))
        assert same or not is_plain(mine), f"{path}: f got {describe(got)}, wanted {describe(mine)}"
        return
    assert is_number(got), f"{path}: f got {describe(got)}, wanted a number"
    assert shape_of(got) == shape_of(mine), (
        f"{path}: f got the shape {shape_of(got)}, wanted {shape_of(mine)}"
    )
    if handler_of(mine, scan=False) is not PYTHON:
        wanted = dtype_of(mine)
        assert dtype_of(got) == wanted, f"{path}: f got {dtype_of(got)}, wanted {wanted}"


def is_plain(value: Any) -> bool:
    """Whether a value is one of those that a call must hand on unchanged."""
    return (
        value is None or type(value) in (bool, int, float, complex, str, bytes) or callable(value)
    )


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b) or a != a
