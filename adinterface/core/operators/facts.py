"""What may be known of an operator without calling it, read from its `Operation`. Nothing here names an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .dispatch import OPERATIONS
from .operation import Operation, PartForm


def operations() -> list[type[Operation]]:
    """The operation of every operator; those that take one derivative first."""
    return sorted(OPERATIONS.values(), key=lambda operation: (operation.order, operation.name))


def operation_of_name(name: str) -> type[Operation] | None:
    """The operation of the operator that is called so; None if there is none."""
    return next((operation for operation in OPERATIONS.values() if operation.name == name), None)


def operator_of(operation: type[Operation]) -> Callable[..., Any]:
    """The function that users call."""
    operator: Callable[..., Any] = next(operator for operator, other in OPERATIONS.items() if other is operation)
    return operator


def parts_of(operation: type[Operation]) -> dict[str, PartForm]:
    """The results of an operator by name, and what each looks like."""
    if operation.result is None:
        return dict(zip((operation.name,), operation.forms, strict=True))
    names: tuple[str, ...] = operation.result._fields  # type: ignore[attr-defined]
    return dict(zip(names, operation.forms, strict=True))


def gives_map(operation: type[Operation]) -> bool:
    """Whether one of the results is a function: `back` or `push`."""
    return not {"back", "push"}.isdisjoint(operation.forms)


def plain_of(operation: type[Operation]) -> type[Operation] | None:
    """The one that gives the last of several results alone, as `gradient` does of `value_and_gradient`; None if none does."""
    parts = list(parts_of(operation).items())
    if len(parts) == 1:
        return None
    return next((other for other in OPERATIONS.values() if list(parts_of(other).items()) == parts[-1:]), None)


def arguments_of(operation: type[Operation], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of f among those that the operator takes after the backend."""
    if operation.directions == "second argument":
        return (args[0], *args[2:])
    if operation.directions == "second tuple":
        first: tuple[Any, ...] = args[0]
        return first
    return args
