"""The definition of a rule: its functions and its options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Definition:
    """A function and its derivatives, None where they were not given."""

    __slots__ = (
        "back",
        "count",
        "f",
        "host",
        "innermost",
        "name",
        "outside",
        "push",
        "refusal",
        "signature",
        "written",
    )

    def __init__(self, f: Callable[..., Any], host: bool | Callable[..., Any] = False):
        self.f: Callable[..., Any] = f
        #: Whether f runs outside of the engine's traces: True, or a function from the arguments to
        #: an example of its value.
        self.host: bool | Callable[..., Any] = host
        #: Whether a host function takes arrays of any library; otherwise NumPy arrays.
        self.outside: bool = False
        self.name: str = getattr(f, "__name__", type(f).__name__)
        #: The error where a keyword is being differentiated; None for the usual one.
        self.refusal: Exception | None = None
        #: A function of the same arguments whose own derivatives are the rule's; or None.
        self.written: Callable[..., Any] | None = None
        #: Whether the innermost derivative alone uses the rule; in outer ones, the derivatives of
        #: `written` are used.
        self.innermost: bool = False
        self.back: Callable[..., Any] | None = None
        self.push: Callable[..., Any] | None = None
        self.signature: inspect.Signature = _signature(f)
        parameters = self.signature.parameters.values()
        #: The number of positional arguments, if calls need not read the signature; else None.
        self.count: int | None = (
            len(parameters) if all(p.kind in POSITIONAL for p in parameters) else None
        )

    def path(self, i: int) -> str:
        """What the i-th argument is called in messages."""
        kinds = (*POSITIONAL, inspect.Parameter.VAR_POSITIONAL)
        result = [
            parameter for parameter in self.signature.parameters.values() if parameter.kind in kinds
        ]
        if i < len(result) and result[i].kind in POSITIONAL:
            return result[i].name
        return f"{result[-1].name}[{i - len(result) + 1}]"


def _signature(f: Callable[..., Any]) -> inspect.Signature:
    if isinstance(f, np.ufunc):  # without the keywords that all of them have
        names = ["x"] if f.nin == 1 else [f"x{n + 1}" for n in range(f.nin)]
        return inspect.Signature(
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in names]
        )
    try:
        return inspect.signature(f)
    except (TypeError, ValueError):  # some C functions have no signature
        kinds = {
            "args": inspect.Parameter.VAR_POSITIONAL,
            "keywords": inspect.Parameter.VAR_KEYWORD,
        }
        return inspect.Signature([inspect.Parameter(name, kind) for name, kind in kinds.items()])
