"""Ten classical problems from nested starts, solved by SciPy with each backend's derivatives and with its own differences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adinterface import AutoBackend, Constant, array_namespace, flat, least_squares, minimize

from .report import short

HEAD = f"{'problem':12} {'n':>4} {'derivatives':18} {'minimum':>12} {'f calls':>8} {'first':>10} {'later':>10}"


@dataclass(frozen=True)
class Classic:
    """A problem of least squares or of minimization, of a nested model, in neutral style.

    Sources: Moré, Garbow and Hillstrom, Testing unconstrained optimization software, 1981 (all but `logistic` and `distances`).
    """

    name: str
    f: Callable[..., Any]
    start: Any
    constants: tuple[Any, ...] = ()
    residuals: bool = False


def _rosenbrock(m: Any) -> Any:
    x = m["x"]
    return 100 * (x[1:] - x[:-1] ** 2) @ (x[1:] - x[:-1] ** 2) + (1 - x[:-1]) @ (1 - x[:-1])


def _powell(m: Any) -> Any:
    (a, b), (c, d) = m["left"], m["right"]
    return (a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4


def _wood(m: Any) -> Any:
    (a, b), (c, d) = m["left"], m["right"]
    value = 100 * (b - a**2) ** 2 + (1 - a) ** 2 + 90 * (d - c**2) ** 2 + (1 - c) ** 2
    return value + 10 * (b + d - 2) ** 2 + 0.1 * (b - d) ** 2


def _beale(m: Any) -> Any:
    x, y = m["x"], m["y"]
    return (1.5 - x * (1 - y)) ** 2 + (2.25 - x * (1 - y**2)) ** 2 + (2.625 - x * (1 - y**3)) ** 2


def _trigonometric(m: Any) -> Any:
    x = m["x"]
    xp, n = array_namespace(x), x.shape[0]
    i = xp.cumulative_sum(xp.ones_like(x))
    residuals = n - xp.sum(xp.cos(x)) + i * (1 - xp.cos(x)) - xp.sin(x)
    return xp.sum(residuals * residuals)


def _variably(m: Any) -> Any:
    x = m["x"]
    xp = array_namespace(x)
    weighted = xp.sum(xp.cumulative_sum(xp.ones_like(x)) * (x - 1))
    return xp.sum((x - 1) ** 2) + weighted**2 + weighted**4


def _logistic(m: Any, points: Any, labels: Any) -> Any:
    scores = points @ m["w"] + m["b"]
    xp = array_namespace(scores)
    return xp.mean(xp.log(1 + xp.exp(-labels * scores))) + 0.01 * xp.sum(m["w"] * m["w"])


def _osborne(m: Any, t: Any, y: Any) -> Any:
    xp = array_namespace(y)
    first, second = m["terms"]
    return y - (m["offset"] + first["height"] * xp.exp(-t * first["rate"]) + second["height"] * xp.exp(-t * second["rate"]))


def _bard(m: Any, u: Any, y: Any) -> Any:
    xp = array_namespace(y)
    v = 16 - u
    return y - (m["a"] + u / (v * m["b"] + xp.minimum(u, v) * m["c"]))


def _distances(m: Any, first: Any, second: Any, measured: Any) -> Any:
    xp = array_namespace(measured)
    apart = first @ m["places"] - second @ m["places"]
    return {"distances": xp.sqrt(xp.sum(apart * apart, axis=1)) - measured, "anchor": m["places"][0, :]}


_BARD = [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39]


def problems() -> Iterator[Classic]:
    """The ten."""
    yield Classic("rosenbrock", _rosenbrock, {"x": np.tile([-1.2, 1.0], 10)})
    yield Classic("powell", _powell, {"left": (3.0, -1.0), "right": (0.0, 1.0)})
    yield Classic("wood", _wood, {"left": (-3.0, -1.0), "right": (-3.0, -1.0)})
    yield Classic("beale", _beale, {"x": 1.0, "y": 1.0})
    yield Classic("trigonometric", _trigonometric, {"x": np.full(20, 1 / 20)})
    yield Classic("variably", _variably, {"x": 1 - np.arange(1, 21) / 20})
    draw = np.random.default_rng(0)
    points = draw.normal(size=(400, 30))
    labels = np.sign(points @ draw.normal(size=30) + draw.normal(size=400))
    yield Classic("logistic", _logistic, {"w": np.zeros(30), "b": 0.0}, (points, labels))
    t = 10.0 * np.arange(33)
    y = 0.3754 + 1.9358 * np.exp(-0.01287 * t) - 1.4647 * np.exp(-0.02212 * t)
    terms = [{"height": 1.5, "rate": 0.01}, {"height": -1.0, "rate": 0.02}]
    yield Classic("osborne", _osborne, {"offset": 0.5, "terms": terms}, (t, y + 1e-3 * draw.normal(size=33)), residuals=True)
    yield Classic("bard", _bard, {"a": 1.0, "b": 1.0, "c": 1.0}, (np.arange(1.0, 16.0), np.array(_BARD)), residuals=True)
    places = draw.normal(size=(16, 2))
    i, j = np.triu_indices(16, 1)
    unit = np.eye(16)
    measured = np.sqrt(np.sum((places[i] - places[j]) ** 2, axis=1))
    start = {"places": places + 0.2 * draw.normal(size=(16, 2))}
    yield Classic("distances", _distances, start, (unit[i], unit[j], measured), residuals=True)


@dataclass(frozen=True)
class Solved:
    """One solution: the minimum (half the sum of squares for least squares), how often f was called, and seconds: of the
    first time, with whatever is prepared and compiled, and of a later one."""

    minimum: float
    calls: int
    first: float
    later: float


def solve(problem: Classic, auto: AutoBackend | None) -> Solved:
    """By SciPy with a backend's derivatives, or with its own differences (None)."""
    calls = 0

    def counted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        return problem.f(*args)

    tight = {"xtol": 1e-12, "ftol": 1e-12, "gtol": 1e-12} if problem.residuals else {}
    begun = time.perf_counter()
    if auto is None:
        run = _by_scipy(counted, problem, tight)
    elif problem.residuals:
        squares = flat(counted, auto, problem.start, *map(Constant, problem.constants))
        run = lambda: least_squares(squares, **tight)
    else:
        scalar = flat(counted, auto, problem.start, *map(Constant, problem.constants))
        run = lambda: minimize(scalar, method="BFGS")
    result = run()
    first, calls = time.perf_counter() - begun, 0
    later: list[float] = []
    for _ in range(3):
        begun, calls = time.perf_counter(), 0
        run()
        later.append(time.perf_counter() - begun)
    # Compiled code does not call f, but computes it as often as SciPy asks.
    asked = result.nfev + (result.njev if problem.residuals else 0)
    return Solved(float(result.cost if problem.residuals else result.fun), calls or asked, first, min(later))


def _by_scipy(f: Callable[..., Any], problem: Classic, tight: dict[str, float]) -> Callable[[], Any]:
    """What a user writes without us: the vector taken apart in f, no derivative given."""
    import scipy.optimize

    from adinterface import AutoFiniteDifferences

    nested = flat(f, AutoFiniteDifferences(), problem.start, *map(Constant, problem.constants))
    if not problem.residuals:
        return lambda: scipy.optimize.minimize(lambda x: f(nested.unravel(x), *problem.constants), nested.x0, method="BFGS")

    def residuals(x: Any) -> Any:
        value = f(nested.unravel(x), *problem.constants)
        return np.concatenate([np.ravel(part) for part in value.values()]) if isinstance(value, dict) else value

    return lambda: scipy.optimize.least_squares(residuals, nested.x0, **tight)


def table(backends: list[AutoBackend]) -> Iterator[str]:
    """A line for each problem and source of derivatives."""
    yield HEAD
    for problem in problems():
        size = flat(problem.f, backends[0], problem.start, *map(Constant, problem.constants)).x0.size
        for auto in (None, *backends):
            solved = solve(problem, auto)
            name = "SciPy's differences" if auto is None else short(repr(auto))
            yield (
                f"{problem.name:13} {size:>3} {name:19} {solved.minimum:11.4e} {solved.calls:8} "
                f"{1e3 * solved.first:7.1f} ms {1e3 * solved.later:7.1f} ms"
            )
