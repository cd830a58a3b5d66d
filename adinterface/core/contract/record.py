"""Records of calls, for `explain`, and the accuracies that engines estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

from .ambient import within
from .inexact import Accuracy

T = TypeVar("T")

#: The relative size of a large estimated error, and the function that warns of it.
Doubt = tuple[float, Callable[[], None]]


class Record:
    """The calls of one recorded operator, each a plan with its values, and the steps of the engines, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Sequence[Any]]] = []
        self.steps: list[str] = []
        #: The accuracies of the results, where the engines estimate them.
        self.accuracies: list[Accuracy] = []


class _Listeners(NamedTuple):
    """What the running code reports to."""

    record: Record | None = None
    #: The accuracies, for the operator that called the engine.
    accuracies: list[Accuracy] | None = None
    #: Large errors, in place of warnings.
    doubts: list[Doubt] | None = None


_listeners: ContextVar[_Listeners] = ContextVar("adinterface.record", default=_Listeners())  # noqa: B039 - a tuple


@contextmanager
def recording() -> Iterator[Record]:
    """Records the calls and steps of a block of code."""
    record = Record()
    with within(_listeners, _listeners.get()._replace(record=record)):
        yield record


def active_record() -> Record | None:
    """The active record, or None."""
    return _listeners.get().record


def note_step(backend: Any, step: str) -> None:
    """Add an engine's step to the active record, if there is one."""
    record = active_record()
    if record is not None:
        record.steps.append(f"{type(backend.auto).__name__}: {step}")


def from_engine(backend: Any, step: str, compute: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """What an engine computes by a formula of its own, or None; adds this step, unless the engine notes steps itself."""
    record = active_record()
    before = 0 if record is None else len(record.steps)
    result = compute(*args, **kwargs)
    if record is not None and result is not None and len(record.steps) == before:
        note_step(backend, step)
    return result


@contextmanager
def estimating() -> Iterator[list[Accuracy]]:
    """Collects the accuracies that engines note."""
    result: list[Accuracy] = []
    with within(_listeners, _listeners.get()._replace(accuracies=result)):
        yield result


def note_accuracy(make: Callable[[], Accuracy]) -> None:
    """Note the accuracy of the derivatives just computed. `make` is called only if an operator collects accuracies."""
    record, result, _ = _listeners.get()
    if result is None and record is None:
        return
    accuracy = make()
    if result is not None:
        result.append(accuracy)
    if record is not None:
        record.accuracies.append(accuracy)


@contextmanager
def doubting() -> Iterator[list[Doubt]]:
    """Collects large estimated errors in place of warnings."""
    doubts: list[Doubt] = []
    with within(_listeners, _listeners.get()._replace(doubts=doubts)):
        yield doubts


def tell_doubt(relative: float, tell: Callable[[], None]) -> None:
    """Warn now, or pass the warning to the caller that collects them."""
    doubts = _listeners.get().doubts
    if doubts is None:
        tell()
    else:
        doubts.append((relative, tell))
