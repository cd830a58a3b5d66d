"""A one-shot call of an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..contract.auto import AutoBackend
from ..contract.tracing import untraced
from .dispatch import Kind, operation_of
from .evaluate import evaluate
from .wrapped import finished, inside


@untraced
def run(
    kind: Kind,
    auto: AutoBackend,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """One call of an operator, from arguments to results."""
    operation = operation_of(kind, auto)
    directions = None
    if operation.directions is not None:
        args, directions = operation.arguments(args)
    plan, values, _ = operation.find_plan(args, kwargs)
    if not plan.wrappings:
        return evaluate(operation, plan, f, values, directions)
    kind, f, inner_args = inside(plan, kind, f, args)
    operation = operation_of(kind, auto)
    inner, values, _ = operation.find_plan(inner_args, kwargs)
    return finished(plan, evaluate(operation, inner, f, values, directions), args, kwargs)
