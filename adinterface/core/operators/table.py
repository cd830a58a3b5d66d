"""Operators by the functions that users call, in the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..call.messages import describe
from ..call.row import FieldForm as FieldForm
from ..call.row import OperatorRow as OperatorRow
from ..contract.registry import REGISTRY

T = TypeVar("T")


def require_operator(caller: str, operator: Any) -> OperatorRow:
    """The row of an operator; raises TypeError, with a remedy, for anything else.

    caller: the calling tool and its arguments, for the message.
    """
    row: OperatorRow | None = entry_of(REGISTRY.operators, operator)
    if row is not None:
        return row
    names = sorted(row.name for row in REGISTRY.operators.values())
    actual, remedy = repr(operator), ""
    if isinstance(operator, str) and operator in names:
        remedy = f" Pass {operator} itself, without quotes."
    elif not (callable(operator) or isinstance(operator, str)):
        actual = describe(operator)
        remedy = f" It is passed itself, not called: {caller.replace('operator', 'gradient')}."
    raise TypeError(f"{caller}: operator must be one of {', '.join(names)}, not {actual}.{remedy}")


def names_of(row: OperatorRow) -> tuple[Any, dict[str, Any] | None]:
    """A row in a pickle, by public names: its operator, or the row if users have none; and None.

    Of an operator around an operator: both operators, and the keywords.
    """
    outer, inner, keywords = row.made_of
    if outer is not None:
        return (outer, names_of(inner)[0]), keywords
    operators = REGISTRY.operators.items()
    return next((operator for operator, each in operators if each is row), row), None


def row_named(
    operator: Any, keywords: dict[str, Any] | None, f: Callable[..., Any], auto: Any
) -> OperatorRow:
    """The row with these names."""
    if keywords is None:
        row: OperatorRow = REGISTRY.operators.get(operator, operator)
        return row
    outer, inner = operator
    row = REGISTRY.outer[outer](outer.__name__, inner, (f, auto), keywords)[0]
    return row


def entry_of(table: Mapping[Any, T], operator: Any) -> T | None:
    """The entry of an operator; None if there is none, or if the operator cannot be hashed."""
    try:
        return table.get(operator)
    except TypeError:
        return None
