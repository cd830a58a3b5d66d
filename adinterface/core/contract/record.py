"""Records of calls, for `explain`, and the accuracies that engines estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .ambient import now, within
from .backend import Accuracy


class Record:
    """The calls of one recorded operator, each a plan with its values, and the steps of the engines, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Sequence[Any]]] = []
        self.steps: list[str] = []
        #: The accuracies of the results, where the engines estimate them.
        self.accuracies: list[Accuracy] = []


@contextmanager
def recording() -> Iterator[Record]:
    """Records the calls and steps of a block of code."""
    record = Record()
    with within(now()._replace(record=record)):
        yield record


def active_record() -> Record | None:
    """The active record, or None."""
    record: Record | None = now().record
    return record


def note_step(backend: Any, step: str) -> None:
    """Add an engine's step to the active record, if there is one."""
    record = active_record()
    if record is not None:
        record.steps.append(f"{type(backend.auto).__name__}: {step}")


def note_own(backend: Any, step: str, before: int) -> None:
    """Add a step for what an engine did by a formula of its own, unless it noted its steps: there were `before` of them."""
    if count_steps() == before:
        note_step(backend, step)


def count_steps() -> int:
    """How many steps the active record has; 0 without one."""
    record = active_record()
    return 0 if record is None else len(record.steps)


@contextmanager
def estimating() -> Iterator[list[Accuracy]]:
    """Collects the accuracies that engines note."""
    result: list[Accuracy] = []
    with within(now()._replace(estimates=result)):
        yield result


def note_accuracy(make: Callable[[], Accuracy]) -> None:
    """Note the accuracy of the derivatives just computed. `make` is called only if an operator collects accuracies."""
    result, record = now().estimates, active_record()
    if result is None and record is None:
        return
    accuracy = make()
    if result is not None:
        result.append(accuracy)
    if record is not None:
        record.accuracies.append(accuracy)


@contextmanager
def doubting() -> Iterator[list[tuple[float, Callable[[], None]]]]:
    """Collects large estimated errors in place of warnings: each with its relative size and the function that warns."""
    doubts: list[tuple[float, Callable[[], None]]] = []
    with within(now()._replace(doubts=doubts)):
        yield doubts


def tell_doubt(relative: float, tell: Callable[[], None]) -> None:
    """Warn now, or pass the warning to the caller that collects them."""
    doubts = now().doubts
    if doubts is None:
        tell()
    else:
        doubts.append((relative, tell))
