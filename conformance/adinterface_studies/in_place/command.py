"""The command: the gradient of each program under `numpy_function`, over that of the same written for the engine by hand."""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from adinterface_conformance.installed import installed_backends
from adinterface_conformance.runner import backend_from

from adinterface import AutoBackend, array_namespace, gradient, numpy_function, prepare
from adinterface.core.contract.backend import gives
from adinterface.core.contract.registry import find

from . import by_hand
from .programs import ARGUMENTS, BY_NUMBERS, PROGRAMS


@dataclass(frozen=True)
class Measured:
    """Seconds of the processor for a prepared gradient, of the program as it is and of the same by hand.

    None where nothing can compile it.
    """

    program: str
    backend: str
    own: float | None
    hand: float | None

    @property
    def ratio(self) -> float | None:
        return None if self.own is None or self.hand is None else self.own / self.hand


def written_by_hand(name: str) -> Callable[..., Any]:
    f = getattr(by_hand, name)
    return lambda *args: f(array_namespace(*args), *args)


def measure(name: str, backend: AutoBackend, *, rounds: int, seconds: float) -> Measured:
    """The fastest of the rounds, in which both sides take turns. Raises ValueError if their gradients differ."""
    args = tuple([np.asarray(value, dtype=float) for value in ARGUMENTS[name]])
    kind = type(backend).__name__
    if getattr(backend, "jit", False) and name in BY_NUMBERS:
        return Measured(name, kind, None, None)
    both = [prepare(gradient, f, backend, *args) for f in (numpy_function(PROGRAMS[name]), written_by_hand(name))]
    for a, b in zip(both[0](*args), both[1](*args)):
        if not np.allclose(a, b, rtol=1e-8, atol=1e-10):
            raise ValueError(f"{name} on {backend!r} gives {a} under numpy_function, and {b} by hand")
    fastest = [np.inf, np.inf]
    for _ in range(rounds):
        for side, f in enumerate(both):
            start = time.process_time()
            f(*args)
            once = time.process_time() - start
            repeats = max(1, int(seconds / (2 * rounds * max(once, 1e-7))))
            start = time.process_time()
            for _ in range(repeats):
                f(*args)
            fastest[side] = min(fastest[side], (time.process_time() - start) / repeats)
    return Measured(name, kind, fastest[0], fastest[1])


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies in-place", description=__doc__)
    parser.add_argument("--backend", action="append", default=[], metavar="BACKEND", help="default: all that trace f")
    parser.add_argument("--program", action="append", default=[], choices=sorted(PROGRAMS), help="may be repeated")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each side")
    parser.add_argument("--seconds", type=float, default=1.0, help="for both sides of one program")
    parser.add_argument("--markdown", metavar="FILE", help="write the table of the documentation")
    options = parser.parse_args(argv)
    try:
        backends = [backend_from(text) for text in options.backend] or [
            backend for backend in installed_backends() if gives(find(backend), "pullback")
        ]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    found: list[Measured] = []
    for name in options.program or PROGRAMS:
        for backend in backends:
            row = measure(name, backend, rounds=options.rounds, seconds=options.seconds)
            found.append(row)
            print(f"{name:14} {row.backend:14} {_time(row.own):>9} {_time(row.hand):>9} {_ratio(row.ratio):>6}", flush=True)
    if options.markdown:
        Path(options.markdown).write_text(markdown(found), encoding="utf-8")
    return 0


def _time(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e6 * seconds:.0f} us"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def markdown(found: Sequence[Measured]) -> str:
    """The table of the documentation: a row for each program, two columns for each backend."""
    backends = list(dict.fromkeys(row.backend for row in found))
    cells = {(row.program, row.backend): row for row in found}
    names = [backend.removeprefix("Auto").lower() for backend in backends]
    lines = [
        "| program | " + " | ".join(f"{name} by hand | as it is, times that" for name in names) + " |",
        "| --- |" + " --- | --- |" * len(names),
    ]
    for program in dict.fromkeys(row.program for row in found):
        rows = [cells[program, backend] for backend in backends]
        lines.append(f"| {program} | " + " | ".join(f"{_time(row.hand)} | {_ratio(row.ratio)}" for row in rows) + " |")
    ratios = [[row.ratio for row in found if row.backend == backend and row.ratio is not None] for backend in backends]
    lines.append(
        "| median | " + " | ".join(f" | {_ratio(statistics.median(each) if each else None)}" for each in ratios) + " |"
    )
    return "\n".join(lines) + "\n"
