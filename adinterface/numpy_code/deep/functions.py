"""Copies of functions: the same code, with other globals, and what stands for what their closures and defaults hold."""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable
from typing import Any

from .globals import Globals, Of
from .plain import PLAIN

_Function = types.FunctionType


class FunctionCopy:
    """A copy, and what the original was made of when it was copied."""

    __slots__ = ("_cells", "_code", "_defaults", "_keywords", "function")

    def __init__(self, function: types.FunctionType, original: types.FunctionType, cells: list[tuple[types.CellType, Any]]):
        self.function = function
        self._code = original.__code__
        self._defaults = original.__defaults__
        self._keywords = original.__kwdefaults__
        self._cells = cells

    def is_of(self, original: types.FunctionType) -> bool:
        """Whether the original still is what it was: autoreload gives it other code, a closure's variable another value."""
        if (
            original.__code__ is not self._code
            or original.__defaults__ is not self._defaults
            or original.__kwdefaults__ is not self._keywords
        ):
            return False
        return all(_filled(cell) and cell.cell_contents is contents for cell, contents in self._cells)


def copied(
    original: types.FunctionType,
    scope: Globals,
    of: Of,
    announce: Callable[[FunctionCopy], None],
) -> FunctionCopy:
    """A copy of a function in another scope.

    announce: told of the copy before what its closure holds is copied, for functions that know themselves.
    """
    cells = []
    changed: list[tuple[types.CellType, Any]] = []
    written = _written(original.__code__)
    fillings = []
    for name, cell in zip(original.__code__.co_freevars, original.__closure__ or ()):
        if name == "__class__" or name in written or not _filled(cell) or type(cell.cell_contents) in PLAIN:
            cells.append(cell)  # the one variable that all share; from a class `super()` goes on
            continue
        ours = types.CellType()
        cells.append(ours)
        fillings.append((cell, ours))
    made = _Function(original.__code__, scope, original.__name__, original.__defaults__, tuple(cells) or None)
    made.__kwdefaults__ = original.__kwdefaults__
    made.__dict__.update(original.__dict__)
    made.__qualname__, made.__module__, made.__doc__ = original.__qualname__, original.__module__, original.__doc__
    made.__annotations__ = original.__annotations__
    copy = FunctionCopy(made, original, changed)
    announce(copy)
    for cell, ours in fillings:
        contents = cell.cell_contents
        ours.cell_contents = of(contents)
        changed.append((cell, contents))
    if original.__defaults__:
        made.__defaults__ = tuple(map(of, original.__defaults__))
    if original.__kwdefaults__:
        made.__kwdefaults__ = {name: of(value) for name, value in original.__kwdefaults__.items()}
    if "__wrapped__" in made.__dict__:
        made.__dict__["__wrapped__"] = of(made.__dict__["__wrapped__"])
    return copy


def _filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _inner(code: types.CodeType) -> list[types.CodeType]:
    """A function's code and that of all functions inside."""
    found = [code]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found += _inner(constant)
    return found


@functools.lru_cache(4096)
def _written(code: types.CodeType) -> frozenset[str]:
    """The variables of an outer function that this one writes to."""
    if not code.co_freevars:
        return frozenset()
    return frozenset(
        instruction.argval
        for part in _inner(code)
        for instruction in dis.get_instructions(part)
        if instruction.opname in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in part.co_freevars
    )


@functools.lru_cache(4096)
def assigned_globals(code: types.CodeType) -> tuple[str, ...]:
    """The global names that a function assigns to."""
    if not any(name in part.co_code for part in _inner(code) for name in _STORES):
        return ()
    found = [
        instruction.argval
        for part in _inner(code)
        for instruction in dis.get_instructions(part)
        if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL")
    ]
    return tuple(dict.fromkeys(found))


_STORES = tuple(bytes([dis.opmap[name]]) for name in ("STORE_GLOBAL", "DELETE_GLOBAL"))
