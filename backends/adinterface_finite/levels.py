"""Differences inside differences: how exact the inner ones are, for the outer ones, whose noise that is."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Token
from typing import Any

from adinterface.core.contract.ambient import Ambient, enter, leave, now, within
from adinterface.core.contract.record import active_record


class Level:
    """A record of the differences that f takes itself, from an evaluation of f."""

    __slots__ = ("error", "order")

    def __init__(self) -> None:
        #: The largest estimated error of an inner derivative, relative to that derivative; and its order.
        self.error, self.order = 0.0, 0

    def note(self, error: float, order: int) -> None:
        self.error, self.order = max(self.error, error), max(self.order, order)


def enclosing() -> Level | None:
    """The level in whose evaluation of f this is, if in any."""
    level: Level | None = now().level
    return level


def is_heard(level: Level, order: int, warns: bool) -> bool:
    """Whether the accuracy of derivatives of this order is used; `level` holds that of differences inside the function.

    warns: whether large errors cause a warning.
    """
    return warns or level.order + order >= 3 or enclosing() is not None or active_record() is not None


def go_below(level: Level) -> Token[Ambient]:
    """Evaluate f at this level until `come_back` gets the token."""
    return enter(now()._replace(level=level))


come_back = leave


def below(level: Level) -> within:
    """While f is evaluated."""
    return within(now()._replace(level=level))


def aside(evaluate: Callable[..., Any]) -> Callable[..., Any]:
    """The same, of which no difference that is being taken hears."""

    def evaluated(*leaves: Any) -> Any:
        with below(Level()):
            return evaluate(*leaves)

    return evaluated
