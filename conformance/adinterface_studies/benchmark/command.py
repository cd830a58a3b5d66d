"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import adinterface
from adinterface import AutoBackend, AutoFiniteDifferences
from adinterface.core.contract import registry
from adinterface.core.contract.auto import BUILT_IN

from . import against, entries, summary
from .cells import CELLS, WAYS, chosen, goes_in_reverse
from .engine_code import LEAVES
from .memory import peak, print_peak
from .timing import HEAD, Row, Timing, measure, short

#: Sizes from which peak memory says something.
LARGE = 1_000_000


def backends() -> list[AutoBackend]:
    """The built-in backends whose engine is installed.

    Differences take two evaluations a number, as by hand.
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
    """Print a table. The exit status: 2 if nothing is measured."""
    if argv[:1] == ["--peak"]:
        print_peak(*argv[1:])  # type: ignore[arg-type]
        return 0
    options = parser().parse_args([word for word in argv if word != "--serve"])
    rows = [*wanted(options)]
    if not rows:
        known = ", ".join(type(auto).__name__ for auto in backends())
        print(f"No cell matches the options; the backends are {known}.", file=sys.stderr)
        return 2
    if "--serve" in argv:
        against.serve(rows)
        return 0
    lines: Iterable[str]
    if options.against:
        place = next(n for n, word in enumerate(argv) if word.partition("=")[0] == "--against")
        rest = [*argv[:place], *argv[place + 2 - ("=" in argv[place]) :]]
        lines = against.table(options.against, rest, options.seconds)
    elif options.summary:
        lines = summary.table(options.summary)
    elif options.entries:
        lines = entries.table(row for row in rows if row[3] == row[0].sizes[0])
    else:
        lines = table(rows, options.seconds, options.memory)
    try:
        for line in lines:
            print(line, flush=True)
    except against.RevisionError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="python -m adinterface_studies benchmark",
        description="What a call costs beside hand-written engine code: time of both, interleaved.",
    )
    add = made.add_argument
    add("--backend", action="append", help="a backend's class, by its name; by default all")
    add("--operator", action="append", help="an operator's name, such as hvp; all by default")
    add("--cell", action="append", help="a cell's name, such as 'one array'; all by default")
    add("--way", choices=WAYS, help="only one-shot calls, or only prepared ones")
    add("--leaf", choices=LEAVES, help="only cells whose leaves are such; all by default")
    add("--seconds", type=float, default=1.0, help="how long to measure each cell (default: 1)")
    add("--max-size", type=int, default=LARGE, help="leave out larger sizes")
    add("--memory", action="store_true", help=f"also measure peak memory from n = {LARGE:,} on")
    add("--against", metavar="REV", help="compare with a revision of git, or another checkout")
    add("--entries", action="store_true", help="count the functions that a call enters instead")
    add("--summary", metavar="FILE", help="print what a printed table says of prepared calls")
    return made


def wanted(options: argparse.Namespace) -> Iterator[Row]:
    """What to measure, in the order of the table."""
    for auto in backends():
        if options.backend and type(auto).__name__ not in options.backend:
            continue
        for cell in chosen(auto, options.leaf):
            if options.cell and cell.name not in options.cell:
                continue
            for size in [size for size in cell.sizes if size <= options.max_size]:
                for operator in cell.operators:
                    asked = not options.operator or operator in options.operator
                    if asked and cell.includes(operator, size, goes_in_reverse(auto)):
                        ways = [way for way in WAYS if options.way in (None, way)]
                        yield from ((cell, auto, operator, size, way) for way in ways)


def table(rows: Iterable[Row], seconds: float, memory: bool = False) -> Iterator[str]:
    """The lines of the table, and the largest ratio of each backend and way."""
    yield HEAD
    worst: dict[str, tuple[float, Timing]] = {}
    for row in rows:
        timing = measure(row, seconds)
        cell, auto, operator, size, way = row
        if memory and size >= LARGE and cell in CELLS:
            timing = replace(timing, memory=(peak(row, True), peak(row, False)))
        yield str(timing)
        if timing.ratios is not None:
            known = worst.get(name := f"{short(auto)}, {way}")
            if known is None or timing.ratios[1] > known[0]:
                worst[name] = timing.ratios[1], timing
    for name, (ratio, timing) in worst.items():
        cell, _, operator, size, _ = timing.row
        yield f"{name}: at most {ratio:.2f} ({cell.name}, {operator}, n = {size})"
