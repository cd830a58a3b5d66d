"""The public place of functions and classes: the module from which users import them, and the name in a pickle."""

from __future__ import annotations

from types import FunctionType
from typing import Any, ForwardRef


def publish(module: str, members: dict[str, Any]) -> None:
    """Set `__module__` of what `__all__` lists: pickles, `help` and tracebacks name the public module, not inner files.

    `dir` of the module has these names alone.
    members: the names of the module that calls this in its last line. What `adinterface` itself lists is of `adinterface`.
    """
    members.setdefault("__dir__", lambda: members["__all__"])
    for name in members["__all__"]:
        value = members.get(name)  # what is loaded late has its place in its own module
        if isinstance(value, (type, FunctionType)) and value.__module__.startswith("adinterface."):
            if isinstance(value, type):
                _keep_apart(value)
            value.__module__ = module


def _keep_apart(cls: type) -> None:
    """Keep what belongs to the inner file of a class: annotations as text are names of that file."""
    inner, annotations = cls.__module__, vars(cls).get("__annotations__", {})
    if issubclass(cls, tuple):  # a NamedTuple, whose constructor shares them: `help` shows the text
        cls.__new__.__annotations__ = {name: getattr(hint, "__forward_arg__", hint) for name, hint in annotations.items()}
    for name, hint in annotations.items():
        if isinstance(hint, ForwardRef) and hint.__forward_module__ is None:  # of a NamedTuple
            hint = hint.__forward_arg__
        if isinstance(hint, str):
            annotations[name] = ForwardRef(hint, is_argument=False, module=inner, is_class=True)
    for field in vars(cls).get("__dataclass_fields__", {}).values():
        field.type = annotations.get(field.name, field.type)
    if "__firstlineno__" in vars(cls):  # from Python 3.13 on: the line by which `inspect` would read another file
        del cls.__firstlineno__  # type: ignore[attr-defined]
