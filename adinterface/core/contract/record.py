"""What `explain` listens to: the calls that operators make, and the steps that they take. And who hears how exact they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .backend import Accuracy


class Record:
    """The calls of one recorded operator, each a plan with its values, and the steps of the engines, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Sequence[Any]]] = []
        self.steps: list[str] = []
        #: How exact the results are, as far as the engines estimate it.
        self.accuracies: list[Accuracy] = []


_active: ContextVar[Record | None] = ContextVar("record", default=None)


@contextmanager
def recording() -> Iterator[Record]:
    record = Record()
    token = _active.set(record)
    try:
        yield record
    finally:
        _active.reset(token)


#: The record that listens now, if any; a function of C, since every call asks.
active_record = _active.get


def note_step(backend: Any, step: str) -> None:
    record = _active.get()
    if record is not None:
        record.steps.append(f"{type(backend.auto).__name__}: {step}")


#: Where engines that estimate their errors leave what they found.
_estimates: ContextVar[list[Accuracy] | None] = ContextVar("estimates", default=None)


class estimating:
    """While an engine that estimates computes: what it notes. A class, since a generator takes longer."""

    __slots__ = ("token",)

    def __enter__(self) -> list[Accuracy]:
        found: list[Accuracy] = []
        self.token = _estimates.set(found)
        return found

    def __exit__(self, *raised: object) -> None:
        _estimates.reset(self.token)


def note_accuracy(make: Callable[[], Accuracy]) -> None:
    """Tell how exact the derivatives are that were just taken; made only if somebody listens."""
    found, record = _estimates.get(), _active.get()
    if found is None and record is None:
        return
    accuracy = make()
    if found is not None:
        found.append(accuracy)
    if record is not None:
        record.accuracies.append(accuracy)


#: How exact derivatives are, by whom it is not to be told before he has seen them; each with what tells it.
_doubts: ContextVar[list[tuple[float, Callable[[], None]]] | None] = ContextVar("doubts", default=None)


@contextmanager
def doubting() -> Iterator[list[tuple[float, Callable[[], None]]]]:
    """Large estimated errors go into this list instead of a warning: how large, relative, and what warns of them."""
    doubts: list[tuple[float, Callable[[], None]]] = []
    token = _doubts.set(doubts)
    try:
        yield doubts
    finally:
        _doubts.reset(token)


def tell_doubt(relative: float, tell: Callable[[], None]) -> None:
    """Warn now, or leave it to whoever judges himself."""
    doubts = _doubts.get()
    if doubts is None:
        tell()
    else:
        doubts.append((relative, tell))
