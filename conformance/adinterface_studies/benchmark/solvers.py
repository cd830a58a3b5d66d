"""Classical problems from nested starts, solved by SciPy with each backend's derivatives and with its own differences."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
from adinterface_conformance.benchmark.report import short

from adinterface import AutoBackend, AutoFiniteDifferences, Constant, array_namespace
from adinterface.fit import flat, minimize

HEAD = f"{'problem':13} {'n':>4} {'derivatives':19} {'minimum':>11} {'f calls':>8} {'first':>10} {'later':>10}"
#: Numbers in each of the ten problems, which are defined for any multiple of four.
SIZE = 100
#: Of `variably`, at most.
FEW = 40
#: At which the engines are looked at for the number from which on they are faster.
SIZES = (4, 8, 16, 32, 64, 128)


@dataclass(frozen=True)
class Classic:
    """A problem of minimization, of a nested model, in neutral style."""

    name: str
    f: Callable[..., Any]
    start: Any
    #: The model around a vector, as one writes it who hands f to SciPy without this library.
    unpack: Callable[[Any], Any]
    constants: tuple[Any, ...] = ()


def _rosenbrock(m: Any) -> Any:
    far, near = m["even"] - m["odd"] ** 2, 1 - m["odd"]
    return 100 * (far @ far) + near @ near


def _powell(m: Any) -> Any:
    (a, b), (c, d) = m["left"], m["right"]
    return sum(r @ r for r in (a + 10 * b, 5**0.5 * (c - d), (b - 2 * c) ** 2, 10**0.5 * (a - d) ** 2))


def _penalty(m: Any) -> Any:
    x = m["x"]
    return 1e-5 * ((x - 1) @ (x - 1)) + (x @ x - 0.25) ** 2


def _variably(m: Any, i: Any) -> Any:
    rest = m["x"] - 1
    weighted = i @ rest
    return rest @ rest + weighted**2 + weighted**4


def _trigonometric(m: Any, i: Any) -> Any:
    x = m["x"]
    xp, n = array_namespace(x), x.shape[0]
    residuals = n - xp.sum(xp.cos(x)) + i * (1 - xp.cos(x)) - xp.sin(x)
    return residuals @ residuals


def _integral(m: Any, t: Any, kernel: Any) -> Any:
    x = m["x"]
    residuals = x + kernel @ (x + t + 1) ** 3
    return residuals @ residuals


def _tridiagonal(m: Any) -> Any:
    x = m["x"]
    own = (3 - 2 * x) * x + 1
    inner = own[1:-1] - x[:-2] - 2 * x[2:]
    return (own[0] - 2 * x[1]) ** 2 + inner @ inner + (own[-1] - x[-2]) ** 2


def _banded(m: Any, band: Any) -> Any:
    x = m["x"]
    residuals = x * (2 + 5 * x * x) + 1 - band @ (x * (1 + x))
    return residuals @ residuals


def _wood(m: Any) -> Any:
    (a, b), (c, d) = m["left"], m["right"]
    parts = 100**0.5 * (b - a**2), 1 - a, 90**0.5 * (d - c**2), 1 - c, 10**0.5 * (b + d - 2), 0.1**0.5 * (b - d)
    return sum(r @ r for r in parts)


def _toint(m: Any) -> Any:
    x = m["x"]
    pairs = x[:-1] ** 2 + x[1:] ** 2
    return pairs @ pairs + array_namespace(x).sum(3 - 4 * x[:-1])


def _one(vector: Any) -> Any:
    return {"x": vector}


def problems(n: int = SIZE) -> Iterator[Classic]:
    """Ten of n numbers, a multiple of four.

    Moré, Garbow and Hillstrom, Testing unconstrained optimization software, 1981: their problems 21, 22, 23, 25, 26, 29, 30 and
    31 as sums of squares, and 14 side by side; Toint, Test problems for partially separable optimization, 1983, problem 31.
    """
    i, half, quarter = np.arange(1.0, n + 1), n // 2, n // 4

    def in_four(name: str, f: Callable[..., Any], *start: float) -> Classic:
        a, b, c, d = (np.full(quarter, value) for value in start)
        return Classic(
            name, f, {"left": (a, b), "right": (c, d)}, lambda v: dict(zip(("left", "right"), v.reshape(2, 2, quarter)))
        )

    yield Classic(
        "rosenbrock", _rosenbrock, {"odd": np.full(half, -1.2), "even": np.ones(half)},
        lambda v: {"odd": v[:half], "even": v[half:]},
    )  # fmt: skip
    yield in_four("powell", _powell, 3.0, -1.0, 0.0, 1.0)
    yield in_four("wood", _wood, -3.0, -1.0, -3.0, -1.0)
    yield Classic("penalty", _penalty, {"x": i}, _one)
    few = i[:FEW]  # where f is 1e14 at the start, SciPy's own differences see nothing
    yield Classic("variably", _variably, {"x": 1 - few / len(few)}, _one, (few,))
    yield Classic("trigonometric", _trigonometric, {"x": np.full(n, 1 / n)}, _one, (i,))
    t = i / (n + 1)
    kernel = np.minimum.outer(t, t) * (1 - np.maximum.outer(t, t)) / (2 * (n + 1))
    yield Classic("integral", _integral, {"x": t * (t - 1)}, _one, (t, kernel))
    yield Classic("tridiagonal", _tridiagonal, {"x": np.full(n, -1.0)}, _one)
    band = (np.tri(n, k=1) - np.tri(n, k=-6)) - np.eye(n)
    yield Classic("banded", _banded, {"x": np.full(n, -1.0)}, _one, (band,))
    yield Classic("toint", _toint, {"x": np.full(n, 2.0)}, _one)


# Their solutions ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Solved:
    """One solution: the minimum, how often f was called, and seconds: of the first time, with whatever is prepared and
    compiled, and of the processor for a later one."""

    minimum: float
    calls: int
    first: float
    later: float


def solve(problem: Classic, auto: AutoBackend | None, repeats: int = 3) -> Solved:
    """By SciPy with a backend's derivatives, or with its own differences (None)."""
    calls = 0

    def counted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        return problem.f(*args)

    run: Callable[[], Any]
    begun = time.perf_counter()
    if auto is None:  # what a user writes without us: the vector taken apart in f, no derivative given
        start, unpack = _vector(problem), problem.unpack
        run = lambda: scipy.optimize.minimize(lambda x: counted(unpack(x), *problem.constants), start, method="BFGS")
    else:
        scalar = flat(counted, auto, problem.start, *map(Constant, problem.constants))
        run = lambda: minimize(scalar, method="BFGS")
    result = run()
    first, calls = time.perf_counter() - begun, 0
    later: list[float] = []
    while len(later) < repeats and sum(later) < 4.0:
        begun, calls = time.process_time(), 0
        run()
        later.append(time.process_time() - begun)
    # Compiled code does not call f, but computes it as often as SciPy asks.
    return Solved(float(result.fun), calls or result.nfev, first, min(later))


def size_of(problem: Classic) -> int:
    return int(_vector(problem).size)


def _vector(problem: Classic) -> Any:
    return flat(problem.f, AutoFiniteDifferences(), problem.start, *map(Constant, problem.constants)).x0


def _name(auto: AutoBackend | None) -> str:
    return "SciPy's differences" if auto is None else short(repr(auto))


def table(backends: list[AutoBackend]) -> Iterator[str]:
    """A line for each problem and source of derivatives; then how the times of two of them grow."""
    yield HEAD
    for problem in problems():
        for auto in (None, *backends):
            solved = solve(problem, auto)
            yield (
                f"{problem.name:13} {size_of(problem):>4} {_name(auto):19} {solved.minimum:11.4e} {solved.calls:8} "
                f"{1e3 * solved.first:7.1f} ms {1e3 * solved.later:7.1f} ms"
            )
    yield f"\n{'problem':13} {'n':>4}  later, by derivatives"
    for n in SIZES:
        for problem in problems(n):
            if problem.name in ("rosenbrock", "trigonometric"):
                times = (f"{_name(auto)} {1e3 * solve(problem, auto, 5).later:.1f} ms" for auto in (None, *backends))
                yield f"{problem.name:13} {n:>4}  {', '.join(times)}"
