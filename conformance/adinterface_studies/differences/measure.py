"""Jacobians of the problems by several methods: relative errors, evaluations, and whether estimated
errors hold.
"""

from __future__ import annotations

import importlib
import importlib.util
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import adinterface
from adinterface import AutoFiniteDifferences
from adinterface.tools.recording import recording

from . import exact
from .problems import Doubles, Model, Problem

Array = np.ndarray[Any, Any]
#: From a function of an array and a point to its derivative, and the relative error that the method
#: estimates, if it does.
Differentiate = Callable[[Callable[[Array], Any], Array], tuple[Array, float | None]]


@dataclass
class Row:
    """What one method did on all problems."""

    method: str
    #: Of each problem: the largest error relative to the largest number of the derivative.
    errors: list[float] = field(default_factory=list)
    #: Of each problem: for each number of the point, and the most.
    evaluations: list[float] = field(default_factory=list)
    #: Of each problem with an estimate: whether the error is at most ten times that.
    holds: list[bool] = field(default_factory=list)

    def quantile(self, part: float) -> float:
        """Of the errors, where what is not finite is infinite."""
        known = [error if np.isfinite(error) else np.inf for error in self.errors]
        return float(np.quantile(known, part, method="higher"))

    @property
    def not_finite(self) -> int:
        return sum(not np.isfinite(error) for error in self.errors)

    def worse_than(self, limit: float) -> int:
        return sum(not error <= limit for error in self.errors) - self.not_finite


def by(backend: AutoFiniteDifferences, operator: Callable[..., Any]) -> Differentiate:
    """A method of ours."""

    def differentiate(f: Callable[[Array], Any], x: Array) -> tuple[Array, float | None]:
        with recording() as record:
            found = operator(f, backend, x)
        estimates = [accuracy.relative for accuracy in record.accuracies]
        return (found[0] if isinstance(found, tuple) else found), max(estimates, default=None)

    return differentiate


def second_order() -> dict[str, Differentiate]:
    """Hessians of scalar functions, by ours."""

    def hessian(f: Callable[[Array], Any], backend: Any, x: Array) -> Any:
        return adinterface.hessian(lambda x: f(x)[0], backend, x)

    return {
        "adinterface, adaptive": by(AutoFiniteDifferences(), hessian),
        "adinterface, central": by(AutoFiniteDifferences(method="central"), hessian),
    }


def ours() -> dict[str, Differentiate]:
    return {
        "adinterface, adaptive": by(AutoFiniteDifferences(), adinterface.jacobian),
        "adinterface, complex": by(AutoFiniteDifferences(method="complex"), adinterface.jacobian),
        "adinterface, central": by(AutoFiniteDifferences(method="central"), adinterface.jacobian),
    }


def peers() -> dict[str, Differentiate]:
    """The methods of other packages, as far as these are installed."""
    found: dict[str, Differentiate] = {}
    if importlib.util.find_spec("scipy") is not None:
        numdiff = importlib.import_module("scipy.optimize._numdiff")
        found["SciPy, approx_derivative 3-point"] = lambda f, x: (
            np.atleast_2d(numdiff.approx_derivative(f, x, method="3-point")), None,
        )  # fmt: skip
        if importlib.util.find_spec("scipy.differentiate") is not None:
            found["SciPy, differentiate.jacobian"] = _scipy_differentiate(
                importlib.import_module("scipy.differentiate")
            )
    if importlib.util.find_spec("numdifftools") is not None:
        tools = importlib.import_module("numdifftools")
        found["numdifftools, Jacobian"] = lambda f, x: (
            np.atleast_2d(tools.Jacobian(f, method="central")(x)),
            None,
        )
    return found


def _scipy_differentiate(module: Any) -> Differentiate:
    def differentiate(f: Callable[[Array], Any], x: Array) -> tuple[Array, float | None]:
        def vectorized(points: Array) -> Array:
            flat = points.reshape(len(x), -1)
            values = np.array([f(flat[:, k]) for k in range(flat.shape[1])]).T
            return np.asarray(values.reshape(len(values), *points.shape[1:]))

        return np.atleast_2d(module.jacobian(vectorized, x).df), None

    return differentiate


def measured(
    name: str,
    differentiate: Differentiate,
    problems: list[tuple[Problem, Array]],
    noise: float = 0.0,
) -> Row:
    """One method on these problems with their exact derivatives. noise: relative, of f's values."""
    row = Row(name)
    for problem, wanted in problems:
        random = np.random.default_rng(0)
        evaluations = 0

        def f(x: Array, problem: Problem = problem, random: Any = random) -> Any:
            nonlocal evaluations
            evaluations += 1
            values = np.array(problem.f(list(x), Doubles))
            return values * (1 + noise * random.standard_normal(values.shape)) if noise else values

        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                found, estimate = differentiate(f, np.array(problem.x))
            except (ArithmeticError, ValueError):
                found, estimate = np.full(wanted.shape, np.nan), None
        apart = np.abs(np.asarray(found).reshape(wanted.shape) - wanted)
        error = float(apart.max() / (np.abs(wanted).max() or 1.0))
        row.errors.append(error)
        row.evaluations.append(evaluations / len(problem.x))
        if estimate is not None:
            allowed = 10 * estimate * np.abs(found).max() + 2.0**-50 * np.abs(wanted).max()
            row.holds.append(bool(apart.max() <= allowed))
    return row


def jacobians(problems: list[Problem]) -> list[tuple[Problem, Array]]:
    return [(problem, exact.jacobian(problem)) for problem in problems]


def hessians(problems: list[Problem], most: int = 6) -> Iterator[tuple[Problem, Array]]:
    """Of the objectives of the smaller problems, as problems with one output."""
    for problem in problems:
        if len(problem.x) <= most:
            yield Problem(problem.name, _objective(problem.f), problem.x), exact.hessian(problem)


def _objective(f: Model) -> Model:
    return lambda x, m: [exact.scalar(f(x, m))]
