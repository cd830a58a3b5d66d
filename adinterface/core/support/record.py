"""What the running code reports: steps of engines to `explain`, and estimated accuracies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from .ambient import CORE, now, within

T = TypeVar("T")


def active_record() -> Any:
    """The record of a tool, with lists of `calls`, `steps`, `costs`, `accuracies`; or None."""
    return now().record


def note_step(backend: Any, step: str) -> None:
    """Add an engine's step to the active record, if there is one."""
    record = now().record
    if record is not None:
        record.steps.append(f"{type(backend.auto).__name__}: {step}")


def from_engine(backend: Any, step: str, compute: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """What an engine computes by a formula of its own, or None; notes the step if it did not."""
    record = now().record
    before = 0 if record is None else len(record.steps)
    result = compute(*args, **kwargs)
    if record is not None and result is not None and len(record.steps) == before:
        note_step(backend, step)
    return result


@contextmanager
def estimating() -> Iterator[list[Any]]:
    """Collects the accuracies that engines note."""
    result: list[Any] = []
    with within(CORE, now()._replace(accuracies=result)):
        yield result


def note_accuracy(make: Callable[[], Any]) -> None:
    """Note an accuracy. `make` is called only if an operator collects accuracies."""
    lists = [now().accuracies, getattr(now().record, "accuracies", None)]
    collected = [each for each in lists if each is not None]
    if collected:
        accuracy = make()
        for each in collected:
            each.append(accuracy)


def tell_doubt(relative: float, tell: Callable[[], None]) -> None:
    """Warn now, or pass the warning to the caller that collects them."""
    doubts = now().doubts
    if doubts is None:
        tell()
    else:
        doubts.append((relative, tell))
