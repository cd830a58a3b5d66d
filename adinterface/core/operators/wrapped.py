"""Calls that write into their arguments, such as `Duplicated`: the wrappings that node types put around a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..call.plan import Plan
from .dispatch import Kind


def inside(
    plan: Plan, kind: Kind, f: Callable[..., Any], args: Sequence[Any]
) -> tuple[Kind, Callable[..., Any], Sequence[Any]]:
    """The operator, f and the arguments of the call inside."""
    for wrapping in plan.wrappings:
        kind, f, args = wrapping.inside(kind, f, args)
    return kind, f, args


def finished(plan: Plan, results: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The user's results from those of the call inside."""
    for wrapping in reversed(plan.wrappings):
        results = wrapping.finish(results, args, kwargs)
    return results
