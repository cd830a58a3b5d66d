"""Functions of this package that compilers of users' code leave to Python: a graph break."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from .auto import LEFT_TO_PYTHON
from .registry import REGISTRY

P = ParamSpec("P")
T = TypeVar("T")


def untraced(function: Callable[P, T]) -> Callable[P, T]:
    """Marks a function that no compiler traces, and returns it."""
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
    """An engine with a compiler: `leave` gets the code of each function, also of later ones."""
    REGISTRY.compilers.append(leave)
    for code in REGISTRY.untraced:
        leave(code)
