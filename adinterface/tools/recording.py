"""Records of calls: what an operator reports while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.contract.inexact import Accuracy
from ..core.support.ambient import CORE, now, within


class Record:
    """What an operator does while it is recorded: plans with their values, steps of engines."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, Sequence[Any]]] = []
        self.steps: list[str] = []
        #: What a function that f calls says of its cost.
        self.costs: list[str] = []
        #: The accuracies of the results, where the engines estimate them.
        self.accuracies: list[Accuracy] = []


@contextmanager
def recording() -> Iterator[Record]:
    """Records the calls and steps of a block of code."""
    record = Record()
    with within(CORE, now()._replace(record=record)):
        yield record


__all__ = ["Record", "recording"]
