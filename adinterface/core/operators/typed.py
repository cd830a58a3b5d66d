"""Gives each operator its precise type, which says what comes back for the types of its arguments.

At run time `@typed["signatures.GradientOperator"]()` returns the function as it is. The overloads are in `signatures.pyi`,
which `python -m adinterface_studies signatures` writes: Python cannot map types over a tuple, so they are spelled out for up to
four arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Signature = TypeVar("Signature")


class typed(Generic[Signature]):
    """A decorator that gives a function this type."""

    def __call__(self, function: Callable[..., Any]) -> Signature:
        return function  # type: ignore[return-value]
