"""Gives operators their precise types: one entry for each argument, None for a Constant, a float for an int.

At run time these decorators return the function as it is. The overloads stand in `signatures.pyi`, which
`tests/test_typing.py` writes: Python cannot map types over a tuple, so they are spelled out for up to four arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from .signatures import GradientOperator, ValueAndGradientOperator


def as_gradient(operator: Callable[..., tuple[Any, ...]]) -> GradientOperator:
    return cast("GradientOperator", operator)


def as_value_and_gradient(operator: Callable[..., Any]) -> ValueAndGradientOperator:
    return cast("ValueAndGradientOperator", operator)
