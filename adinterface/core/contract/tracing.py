"""Functions of this package that a compiler of users' Python code leaves to Python: a graph break,
and the right result.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from .auto import LEFT_TO_PYTHON
from .registry import REGISTRY

P = ParamSpec("P")
T = TypeVar("T")


def untraced(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function that no compiler traces. Returns the function itself, with a mark that
    compilers read.
    """
    entry = cast(FunctionType, function)
    for mark in LEFT_TO_PYTHON:
        setattr(entry, mark, True)
    # The code, not the function: those that are made anew in each call share it.
    if entry.__code__ not in REGISTRY.untraced:
        REGISTRY.untraced.add(entry.__code__)
        for leave in REGISTRY.compilers:
            leave(entry.__code__)
    return function


def leave_to_python(leave: Callable[[CodeType], Any]) -> None:
    """An engine with a compiler: `leave` tells it the code of each such function, those of later
    extensions, too.
    """
    REGISTRY.compilers.append(leave)
    for code in REGISTRY.untraced:
        leave(code)
