"""`python -m adinterface_studies overhead`: what a wrapper of `numpy_function` adds to an
operation.

A gradient is traced whose function runs each operation on the wrappers and on the engine's arrays,
in turns. The fastest of many runs counts. The arrays have ten numbers. A call that is compiled pays
nothing: see `compiled`.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adinterface import AutoBackend, array_namespace, gradient, numpy_function, prepare

from .. import options as studies

#: By how they look in NumPy code: the code for wrappers and for the engine's arrays.
OPERATIONS: dict[str, Callable[..., Any]] = {
    "x * y": lambda xp, x, y, m: x * y,
    "x + 1.5": lambda xp, x, y, m: x + 1.5,
    "2.0 / x": lambda xp, x, y, m: 2.0 / x,
    "x ** 2": lambda xp, x, y, m: x**2,
    "m @ m": lambda xp, x, y, m: m @ m,
    "x > 0.5": lambda xp, x, y, m: x > 0.5,
    "x[0]": lambda xp, x, y, m: x[0],
    "x[1:]": lambda xp, x, y, m: x[1:],
    "m[:, 1]": lambda xp, x, y, m: m[:, 1],
    "m.T": lambda xp, x, y, m: m.T,
    "np.sin(x)": lambda xp, x, y, m: xp.sin(x),
    "np.exp(x)": lambda xp, x, y, m: xp.exp(x),
    "np.maximum(x, y)": lambda xp, x, y, m: xp.maximum(x, y),
    "np.sum(x)": lambda xp, x, y, m: xp.sum(x),
    "np.sum(m, axis=0)": lambda xp, x, y, m: xp.sum(m, axis=0),
    "np.mean(x)": lambda xp, x, y, m: xp.mean(x),
    "np.max(x)": lambda xp, x, y, m: xp.max(x),
    "np.where(x > 0.5, x, y)": lambda xp, x, y, m: xp.where(x > 0.5, x, y),
    "np.concat([x, y])": lambda xp, x, y, m: xp.concat([x, y]),
    "np.stack([x, y])": lambda xp, x, y, m: xp.stack([x, y]),
    "np.reshape(x, (2, 5))": lambda xp, x, y, m: xp.reshape(x, (2, 5)),
    "np.linalg.solve(m, m)": lambda xp, x, y, m: xp.linalg.solve(m, m),
}


def measure(
    backend: AutoBackend, rounds: int, repeats: int = 300
) -> dict[str, tuple[float, float]]:
    """Of every operation: seconds on the engine's own arrays, and what a wrapper adds."""
    found: dict[str, tuple[float, float]] = {}
    rng = np.random.default_rng(0)

    def traced(x: Any, y: Any, m: Any) -> Any:
        xp = array_namespace(x)
        wrappers: list[Any] = []
        numpy_function(lambda *wrapped: wrappers.extend(wrapped) or wrapped[0])(x, y, m)  # type: ignore[func-returns-value]
        for operation, run in OPERATIONS.items():
            both = [
                (_seconds(run, (xp, x, y, m), repeats), _seconds(run, (np, *wrappers), repeats))
                for _ in range(rounds)
            ]
            plain, wrapped = (min(times) for times in zip(*both))
            found[operation] = plain, wrapped - plain
        return xp.sum(x * y) + xp.sum(m)

    gradient(
        traced,
        backend,
        rng.uniform(size=10),
        rng.uniform(size=10),
        rng.uniform(size=(3, 3)) + np.eye(3),
    )
    return found


def _seconds(f: Callable[..., Any], args: tuple[Any, ...], repeats: int) -> float:
    start = time.thread_time()
    for _ in range(repeats):
        f(*args)
    return (time.thread_time() - start) / repeats


def compiled(backend: AutoBackend, rounds: int, repeats: int = 100) -> float:
    """A prepared gradient of NumPy code, over one of the same function in the engine's own
    namespace: the median ratio.
    """
    x = np.random.default_rng(0).uniform(size=1000)

    def own(x: Any) -> Any:
        xp = array_namespace(x)
        return xp.sum(xp.sin(x) ** 2 + xp.where(x > 0.5, x, 2.0 * x))

    by_numpy = numpy_function(lambda x: np.sum(np.sin(x) ** 2 + np.where(x > 0.5, x, 2.0 * x)))
    first, second = (prepare(gradient, f, backend, x) for f in (by_numpy, own))
    return statistics.median(
        _seconds(first, (x,), repeats) / _seconds(second, (x,), repeats) for _ in range(rounds)
    )


def main(argv: Sequence[str]) -> int:
    parser = studies.parser("overhead", __doc__)
    parser.add_argument("--rounds", type=int, default=41, help="runs of each operation")
    parser.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the table of the documentation"
    )
    options = parser.parse_args(argv)
    lines = [*table(studies.backends(options.backend, reverse=True), options.rounds)]
    print(*lines, sep="\n")
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def table(backends: Sequence[AutoBackend], rounds: int) -> Iterator[str]:
    """A row for each operation, two columns for each backend; then the median, and the ratio of
    prepared gradients.
    """
    found = [measure(backend, rounds) for backend in backends]
    names = [type(backend).__name__.removeprefix("Auto").lower() for backend in backends]
    yield f"| operation | {' | '.join(f'{name}, us | added' for name in names)} |"
    yield "| --- |" + " --- | --- |" * len(backends)
    for operation in OPERATIONS:
        cells = [
            f"{1e6 * plain:.2f} | {1e6 * added:.1f}"
            for plain, added in (each[operation] for each in found)
        ]
        yield f"| `{operation}` | {' | '.join(cells)} |"
    medians = [statistics.median(added for _, added in each.values()) for each in found]
    yield f"| median | {' | '.join(f' | {1e6 * median:.1f}' for median in medians)} |"
    ratios = [f" | {compiled(backend, rounds):.2f} times" for backend in backends]
    yield f"| a prepared gradient of 1,000 numbers | {' | '.join(ratios)} |"
