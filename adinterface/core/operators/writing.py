"""Calls that write into their arguments: state that f changes, and the buffers of `Duplicated`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..call.state import Changing, Followed, Unchanging, write
from ..contract.auto import AutoBackend
from ..tree import Duplicated, store
from .dispatch import operation_of
from .evaluate import evaluate
from .operation import Operation


def run_writing(
    operation: Operation,
    auto: AutoBackend,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    directions: tuple[Any, ...] | None,
) -> Any:
    """As `run`, for calls in which f's changes or a gradient are written into an argument."""
    plan, values, _ = operation.plans.find(args, kwargs)
    require_apart(operation, args)
    if not plan.stateful:
        return stored(operation, evaluate(operation, plan, values, f, directions), args)
    following, wrapped, write = follow(operation, auto, f)
    if following is not operation:
        plan, values, _ = following.plans.find(args, kwargs)
    return stored(operation, write(evaluate(following, plan, values, wrapped, directions), args, kwargs), args)


def require_apart(operation: Operation, args: Sequence[Any]) -> None:
    """Refuse two arguments that share one buffer."""
    buffers = [id(arg) for arg in args if type(arg) is Duplicated]
    if len(set(buffers)) < len(buffers):
        raise TypeError(
            f"{operation.name}: two arguments are one and the same Duplicated, and there is room for one gradient in it. Wrap "
            f"each on its own."
        )


def stored(operation: Operation, result: Any, args: Sequence[Any]) -> Any:
    """The operator's result, after each gradient of a `Duplicated` argument is written into its buffers."""
    if not any(type(arg) is Duplicated for arg in args):
        return result
    gradients = result if operation.result is None else result.gradient
    entries = tuple([store(arg, entry) if type(arg) is Duplicated else entry for arg, entry in zip(args, gradients)])
    return entries if operation.result is None else result._replace(gradient=entries)


#: From an operator's results and f's arguments to the user's result.
Write = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


def follow(operation: Operation, auto: AutoBackend, f: Callable[..., Any]) -> tuple[Operation, Callable[..., Any], Write]:
    """The operation and the function that also return f's changes, and the function that writes them into the arguments."""
    if operation.following is None:
        return operation, Unchanging(f, operation.title), lambda result, args, kwargs: result
    following = operation_of(operation.following, auto)

    def written(results: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if operation.output == "tree":
            value, changes = results
            write(operation.title, changes, args, kwargs)
            return value
        (_, value, changes), *others = results
        write(operation.title, changes, args, kwargs)
        return others[0] if operation.result is None else operation.result(value, *others)

    if operation.output == "tree":
        return following, Changing(f, operation.title), written
    return following, Followed(f, operation.title), written
