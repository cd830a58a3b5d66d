"""Differences inside differences: how exact the inner ones are, for the outer ones, whose noise that is."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any


class Level:
    """What an evaluation of f found out about the differences that f takes itself."""

    __slots__ = ("error", "order")

    def __init__(self) -> None:
        #: The largest estimated error of an inner derivative, relative to that derivative; and its order.
        self.error, self.order = 0.0, 0

    def note(self, error: float, order: int) -> None:
        self.error, self.order = max(self.error, error), max(self.order, order)


_active: ContextVar[Level | None] = ContextVar("level", default=None)

#: The level in whose evaluation of f this is, if in any; a function of C, since every call asks.
enclosing = _active.get
#: As `below`, and the way back, for whoever enters more than this scope in one step.
go_below, come_back = _active.set, _active.reset


class below:
    """While f is evaluated. A class: a generator would take longer than many an f."""

    __slots__ = ("level", "token")

    def __init__(self, level: Level):
        self.level = level

    def __enter__(self) -> None:
        self.token = _active.set(self.level)

    def __exit__(self, *raised: object) -> None:
        _active.reset(self.token)


def aside(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """The same, of which no difference that is being taken hears."""

    def evaluated(*leaves: Any) -> Any:
        with below(Level()):
            return evaluate(*leaves)

    return evaluated
