"""The command line of the benchmark."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace

import adinterface
from adinterface import AutoBackend, AutoFiniteDifferences
from adinterface.core.contract import registry
from adinterface.core.contract.auto import BUILT_IN

from . import entries, rules, solvers, summary, training
from .cells import CELLS, CHECKPOINTS, WAYS, Cell, Way, chosen, goes_in_reverse, loops, scenarios
from .memory import peak, print_peak
from .picture import plot
from .profile import profile
from .report import HEAD, row, short
from .timing import Timing, measure
from .yardsticks import LEAVES

#: Sizes from which peak memory says something.
LARGE = 1_000_000


def backends() -> list[AutoBackend]:
    """The built-in backends whose engine is installed. Differences are the plain ones, as by hand: two evaluations a number."""
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
    """Measure, print a table, and write JSON and a picture if asked."""
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["--peak"]:
        print_peak(*argv[1:])  # type: ignore[arg-type]
        return 0
    if argv[:1] in (["--sparse"], ["--grown"]):
        from . import sparse

        return sparse.main(argv[argv[0] == "--sparse" :], backends())
    parser = argparse.ArgumentParser(
        prog="python -m adinterface_conformance benchmark",
        description="What a call costs beside hand-written engine code: time of both, run interleaved, and their ratio.",
        epilog="With --sparse as the first word: sparse Jacobians and Hessians instead "
        "(--sparse --growth: how they grow; --processor-time where others compute, too; --json, --plot as here).",
    )
    parser.add_argument("--backend", action="append", help="a backend's class, by its name; by default all")
    parser.add_argument("--operator", action="append", help="an operator's name, such as hvp; all by default")
    parser.add_argument("--cell", action="append", help="a cell's name, such as 'one array'; all by default")
    parser.add_argument("--way", choices=WAYS, help="only one-shot calls, or only prepared ones")
    parser.add_argument("--leaf", choices=LEAVES, help="only cells whose leaves are such; all by default")
    parser.add_argument("--objectives", action="store_true", help="measure objectives with Python structure inside instead")
    parser.add_argument("--loops", action="store_true", help="measure long loops, written with scan, instead")
    parser.add_argument(
        "--checkpoints", action="store_true", help="measure the peak memory of ever longer loops, without and with checkpoints"
    )
    parser.add_argument("--scenario", help="measure the scenarios of this name pattern (with *) instead of the cells")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long to measure each cell (default: 1)")
    parser.add_argument("--max-size", type=int, default=1_000_000, help="leave out larger sizes")
    parser.add_argument("--memory", action="store_true", help=f"also measure peak memory from n = {LARGE:,} on")
    parser.add_argument("--leaves", action="store_true", help="measure how a gradient scales with the leaves of a tree instead")
    parser.add_argument("--rules", action="store_true", help="measure what rules and crossings cost instead")
    parser.add_argument("--profile", action="store_true", help="print where a prepared call spends its time instead")
    parser.add_argument(
        "--entries", action="store_true", help="count the functions that a call of the smallest size enters instead"
    )
    parser.add_argument("--solvers", action="store_true", help="solve classical problems by SciPy instead (needs scipy)")
    parser.add_argument("--training", action="store_true", help="measure whole steps of training instead (needs optax)")
    parser.add_argument("--json", help="write the measurements to this file")
    parser.add_argument("--summary", metavar="FILE", help="print what a printed table says of prepared calls instead")
    parser.add_argument("--plot", help="draw the ratios to this PNG file (needs matplotlib)")
    options = parser.parse_args(argv)
    if options.summary:
        with open(options.summary, encoding="utf-8") as file:
            print("\n".join(summary.table(file)))
        return 0
    if options.rules:
        for line in rules.report(backends()):
            print(line, flush=True)
        return 0
    if options.profile:
        for cell, auto, operator, size, way in _chosen(options):
            if way == "prepared":
                print(profile(cell, auto, operator, size), end="\n\n", flush=True)
        return 0
    if options.solvers:
        for line in solvers.table(backends()):
            print(line, flush=True)
        return 0
    if options.training:
        for line in training.table(backends(), options.seconds):
            print(line, flush=True)
        return 0
    if options.entries:
        print(entries.HEAD)
        for cell, auto, operator, size, way in _chosen(options):
            if size == cell.sizes[0]:
                print(entries.row(cell, auto, operator, size, way), flush=True)
        return 0
    if options.checkpoints:
        print(f"{'loop':18} {'backend':12} {'steps':>8} {'peak memory':>12}")
        for cell, auto, operator, size, way in _chosen(options):
            if way == "one-shot":
                taken = peak(cell, auto, operator, size, way, True)
                print(f"{cell.name:18} {short(repr(auto)):12} {size:>8} {(taken or 0) / 2**20:>8.1f} MiB", flush=True)
        return 0
    timings: list[Timing] = []
    print(HEAD)
    for cell, auto, operator, size, way in _chosen(options):
        timing = measure(cell, auto, operator, size, way, options.seconds)
        if options.memory and size >= LARGE and cell in CELLS:
            mine, by_hand = (peak(cell, auto, operator, size, way, ours) for ours in (True, False))
            timing = replace(timing, memory=mine, handwritten_memory=by_hand)
        timings.append(timing)
        print(row(timing), flush=True)
    _summarize(timings)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump([asdict(timing) for timing in timings], file, indent=1)
    if options.plot:
        plot(timings, options.plot)
    return 0


def _chosen(options: argparse.Namespace) -> Iterator[tuple[Cell, AutoBackend, str, int, Way]]:
    """What to measure, in the order of the table."""
    ways: list[Way] = [way for way in WAYS if options.way in (None, way)]
    for auto in backends():
        if options.backend and type(auto).__name__ not in options.backend:
            continue
        reverse = goes_in_reverse(auto)
        if options.loops:
            cells = loops(auto)
        elif options.checkpoints:
            cells = list(CHECKPOINTS)
        elif options.scenario:
            cells = scenarios(options.scenario)
            ways = ["one-shot"]
        elif options.leaves:
            many = next(cell for cell in CELLS if cell.name == "tree of leaves")
            cells = [replace(many, sizes=(10, 100, 1000, 10_000), operators=("gradient",), forward=100, alone=True)]
        else:
            cells = chosen(auto, options.leaf, options.objectives)
        for cell in cells:
            if options.cell and cell.name not in options.cell:
                continue
            for size in cell.sizes:
                for operator in cell.operators:
                    wanted = not options.operator or operator in options.operator
                    if wanted and size <= options.max_size and cell.includes(operator, size, reverse or bool(options.scenario)):
                        yield from ((cell, auto, operator, size, way) for way in ways)


def _summarize(timings: list[Timing]) -> None:
    """The largest ratio of each backend and way."""
    for way in WAYS:
        for backend in dict.fromkeys(timing.backend for timing in timings):
            found = [t for t in timings if t.backend == backend and t.way == way and t.ratio is not None]
            if found:
                worst = max(found, key=lambda timing: timing.ratio or 0.0)
                print(f"{short(backend)}, {way}: at most {worst.ratio:.2f} ({worst.cell}, {worst.operator}, n = {worst.size})")
