"""The ambient state of the library: what is true of all code that runs meanwhile, and is not passed as an argument.

Fields whose type is defined in a file that imports this one are `Any`: that file gives them their type.

`now()` gives the state of this thread, or of this asynchronous task. `with within(now()._replace(record=record)): ...` changes
it for a block of code. A new thread begins with an empty state. Extensions and engines that need more keep one object each.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

#: Turns an array of an engine into the object that stands for it in the code that runs; returns other values as they are.
Form = Callable[[Any], Any]


class Ambient(NamedTuple):
    """All of it, as a value that never changes: each scope has its own."""

    #: Where calls and steps are noted, for `explain`, `compare` and the studies: a `Record`, see `record`.
    record: Any = None
    #: Where an engine that estimates its errors notes them, for the operator that called it: a list of `Accuracy`.
    estimates: Any = None
    #: Where warnings about large estimated errors are collected, for a caller that decides itself whether to warn.
    doubts: list[tuple[float, Callable[[], None]]] | None = None

    #: What `ignore_derivatives` returns while differences evaluate f beside a point: a `Hold`, see `held`.
    hold: Any = None
    #: Where inner differences note their errors, for the outer differences that evaluate f; a type of the engine.
    level: Any = None

    #: The `Library` of the engine that differentiates the rule which is being computed, if its other arrays are NumPy arrays:
    #: a rule gets arrays that are differentiated and others, and its namespace must take both.
    following: Any = None
    #: Those arguments of f without axes that stand for NumPy arrays, and those that stand for Python numbers: engines have
    #: one form for these and for NumPy numbers.
    arrays: Sequence[Any] = ()
    python_numbers: Sequence[Any] = ()
    #: The form in which the code that runs takes arrays, if it is NumPy code; None if it takes them as they are.
    form: Form | None = None

    #: Each `Library` of an engine that evaluates f and does not mark what it traces, see `Library.traced`.
    evaluating: tuple[Any, ...] = ()

    #: The numbers that decide branches, recorded in a run that is not compiled, assumed while code is compiled: `Decisions`.
    decisions: Any = None

    #: The `id` of each executor of which a worker waits for the code that runs.
    waiting: frozenset[int] = frozenset()


_state: ContextVar[Ambient] = ContextVar("adinterface", default=Ambient())  # noqa: B039 - a tuple

#: The present state.
now = _state.get
#: Change the state, and restore it with the token that `enter` returned. `within` does both.
enter, leave = _state.set, _state.reset


class within:
    """Runs a block of code in another state."""

    __slots__ = ("_state", "_token")

    def __init__(self, state: Ambient):
        self._state = state

    def __enter__(self) -> None:
        self._token = enter(self._state)

    def __exit__(self, *raised: object) -> None:
        leave(self._token)


class _Wish(threading.local):
    """Whether code has raised an error that might not occur if its numbers were known.

    It outlives the scope in which it is noted. A context variable could not go back to having no value.
    """

    noted = False


_wish = _Wish()


def wish() -> None:
    """Note that code which asks for numbers has raised an error."""
    _wish.noted = True


def take_wish() -> bool:
    """Whether `wish` was called since the last call of this function."""
    noted, _wish.noted = _wish.noted, False
    return noted


__all__ = ["Ambient", "Form", "enter", "leave", "now", "take_wish", "wish", "within"]
