"""The command: the gradient of each program under `numpy_function`, over that of the same written for the engine by hand."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adinterface import AutoBackend, array_namespace, gradient, numpy_function, prepare

from .. import options as studies
from . import by_hand
from .programs import ARGUMENTS, BY_NUMBERS, PROGRAMS

#: Seconds of the processor for a prepared gradient: of the same by hand, and of the program as it is.
Measured = tuple[float, float]


def measure(name: str, backend: AutoBackend, rounds: int, seconds: float) -> Measured | None:
    """The fastest of the rounds, in which both sides take turns; None where nothing can compile the program.

    Raises ValueError if the gradients differ.
    """
    if studies.compiles(backend) and name in BY_NUMBERS:
        return None
    args = tuple([np.asarray(value, dtype=float) for value in ARGUMENTS[name]])
    written: Callable[..., Any] = getattr(by_hand, name)
    f = lambda *args: written(array_namespace(*args), *args)
    both = [prepare(gradient, each, backend, *args) for each in (f, numpy_function(PROGRAMS[name]))]
    for a, b in zip(both[0](*args), both[1](*args)):
        if not np.allclose(a, b, rtol=1e-8, atol=1e-10):
            raise ValueError(f"{name} on {backend!r} gives {b} under numpy_function, and {a} by hand")
    fastest = [np.inf, np.inf]
    for _ in range(rounds):
        for side, call in enumerate(both):
            start = time.process_time()
            call(*args)
            repeats = max(1, int(seconds / (2 * rounds * max(time.process_time() - start, 1e-7))))
            start = time.process_time()
            for _ in range(repeats):
                call(*args)
            fastest[side] = min(fastest[side], (time.process_time() - start) / repeats)
    return fastest[0], fastest[1]


def main(argv: Sequence[str]) -> int:
    parser = studies.parser("in-place", __doc__)
    parser.add_argument("--rounds", type=int, default=15, help="turns of each side")
    parser.add_argument("--seconds", type=float, default=1.0, help="for both sides of one program")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table of the documentation")
    options = parser.parse_args(argv)
    backends = studies.backends(options.backend, reverse=True)
    names = [type(backend).__name__.removeprefix("Auto").lower() for backend in backends]
    lines = [
        f"| program | {' | '.join(f'{name} by hand | as it is, times that' for name in names)} |",
        "| --- |" + " --- | --- |" * len(names),
    ]
    print(*lines, sep="\n")
    ratios: list[list[float]] = [[] for _ in backends]
    for program in PROGRAMS:
        cells = []
        for backend, found in zip(backends, ratios):
            measured = measure(program, backend, options.rounds, options.seconds)
            if measured is not None:
                found.append(measured[1] / measured[0])
            cells.append(" | " if measured is None else f"{1e6 * measured[0]:.0f} us | {found[-1]:.2f}")
        lines.append(f"| {program} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    lines.append(f"| median | {' | '.join(f' | {statistics.median(found):.2f}' for found in ratios)} |")
    print(lines[-1])
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0
