"""Running the table: which backends, which scenarios, which checks; in this process or in several; shown as it goes."""

from __future__ import annotations

import ast
import importlib.util
import platform
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import adinterface
from adinterface import AutoBackend
from adinterface.core.contract import registry
from adinterface.tools.measured import label

from .checks import Check
from .outcome import Outcome, run_scenario
from .scenario import Scenario


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
        return Counter(outcome.status for outcome in self.outcomes if backend in (None, outcome.backend))


# Choosing ------------------------------------------------------------------------------------------------------------


def backend_from(text: str) -> AutoBackend:
    """The value that is written `AutoMine`, `AutoMine()` or `AutoMine(mode="forward")`; nothing else is evaluated.

    Raises ValueError for anything else.
    """
    for name in registry.names():
        try:
            registry.backend_class(name)
        except ImportError:
            continue
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
    if isinstance(node, ast.Name):
        cls = _known().get(node.id)
        if cls is None:
            raise ValueError(f"There is no backend {node.id!r}; there are {', '.join(sorted(_known()))}.")
        return cls()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        known = _known().get(node.func.id)
        if known is not None:
            options = {word.arg: _value(word.value) for word in node.keywords if word.arg is not None}
            return known(*[_value(arg) for arg in node.args], **options)
    return ast.literal_eval(node)


def matching(scenarios: Iterable[Scenario], patterns: Sequence[str]) -> list[Scenario]:
    """The scenarios whose name, family, operator or tag matches one of the patterns; all if there is none."""
    return [
        scenario
        for scenario in scenarios
        if not patterns or any(fnmatchcase(word, pattern) for pattern in patterns for word in _words(scenario))
    ]


def _words(scenario: Scenario) -> tuple[str, ...]:
    return scenario.name, scenario.family, scenario.operator.__name__, *scenario.tags


# Running -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Selection:
    """What is to be run; plain data, so that it travels to another process."""

    backends: tuple[AutoBackend, ...]
    scenarios: tuple[str, ...]
    checks: tuple[str, ...] = ()
    everything: bool = False
    #: The module whose `SCENARIOS` the names are of.
    catalogue: str = "adinterface_conformance.scenarios"

    def wanted(self, check: Check) -> bool:
        return not self.checks or check.name == "runs" or any(fnmatchcase(check.name, pattern) for pattern in self.checks)

    def pieces(self, size: int) -> list[Selection]:
        """Plans of one backend and a few scenarios each; the backends take turns, so that none is left to the end."""
        starts = range(0, len(self.scenarios), size)
        return [
            replace(self, backends=(backend,), scenarios=self.scenarios[start : start + size])
            for start in starts
            for backend in self.backends
        ]


def outcomes_of(selection: Selection) -> Iterator[tuple[str, list[Outcome]]]:
    """For each scenario on each backend its name and outcomes, one after the other in this process."""
    known = {scenario.name: scenario for scenario in importlib.import_module(selection.catalogue).SCENARIOS}
    for backend in selection.backends:
        for name in selection.scenarios:
            yield name, list(run_scenario(known[name], backend, everything=selection.everything, wanted=selection.wanted))


def _piece(selection: Selection, classes: tuple[str, ...]) -> list[tuple[str, list[Outcome]]]:
    for module in classes:  # where the backend values are defined
        importlib.import_module(module)
    return list(outcomes_of(selection))


def run(
    selection: Selection, *, jobs: int = 1, seen: Callable[[str, list[Outcome]], None] = lambda name, outcomes: None
) -> Run:
    """Run what is selected; `seen` is told of each scenario as it is done."""
    start = time.perf_counter()
    labels = tuple(label(backend) for backend in selection.backends)
    done = Run(labels, len(selection.scenarios), versions=_versions(selection.backends))
    if jobs == 1:
        for name, outcomes in outcomes_of(selection):
            done.outcomes.extend(outcomes)
            seen(name, outcomes)
    else:
        import multiprocessing

        modules = tuple({type(backend).__module__ for backend in selection.backends})
        with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
            pieces = [pool.submit(_piece, piece, modules) for piece in selection.pieces(16)]
            for piece in as_completed(pieces):
                for name, outcomes in piece.result():
                    done.outcomes.extend(outcomes)
                    seen(name, outcomes)
        order = {(backend, name): (i, j) for i, backend in enumerate(labels) for j, name in enumerate(selection.scenarios)}
        done.outcomes.sort(key=lambda outcome: order[outcome.backend, outcome.scenario])
    done.seconds = time.perf_counter() - start
    return done


def _versions(backends: Iterable[AutoBackend]) -> dict[str, str]:
    versions = {"adinterface": adinterface.__version__, "Python": platform.python_version(), "NumPy": np.__version__}
    for backend in backends:
        try:
            versions[backend.name] = version(backend.name)
        except PackageNotFoundError:
            continue
    return versions


# Showing -------------------------------------------------------------------------------------------------------------

_COLUMNS = {"passed": "green", "known": "yellow", "failed": "red", "unexpected": "magenta"}


def has_rich() -> bool:
    """Whether the package that draws live tables is installed; the extra `conformance` brings it."""
    return importlib.util.find_spec("rich") is not None


def _rich(module: str) -> Any:
    """A module of the package that draws the table."""
    return importlib.import_module(f"rich.{module}")


def show(selection: Selection, *, jobs: int = 1, console: Any = None) -> Run:
    """Run what is selected with a live table and a progress bar, then list what was not green; without rich as plain text."""
    if console is None and not has_rich():
        return _show_plainly(selection, jobs)
    console = console or _rich("console").Console()
    progress_module, live = _rich("progress"), _rich("live")
    labels = [label(backend) for backend in selection.backends]
    counts: dict[str, Counter[str]] = {name: Counter() for name in labels}
    progress = progress_module.Progress(
        progress_module.BarColumn(bar_width=40),
        progress_module.MofNCompleteColumn(),
        progress_module.TimeElapsedColumn(),
        progress_module.TextColumn("{task.description}"),
        console=console,
    )
    task = progress.add_task("", total=len(selection.backends) * len(selection.scenarios))

    def drawn() -> Any:
        return _rich("console").Group(_table(counts), progress)

    with live.Live(drawn(), console=console, refresh_per_second=8) as display:

        def seen(name: str, outcomes: list[Outcome]) -> None:
            for outcome in outcomes:
                counts[outcome.backend][outcome.status] += 1
            progress.update(task, advance=1, description=name)
            display.update(drawn())

        done = run(selection, jobs=jobs, seen=seen)
        progress.update(task, description="")
        display.update(drawn())
    text = _rich("text").Text
    for status, where, detail in _findings(done):
        console.print(text.assemble((f"{status} ", _COLUMNS[status]), where), soft_wrap=True)
        console.print(text(f"      {detail}"), soft_wrap=True)
    console.print(_total(done), highlight=False)
    return done


def _show_plainly(selection: Selection, jobs: int) -> Run:
    """Lines that nothing is drawn over: how far the run is, twenty times, then the table and what was not green."""
    total = len(selection.backends) * len(selection.scenarios)
    start, count = time.perf_counter(), 0

    def seen(name: str, outcomes: list[Outcome]) -> None:
        nonlocal count
        count += 1
        if count * 20 // total > (count - 1) * 20 // total:
            print(f"{count}/{total} in {time.perf_counter() - start:.0f} s", flush=True)

    done = run(selection, jobs=jobs, seen=seen)
    rows = [("backend", *_COLUMNS)]
    rows += [(backend, *_cells(done.counts(backend))) for backend in done.backends]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))]))
    for status, where, detail in _findings(done):
        print(f"{status} {where}\n      {detail}")
    print(_total(done))
    return done


def _cells(count: Counter[str]) -> list[str]:
    return [str(count[status]) if count[status] else "·" for status in _COLUMNS]


def _table(counts: dict[str, Counter[str]]) -> Any:
    table = _rich("table").Table(box=_rich("box").SIMPLE_HEAD, pad_edge=False)
    table.add_column("backend")
    for status, colour in _COLUMNS.items():
        table.add_column(status, justify="right", style=colour)
    for backend, count in counts.items():
        table.add_row(backend, *_cells(count))
    return table


def _findings(done: Run) -> Iterator[tuple[str, str, str]]:
    """What is not green, as status, place and detail: known failures by their reason, everything else in full."""
    known: dict[tuple[str, str, str], list[Outcome]] = {}
    for outcome in done.outcomes:
        if outcome.status == "known":
            known.setdefault((outcome.backend, outcome.reason, outcome.link), []).append(outcome)
    for (backend, reason, link), outcomes in known.items():
        names = sorted({outcome.scenario for outcome in outcomes})
        where = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if names[4:] else "")
        yield "known", f"{backend}: {reason}", f"{link}  ({where})"
    for outcome in done.outcomes:
        if not outcome.good:
            yield outcome.status, f"{outcome.backend}: {outcome.scenario}, {outcome.check}", outcome.message


def _total(done: Run) -> str:
    count = done.counts()
    bad = f"{count['failed']} failed, {count['unexpected']} passed unexpectedly"
    total = f"{len(done.outcomes)} checks of {done.scenarios} scenarios in {done.seconds:.0f} s"
    return f"{total}: {'everything as it should be' if done.good else bad}"
