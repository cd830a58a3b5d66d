"""Copies of functions: the same code with other globals, and with the values in closures and
defaults replaced.

The caller defines the replacements: `copies` for `deep=True`, `writing` for code that writes to
arrays.
"""

from __future__ import annotations

import types
from typing import Any, Protocol

from .bytecode import assigned_free_variables


class Copying(Protocol):
    """The caller's decisions about a copy."""

    def of(self, value: Any) -> Any:
        """The replacement of a value in the copy."""

    def stands_for_itself(self, value: Any) -> bool:
        """Whether `of` returns the value itself; the copy then shares the variable of the
        closure.
        """

    def globals_of(self, original: types.FunctionType) -> dict[str, Any]:
        """The globals of the copy."""

    def announce(self, original: types.FunctionType, copy: FunctionCopy) -> None:
        """Record the copy. Called before the closure is copied, for functions that refer to
        themselves.
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
            is_filled(cell) and cell.cell_contents is contents for cell, contents in self._cells
        )


def copied(original: types.FunctionType, copying: Copying) -> types.FunctionType:
    assigned = assigned_free_variables(original.__code__)
    cells: list[types.CellType] = []
    replaced: list[tuple[types.CellType, types.CellType]] = []
    for name, cell in zip(original.__code__.co_freevars, original.__closure__ or ()):
        if (
            name == "__class__"  # from a class `super()` goes on
            or name in assigned
            or not is_filled(cell)
            or copying.stands_for_itself(cell.cell_contents)
        ):
            cells.append(cell)
        else:
            cells.append(types.CellType())
            replaced.append((cell, cells[-1]))
    function = types.FunctionType(
        original.__code__,
        copying.globals_of(original),
        original.__name__,
        original.__defaults__,
        tuple(cells) or None,
    )
    function.__kwdefaults__ = original.__kwdefaults__
    function.__dict__ = original.__dict__  # shared, as the attributes of an object
    function.__qualname__, function.__module__, function.__doc__ = (
        original.__qualname__,
        original.__module__,
        original.__doc__,
    )
    function.__annotations__ = original.__annotations__
    contents: list[tuple[types.CellType, Any]] = []
    copying.announce(original, FunctionCopy(function, original, contents))
    for cell, new_cell in replaced:
        value = cell.cell_contents
        new_cell.cell_contents = copying.of(value)
        contents.append((cell, value))
    if original.__defaults__:
        function.__defaults__ = tuple(map(copying.of, original.__defaults__))
    if original.__kwdefaults__:
        function.__kwdefaults__ = {
            name: copying.of(value) for name, value in original.__kwdefaults__.items()
        }
    return function


def is_filled(cell: types.CellType) -> bool:
    """Whether a variable of a closure has a value as yet."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
