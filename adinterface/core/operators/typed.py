"""Gives each operator precise types: its result types follow from its argument types.

At run time `@typed["signatures.GradientOperator"]()` returns the function unchanged.
`adinterface/_signatures.pyi` holds the overloads, which
`python -m adinterface_studies signatures` writes. Python cannot map types over a tuple, so there is
one overload for each number of arguments up to four.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Signature = TypeVar("Signature")


class typed(Generic[Signature]):
    """A decorator that gives a function this type."""

    def __call__(self, function: Callable[..., Any]) -> Signature:
        return function  # type: ignore[return-value]
