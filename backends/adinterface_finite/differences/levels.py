"""Differences inside differences: the inexactness of the inner is the noise of the outer."""

from __future__ import annotations

from contextvars import ContextVar


class Level:
    """A record of the differences that f takes itself, from an evaluation of f."""

    __slots__ = ("error", "order")

    def __init__(self) -> None:
        #: The largest estimated error of an inner derivative, relative to that derivative; and its
        #: order.
        self.error, self.order = 0.0, 0

    def note(self, error: float, order: int) -> None:
        self.error, self.order = max(self.error, error), max(self.order, order)


#: Collects the errors of inner differences, for the outer differences that evaluate f.
_level: ContextVar[Level | None] = ContextVar("adinterface.finite.level", default=None)


def enclosing() -> Level | None:
    """The level in whose evaluation of f this is, if in any."""
    return _level.get()


class below:
    """A context in which f is evaluated at this level."""

    __slots__ = ("_level", "_token")

    def __init__(self, level: Level):
        self._level = level

    def __enter__(self) -> Level:
        self._token = _level.set(self._level)
        return self._level

    def __exit__(self, *raised: object) -> None:
        _level.reset(self._token)
