"""The arguments of a scenario, taken apart by the kit's own walk: what f gets of them without any engine, and what is due.

Nothing of `adinterface.call` serves here, for it is what is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from adinterface import Constant
from adinterface.contract.library import PYTHON, kind
from adinterface.contract.nodes import NodeType
from adinterface.tree import handler_of

from .trees import dtype_of, filled, is_floating, is_number, leaves_inside, leaves_of, mapped


class Arguments:
    """The arguments of f, and those of their leaves that are differentiated."""

    def __init__(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]):
        self.args, self.kwargs = args, kwargs
        places = [place for i, arg in enumerate(args) for place in _differentiated(arg, f"args[{i}]")]
        self.paths = [path for path, _ in places]
        self.leaves = [leaf for _, leaf in places]
        #: Whether an argument of its own is an integer, which is differentiated as a float.
        self.promotes = any(map(is_integer, args))
        #: Whether all differentiated leaves are Python's numbers, as 0-d results then are.
        self.python = all(handler_of(leaf) is PYTHON for leaf in self.leaves)
        everything = [leaf for _, leaf in leaves_inside((args, dict(kwargs)), "")]
        real = _widest([dtype_of(leaf) for leaf in everything if is_number(leaf) and handler_of(leaf) is not PYTHON])
        #: What each differentiated leaf is computed in: its own dtype; for Python's numbers the widest of the call.
        self.dtypes = [_computed_in(dtype_of(leaf), real) for leaf in self.leaves]

    @property
    def point(self) -> list[Any]:
        """The differentiated leaves as arrays."""
        return [np.array(leaf, dtype) for leaf, dtype in zip(self.leaves, self.dtypes)]

    @property
    def first_array(self) -> Any:
        """The differentiated leaf whose library results without a leaf's shape are in; a NumPy array if there is none."""
        return next((leaf for leaf in self.leaves if handler_of(leaf) is not PYTHON), np.zeros(()))

    def with_leaves(self, leaves: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """What f is called with, these numbers in place of the differentiated leaves; arrays are copies."""
        entries = iter([np.array(leaf)[()] for leaf in leaves])

        def one(leaf: Any) -> Any:
            return next(entries) if is_floating(leaf) else unwrapped(leaf)

        args = [next(entries) if is_integer(arg) else mapped(one, arg) for arg in self.args]
        return args, {name: unwrapped(value) for name, value in self.kwargs.items()}

    def tangents(self, leaves: Sequence[Any]) -> tuple[Any, ...]:
        """These numbers, one for each differentiated leaf, on the structure of the arguments."""
        entries = iter(leaves)
        return tuple([next(entries) if is_integer(arg) else filled(arg, entries) for arg in self.args])

    def completed(self, tangents: Sequence[Any]) -> list[Any]:
        """The numbers of some tangents, one for each differentiated leaf; None is zero."""
        known = dict(place for i, tangent in enumerate(tangents) for place in leaves_of(tangent, f"args[{i}]"))
        return [under(known, path, np.zeros_like(leaf)) for path, leaf in zip(self.paths, self.point)]


def is_integer(arg: Any) -> bool:
    """Whether a value that is an argument of its own would be promoted to a float."""
    return is_number(arg) and kind(dtype_of(arg)) == "integer"


def unwrapped(value: Any) -> Any:
    """What f gets of a value that is not differentiated: a copy without `Constant`."""
    if isinstance(value, Constant):
        return unwrapped(value.value)
    handler = handler_of(value, scan=False)
    if isinstance(handler, NodeType):
        return value if handler.held else mapped(unwrapped, value)
    return value.copy() if isinstance(value, np.ndarray) else value


def under(known: Mapping[str, Any], path: str, zero: Any) -> Any:
    """The number known for a path; zero if there is None, there or at a node above it."""
    return zero if known.get(path) is None else np.asarray(known[path])


def _differentiated(arg: Any, path: str) -> Iterator[tuple[str, Any]]:
    if is_integer(arg):
        yield path, arg
    else:
        yield from ((where, leaf) for where, leaf in leaves_of(arg, path) if is_floating(leaf))


def _widest(dtypes: Sequence[str]) -> np.dtype[Any]:
    """The dtype of the real parts of the most exact of these; float64 if none of them is floating."""
    real = [np.finfo(np.dtype(name)).dtype for name in dtypes if kind(name) in ("real", "complex")]
    return np.result_type(*real) if real else np.dtype("float64")


def _computed_in(dtype: str, real: np.dtype[Any]) -> str:
    if dtype == "complex":
        return np.result_type(real, np.complex64).name
    return real.name if dtype == "float" or kind(dtype) == "integer" else dtype
