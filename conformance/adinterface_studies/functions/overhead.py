"""`python -m adinterface_studies overhead`: what the wrappers of `numpy_function` add to each operation.

Inside one traced call of f, an operation on wrappers and the same operation on the engine's arrays run interleaved, each
once a round. So what slows the machine for a second does not affect one of them alone. The overhead is the difference of the
fastest runs, as `timeit` advises: the others tell what else the machine did. The place of a process in memory moves it by a
third of a microsecond either way, so the median of several processes is taken. The table also has their least and most, and
the part of NumPy: what the same line costs on an object that answers NumPy's protocols by calling the engine and does nothing
else. A call that is compiled pays nothing: see `compiled`.
"""

from __future__ import annotations

import functools
import json
import multiprocessing
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from adinterface import AutoBackend, array_namespace, gradient, numpy_function, prepare

from .. import options as studies

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
    """Seconds of one operation: on the engine's own arrays, and what a wrapper adds, with its least and most of the processes.

    `numpy` is the part of `added` that NumPy's protocols cost anyone, zero for an operator, which does not go through NumPy.
    """

    operation: str
    backend: str
    plain: float
    added: float
    numpy: float
    range: tuple[float, float]


class Bare:
    """What answers NumPy's protocols with as little as can be: the call of an engine."""

    def __init__(self, call: Callable[[], Any]):
        self.call = call

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call()

    def __array_function__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call()

    def __gt__(self, other: Any) -> Bare:
        return self


def measure(backend: AutoBackend, *, rounds: int = 41, repeats: int = 300) -> list[Overhead]:
    """Every operation on one backend, on arrays of ten numbers, in this process."""
    found: list[Overhead] = []
    rng = np.random.default_rng(0)

    def traced(x: Any, y: Any, m: Any) -> Any:
        xp = array_namespace(x)
        wrappers: list[Any] = []
        numpy_function(lambda *wrapped: wrappers.extend(wrapped) or wrapped[0])(x, y, m)  # type: ignore[func-returns-value]
        own: dict[str, list[float]] = {operation: [] for operation in OPERATIONS}
        engines: dict[str, list[float]] = {operation: [] for operation in OPERATIONS}
        bares: dict[str, list[float]] = {operation: [] for operation in OPERATIONS}
        for _ in range(rounds):
            for operation, (_, wrapped, plain) in OPERATIONS.items():
                own[operation].append(_seconds(wrapped, (np, *wrappers), repeats))
                engines[operation].append(_seconds(plain, (xp, x, y, m), repeats))
                if operation.startswith("np."):
                    bare = Bare(functools.partial(plain, xp, x, y, m))
                    bares[operation].append(_seconds(wrapped, (np, bare, bare, bare), repeats))
        for operation, (count, _, _) in OPERATIONS.items():
            fastest = min(engines[operation])
            added = (min(own[operation]) - fastest) / count
            by_numpy = (min(bares[operation]) - fastest) / count if bares[operation] else 0.0
            found.append(Overhead(operation, type(backend).__name__, fastest, added, by_numpy, (added, added)))
        return xp.sum(x * y) + xp.sum(m)

    gradient(traced, backend, rng.uniform(size=10), rng.uniform(size=10), rng.uniform(size=(3, 3)) + np.eye(3))
    return found


def measure_in_processes(backend: AutoBackend, processes: int, *, rounds: int = 41) -> list[Overhead]:
    """The median of each number over fresh interpreters."""
    runs = []
    for _ in range(processes):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            runs.append(pool.submit(measure, backend, rounds=rounds).result())
    return [
        Overhead(
            same[0].operation,
            same[0].backend,
            statistics.median(row.plain for row in same),
            statistics.median(row.added for row in same),
            statistics.median(row.numpy for row in same),
            (min(row.added for row in same), max(row.added for row in same)),
        )
        for same in zip(*runs)
    ]


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
    parser = studies.parser("overhead", __doc__)
    parser.add_argument("--rounds", type=int, default=41, help="runs of each operation in a process")
    parser.add_argument("--processes", type=int, default=7, help="how many fresh interpreters measure; 0: this one")
    parser.add_argument("--json", metavar="FILE", help="write the measurements")
    parser.add_argument("--markdown", metavar="FILE", help="write the table of the documentation")
    options = parser.parse_args(argv)
    found: list[Overhead] = []
    for backend in studies.backends(options.backend, reverse=True):
        name = type(backend).__name__
        if options.processes:
            measured = measure_in_processes(backend, options.processes, rounds=options.rounds)
        else:
            measured = measure(backend, rounds=options.rounds)
        found += measured
        print(f"{name:24} {'plain':>10}  added by the wrapper, in us (least to most of the processes), of it NumPy's")
        for row in measured:
            low, high = (1e6 * end for end in row.range)
            added = f"{1e6 * row.added:.2f} ({low:.2f} to {high:.2f}), {1e6 * row.numpy:.2f}"
            print(f"  {row.operation:22} {1e6 * row.plain:10.2f}  {added}")
        print(f"  {'median':22} {'':10}  {1e6 * statistics.median(row.added for row in measured):.2f}")
        print(
            f"  prepared: {compiled(backend, rounds=options.rounds):.2f} times the same function without wrappers", flush=True
        )
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in found], indent=1), encoding="utf-8")
    if options.markdown:
        Path(options.markdown).write_text(markdown(found), encoding="utf-8")
    return 0


def markdown(found: Sequence[Overhead]) -> str:
    """The table of the documentation: a row for each operation, three columns for each backend."""
    backends = list(dict.fromkeys(row.backend for row in found))
    names = [backend.removeprefix("Auto").lower() for backend in backends]
    cells = {(row.operation, row.backend): row for row in found}
    lines = [
        "| operation | " + " | ".join(f"{name}, us | added | of it NumPy's" for name in names) + " |",
        "| --- |" + " --- | --- | --- |" * len(names),
    ]
    for operation in dict.fromkeys(row.operation for row in found):
        parts = [
            f"{1e6 * row.plain:.2f} | {1e6 * row.added:.1f} | " + (f"{1e6 * row.numpy:.1f}" if row.numpy else "")
            for row in (cells[operation, backend] for backend in backends)
        ]
        lines.append(f"| `{operation}` | " + " | ".join(parts) + " |")
    medians = [statistics.median(1e6 * row.added for row in found if row.backend == backend) for backend in backends]
    lines.append("| median | " + " | ".join(f" | {median:.1f} | " for median in medians) + " |")
    return "\n".join(lines) + "\n"
