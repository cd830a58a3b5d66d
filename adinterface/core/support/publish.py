"""The public place of functions and classes, also in pickles: where users import them."""

from __future__ import annotations

from types import FunctionType
from typing import Any


def publish(module: str, members: dict[str, Any]) -> None:
    """Set `__module__` of what `__all__` lists to the public module.

    `dir` of the module has these names alone.
    members: the names of the module that calls this in its last line. What `adinterface` itself
    lists is of `adinterface`.
    """
    members.setdefault("__dir__", lambda: members["__all__"])
    for name in members["__all__"]:
        value = members.get(name)  # what is loaded late has its place in its own module
        if isinstance(value, (type, FunctionType)) and value.__module__.startswith("adinterface."):
            value.__module__ = module
