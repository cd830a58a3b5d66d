"""Compilers that trace users' Python code, including its calls of this package: `torch.compile`, `torch.export`.

They cannot trace the core, which reads memory addresses. So each entry function asks `tracing()` first. A compiler then traces
plain code for `gradient` and a few more, `integrations/traced_calls.py`, and leaves other calls to Python. Where Python calls
an entry function, the compiler compiles neither this function nor what it calls.
"""

from __future__ import annotations  # a compiler that traces `untraced` would evaluate P.args

import functools
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any, ParamSpec, TypeVar

from .auto import COMPILING
from .registry import backend_class

P = ParamSpec("P")
T = TypeVar("T")
_ENTRIES: set[CodeType] = set()
_this = sys.modules[__name__]


def tracing() -> Any:
    """The compiler that traces the running code, an `integrations.traced_calls.Compiler`, or None."""
    for name, is_compiling in COMPILING.items():
        if is_compiling():
            return getattr(_this, name)
    return None


def __getattr__(name: str) -> Any:
    """The compiler of an engine. A compiler reads an attribute of a module, so this code, without tracing."""
    if name not in COMPILING:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    compiler = globals()[name] = backend_class(name).compiler(_ENTRIES)
    compiler._name = name
    return compiler


def entry(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function that asks `tracing()`. Returns the function unchanged."""
    _ENTRIES.add(function.__code__)
    return function


def refuse(reason: str) -> None:
    """Leave the running call to Python if a compiler interprets its code."""
    compiler = tracing()
    if compiler is not None and compiler.reads_code():
        compiler.refuse(reason)


def untraced(function: Callable[P, T]) -> Callable[P, T]:
    """Decorates a function that no compiler traces: it runs in Python, outside the compiled code."""
    # Not function.__qualname__, which the compiler of PyTorch 2.11 cannot read if it has traced the definition.
    reason = function.__code__.co_qualname.partition(".<locals>")[0] + " cannot be traced"

    @functools.wraps(function)
    @entry
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        refuse(reason)
        return function(*args, **kwargs)

    return called
