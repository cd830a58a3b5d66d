"""Compilers that trace the Python code of users, our calls in it included: `torch.compile`, `torch.export`.

Such a compiler cannot trace the core, which reads entry points and memory addresses. So each door of the package asks
`tracing()` first. While a compiler traces, `gradient` and a few more take the plain way of `doors/traced_calls.py`, which
the compiler can trace. Every other call refuses to be traced. The compiler then leaves the whole call to Python: it compiles
neither the function that Python calls, which is a `door`, nor what that function calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

from . import late
from .auto import COMPILING
from .late import DOORS

if TYPE_CHECKING:
    from .compilers import Compiler

P = ParamSpec("P")
T = TypeVar("T")


def tracing() -> Compiler | None:
    """The compiler that traces the code which runs; None if none does."""
    for auto in COMPILING:
        if auto.is_compiling():
            return cast("Compiler", getattr(late, auto.name))
    return None


def door(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function that asks `tracing()`. Returns the function as it is."""
    DOORS.add(function.__code__)
    return function


def untraced(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function that no compiler traces: it runs in Python, outside the compiled code."""

    name = function.__qualname__

    @functools.wraps(function)
    @door
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        compiler = tracing()
        if compiler is not None and compiler.reads_code():
            compiler.refuse(f"{name} cannot be traced")
        return function(*args, **kwargs)

    called.__wrapped__ = getattr(function, "__wrapped__", function)
    return called


__all__ = ["door", "tracing", "untraced"]
