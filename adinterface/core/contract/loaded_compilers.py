"""The compilers of engines as attributes of this module, by the names of their backends.

A compiler that traces Python code reads an attribute of a module as it is. It would try to trace a function that looks up entry
points and imports an engine.
"""

from __future__ import annotations

from types import CodeType

from .compilers import Compiler
from .registry import backend_class

#: The code of each function that asks `tracing.tracing()`: where the compiler does not trace the caller, it leaves this code.
DOORS: set[CodeType] = set()


def __getattr__(name: str) -> Compiler:
    if name.startswith("_"):
        raise AttributeError(name)
    compiler = backend_class(name).compiler()
    for code in DOORS:
        compiler.leave(code)
    globals()[name] = compiler
    return compiler
