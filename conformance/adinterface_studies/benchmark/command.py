"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace

import adinterface
from adinterface import AutoBackend, AutoFiniteDifferences
from adinterface.core.contract import registry
from adinterface.core.contract.auto import BUILT_IN

from . import against, entries, summary
from .cells import CELLS, WAYS, Cell, Way, chosen, goes_in_reverse
from .engine_code import LEAVES
from .memory import peak, print_peak
from .picture import plot
from .report import HEAD, row, short
from .timing import Timing, measure

#: Sizes from which peak memory says something.
LARGE = 1_000_000

#: A cell on a backend: an operator at a size, in one way of calling it.
Row = tuple[Cell, AutoBackend, str, int, Way]


def backends() -> list[AutoBackend]:
    """The built-in backends whose engine is installed. Differences take two evaluations a number,
    as by hand.
    """
    found: list[AutoBackend] = []
    for cls in BUILT_IN:
        auto = AutoFiniteDifferences(method="central") if cls is AutoFiniteDifferences else cls()
        try:
            registry.find(auto)
        except adinterface.MissingEngineError:
            continue
        found.append(auto)
    return found


def main(argv: Sequence[str]) -> int:
    """Measure, print a table, and write JSON and a picture if asked. Returns 2 if nothing is
    measured.
    """
    argv = list(argv)
    if argv[:1] == ["--peak"]:
        print_peak(*argv[1:])  # type: ignore[arg-type]
        return 0
    options = parser().parse_args(argv)
    lines: Iterable[str] = ()
    if options.against:
        lines = _against(options, argv)
    elif options.summary:
        lines = summary.of_file(options.summary)
    elif options.entries:
        lines = entries.table(row for row in wanted(options) if row[3] == row[0].sizes[0])
    else:
        timings = measured(options)
        if options.plot and timings:
            plot(timings, options.plot)
        return 0 if timings else nothing_measured(options)
    try:
        for line in lines:
            print(line, flush=True)
    except against.RevisionError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _against(options: argparse.Namespace, argv: Sequence[str]) -> Iterator[str]:
    """A comparison with another revision; its option is not passed on."""
    place = next(n for n, word in enumerate(argv) if word.partition("=")[0] == "--against")
    rest = [*argv[:place], *argv[place + 2 - ("=" in argv[place]) :]]
    return against.table(options.against, rest, options.seconds)


def nothing_measured(options: argparse.Namespace) -> int:
    """Say why the table is empty; the exit status of a wrong command line."""
    known = [type(auto).__name__ for auto in backends()]
    unknown = [name for name in options.backend or () if name not in known]
    if unknown:
        print(
            f"{', '.join(unknown)}: there is hand-written code to compare with for"
            f" {', '.join(known)} alone.",
            file=sys.stderr,
        )
    else:
        print("No cell matches the options.", file=sys.stderr)
    return 2


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="python -m adinterface_studies benchmark",
        description=(
            "What a call costs beside hand-written engine code: time of both, run interleaved, and"
            " their ratio."
        ),
    )
    made.add_argument(
        "--backend", action="append", help="a backend's class, by its name; by default all"
    )
    made.add_argument(
        "--operator", action="append", help="an operator's name, such as hvp; all by default"
    )
    made.add_argument(
        "--cell", action="append", help="a cell's name, such as 'one array'; all by default"
    )
    made.add_argument("--way", choices=WAYS, help="only one-shot calls, or only prepared ones")
    made.add_argument(
        "--leaf", choices=LEAVES, help="only cells whose leaves are such; all by default"
    )
    made.add_argument(
        "--seconds", type=float, default=1.0, help="how long to measure each cell (default: 1)"
    )
    made.add_argument("--max-size", type=int, default=1_000_000, help="leave out larger sizes")
    made.add_argument("--json", help="write the measurements to this file")
    made.add_argument(
        "--memory", action="store_true", help=f"also measure peak memory from n = {LARGE:,} on"
    )
    made.add_argument("--plot", help="draw the ratios to this PNG file (needs matplotlib)")
    made.add_argument(
        "--leaves",
        action="store_true",
        help="measure how a gradient scales with the leaves of a tree",
    )
    made.add_argument(
        "--against",
        metavar="REV",
        help="compare with a revision of git, or another checkout, instead",
    )
    made.add_argument(
        "--entries",
        action="store_true",
        help="count the functions that a call of the smallest size enters instead",
    )
    made.add_argument(
        "--summary",
        metavar="FILE",
        help="print what a printed table says of prepared calls instead",
    )
    return made


def wanted(options: argparse.Namespace) -> Iterator[Row]:
    """What to measure, in the order of the table."""
    many = next(cell for cell in CELLS if cell.name == "tree of leaves")
    grown = [
        replace(
            many, sizes=(10, 100, 1000, 10_000), operators=("gradient",), forward=100, alone=True
        )
    ]
    for auto in backends():
        if options.backend and type(auto).__name__ not in options.backend:
            continue
        for cell in grown if options.leaves else chosen(auto, options.leaf):
            if options.cell and cell.name not in options.cell:
                continue
            for size in cell.sizes:
                for operator in cell.operators:
                    asked = not options.operator or operator in options.operator
                    if (
                        asked
                        and size <= options.max_size
                        and cell.includes(operator, size, goes_in_reverse(auto))
                    ):
                        yield from (
                            (cell, auto, operator, size, way)
                            for way in WAYS
                            if options.way in (None, way)
                        )


def measured(options: argparse.Namespace) -> list[Timing]:
    """Measure the cells that are asked for, print the table, and write JSON if asked."""
    timings: list[Timing] = []
    print(HEAD)
    for each in wanted(options):
        timing = measure(*each, options.seconds)
        if options.memory and each[3] >= LARGE and each[0] in CELLS:
            mine, by_hand = (peak(*each, ours) for ours in (True, False))
            timing = replace(timing, memory=mine, handwritten_memory=by_hand)
        timings.append(timing)
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
            found = [
                t for t in timings if t.backend == backend and t.way == way and t.ratio is not None
            ]
            if found:
                worst = max(found, key=lambda timing: timing.ratio or 0.0)
                print(
                    f"{short(backend)}, {way}: at most {worst.ratio:.2f} ({worst.cell},"
                    f" {worst.operator}, n = {worst.size})"
                )
