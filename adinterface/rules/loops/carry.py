"""The carry of a loop: the start fixes its structure, and f's results are checked against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.contract.errors import TreeError
from ...core.contract.library import NUMPY, PYTHON, dtype_kind, width
from .home import Home, Outgrown
from .trees import NUMBERS, LoopLeaf, LoopTree, described, leaf_of, of_kind

_ORDER = ("bool", "integer", "real", "complex")

#: The same text on every engine, in whichever way f changes the carry.
_CHANGED = (
    "{loop}: f changes its carry: {{path}} is {{wanted}} before a step, and {{seen}} after it. A"
    " carry keeps its structure, shapes and dtypes: convert what f returns there, or start with"
    " what f returns."
)


class Carry:
    def __init__(self, loop: str, tree: LoopTree, home: Home, dtypes: dict[int, str]):
        self.tree: LoopTree = tree
        self.home: Home = home
        tree.message = _CHANGED.format(loop=loop)
        self.arrays: tuple[Any, ...] = tuple(
            [home.enter(leaf, dtypes.get(n)) for n, leaf in enumerate(tree.leaves)]
        )
        self._library = home.library
        self._kinds = [_kind_of(array, home) for array in self.arrays]
        self._numbers = [n for n, leaf in enumerate(tree.leaves) if type(leaf.value) in NUMBERS]
        self._chosen = dtypes
        self._first = True

    def build(self, arrays: Sequence[Any]) -> Any:
        """The tree that f gets."""
        return self.tree.build(self.home.leave_all(arrays))

    def read(self, value: Any) -> tuple[list[Any], bool]:
        """The arrays of the carry that f returned, and whether f can take it again unchanged.

        Raises TreeError for another structure, shape or dtype, Outgrown if the loop has to start
        again.
        """
        leaves = self.tree.read(value)
        if self._first:
            self._check_first_step(leaves)
        as_it_is = True
        library, wrapped = self._library, self.home.wrap is not None
        for n, leaf in enumerate(leaves):
            if wrapped or not library.owns(leaf):
                leaf, same = self._entered(leaf, n)
                leaves[n], as_it_is = leaf, as_it_is and same
            if _kind_of(leaf, self.home) != self._kinds[n]:
                raise self._changed(n, described(leaf))
        return leaves, as_it_is

    def _check_first_step(self, leaves: list[Any]) -> None:
        """Raise Outgrown if f brought arrays of an engine, or a wider dtype for a Python number."""
        self._first = False
        seen = [leaf_of(leaf) for leaf in leaves]
        if self.home.is_plain:
            brought = [
                leaf for leaf in seen if leaf is not None and leaf.library not in (NUMPY, PYTHON)
            ]
            if brought:
                raise Outgrown(brought)
        wider = {n: dtype for n in self._numbers if (dtype := self._wider(n, seen[n])) is not None}
        if wider:
            raise Outgrown(dtypes=wider)

    def _wider(self, n: int, leaf: LoopLeaf | None) -> str | None:
        """The dtype with which the loop must begin again for a Python number.

        None if the dtype is right, or another error.
        """
        current = self._kinds[n][0]
        if leaf is None:
            return None
        if type(leaf.value) in NUMBERS:
            return None if _holds(current, leaf.value) else self.home.number_dtype(leaf.value)
        given = leaf.library.dtype(leaf.value)
        if (
            given == current
            or leaf.library.shape(leaf.value) != ()
            or dtype_kind(given) not in _ORDER
        ):
            return None
        rank, before = _ORDER.index(dtype_kind(given)), _ORDER.index(dtype_kind(current))
        if rank > before:
            # An integer with float32 gives float64 in NumPy and float32 in JAX: here it gives what
            # a float would.
            return (
                self.home.number_dtype(0.0)
                if dtype_kind(given) == "real" and self.home.dtypes
                else given
            )
        return (
            given
            if rank == before and (n not in self._chosen or width(given) > width(current))
            else None
        )

    def _entered(self, value: Any, n: int) -> tuple[Any, bool]:
        """A leaf from f as an array of the loop, and whether f can take it back unchanged."""
        leaf = leaf_of(value)
        assert leaf is not None
        dtype, shape = self._kinds[n]
        if type(leaf.value) in NUMBERS:
            if shape != () or not _holds(dtype, leaf.value):
                raise self._changed(n, described(value))
            return self.home.enter(leaf, dtype), False
        if leaf.library not in (self._library, NUMPY):
            raise self._changed(n, f"an array of {leaf.library.name}")
        array = self.home.enter(leaf)
        return array, leaf.wrap is not None if self.home.wrap is not None else array is value

    def _changed(self, n: int, seen: str) -> TreeError:
        return self.tree.refusal(self.tree.paths()[n], seen, of_kind(*self._kinds[n]))


def _kind_of(array: Any, home: Home) -> tuple[str, tuple[int, ...]]:
    library = home.library
    return library.dtype(array), library.shape(array)


def _holds(dtype: str, number: Any) -> bool:
    """Whether a Python number fits into this dtype."""
    plain = {bool: "bool", int: "integer", float: "real", complex: "complex"}[type(number)]
    found_kind = dtype_kind(dtype)
    return found_kind in _ORDER and _ORDER.index(found_kind) >= _ORDER.index(plain)


__all__ = ["Carry"]
