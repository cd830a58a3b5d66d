"""What came of random programs: failures and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field


@dataclass
class Failure:
    """One kind of failure: its first program, shrunk, and its number of occurrences."""

    backend: str
    operator: str
    kind: str
    words: str
    #: The statements that are needed for it.
    rules: frozenset[str]
    #: A program that runs when it is pasted.
    text: str
    #: The number of the program, which together with the seed makes it again.
    program: int
    count: int = 1

    def explains(self, backend: str, operator: str, kind: str, words: str, rules: Set[str]) -> bool:
        """Whether another failure is probably the same one, without shrinking it."""
        alike = self.backend == backend and self.kind == kind and self.words == words
        return alike and self.rules <= rules and (bool(self.rules or self.words) or self.operator == operator)

    def __str__(self) -> str:
        return (
            f"{self.backend}, {self.operator}: {self.kind} ({self.count} times; first in program {self.program})\n{self.text}"
        )


@dataclass
class Fuzzing:
    """What came of it so far."""

    seed: int
    #: The number of the first program, and how many have been tried.
    start: int = 0
    programs: int = 0
    comparisons: Counter[str] = field(default_factory=Counter)
    #: Trials at a point where the reference is not exact enough to judge.
    skipped: int = 0
    #: Calls that ended in an error that is documented, by backend.
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    #: How many operators a program is tried with, and in which part of the programs an engine that compiles takes part.
    operators: int = 4
    share: int = 3

    @property
    def good(self) -> bool:
        return not self.failures

    def note(self, failure: Failure) -> None:
        """Add a failure, or count it to one that is known."""
        for known in self.failures:
            if known.explains(failure.backend, failure.operator, failure.kind, failure.words, failure.rules):
                known.count += failure.count
                return
        self.failures.append(failure)
