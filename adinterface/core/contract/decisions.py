"""Numbers that code goes on by while an engine compiles it: a branch, a mask, a count of steps.

The engine does not know them then. So a run that is not compiled tells them first (`recording`), the compiled one takes them as
they were (`assuming`), and computes them besides: where they are others in a later call, its results count for nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .ambient import now, within

if TYPE_CHECKING:
    from .library import Library


class Undecided(Exception):
    """A number that not even an uncompiled run tells, or that the compiled one does not ask for in the same place."""


class Decisions:
    """What one run of a function goes on by, in order."""

    __slots__ = ("answers", "asked", "recording", "undecided")

    def __init__(self, answers: Sequence[np.ndarray[Any, Any]] | None = None):
        self.recording = answers is None
        #: What the numbers are, or are assumed to be.
        self.answers: list[np.ndarray[Any, Any]] = list(answers or ())
        #: The engine's own arrays for them.
        self.asked: list[Any] = []
        #: Undecided was raised, which the code may have caught as an error of its own.
        self.undecided = False

    def undecidable(self) -> Undecided:
        """The error for a number that this run does not tell."""
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


def active() -> Decisions | None:
    """What this run goes on by, if that is told or assumed: it must then ask at the same places, known or not."""
    decisions: Decisions | None = now().decisions
    return decisions


@contextlib.contextmanager
def recording() -> Iterator[Decisions]:
    """Notes the numbers that code goes on by."""
    decisions = Decisions()
    with within(now()._replace(decisions=decisions)):
        yield decisions
    if decisions.undecided:
        raise Undecided


@contextlib.contextmanager
def assuming(answers: Sequence[np.ndarray[Any, Any]]) -> Iterator[Decisions]:
    """Gives code the numbers that it went on by before, and notes what it asks."""
    decisions = Decisions(answers)
    with within(now()._replace(decisions=decisions)):
        yield decisions
    if decisions.undecided or len(decisions.asked) != len(answers):
        raise Undecided
