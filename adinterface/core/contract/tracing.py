"""Functions of this package that a compiler of users' Python code leaves to Python: a graph break,
and the right result.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from .auto import LEFT_TO_PYTHON

P = ParamSpec("P")
T = TypeVar("T")
#: Code, not functions: those that are made anew in each call share it, and are not kept alive.
_entries: set[CodeType] = set()
_compilers: list[Callable[[CodeType], Any]] = []


def untraced(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function that no compiler traces. Returns the function itself, with a mark that
    compilers read.
    """
    entry = cast(FunctionType, function)
    for mark in LEFT_TO_PYTHON:
        setattr(entry, mark, True)
    if entry.__code__ not in _entries:
        _entries.add(entry.__code__)
        for leave in _compilers:
            leave(entry.__code__)
    return function


def leave_to_python(leave: Callable[[CodeType], Any]) -> None:
    """An engine with a compiler: `leave` tells it the code of each such function, those of later
    extensions, too.
    """
    _compilers.append(leave)
    for code in _entries:
        leave(code)
