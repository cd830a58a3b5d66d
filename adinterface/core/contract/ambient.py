"""The ambient state of the library: state of the running code that is not passed as an argument.

Fields whose type is defined in a file that imports this one are `Any`; that file states their type.

`now()` gives the state of this thread or asynchronous task. `with within(now()._replace(record=record)): ...` changes it
for a block of code. A new thread begins with an empty state. Extensions and engines that need more keep one object each.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from typing import Any, NamedTuple

#: Wraps an engine's array in the class that the running code expects; returns other values unchanged.
Form = Callable[[Any], Any]


class Ambient(NamedTuple):
    """The whole state, immutable: each scope has its own."""

    #: Records calls and steps, for `explain`, `compare` and the studies: a `Record`, see `record`.
    record: Any = None
    #: Collects the estimated errors of an engine, for the operator that called it: a list of `Accuracy`.
    estimates: Any = None
    #: While set, precision warnings are collected here instead of being issued.
    doubts: list[tuple[float, Callable[[], None]]] | None = None

    #: What `ignore_derivatives` returns while differences evaluate f near a point: a `Hold`, see `fixed_values`.
    hold: Any = None
    #: Collects the errors of inner differences, for the outer differences that evaluate f; an engine defines the type.
    level: Any = None

    #: While a rule runs: the `Library` of the engine that differentiates it, if its carried arrays are NumPy arrays. A rule
    #: gets both, so its namespace must accept both.
    following: Any = None
    #: The 0-d arguments of f that represent NumPy arrays, and those that represent Python numbers. An engine uses one type for
    #: both.
    arrays: Sequence[Any] = ()
    python_numbers: Sequence[Any] = ()
    #: What f sees of the Constants inside its arguments. The functions of `adinterface.tree` leave them out, as outside of f.
    constants: Sequence[Any] = ()
    #: The class in which running NumPy code takes arrays; None outside of such code.
    form: Form | None = None

    #: Each `Library` of an engine that evaluates f and does not mark what it traces, see `Library.traced`.
    evaluating: tuple[Any, ...] = ()

    #: The numbers that decide branches: recorded in an uncompiled run, assumed while code is compiled. See `Decisions`.
    decisions: Any = None

    #: The `id` of each executor whose worker waits for the running code.
    waiting: frozenset[int] = frozenset()


_state: ContextVar[Ambient] = ContextVar("adinterface", default=Ambient())  # noqa: B039 - a tuple

#: The current state.
now: Callable[[], Ambient] = _state.get
#: Change the state, and restore it with the token that `enter` returned. `within` does both.
enter: Callable[[Ambient], Token[Ambient]] = _state.set
leave: Callable[[Token[Ambient]], None] = _state.reset


class within:
    """Runs a block of code in a given state."""

    __slots__ = ("_state", "_token")

    def __init__(self, state: Ambient):
        self._state = state

    def __enter__(self) -> None:
        self._token = enter(self._state)

    def __exit__(self, *raised: object) -> None:
        leave(self._token)


class _Wish(threading.local):
    """Whether code has raised an error that known numbers might have avoided.

    It outlives the scope that sets it. A context variable could not be unset.
    """

    noted = False


_wish = _Wish()


def wish() -> None:
    """Record that code which reads numbers has raised an error."""
    _wish.noted = True


def take_wish() -> bool:
    """Whether `wish` was called since the last call of this function."""
    noted, _wish.noted = _wish.noted, False
    return noted


__all__ = ["Ambient", "Form", "enter", "leave", "now", "take_wish", "wish", "within"]
