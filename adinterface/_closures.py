"""What functions capture, and copies of functions with other captured values."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any


def is_filled(cell: types.CellType) -> bool:
    """Whether the variable of a cell has a value already."""
    try:
        cell.cell_contents  # noqa: B018 - raises for an empty cell
    except ValueError:
        return False
    return True


def captured_values(value: Any) -> list[Any]:
    """The values that a function captures in its closure and defaults, and a partial or method
    besides.
    """
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, types.MethodType):
        return [value.__func__, value.__self__]
    if not isinstance(value, types.FunctionType):
        return []
    cells = [cell.cell_contents for cell in value.__closure__ or () if is_filled(cell)]
    return [*cells, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]


def copied(
    f: types.FunctionType,
    of: Callable[[Any], Any],
    shares: Callable[[str, Any], bool],
    announce: Callable[[types.FunctionType], None] | None = None,
    known: dict[str, Any] | None = None,
) -> types.FunctionType:
    """The same code with `of(value)` in place of the values in its closure and defaults.

    shares: whether the copy takes the variable of the closure itself, by its name and value. Empty
    ones are shared, too.
    announce: gets the copy before `of` is called, for functions that refer to themselves.
    known: the globals of the copy.
    """
    cells: list[types.CellType] = []
    replaced: list[tuple[types.CellType, types.CellType]] = []
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
        if is_filled(cell) and not shares(name, cell.cell_contents):
            replaced.append((cell, types.CellType()))
            cell = replaced[-1][1]
        cells.append(cell)
    code, known = f.__code__, f.__globals__ if known is None else known
    made = types.FunctionType(code, known, f.__name__, f.__defaults__, tuple(cells) or None)
    made.__qualname__, made.__module__, made.__doc__ = f.__qualname__, f.__module__, f.__doc__
    made.__dict__ = f.__dict__  # shared, as the attributes of an object
    made.__kwdefaults__ = f.__kwdefaults__
    if announce is not None:
        announce(made)
    for old, new in replaced:
        new.cell_contents = of(old.cell_contents)
    if f.__defaults__:
        made.__defaults__ = tuple(map(of, f.__defaults__))
    if f.__kwdefaults__:
        made.__kwdefaults__ = {name: of(value) for name, value in f.__kwdefaults__.items()}
    return made


__all__ = ["captured_values", "copied", "is_filled"]
