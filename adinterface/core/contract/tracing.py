"""Compilers that trace users' Python code, including its calls of this package: `torch.compile`, `torch.export`.

Such a compiler cannot trace the core, which reads entry points and memory addresses. So each entry function of the package
calls `tracing()` first. While a compiler traces, `gradient` and a few more use `doors/traced_calls.py`, which the compiler
can trace. All other calls refuse to be traced: the compiler then leaves the whole call to Python. It compiles neither the
function that Python calls, which is a `door`, nor the functions that it calls.
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
    """The compiler that traces the running code, or None."""
    for auto in COMPILING:
        if auto.is_compiling():
            return cast("Compiler", getattr(late, auto.name))
    return None


def door(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function that calls `tracing()`. Returns the function unchanged."""
    DOORS.add(function.__code__)
    return function


def untraced(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function that no compiler traces: it runs in Python, outside the compiled code."""
    # Not function.__qualname__, which the compiler of PyTorch 2.11 cannot read if it has traced the definition.
    name = function.__code__.co_qualname.partition(".<locals>")[0]

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
