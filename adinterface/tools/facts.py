"""Facts about an operator, read from its row without a call. Nothing here names an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.call.messages import require_function
from ..core.call.row import FieldForm, OperatorRow
from ..core.contract.registry import REGISTRY
from ..core.operators.table import entry_of, require_operator


def operator_rows() -> list[OperatorRow]:
    """The row of every operator; first-order operators come first."""
    return sorted(REGISTRY.operators.values(), key=lambda row: (row.order, row.name))


def row_of_name(name: str) -> OperatorRow | None:
    return next((row for row in REGISTRY.operators.values() if row.name == name), None)


def operator_of(row: OperatorRow) -> Callable[..., Any]:
    """The function that users call."""
    operator: Callable[..., Any] = next(
        operator for operator, other in REGISTRY.operators.items() if other is row
    )
    return operator


def require_call(caller: str, operator: Any, f: Any) -> None:
    """As `require_operator`, for any function with an operator's call signature.

    f must be a function, not an operator, which it is if the two were exchanged. It is a backend if
    the operator was left out.
    """
    known = entry_of(REGISTRY.operators, operator) is not None
    exchanged = entry_of(REGISTRY.operators, f) is not None
    if not callable(operator) or exchanged or not (known or callable(f)):
        require_operator(caller, operator)
    require_function(caller.partition("(")[0], f)


def fields_of(row: OperatorRow) -> dict[str, FieldForm]:
    """The fields of the result of an operator by name, and what each is."""
    if row.result is None:
        return dict(zip((row.name,), row.forms, strict=True))
    names: tuple[str, ...] = row.result._fields  # type: ignore[attr-defined]
    return dict(zip(names, row.forms, strict=True))


def gives_map(row: OperatorRow) -> bool:
    """Whether one of the results is a function: `back` or `push`."""
    return not {"back", "push"}.isdisjoint(row.forms)


def plain_of(row: OperatorRow) -> OperatorRow | None:
    """The row of the last of several results: `gradient` for `value_and_gradient`; or None."""
    parts = list(fields_of(row).items())
    if len(parts) == 1:
        return None
    return next(
        (
            other
            for other in REGISTRY.operators.values()
            if list(fields_of(other).items()) == parts[-1:]
        ),
        None,
    )


def arguments_of(row: OperatorRow, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of f among the operator's arguments after the backend."""
    return row.arguments(args)[0]
