"""What came of programs: failures and counts, which can be added up, written down and read again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field


@dataclass
class Failure:
    """One way to fail: the first program that did, cut down, and how often it was met."""

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
        """Whether another failure is this one once more, as far as one can tell without cutting it down."""
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
    #: The backends, as they are written.
    backends: list[str] = field(default_factory=list)
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

    def add(self, more: Fuzzing) -> None:
        """What came of the programs after these."""
        self.programs += more.programs
        self.comparisons += more.comparisons
        self.skipped += more.skipped
        self.refused += more.refused
        for failure in more.failures:
            self.note(failure)

    def written(self) -> str:
        """All of it, to go on from later."""
        return json.dumps({**vars(self), "failures": [{**vars(each), "rules": sorted(each.rules)} for each in self.failures]})


def read(text: str) -> Fuzzing:
    """What `written` wrote. Raises ValueError, KeyError or TypeError if it did not."""
    state = json.loads(text)
    for name in ("comparisons", "refused"):
        state[name] = Counter(state[name])
    state["failures"] = [Failure(**{**each, "rules": frozenset(each["rules"])}) for each in state["failures"]]
    return Fuzzing(**state)
