"""`python -m adinterface_studies differences`: how exact finite differences are, and what they cost.

On the problems of J. More, B. Garbow, K. Hillstrom, Testing unconstrained optimization software,
ACM Trans. Math. Software 7 (1981), p. 17: at the standard start and at 10 times it.
"""

from __future__ import annotations

import argparse
import math
import warnings
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import mpmath
import numpy as np

from adinterface import AutoFiniteDifferences, hessian, jacobian
from adinterface.tools.recording import recording

#: From numbers and the mathematics for them, mpmath's or NumPy's, to numbers.
Model = Callable[[Sequence[Any], Any], list[Any]]
Array = np.ndarray[Any, Any]


def helical_valley(x: Sequence[Any], m: Any) -> list[Any]:
    theta = m.atan(x[1] / x[0]) / (2 * m.pi) + (0.5 if x[0].real < 0 else 0)
    return [10 * (x[2] - 10 * theta), 10 * (m.sqrt(x[0] ** 2 + x[1] ** 2) - 1), x[2]]


_BARD = (0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39)


def box(x: Sequence[Any], m: Any) -> list[Any]:
    def t(i: int) -> Any:
        return -i * m.one / 10

    return [
        m.exp(t(i) * x[0]) - m.exp(t(i) * x[1]) - x[2] * (m.exp(t(i)) - m.exp(10 * t(i)))
        for i in range(1, 11)
    ]


def powell_singular(x: Sequence[Any], m: Any) -> list[Any]:
    return [
        x[0] + 10 * x[1],
        m.sqrt(5) * (x[2] - x[3]),
        (x[1] - 2 * x[2]) ** 2,
        m.sqrt(10) * (x[0] - x[3]) ** 2,
    ]


def wood(x: Sequence[Any], m: Any) -> list[Any]:
    return [
        10 * (x[1] - x[0] ** 2), 1 - x[0], m.sqrt(90) * (x[3] - x[2] ** 2), 1 - x[2],
        m.sqrt(10) * (x[1] + x[3] - 2), (x[1] - x[3]) / m.sqrt(10),
    ]  # fmt: skip


_KOWALIK = (4.0, 2.0, 1.0, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625)


def kowalik_osborne(x: Sequence[Any], m: Any) -> list[Any]:
    return [x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3]) for u in _KOWALIK]


def brown_dennis(x: Sequence[Any], m: Any) -> list[Any]:
    ts = [i * m.one / 5 for i in range(1, 21)]
    return [
        (x[0] + t * x[1] - m.exp(t)) ** 2 + (x[2] + x[3] * m.sin(t) - m.cos(t)) ** 2 for t in ts
    ]


def osborne_2(x: Sequence[Any], m: Any) -> list[Any]:
    ts = [i * m.one / 10 for i in range(65)]
    bells = [(x[1], x[5], x[8]), (x[2], x[6], x[9]), (x[3], x[7], x[10])]
    return [
        x[0] * m.exp(-t * x[4]) + sum(a * m.exp(-((t - c) ** 2) * b) for a, b, c in bells)
        for t in ts
    ]


def biggs_exp6(x: Sequence[Any], m: Any) -> list[Any]:
    ts = [i * m.one / 10 for i in range(1, 14)]
    return [x[2] * m.exp(-t * x[0]) - x[3] * m.exp(-t * x[1]) + x[5] * m.exp(-t * x[4]) for t in ts]


def watson(x: Sequence[Any], m: Any) -> list[Any]:
    found = []
    for i in range(1, 30):
        t = i * m.one / 29
        slope = sum(j * x[j] * t ** (j - 1) for j in range(1, len(x)))
        found.append(slope - sum(x[j] * t**j for j in range(len(x))) ** 2 - 1)
    return [*found, x[0], x[1] - x[0] ** 2 - 1]


def penalty_2(x: Sequence[Any], m: Any) -> list[Any]:
    def grown(v: Any) -> Any:
        return m.exp(v / 10)

    rows = [x[0] - 0.2]
    rows += [m.sqrt(1e-5) * (grown(x[i]) + grown(x[i - 1])) for i in range(1, len(x))]
    return [*rows, sum((len(x) - j) * x[j] ** 2 for j in range(len(x))) - 1]


def variably_dimensioned(x: Sequence[Any], m: Any) -> list[Any]:
    moment = sum((j + 1) * (v - 1) for j, v in enumerate(x))
    return [*[v - 1 for v in x], moment, moment**2]


def trigonometric(x: Sequence[Any], m: Any) -> list[Any]:
    cosines = sum(m.cos(v) for v in x)
    return [len(x) - cosines + (i + 1) * (1 - m.cos(v)) - m.sin(v) for i, v in enumerate(x)]


def brown_almost_linear(x: Sequence[Any], m: Any) -> list[Any]:
    product = x[0]
    for v in x[1:]:
        product = product * v
    return [*[v + sum(x) - (len(x) + 1) for v in x[:-1]], product - 1]


def discrete_boundary_value(x: Sequence[Any], m: Any) -> list[Any]:
    h = m.one / (len(x) + 1)
    ends = [0, *x, 0]
    return [
        2 * ends[i] - ends[i - 1] - ends[i + 1] + h**2 * (ends[i] + i * h + 1) ** 3 / 2
        for i in range(1, len(x) + 1)
    ]


def broyden_tridiagonal(x: Sequence[Any], m: Any) -> list[Any]:
    ends = [0, *x, 0]
    return [
        (3 - 2 * ends[i]) * ends[i] - ends[i - 1] - 2 * ends[i + 1] + 1
        for i in range(1, len(x) + 1)
    ]


def chebyquad(x: Sequence[Any], m: Any) -> list[Any]:
    rows = []
    before: list[Any] = [1] * len(x)
    now: list[Any] = [2 * v - 1 for v in x]
    for i in range(1, len(x) + 1):
        rows.append(sum(now) / len(x) + (m.one / (i * i - 1) if i % 2 == 0 else 0))
        before, now = now, [2 * (2 * v - 1) * b - a for v, a, b in zip(x, before, now)]
    return rows


_OSBORNE_2 = (1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5)
PROBLEMS: dict[str, tuple[Model, tuple[float, ...]]] = {
    "rosenbrock": (lambda x, m: [10 * (x[1] - x[0] ** 2), 1 - x[0]], (-1.2, 1.0)),
    "freudenstein_roth": (
        lambda x, m: [-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1], -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]],
        (0.5, -2.0),
    ),
    "powell_badly_scaled": (lambda x, m: [1e4 * x[0] * x[1] - 1, m.exp(-x[0]) + m.exp(-x[1]) - 1.0001], (0.0, 1.0)),
    "brown_badly_scaled": (lambda x, m: [x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2], (1.0, 1.0)),
    "beale": (lambda x, m: [y - x[0] * (1 - x[1] ** k) for k, y in ((1, 1.5), (2, 2.25), (3, 2.625))], (1.0, 1.0)),
    "jennrich_sampson": (lambda x, m: [2 + 2 * i - (m.exp(i * x[0]) + m.exp(i * x[1])) for i in range(1, 11)], (0.3, 0.4)),
    "helical_valley": (helical_valley, (-1.0, 0.0, 0.0)),
    "bard": (
        lambda x, m: [y - (x[0] + u / ((16 - u) * x[1] + min(u, 16 - u) * x[2])) for u, y in enumerate(_BARD, 1)],
        (1.0, 1.0, 1.0),
    ),
    "gaussian": (lambda x, m: [x[0] * m.exp(-x[1] * ((8 - i) / 2.0 - x[2]) ** 2 / 2) for i in range(1, 16)], (0.4, 1.0, 0.0)),
    "meyer": (lambda x, m: [x[0] * m.exp(x[1] / (45 + 5 * i + x[2])) for i in range(1, 17)], (0.02, 4000.0, 250.0)),
    "box": (box, (0.0, 10.0, 20.0)),
    "powell_singular": (powell_singular, (3.0, -1.0, 0.0, 1.0)),
    "wood": (wood, (-3.0, -1.0, -3.0, -1.0)),
    "kowalik_osborne": (kowalik_osborne, (0.25, 0.39, 0.415, 0.39)),
    "brown_dennis": (brown_dennis, (25.0, 5.0, -5.0, -1.0)),
    "osborne_1": (
        lambda x, m: [x[0] + x[1] * m.exp(-10 * i * x[3]) + x[2] * m.exp(-10 * i * x[4]) for i in range(33)],
        (0.5, 1.5, -1.0, 0.01, 0.02),
    ),
    "osborne_2": (osborne_2, _OSBORNE_2),
    "biggs_exp6": (biggs_exp6, (1.0, 2.0, 1.0, 1.0, 1.0, 1.0)),
    "watson": (watson, (0.0,) * 6),
    "penalty_2": (penalty_2, (0.5,) * 4),
    "variably_dimensioned": (variably_dimensioned, tuple([1 - j / 6 for j in range(1, 7)])),
    "trigonometric": (trigonometric, (1 / 5,) * 5),
    "brown_almost_linear": (brown_almost_linear, (0.5,) * 5),
    "discrete_boundary_value": (discrete_boundary_value, tuple([t * (t - 1) for t in (1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6)])),
    "broyden_tridiagonal": (broyden_tridiagonal, (-1.0,) * 5),
    "chebyquad": (chebyquad, tuple([j / 6 for j in range(1, 6)])),
}  # fmt: skip


# What is measured
# ------------------------------------------------------------------------------------------------


class Problem(NamedTuple):
    """A function at a point."""

    name: str
    f: Model
    x: tuple[float, ...]

    def objective(self) -> Problem:
        """The sum of squares of the outputs."""
        return self._replace(f=lambda x, m: [sum(v * v for v in self.f(x, m))])


class Row(NamedTuple):
    """What one method did on one problem: the largest error relative to the largest number of the
    derivative, evaluations for each number, and whether the estimate holds, to ten times.
    """

    error: float
    evaluations: float
    holds: bool | None


def problems() -> list[Problem]:
    """All of them."""
    found = [Problem(name, f, x) for name, (f, x) in PROBLEMS.items()]
    far = [Problem(f"{each.name} x 10", each.f, tuple([10 * v for v in each.x])) for each in found]
    return [*found, *[each for each in far if any(each.x)]]


def exact(problem: Problem, order: int) -> Array:
    """The Jacobian (outputs, n), or the Hessian (n, n) of one output, to thirty digits: central
    differences of mpmath's numbers.
    """

    def slopes(f: Callable[[list[Any]], list[Any]], x: list[Any], step: Any) -> list[list[Any]]:
        found = []
        for i, v in enumerate(x):
            h = step * (abs(v) or 1)
            ahead, behind = (f([*x[:i], v + move, *x[i + 1 :]]) for move in (h, -h))
            found.append([(a - b) / (2 * h) for a, b in zip(ahead, behind)])
        return found

    with mpmath.workdps(120):
        x, step = [mpmath.mpf(v) for v in problem.x], mpmath.mpf(10) ** -24
        of = lambda x: problem.f(x, mpmath.mp)
        if order == 1:
            found = slopes(of, x, step)
        else:
            found = slopes(lambda x: [row[0] for row in slopes(of, x, step)], x, step)
        return np.array([[float(v) for v in row] for row in found]).T


#: The mathematics of double precision, which takes complex numbers too.
DOUBLES = SimpleNamespace(
    one=1.0, pi=math.pi, exp=np.exp, sqrt=np.sqrt, sin=np.sin, cos=np.cos, atan=np.arctan
)

METHODS = {
    "adaptive": AutoFiniteDifferences(),
    "complex": AutoFiniteDifferences(method="complex"),
    "central": AutoFiniteDifferences(method="central"),
}


def measured(backend: AutoFiniteDifferences, problem: Problem, order: int) -> Row:
    """One method on one problem."""
    count = 0

    def f(x: Array) -> Any:
        nonlocal count
        count += 1
        values = problem.f(list(x), DOUBLES)
        return np.array(values) if order == 1 else values[0]

    wanted = exact(problem, order)
    with warnings.catch_warnings(), np.errstate(all="ignore"), recording() as record:
        warnings.simplefilter("ignore")
        point = np.array(problem.x)
        found = jacobian(f, backend, point)[0] if order == 1 else hessian(f, backend, point)
    apart, largest = np.abs(found - wanted).max(), np.abs(wanted).max() or 1.0
    estimates = [accuracy.relative for accuracy in record.accuracies]
    allowed = 10 * max(estimates, default=0.0) * np.abs(found).max() + 2.0**-50 * largest
    holds = bool(apart <= allowed) if estimates else None
    return Row(float(apart / largest), count / len(problem.x), holds)


def summary(title: str, rows: Sequence[Row]) -> str:
    """A line of the table."""
    errors = np.array([row.error if np.isfinite(row.error) else np.inf for row in rows])
    middle, most = np.quantile(errors, [0.5, 0.9], method="higher")
    finite = errors[np.isfinite(errors)]
    evaluations, holds = [row.evaluations for row in rows], [row.holds for row in rows]
    known = [each for each in holds if each is not None]
    cells = [
        title, f"{middle:.1e}", f"{most:.1e}", f"{np.sum(finite > 1e-6)}",
        f"{len(errors) - len(finite)}", f"{np.mean(evaluations):.1f}", f"{max(evaluations):.1f}",
        f"{np.mean(known):.1%}" if known else "",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main(argv: list[str]) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m adinterface_studies differences", description=__doc__
    )
    parser.add_argument("--problem", action="append", help="by its name; all by default")
    names = parser.parse_args(argv).problem
    chosen = [each for each in problems() if not names or each.name in names]
    print("| method | median | 90 % | worse than 1e-6 | not finite | evaluations | most | holds |")
    print("| --- " * 8 + "|")
    for name, backend in METHODS.items():
        print(summary(name, [measured(backend, each, 1) for each in chosen]), flush=True)
    objectives = [each.objective() for each in chosen if len(each.x) <= 6]
    for name in ("adaptive", "central"):
        rows = [measured(METHODS[name], each, 2) for each in objectives]
        print(summary(f"Hessian, {name}", rows), flush=True)
    return 0
