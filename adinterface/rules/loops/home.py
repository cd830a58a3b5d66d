"""The library with whose arrays a loop computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from ...core.contract.errors import BackendError
from ...core.contract.library import NUMPY, PYTHON, Library, complex_of, dtype_kind, widest
from ...core.contract.loops import Loops
from .trees import NUMBERS, LoopLeaf

T = TypeVar("T")


class Home:
    """The library of the arrays in a loop: that of an engine among them, else NumPy.

    Together with an engine's arrays, NumPy arrays and Python numbers are converted to them. A
    number takes the widest floating dtype among the arrays, as in a call of an operator; integers
    and bools keep their kind.
    """

    def __init__(self, leaves: Iterable[LoopLeaf]):
        leaves = list(leaves)
        self.library: Library = NUMPY
        self.like: Any = None
        #: Wraps an array in the stand-in that the loop's arrays are in; None if they are in none.
        self.wrap: Callable[[Any], Any] | None = None
        for leaf in leaves:
            if leaf.library not in (NUMPY, PYTHON):
                if self.library is NUMPY:
                    self.library, self.like = leaf.library, leaf.value
                elif leaf.library is not self.library:
                    raise TypeError(
                        f"A loop meets arrays of {self.library.name} and of {leaf.library.name},"
                        " which do not mix. Convert them to one library first."
                    )
            self.wrap = self.wrap or leaf.wrap
        self.loops: Loops = self.library.loops()
        dtypes = [
            leaf.library.dtype(leaf.value) for leaf in leaves if type(leaf.value) not in NUMBERS
        ]
        self.dtypes: list[str] = [
            dtype for dtype in dtypes if dtype_kind(dtype) in ("real", "complex")
        ]

    @property
    def is_plain(self) -> bool:
        """Whether no engine's array is there."""
        return self.library is NUMPY

    def enter(self, leaf: LoopLeaf, dtype: str | None = None) -> Any:
        """A leaf as an array of this library. dtype: of a number."""
        value = leaf.value
        if type(value) in NUMBERS:
            dtype = dtype or self.number_dtype(value)
            if dtype_kind(dtype) in ("integer", "bool"):
                return self.loops.adopt(np.asarray(value, dtype=dtype), like=self.like)
            return self.loops.adopt(
                value if type(value) is not bool else float(value), dtype=dtype, like=self.like
            )
        if leaf.library is self.library:
            return value
        return self.loops.adopt(np.asarray(value), like=self.like)

    def copies(self, arrays: Iterable[Any]) -> list[Any]:
        """The same arrays, into which f may write."""
        if self.is_plain:
            return [array.copy("K") if isinstance(array, np.ndarray) else array for array in arrays]
        # whose asarray may not know `copy`, as the standard's does
        xp = self.library.namespace(None)
        return (
            [xp.stack([array])[0, ...] for array in arrays] if self.library.mutable else [*arrays]
        )

    def number_dtype(self, value: Any) -> str:
        if isinstance(value, (bool, int)):
            return "bool" if isinstance(value, bool) else "int64"
        real = widest(self.dtypes)
        return complex_of(real) if isinstance(value, complex) else real

    def leave(self, array: Any) -> Any:
        return array if self.wrap is None else self.wrap(array)

    def leave_all(self, arrays: Sequence[Any]) -> Sequence[Any]:
        return arrays if self.wrap is None else [self.wrap(array) for array in arrays]


class Outgrown(Exception):
    """f brought arrays of an engine, or a wider dtype: the loop begins again with that."""

    def __init__(self, leaves: Iterable[LoopLeaf] = (), dtypes: dict[int, str] | None = None):
        super().__init__()
        self.leaves: list[LoopLeaf] = list(leaves)
        self.dtypes: dict[int, str] = dtypes or {}


def known(loop: str, library: Any, x: Any, number: Callable[[Any], T]) -> T:
    """`number(x)`, which decides a Python loop or branch.

    Raises BackendError where x has no value: the engine compiles, or takes a batch at once, and has
    no loops of its own.
    """
    try:
        return number(x)
    except Exception as error:  # raised by an engine that does not know the value
        if not library.traced(x) or library.value_under_trace(x) is not None:
            raise
        raise BackendError(
            f"{loop}: {library.name} does not know a number that {loop} decides by, as it compiles"
            " f or takes a batch at once. Make the call without prepare, or batched with"
            " chunk_size=1 in the backend; or let the backend of the engine compile loops and"
            " branches (`Library.loops`)."
        ) from error


__all__ = ["Home", "Outgrown"]
