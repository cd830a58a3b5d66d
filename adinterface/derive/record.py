"""What `explain` listens to: the calls that operators make, and the steps that they take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


class Record:
    """The calls of one recorded operator, each a plan with its values, and the steps of the engines, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Sequence[Any]]] = []
        self.steps: list[str] = []


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
