"""The outcome of each check, as data for the runner, the reports and the tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from adinterface import AutoBackend
from adinterface.core.contract import KnownFailure
from adinterface.core.contract.registry import find
from adinterface.tools.measured import label

from .case import forget
from .checks import Check, checks_for
from .scenario import Scenario
from .state import pair_of

#: passed; failed; known: it failed as the backend says it does; unexpected: the backend says it
#: fails, and it passed.
Status = Literal["passed", "failed", "known", "unexpected"]


@dataclass(frozen=True)
class Outcome:
    """One check of one scenario on one backend."""

    backend: str
    scenario: str
    family: str
    operator: str
    check: str
    status: Status
    #: What was wrong, if something was.
    message: str = ""
    #: For a known failure: why, and where to read about it.
    reason: str = ""
    link: str = ""
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return self.status in ("passed", "known")

    @property
    def program(self) -> str:
        """Code that repeats the check, to be pasted, for a scenario of this package."""
        return (
            "from adinterface_conformance import CHECKS\n"
            "from adinterface_conformance.runner import backend_from\n"
            "from adinterface_conformance.scenarios import SCENARIOS\n\n"
            f"scenario = next(each for each in SCENARIOS if each.name == {self.scenario!r})\n"
            f"backend = backend_from({self.backend!r})\n"
            "print(scenario, scenario.f.__code__)\n"
            f"CHECKS[{self.check!r}].function(scenario, backend)\n"
        )

    def __str__(self) -> str:
        return (
            f"{self.backend} {self.scenario} {self.check}: {self.status}:"
            f" {self.message or self.reason}"
        )


def known_failures(backend: AutoBackend) -> tuple[KnownFailure, ...]:
    """What the engines of a backend are known not to do."""
    outer, inner = pair_of(backend)
    failures = find(inner).known_failures
    return failures if outer == inner else (*find(outer).known_failures, *failures)


def _expected(
    failures: tuple[KnownFailure, ...], scenario: Scenario, check: Check
) -> list[KnownFailure]:
    return [
        known
        for known in failures
        if fnmatchcase(scenario.name, known.scenario) and fnmatchcase(check.name, known.check)
    ]


def run_scenario(
    scenario: Scenario,
    backend: AutoBackend,
    *,
    everything: bool = False,
    wanted: Callable[[Check], bool] = lambda check: True,
) -> Iterator[Outcome]:
    """Every check of one scenario on one backend.

    If several checks match a known failure, one of them must fail. If none does, each is an
    unexpected pass.
    """
    forget()
    failures = known_failures(backend)
    results: list[tuple[Check, str | None, float, list[KnownFailure]]] = []
    for check in checks_for(scenario, backend, everything=everything):
        if wanted(check):
            start = time.perf_counter()
            message = _attempt(check, scenario, backend)
            seconds = time.perf_counter() - start
            results.append((check, message, seconds, _expected(failures, scenario, check)))
            if message is not None and check.name == "runs":
                break
    seen = {
        known for _, message, _, expected in results for known in expected if message is not None
    }
    for check, message, seconds, expected in results:
        stale = [known for known in expected if known not in seen]
        known = (expected if message is not None else stale)[:1]
        status: Status = "passed"
        if message is not None:
            status = "known" if known else "failed"
        elif known:
            status, message = "unexpected", "it passes, but the backend lists it as a known failure"
        reason, link = (known[0].reason, known[0].link) if known else ("", "")
        where = (
            label(backend),
            scenario.name,
            scenario.family,
            scenario.operator.__name__,
            check.name,
        )
        yield Outcome(*where, status, message or "", reason, link, seconds)


def _attempt(check: Check, scenario: Scenario, backend: AutoBackend) -> str | None:
    """The message of a failed check; None if it passed."""
    try:
        check.function(scenario, backend)
    except AssertionError as error:
        # Without what pytest appends where it rewrites assertions.
        return str(error).partition("\nassert ")[0] or "an assertion without a message"
    except Exception as error:  # whatever an engine raises is a failure of the check
        return f"{type(error).__name__}: {error}"
    return None
