"""State of the running code that is not passed as an argument.

`now()` gives the state of the core in this thread or asynchronous task. `with within(CORE,
now()._replace(wrap=wrap)): ...` changes it for a block of code. A new thread begins with an empty
state. An extension or an engine that needs more has a context variable of its own, which `within`
changes, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, Generic, NamedTuple, TypeVar

T = TypeVar("T")

#: Wraps an engine's array in the class that the running code expects; returns other values
#: unchanged.
Wrap = Callable[[Any], Any]


#: The relative size of a large estimated error, and the function that warns of it.
Doubt = tuple[float, Callable[[], None]]


class Ambient(NamedTuple):
    """The state of the core, immutable: each scope has its own."""

    #: Each `Library` of an engine that evaluates f and does not mark what it traces, see
    #: `Library.traced`.
    evaluating: tuple[Any, ...] = ()
    #: The leaves of the running f that are Python numbers of the caller, which look as arrays do;
    #: recorded for code that asks for them.
    numbers: Sequence[Any] = ()
    #: Its leaves that are 0-d NumPy arrays of the caller, into which f could write.
    zero_d: Sequence[Any] = ()
    #: Its leaves in Constants inside the arguments. The functions of `adinterface.tree` leave them
    #: out, as outside of f.
    constants: Sequence[Any] = ()
    #: The class in which running NumPy code takes arrays; None outside of such code.
    wrap: Wrap | None = None
    #: The record of a tool, such as `explain`: what `record.py` reports to.
    record: Any = None
    #: The accuracies, for the operator that called the engine; and large errors, in place of
    #: warnings.
    accuracies: list[Any] | None = None
    doubts: list[Doubt] | None = None
    #: Whether a backward pass runs in order to be transposed, so that what it does to cotangents
    #: must be linear.
    transposing: bool = False


CORE: ContextVar[Ambient] = ContextVar("adinterface", default=Ambient())  # noqa: B039 - a tuple

#: The current state of the core.
now: Callable[[], Ambient] = CORE.get


class within(Generic[T]):
    """Sets a context variable for a block of code."""

    __slots__ = ("_token", "_value", "_variable")

    def __init__(self, variable: ContextVar[T], value: T):
        self._variable, self._value = variable, value

    def __enter__(self) -> None:
        self._token = self._variable.set(self._value)

    def __exit__(self, *raised: object) -> None:
        self._variable.reset(self._token)
