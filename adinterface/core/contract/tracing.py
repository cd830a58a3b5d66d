"""Functions of this package that a compiler of users' Python code leaves to Python: a graph break, and the right result."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from .auto import LEFT_TO_PYTHON

P = ParamSpec("P")
T = TypeVar("T")
_entries: list[FunctionType] = []
_compilers: list[Callable[[FunctionType], Any]] = []


def untraced(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function that no compiler traces. Returns the function itself, with a mark that compilers read."""
    entry = cast(FunctionType, function)
    for mark in LEFT_TO_PYTHON:
        setattr(entry, mark, True)
    _entries.append(entry)
    for leave in _compilers:
        leave(entry)
    return function


def leave_to_python(leave: Callable[[FunctionType], Any]) -> None:
    """An engine with a compiler: `leave` tells it about each such function, those of later extensions, too."""
    _compilers.append(leave)
    for function in _entries:
        leave(function)
