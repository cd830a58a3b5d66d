"""Which operation carries out an operator on a backend value: the registry of operators, and the door for extensions."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

from ..call.messages import describe, require_function
from ..contract import late
from ..contract.auto import AutoBackend
from .operation import Operation

#: Makes the operation of an operator on a backend value: the class of the operation, or what wraps one.
Kind = Callable[[AutoBackend], Operation]


class Extension(NamedTuple):
    """What an extension adds to the core: the operations on some backend values."""

    #: Whether the extension makes the operations on a backend value.
    applies: Callable[[AutoBackend], bool]
    #: `"module:function"`, imported at the first such backend value: from a kind and a backend value to the operation.
    entry: str

    def operation(self, kind: Kind, auto: AutoBackend) -> Operation:
        module, _, name = self.entry.partition(":")
        make: Callable[[Kind, AutoBackend], Operation] = getattr(importlib.import_module(module), name)
        return make(kind, auto)


_extensions: list[Extension] = []


def extend(*extensions: Extension, **entries: str) -> None:
    """Register extensions. The first one that applies to a backend value makes its operations.

    entries: what else the core calls in extensions, `"module:name"` by name; it becomes an attribute of `contract.late`.
    """
    _extensions.extend(extensions)
    late.ENTRIES.update(entries)
    _cached_operation.cache_clear()


@functools.lru_cache(maxsize=256)
def _cached_operation(kind: Kind, auto: AutoBackend) -> Operation:
    for extension in _extensions:
        if extension.applies(auto):
            return extension.operation(kind, auto)
    return kind(auto)


def operation_of(kind: Kind, auto: AutoBackend) -> Operation:
    """The operation on a backend; one and the same for equal backends."""
    return _cached_operation(kind, auto) if isinstance(auto, AutoBackend) else kind(auto)


#: The operation of each operator, by the operator.
OPERATIONS: dict[Any, type[Operation]] = {}


def require_operator(caller: str, operator: Any) -> type[Operation]:
    """The operation of an operator; raises TypeError, and says what to write, for what is none.

    caller: the tool that takes it, as it is called.
    """
    kind = _kind_of(operator)
    if kind is not None:
        return kind
    names = sorted(operation.name for operation in OPERATIONS.values())
    if isinstance(operator, str) and operator in names:
        remedy = f" Pass {operator} itself, without quotes."
    elif callable(operator) or isinstance(operator, str):
        remedy = ""
    else:
        remedy = f" It is passed itself, not called: {caller.replace('operator', 'gradient')}."
    seen = repr(operator) if callable(operator) or isinstance(operator, str) else describe(operator)
    raise TypeError(f"{caller}: operator must be one of {', '.join(names)}, not {seen}.{remedy}")


def require_call(caller: str, operator: Any, f: Any) -> None:
    """As `require_operator` for a tool that takes whatever is called as an operator is: it must be a function, and so must
    f, which is no operator unless the two were exchanged."""
    if not callable(operator) or _kind_of(f) is not None:
        require_operator(caller, operator)
    require_function(caller.partition("(")[0], f)


def _kind_of(operator: Any) -> type[Operation] | None:
    try:
        return OPERATIONS.get(operator)
    except TypeError:  # it cannot be hashed
        return None
