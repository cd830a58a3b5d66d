"""Differences inside differences: how exact the inner ones are, for the outer ones, whose noise that is."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

from adinterface.core.contract.ambient import within
from adinterface.core.contract.record import active_record


class Level:
    """A record of the differences that f takes itself, from an evaluation of f."""

    __slots__ = ("error", "order")

    def __init__(self) -> None:
        #: The largest estimated error of an inner derivative, relative to that derivative; and its order.
        self.error, self.order = 0.0, 0

    def note(self, error: float, order: int) -> None:
        self.error, self.order = max(self.error, error), max(self.order, order)


#: Collects the errors of inner differences, for the outer differences that evaluate f.
_level: ContextVar[Level | None] = ContextVar("adinterface.finite.level", default=None)


def enclosing() -> Level | None:
    """The level in whose evaluation of f this is, if in any."""
    return _level.get()


def is_heard(level: Level, order: int, warns: bool) -> bool:
    """Whether the accuracy of derivatives of this order is used; `level` holds that of differences inside the function.

    warns: whether large errors cause a warning.
    """
    return warns or level.order + order >= 3 or enclosing() is not None or active_record() is not None


def go_below(level: Level) -> Token[Level | None]:
    """Evaluate f at this level until `come_back` gets the token."""
    return _level.set(level)


come_back = _level.reset


def below(level: Level) -> within[Level | None]:
    """While f is evaluated."""
    return within(_level, level)


def aside(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """The same, of which no difference that is being taken hears."""

    def evaluated(*leaves: Any) -> Any:
        with below(Level()):
            return evaluate(*leaves)

    return evaluated
