"""The time of a gradient under `numpy_function(deep=True)`, as a multiple of the time of the plain function."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.stats

from adinterface import AutoAutograd, AutoBackend, AutoFiniteDifferences, AutoJax, AutoTorch, gradient, numpy_function, prepare

from .timing import fastest


def loop(a: float, b: float, c: float, d: float) -> float:
    """50 steps of Lotka and Volterra, with Python's numbers."""
    x, y = 1.0, 0.5
    for _ in range(50):
        x, y = x + 0.01 * (a * x - b * x * y), y + 0.01 * (c * x * y - d * y)
    return math.log(x) + y


def system(rates: Any) -> Any:
    """Ten steps of the same with NumPy's arrays; XLA compiles longer for each further one."""
    y = np.array([1.0, 0.5])
    for _ in range(10):
        y = y + 0.01 * y * (rates[:2] - rates[2:] * y[::-1])
    return np.log(y[0]) + y[1]


def grid(x: Any) -> Any:
    """A few operations on a large array."""
    return np.sum(np.exp(-((x[1:] - x[:-1]) ** 2)) * np.asarray(x)[1:])


def likelihood(shape: float, scale: float) -> Any:
    """A density of scipy.stats at 10,000 places."""
    return np.sum(scipy.stats.gamma.logpdf(_DATA, shape, scale=scale))


_RNG = np.random.default_rng(0)
_DATA = _RNG.uniform(1.0, 3.0, size=10_000)
#: By what they are: each function, and its arguments.
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "50 steps of a loop with Python's numbers, by 4 numbers": (loop, (1.1, 0.4, 0.3, 0.9)),
    "10 steps of a loop with small arrays, by 4 numbers": (system, (np.array([1.1, -0.9, 0.4, -0.3]),)),
    "`gamma.logpdf` of 10,000 data, by 2 numbers": (likelihood, (2.0, 0.8)),
    "four operations, by 100,000 numbers": (grid, (_RNG.uniform(size=100_000),)),
}
ENGINES: dict[str, tuple[AutoBackend, bool]] = {
    "torch": (AutoTorch(), False),
    "autograd": (AutoAutograd(), False),
    "JAX, prepared": (AutoJax(), True),
    "finite differences": (AutoFiniteDifferences(), False),
}


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies deep-costs", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="the fastest of so many calls counts")
    options = parser.parse_args(argv)
    print(f"| program | f | {' | '.join(ENGINES)} |", "| --- " * (len(ENGINES) + 2) + "|", sep="\n")
    for name, (f, args) in PROGRAMS.items():
        (plain,), cells = fastest([partial(f, *args)], rounds=options.rounds), []
        for backend, prepared in ENGINES.values():
            if isinstance(backend, AutoFiniteDifferences) and sum(map(np.size, args)) > 1000:
                cells.append("at least 100,000")
                continue
            deep = numpy_function(f, deep=True)
            fast = prepare(gradient, deep, backend, *args) if prepared else None
            call = fast or partial(gradient, deep, backend)
            (time,) = fastest([partial(call, *args)], rounds=options.rounds)
            cells.append(f"{float(f'{time / plain:.2g}'):,g}")
        print(f"| {name} | {1e3 * plain:.2g} ms | {' | '.join(cells)} |")
    return 0
