"""Numbers that decide the course of code (a branch, a mask, a count of steps) while an engine compiles it.

The engine does not know these numbers while it compiles. So an uncompiled run records them (`recording`), and the compiled run
assumes them (`assuming`) and also computes them. If a later call computes other numbers, its results are discarded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.contract.ambient import within

if TYPE_CHECKING:
    from ..core.contract.library import Library


class Undecided(Exception):
    """A number that the uncompiled run cannot know either, or that the compiled run does not read in the same place."""


class Decisions:
    """The numbers that decide one run of a function, in order."""

    __slots__ = ("answers", "asked", "recording", "undecided")

    def __init__(self, answers: Sequence[np.ndarray[Any, Any]] | None = None):
        self.recording: bool = answers is None
        #: The numbers, recorded or assumed.
        self.answers: list[np.ndarray[Any, Any]] = list(answers or ())
        #: The engine's arrays of these numbers.
        self.asked: list[Any] = []
        #: Whether Undecided was raised; the code may have caught it.
        self.undecided: bool = False

    def undecidable(self) -> Undecided:
        """The error for a number that this run does not know."""
        self.undecided = True
        return Undecided()

    def numbers(self, x: Any, library: Library) -> np.ndarray[Any, Any]:
        """The numbers of an engine's array. Raises Undecided."""
        if self.recording:
            result = library.value_under_trace(x) if library.traced(x) else library.to_numpy(x)
            if result is None:
                raise self.undecidable()
            self.answers.append(np.array(result))
            return self.answers[-1].copy()
        place = len(self.asked)
        if place >= len(self.answers) or self.answers[place].shape != tuple(x.shape):
            raise self.undecidable()
        self.asked.append(library.stopped(x))
        return self.answers[place].copy()


_decisions: ContextVar[Decisions | None] = ContextVar("adinterface.decisions", default=None)


def active() -> Decisions | None:
    """The recorded or assumed numbers of this run, if any: it must then read numbers in the same places, known or not."""
    return _decisions.get()


@contextlib.contextmanager
def recording() -> Iterator[Decisions]:
    """Records the numbers that decide the course of code."""
    decisions = Decisions()
    with within(_decisions, decisions):
        yield decisions
    if decisions.undecided:
        raise Undecided


@contextlib.contextmanager
def assuming(answers: Sequence[np.ndarray[Any, Any]]) -> Iterator[Decisions]:
    """Gives code the numbers that decided an earlier run, and records which of them it reads."""
    decisions = Decisions(answers)
    with within(_decisions, decisions):
        yield decisions
    if decisions.undecided or len(decisions.asked) != len(answers):
        raise Undecided
