"""What its author has said of a rule."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Definition:
    """A function and its derivatives, None where they were not given."""

    __slots__ = ("back", "count", "f", "host", "name", "push", "signature")

    def __init__(self, f: Callable[..., Any], host: bool):
        self.f, self.host = f, host
        self.name: str = getattr(f, "__name__", type(f).__name__)
        self.back: Callable[..., Any] | None = None
        self.push: Callable[..., Any] | None = None
        try:
            self.signature = inspect.signature(f)
        except (TypeError, ValueError) as error:  # of some functions in C
            raise TypeError(f"rule: Python cannot tell the arguments of {f!r}. Write a function around it.") from error
        parameters = self.signature.parameters.values()
        #: How many positional arguments there are, if a call needs no look at the signature; else None.
        self.count = len(parameters) if all(p.kind in _POSITIONAL for p in parameters) else None

    def path(self, i: int) -> str:
        """What the i-th argument is called in messages."""
        kinds = (*_POSITIONAL, inspect.Parameter.VAR_POSITIONAL)
        found = [parameter for parameter in self.signature.parameters.values() if parameter.kind in kinds]
        if i < len(found) and found[i].kind in _POSITIONAL:
            return found[i].name
        return f"{found[-1].name}[{i - len(found) + 1}]"
