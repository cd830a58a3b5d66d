"""The compilers of engines as attributes of this module, by the names of their backends.

A compiler that traces Python code reads an attribute of a module as it is. It would try to trace a function that looks up entry
points and imports an engine.
"""

from __future__ import annotations

from .compilers import Compiler
from .registry import backend_class


def __getattr__(name: str) -> Compiler:
    if name.startswith("_"):
        raise AttributeError(name)
    compiler = backend_class(name).compiler()
    globals()[name] = compiler
    return compiler
