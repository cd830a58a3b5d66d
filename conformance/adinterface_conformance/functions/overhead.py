"""`python -m adinterface_conformance overhead`: what the wrappers of `numpy_function` add to each operation.

Inside one traced call of f, an operation on wrappers and the same operation on the engine's own arrays run interleaved,
each operation once a round, so that what slows the machine for a second does not fall on one of them. The overhead is the
difference of the fastest runs, as `timeit` advises: the others tell what else the machine did. Beside it stand the
quartiles of the difference over the rounds. A call that is compiled pays nothing: see `compiled` below.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adinterface import AutoBackend, array_namespace, gradient, numpy_function, prepare
from adinterface.backend import gives
from adinterface.registry import find

from ..runner import backend_from
from ..testing import installed_backends

#: By how they look in NumPy code: how often a wrapper is called, and the code for wrappers and for the engine's arrays.
OPERATIONS: dict[str, tuple[int, Callable[..., Any], Callable[..., Any]]] = {
    "x * y": (1, lambda np, x, y, m: x * y, lambda xp, x, y, m: x * y),
    "x + 1.5": (1, lambda np, x, y, m: x + 1.5, lambda xp, x, y, m: x + 1.5),
    "2.0 / x": (1, lambda np, x, y, m: 2.0 / x, lambda xp, x, y, m: 2.0 / x),
    "x ** 2": (1, lambda np, x, y, m: x**2, lambda xp, x, y, m: x**2),
    "m @ m": (1, lambda np, x, y, m: m @ m, lambda xp, x, y, m: m @ m),
    "x > 0.5": (1, lambda np, x, y, m: x > 0.5, lambda xp, x, y, m: x > 0.5),
    "x[0]": (1, lambda np, x, y, m: x[0], lambda xp, x, y, m: x[0]),
    "x[1:]": (1, lambda np, x, y, m: x[1:], lambda xp, x, y, m: x[1:]),
    "m[:, 1]": (1, lambda np, x, y, m: m[:, 1], lambda xp, x, y, m: m[:, 1]),
    "m.T": (1, lambda np, x, y, m: m.T, lambda xp, x, y, m: m.T),
    "np.sin(x)": (1, lambda np, x, y, m: np.sin(x), lambda xp, x, y, m: xp.sin(x)),
    "np.exp(x)": (1, lambda np, x, y, m: np.exp(x), lambda xp, x, y, m: xp.exp(x)),
    "np.maximum(x, y)": (1, lambda np, x, y, m: np.maximum(x, y), lambda xp, x, y, m: xp.maximum(x, y)),
    "np.sum(x)": (1, lambda np, x, y, m: np.sum(x), lambda xp, x, y, m: xp.sum(x)),
    "np.sum(m, axis=0)": (1, lambda np, x, y, m: np.sum(m, axis=0), lambda xp, x, y, m: xp.sum(m, axis=0)),
    "np.mean(x)": (1, lambda np, x, y, m: np.mean(x), lambda xp, x, y, m: xp.mean(x)),
    "np.max(x)": (1, lambda np, x, y, m: np.max(x), lambda xp, x, y, m: xp.max(x)),
    "np.where(x > 0.5, x, y)": (
        2,
        lambda np, x, y, m: np.where(x > 0.5, x, y),
        lambda xp, x, y, m: xp.where(x > 0.5, x, y),
    ),
    "np.concatenate([x, y])": (1, lambda np, x, y, m: np.concatenate([x, y]), lambda xp, x, y, m: xp.concat([x, y])),
    "np.stack([x, y])": (1, lambda np, x, y, m: np.stack([x, y]), lambda xp, x, y, m: xp.stack([x, y])),
    "np.reshape(x, (2, 5))": (1, lambda np, x, y, m: np.reshape(x, (2, 5)), lambda xp, x, y, m: xp.reshape(x, (2, 5))),
    "np.linalg.solve(m, m)": (1, lambda np, x, y, m: np.linalg.solve(m, m), lambda xp, x, y, m: xp.linalg.solve(m, m)),
}


@dataclass(frozen=True)
class Overhead:
    """Seconds of one operation: on the engine's own arrays, and what a wrapper adds, with its quartiles over rounds."""

    operation: str
    backend: str
    plain: float
    added: float
    quartiles: tuple[float, float]


def measure(backend: AutoBackend, *, rounds: int = 41, repeats: int = 500) -> list[Overhead]:
    """Every operation on one backend, on arrays of ten numbers."""
    found: list[Overhead] = []
    rng = np.random.default_rng(0)

    def traced(x: Any, y: Any, m: Any) -> Any:
        xp = array_namespace(x)
        wrappers: list[Any] = []
        numpy_function(lambda *wrapped: wrappers.extend(wrapped) or wrapped[0])(x, y, m)  # type: ignore[func-returns-value]
        own: dict[str, list[float]] = {operation: [] for operation in OPERATIONS}
        engines: dict[str, list[float]] = {operation: [] for operation in OPERATIONS}
        for _ in range(rounds):
            for operation, (_, wrapped, plain) in OPERATIONS.items():
                own[operation].append(_seconds(wrapped, (np, *wrappers), repeats))
                engines[operation].append(_seconds(plain, (xp, x, y, m), repeats))
        for operation, (count, _, _) in OPERATIONS.items():
            low, _, high = statistics.quantiles([(a - b) / count for a, b in zip(own[operation], engines[operation])], n=4)
            fastest = min(engines[operation])
            added = (min(own[operation]) - fastest) / count
            found.append(Overhead(operation, type(backend).__name__, fastest, added, (low, high)))
        return xp.sum(x * y) + xp.sum(m)

    gradient(traced, backend, rng.uniform(size=10), rng.uniform(size=10), rng.uniform(size=(3, 3)) + np.eye(3))
    return found


def _seconds(f: Callable[..., Any], args: tuple[Any, ...], repeats: int) -> float:
    start = time.thread_time()
    for _ in range(repeats):
        f(*args)
    return (time.thread_time() - start) / repeats


def compiled(backend: AutoBackend, *, rounds: int = 31, repeats: int = 100) -> float:
    """A prepared gradient of NumPy code, over one of the same function in the engine's own namespace: the median ratio."""
    x = np.random.default_rng(0).uniform(size=1000)

    def own(x: Any) -> Any:
        xp = array_namespace(x)
        return xp.sum(xp.sin(x) ** 2 + xp.where(x > 0.5, x, 2.0 * x))

    by_numpy = numpy_function(lambda x: np.sum(np.sin(x) ** 2 + np.where(x > 0.5, x, 2.0 * x)))
    first, second = (prepare(gradient, f, backend, x) for f in (by_numpy, own))
    ratios = []
    for _ in range(rounds):
        a, b = (_seconds(f, (x,), repeats) for f in (first, second))
        ratios.append(a / b)
    return statistics.median(ratios)


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m adinterface_conformance overhead", description=__doc__)
    parser.add_argument("--backend", action="append", default=[], metavar="BACKEND", help="default: all that trace f")
    parser.add_argument("--rounds", type=int, default=41, help="runs of each operation")
    parser.add_argument("--json", metavar="FILE", help="write the measurements")
    options = parser.parse_args(argv)
    try:
        backends = [backend_from(text) for text in options.backend] or [
            backend for backend in installed_backends() if gives(find(backend), "pullback")
        ]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    found: list[Overhead] = []
    for backend in backends:
        name = type(backend).__name__
        measured = measure(backend, rounds=options.rounds)
        found += measured
        print(f"{name:24} {'plain':>10}  added by the wrapper, in us (quartiles over rounds)")
        for row in measured:
            low, high = (1e6 * quartile for quartile in row.quartiles)
            print(f"  {row.operation:22} {1e6 * row.plain:10.2f}  {1e6 * row.added:.2f} ({low:.2f} to {high:.2f})")
        print(f"  {'median':22} {'':10}  {1e6 * statistics.median(row.added for row in measured):.2f}")
        print(
            f"  prepared: {compiled(backend, rounds=options.rounds):.2f} times the same function without wrappers", flush=True
        )
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in found], indent=1), encoding="utf-8")
    return 0
