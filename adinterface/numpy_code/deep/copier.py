"""Copies of functions: the same code with other globals, and with the values in closures and
defaults replaced.

The caller defines the replacements: `copies` for `deep=True`, `writing` for code that writes to
arrays.
"""

from __future__ import annotations

import types
from typing import Any, Protocol

from ... import _closures as closures
from .bytecode import assigned_free_variables


class Copying(Protocol):
    """The caller's decisions about a copy."""

    def of(self, value: Any) -> Any:
        """The replacement of a value in the copy."""

    def stands_for_itself(self, value: Any) -> bool:
        """Whether `of` returns the value itself.

        The copy then shares the variable of the closure.
        """

    def globals_of(self, original: types.FunctionType) -> dict[str, Any]:
        """The globals of the copy."""

    def announce(self, original: types.FunctionType, copy: FunctionCopy) -> None:
        """Record the copy.

        Called before the closure is copied, for functions that refer to themselves.
        """


class FunctionCopy:
    """A copy, and the parts of the original at the time of the copy."""

    __slots__ = ("_cells", "_code", "_defaults", "_keywords", "function")

    def __init__(
        self,
        function: types.FunctionType,
        original: types.FunctionType,
        cells: list[tuple[types.CellType, Any]],
    ):
        self.function: types.FunctionType = function
        self._code = original.__code__
        self._defaults = original.__defaults__
        self._keywords = original.__kwdefaults__
        self._cells = cells

    def is_of(self, original: types.FunctionType) -> bool:
        """Whether the original still has these parts: autoreload replaces its code, a closure's
        variable may change.
        """
        if (
            original.__code__ is not self._code
            or original.__defaults__ is not self._defaults
            or original.__kwdefaults__ is not self._keywords
        ):
            return False
        return all(
            closures.is_filled(cell) and cell.cell_contents is contents
            for cell, contents in self._cells
        )


def copied(original: types.FunctionType, copying: Copying) -> types.FunctionType:
    assigned = assigned_free_variables(original.__code__)
    contents: list[tuple[types.CellType, Any]] = []

    def shares(name: str, value: Any) -> bool:
        # from a class `super()` goes on
        return name == "__class__" or name in assigned or copying.stands_for_itself(value)

    def announce(function: types.FunctionType) -> None:
        function.__annotations__ = original.__annotations__
        copying.announce(original, FunctionCopy(function, original, contents))

    made = closures.copied(original, copying.of, shares, announce, copying.globals_of(original))
    pairs = zip(original.__closure__ or (), made.__closure__ or ())
    contents += [(old, old.cell_contents) for old, new in pairs if old is not new]
    return made
