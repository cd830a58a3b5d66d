"""Dispatch: from an operator and a backend value to an `Operation`; extensions register here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from ..call.messages import describe
from ..contract.auto import AutoBackend, require_hashable
from ..contract.registry import FUNCTIONS, imported
from .operation import Operation

T = TypeVar("T")

#: Makes the operation for a backend value: a class of operations, or a wrapper of one.
Kind = Callable[[AutoBackend], Operation]


class Extension(NamedTuple):
    """An extension of the core: the operations for some backend values."""

    #: Whether the extension makes the operations for a backend value.
    applies: Callable[[AutoBackend], bool]
    #: `"module:function"`, imported for the first such backend value; maps a kind and a backend value to an operation.
    entry: str


#: For an operator around an operator. For `batched(gradient, f, backend, x)` it takes a caller for messages, `gradient`,
#: `(f, backend, x)` and the keywords, and returns the kind, f, the backend and `(x,)`.
OuterOperator = Callable[[str, Any, tuple[Any, ...], dict[str, Any]], tuple[Kind, Callable[..., Any], Any, tuple[Any, ...]]]

_extensions: list[Extension] = []
_outer_operators: dict[Any, OuterOperator] = {}


def extend(*extensions: Extension, around: Mapping[Any, OuterOperator] = MappingProxyType({}), **functions: str) -> None:
    """Register extensions. The first one that applies to a backend value makes its operations.

    around: operators around an operator, such as `batched`. functions: what else the core calls in extensions, as
    `"module:name"`.
    """
    _extensions.extend(extensions)
    _outer_operators.update(around)
    FUNCTIONS.update(functions)
    _cached_operation.cache_clear()


@functools.lru_cache(maxsize=256)
def _cached_operation(kind: Kind, auto: AutoBackend) -> Operation:
    for extension in _extensions:
        if extension.applies(auto):
            kind = functools.partial(imported(extension.entry), kind)
            break
    return kind(auto)


def operation_of(kind: Kind, auto: AutoBackend) -> Operation:
    """The operation for a backend; equal backends share one object."""
    try:
        return _cached_operation(kind, auto) if isinstance(auto, AutoBackend) else kind(auto)
    except TypeError:
        if isinstance(auto, AutoBackend):
            require_hashable(auto)
        raise


#: From each operator to its operation.
OPERATIONS: dict[Any, type[Operation]] = {}


def require_operator(caller: str, operator: Any) -> type[Operation]:
    """The operation of an operator; raises TypeError, with a remedy, for anything else.

    caller: the calling tool and its arguments, for the message.
    """
    kind = entry_of(OPERATIONS, operator)
    if kind is not None:
        return kind
    names = sorted(operation.name for operation in OPERATIONS.values())
    if isinstance(operator, str) and operator in names:
        remedy = f" Pass {operator} itself, without quotes."
    elif callable(operator) or isinstance(operator, str):
        remedy = ""
    else:
        remedy = f" It is passed itself, not called: {caller.replace('operator', 'gradient')}."
    actual = repr(operator) if callable(operator) or isinstance(operator, str) else describe(operator)
    raise TypeError(f"{caller}: operator must be one of {', '.join(names)}, not {actual}.{remedy}")


def recipe(kind: Kind) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The operators, from the outermost one, and the keywords that make this kind: public names, for pickles.

    An operation that is no operator of users is the kind itself.
    """
    if isinstance(kind, type):
        return (next((operator for operator, each in OPERATIONS.items() if each is kind), kind),), {}
    around: Any = kind
    parts: tuple[tuple[Any, ...], dict[str, Any]] = around.recipe()
    return parts


def outer_operator_of(operator: Any) -> OuterOperator | None:
    return entry_of(_outer_operators, operator)


def entry_of(table: Mapping[Any, T], operator: Any) -> T | None:
    """The entry of an operator; None if there is none, or if the operator cannot be hashed."""
    try:
        return table.get(operator)
    except TypeError:
        return None
