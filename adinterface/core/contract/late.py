"""Attributes of this module that are imported at their first use.

- `late.torch`: the `Compiler` of the engine of that name.
- `late.trace` and others: entries that extensions registered, by name.

A compiler that traces Python code reads a module attribute without tracing. It would try to trace a function that looks up
entry points or imports.
"""

from __future__ import annotations

import importlib
from types import CodeType
from typing import Any

from .registry import backend_class, names

#: The code of each function that calls `tracing.tracing()`: a compiler that does not trace the caller leaves this code alone.
DOORS: set[CodeType] = set()
#: The entries of extensions: `"module:name"` by name.
ENTRIES: dict[str, str] = {}


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in (*ENTRIES, *names()):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    if name in ENTRIES:
        module, _, attribute = ENTRIES[name].partition(":")
        value: Any = getattr(importlib.import_module(module), attribute)
    else:
        value = backend_class(name).compiler()
        for code in DOORS:
            value.leave(code)
    globals()[name] = value
    return value
