"""The public place of functions and classes: the module from which users import them, and the name in a pickle."""

from __future__ import annotations

import sys
from types import FunctionType


def publish(module: str) -> None:
    """Set `__module__` of what a public module lists in `__all__`: pickles, `help` and tracebacks name that, not inner files.

    The last line of each public module. `adinterface` itself is imported last and prevails over the others.
    """
    members = vars(sys.modules[module])
    for name in members["__all__"]:
        value = members.get(name)  # what is loaded late has its place in its own module
        if isinstance(value, (type, FunctionType)) and value.__module__.startswith("adinterface."):
            value.__module__ = module
            if isinstance(value, type) and "__firstlineno__" in vars(value):
                del value.__firstlineno__  # from Python 3.13 on: a line of the inner file
