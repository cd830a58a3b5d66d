"""Runs the selected backends, scenarios and checks, in one or several processes, and reports."""

from __future__ import annotations

import ast
import importlib
import platform
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import adinterface
from adinterface import AutoBackend, BackendError
from adinterface.core.contract import registry
from adinterface.tools.measured import label

from .checks import CHECKS, Check
from .outcome import Outcome, run_scenario
from .processes import EndedError, results_of
from .progress import progress
from .scenario import Scenario
from .scenarios.namespace import FUNCTIONS
from .state import pair_of


@dataclass
class Run:
    """A run of the table, and what it was run on."""

    backends: tuple[str, ...]
    scenarios: int
    outcomes: list[Outcome] = field(default_factory=list)
    seconds: float = 0.0
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """Whether everything went as it should."""
        return all(outcome.good for outcome in self.outcomes)

    def counts(self, backend: str | None = None) -> Counter[str]:
        """How many outcomes of each status."""
        return Counter(
            outcome.status for outcome in self.outcomes if backend in (None, outcome.backend)
        )


# Choosing
# ------------------------------------------------------------------------------------------------


def backend_from(text: str) -> AutoBackend:
    """The value of `AutoMine`, `AutoMine()` or `AutoMine(mode="forward")`.

    No other code is evaluated.

    Raises ValueError for anything else.
    """
    for name in registry.names():
        try:
            registry.backend_class(name)
        except (ModuleNotFoundError, BackendError):
            continue  # the one that is looked for may be another
    try:
        backend = _value(ast.parse(text, mode="eval").body)
    except (SyntaxError, TypeError) as error:
        raise ValueError(f"{text!r} is no backend: {error}") from error
    if not isinstance(backend, AutoBackend):
        raise ValueError(f"{text!r} is no backend.")
    return backend


def _known() -> dict[str, type[AutoBackend]]:
    return {auto.__name__: auto for auto in reversed(registry.auto_classes())}


def _value(node: ast.expr) -> Any:
    named = node.func if isinstance(node, ast.Call) else node
    if not isinstance(named, ast.Name):
        try:
            return ast.literal_eval(node)
        except ValueError:
            raise TypeError(f"{ast.unparse(node)} is no literal") from None
    known = _known().get(named.id)
    if known is None:
        raise ValueError(
            f"There is no backend {named.id!r}; there are {', '.join(sorted(_known()))}."
        )
    args, words = (node.args, node.keywords) if isinstance(node, ast.Call) else ([], [])
    return known(
        *[_value(arg) for arg in args], **{str(word.arg): _value(word.value) for word in words}
    )


def matching(scenarios: Iterable[Scenario], patterns: Sequence[str]) -> list[Scenario]:
    """The scenarios whose name, family, operator or tag matches one of the patterns.

    All if there is none.
    """
    return [
        scenario
        for scenario in scenarios
        if not patterns
        or any(fnmatchcase(word, pattern) for pattern in patterns for word in _words(scenario))
    ]


def _words(scenario: Scenario) -> tuple[str, ...]:
    return scenario.name, scenario.family, scenario.operator.__name__, *scenario.tags


# Running
# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Selection:
    """What is to be run; plain data, so that it travels to another process."""

    backends: tuple[AutoBackend, ...]
    scenarios: tuple[str, ...]
    checks: tuple[str, ...] = ()
    everything: bool = False
    #: The module whose `SCENARIOS` the names are of; the others are names of functions of the
    #: standard.
    catalogue: str = "adinterface_conformance.scenarios"

    def names(self, backend: AutoBackend) -> tuple[str, ...]:
        """The scenarios of a backend, without NumPy functions where the engine gives f
        NumPy arrays.
        """
        checked = has_namespace(backend)
        return tuple([name for name in self.scenarios if checked or not is_function(name)])

    def wanted(self, check: Check) -> bool:
        return (
            not self.checks
            or check.name == "runs"
            or any(fnmatchcase(check.name, pattern) for pattern in self.checks)
        )

    def pieces(self) -> list[Selection]:
        """Selections of one backend and one scenario each.

        A process that gets neighbours finds more of them compiled.
        """
        return [
            replace(self, backends=(backend,), scenarios=(name,))
            for backend in self.backends
            for name in self.names(backend)
        ]


def is_function(name: str) -> bool:
    """Whether this is the name of a function of the Array API standard, not of a scenario of the
    catalogue.
    """
    return name.startswith("function:")


def has_namespace(backend: AutoBackend) -> bool:
    """Whether f gets arrays of the engine, with functions of the engine's own."""
    return registry.find(pair_of(backend)[1]).library is not None


def outcomes_of(selection: Selection) -> Iterator[tuple[str, list[Outcome]]]:
    """The name and outcomes of each scenario on each backend, in sequence in this process."""
    known: dict[str, list[Scenario]] = {}
    for scenario in (*importlib.import_module(selection.catalogue).SCENARIOS, *FUNCTIONS):
        known.setdefault(scenario.name, []).append(scenario)
    for backend in selection.backends:
        for name in selection.names(backend):
            outcomes: list[Outcome] = []
            for scenario in known[name]:
                # The functions are many: of them the expensive checks take a sample.
                everything = selection.everything and not is_function(name)
                outcomes += run_scenario(
                    scenario, backend, everything=everything, wanted=selection.wanted
                )
            failing = {outcome.reason for outcome in outcomes if outcome.status == "known"}
            # Of the scenarios of one name one must fail as the backend says; the others may pass.
            yield (
                name,
                [
                    (
                        replace(outcome, status="passed", message="", reason="", link="")
                        if outcome.status == "unexpected" and outcome.reason in failing
                        else outcome
                    )
                    for outcome in outcomes
                ],
            )


def _piece(selection: Selection) -> list[Outcome]:
    return [outcome for _, outcomes in outcomes_of(selection) for outcome in outcomes]


def _in_processes(
    selection: Selection, jobs: int, limit: float | None
) -> Iterator[tuple[str, list[Outcome]]]:
    """As `outcomes_of`. A process that ends is a failure of the scenario that it ran."""
    for piece, result in results_of(selection.pieces(), _piece, jobs, limit):
        (name,), (backend,) = piece.scenarios, piece.backends
        if isinstance(result, EndedError):
            family = name.partition("/")[0]
            result = [Outcome(label(backend), name, family, "", "runs", "failed", str(result))]
        elif isinstance(result, BaseException):
            raise result
        yield name, result


def run(
    selection: Selection,
    done: Run,
    *,
    jobs: int = 1,
    limit: float | None = None,
    seen: Callable[[str, list[Outcome]], None] = lambda name, outcomes: None,
) -> None:
    """Run the selection and add the outcomes to `done`; calls `seen` with each finished scenario.

    With several jobs, or with a limit, in seconds for each scenario, other processes run the
    scenarios.
    """
    start = time.perf_counter()
    here = jobs == 1 and limit is None
    for name, outcomes in outcomes_of(selection) if here else _in_processes(selection, jobs, limit):
        done.outcomes.extend(outcomes)
        seen(name, outcomes)
    backends = {backend: n for n, backend in enumerate(done.backends)}
    names = {name: n for n, name in enumerate(selection.scenarios)}
    done.outcomes.sort(
        key=lambda outcome: (backends[outcome.backend], names.get(outcome.scenario, len(names)))
    )
    done.seconds = time.perf_counter() - start


def begun(selection: Selection) -> Run:
    """A run without outcomes."""
    labels = tuple(label(backend) for backend in selection.backends)
    return Run(labels, len(selection.scenarios), versions=_versions(selection.backends))


def _versions(backends: Iterable[AutoBackend]) -> dict[str, str]:
    versions = {
        "adinterface": adinterface.__version__,
        "Python": platform.python_version(),
        "NumPy": np.__version__,
    }
    for backend in backends:
        try:
            versions[backend.name] = version(backend.name)
        except PackageNotFoundError:
            continue
    return versions


# Showing
# ------------------------------------------------------------------------------------------------

#: How many kinds of failures a report shows: one screen.
KINDS = 6
_COLUMNS = ("passed", "known", "failed", "unexpected")


def show(
    selection: Selection, done: Run | None = None, *, jobs: int = 1, limit: float | None = None
) -> Run:
    """Run the selection, and print the table and what is not green, by kind.

    done: an empty run by default.
    """
    done = done or begun(selection)
    total, count = sum(len(selection.names(backend)) for backend in selection.backends), 0
    with progress(total) as update:

        def seen(name: str, outcomes: list[Outcome]) -> None:
            nonlocal count
            count += 1
            bad = sum(not each.good for each in done.outcomes)
            update(count, f"{count} of {total} scenarios, {bad} failures")

        run(selection, done, jobs=jobs, limit=limit, seen=seen)
    rows: list[tuple[str, ...]] = [("backend", *_COLUMNS)]
    rows += [(backend, *_cells(done.counts(backend))) for backend in done.backends]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for name, *cells in rows:
        numbers = [cell.rjust(width) for cell, width in zip(cells, widths[1:])]
        print("  ".join([name.ljust(widths[0]), *numbers]))
    for status, where, detail in _findings(done):
        print(f"{status} {where}\n      {detail}")
    print(*_ending(selection, done), sep="\n")
    return done


def _cells(count: Counter[str]) -> list[str]:
    return [str(count[status]) if count[status] else "·" for status in _COLUMNS]


def _kinds(done: Run) -> list[list[Outcome]]:
    """What is not green, by kind: a known reason, or a check and its message without place and
    numbers.

    Kinds that come first in many scenarios are in front: what fails after them may follow from them.
    """
    kinds: dict[tuple[str, ...], list[Outcome]] = {}
    firsts: dict[tuple[str, str], Outcome] = {}
    for each in done.outcomes:
        message = each.message.partition(": ")[2] or each.message  # without the place, or the class
        words = re.sub(r"-?\d[\d.]*(e[-+]\d+)?", "", message)[:60]
        kind = (each.reason, each.link) if each.status == "known" else (each.check, words)
        if each.status != "passed":
            kinds.setdefault((each.backend, each.status, *kind), []).append(each)
            firsts.setdefault((each.backend, each.scenario), each)
    leading = {id(each) for each in firsts.values()}
    return sorted(
        kinds.values(),
        key=lambda found: (sum(id(each) in leading for each in found), len(found)),
        reverse=True,
    )


def _findings(done: Run) -> Iterator[tuple[str, str, str]]:
    """What is not green, as status, place and detail: the first kinds of it, known ones last."""
    for known in (False, True):
        found = [each for each in _kinds(done) if (each[0].status == "known") is known]
        for first, *others in found[:KINDS]:
            names = {each.scenario for each in others} - {first.scenario}
            scenarios = f"{first.scenario} and {len(names)} more" if names else first.scenario
            where, detail = f"{scenarios}, {first.check}", first.message[:400]
            if known:
                where, detail = first.reason, f"{first.link}  ({scenarios})"
            yield first.status, f"{first.backend}: {where}", detail
        if left := sum(map(len, found[KINDS:])):
            first = found[KINDS][0]
            yield first.status, f"in other ways: {left} checks", "--json FILE has all outcomes."


def _ending(selection: Selection, done: Run) -> Iterator[str]:
    """What was not checked and why, and the total."""
    for backend in selection.backends:
        dropped: dict[str, list[str]] = {}
        for check in filter(selection.wanted, CHECKS.values()):
            dropped.setdefault(check.unasked(backend), []).append(check.name)
        for reason, names in dropped.items():
            if reason:
                yield f"Not checked on {label(backend)}: {', '.join(names)}: {reason}."
    failures = [
        each for each, *_ in _kinds(done) if not each.good and not is_function(each.scenario)
    ]
    if failures and selection.catalogue == Selection.catalogue:
        yield f"The first failure again:\n\n{failures[0].program}"
    if not any(map(is_function, selection.scenarios)):
        for backend in filter(has_namespace, selection.backends):
            yield (
                f"The array functions of {label(backend)} were not checked one by one: --all does."
            )
    yield _total(done)


def _total(done: Run) -> str:
    count = done.counts()
    bad = f"{count['failed']} failed, {count['unexpected']} passed unexpectedly"
    total = f"{len(done.outcomes)} checks of {done.scenarios} scenarios in {done.seconds:.0f} s"
    return f"{total}: {'everything as it should be' if done.good else bad}"
