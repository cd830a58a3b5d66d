"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict

import adinterface
from adinterface import AutoBackend, AutoFiniteDifferences
from adinterface.core.contract import registry
from adinterface.core.contract.auto import BUILT_IN

from .cells import WAYS, Cell, Way, chosen, goes_in_reverse
from .engine_code import LEAVES
from .report import HEAD, row, short
from .timing import Timing, measure

#: A cell on a backend: an operator at a size, in one way of calling it.
Row = tuple[Cell, AutoBackend, str, int, Way]


def backends() -> list[AutoBackend]:
    """The built-in backends whose engine is installed. Differences take two evaluations a number, as by hand."""
    found: list[AutoBackend] = []
    for cls in BUILT_IN:
        auto = AutoFiniteDifferences(method="central") if cls is AutoFiniteDifferences else cls()
        try:
            registry.find(auto)
        except adinterface.MissingEngineError:
            continue
        found.append(auto)
    return found


def main(argv: list[str] | None = None) -> int:
    """Measure, print a table, and write JSON if asked. Returns 2 if nothing is measured."""
    options = parser("python -m adinterface_conformance benchmark", LEAVES).parse_args(sys.argv[1:] if argv is None else argv)
    rows = wanted(options, lambda auto: chosen(auto, options.leaf))
    return 0 if measured(rows, options) else nothing_measured(options)


def nothing_measured(options: argparse.Namespace) -> int:
    """Say why the table is empty; the exit status of a wrong command line."""
    known = [type(auto).__name__ for auto in backends()]
    unknown = [name for name in options.backend or () if name not in known]
    if unknown:
        print(
            f"{', '.join(unknown)}: there is hand-written code to compare with for {', '.join(known)} alone.", file=sys.stderr
        )
    else:
        print("No cell matches the options.", file=sys.stderr)
    return 2


def parser(program: str, leaves: Sequence[str]) -> argparse.ArgumentParser:
    """The options of a benchmark of cells."""
    made = argparse.ArgumentParser(
        prog=program,
        description="What a call costs beside hand-written engine code: time of both, run interleaved, and their ratio.",
    )
    made.add_argument("--backend", action="append", help="a backend's class, by its name; by default all")
    made.add_argument("--operator", action="append", help="an operator's name, such as hvp; all by default")
    made.add_argument("--cell", action="append", help="a cell's name, such as 'one array'; all by default")
    made.add_argument("--way", choices=WAYS, help="only one-shot calls, or only prepared ones")
    made.add_argument("--leaf", choices=leaves, help="only cells whose leaves are such; all by default")
    made.add_argument("--seconds", type=float, default=1.0, help="how long to measure each cell (default: 1)")
    made.add_argument("--max-size", type=int, default=1_000_000, help="leave out larger sizes")
    made.add_argument("--json", help="write the measurements to this file")
    return made


def wanted(options: argparse.Namespace, cells: Callable[[AutoBackend], Iterable[Cell]]) -> Iterator[Row]:
    """What to measure of these cells, in the order of the table."""
    for auto in backends():
        if options.backend and type(auto).__name__ not in options.backend:
            continue
        for cell in cells(auto):
            if options.cell and cell.name not in options.cell:
                continue
            for size in cell.sizes:
                for operator in cell.operators:
                    asked = not options.operator or operator in options.operator
                    if asked and size <= options.max_size and cell.includes(operator, size, goes_in_reverse(auto)):
                        yield from ((cell, auto, operator, size, way) for way in WAYS if options.way in (None, way))


def measured(
    rows: Iterable[Row], options: argparse.Namespace, finish: Callable[[Row, Timing], Timing] = lambda row, timing: timing
) -> list[Timing]:
    """Measure these cells, print the table, and write JSON if asked. finish: adds to a timing before it is printed."""
    timings: list[Timing] = []
    print(HEAD)
    for each in rows:
        timings.append(finish(each, measure(*each, options.seconds)))
        print(row(timings[-1]), flush=True)
    _summarize(timings)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([asdict(timing) for timing in timings], file, indent=1)
    return timings


def _summarize(timings: list[Timing]) -> None:
    """The largest ratio of each backend and way."""
    for way in WAYS:
        for backend in dict.fromkeys(timing.backend for timing in timings):
            found = [t for t in timings if t.backend == backend and t.way == way and t.ratio is not None]
            if found:
                worst = max(found, key=lambda timing: timing.ratio or 0.0)
                print(f"{short(backend)}, {way}: at most {worst.ratio:.2f} ({worst.cell}, {worst.operator}, n = {worst.size})")
