"""The command line of the benchmark of this project, with the options of the judge's."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from adinterface_conformance.benchmark.cells import CELLS
from adinterface_conformance.benchmark.command import Row, backends, measured, nothing_measured, parser, wanted
from adinterface_conformance.benchmark.report import short
from adinterface_conformance.benchmark.timing import Timing

from . import against, entries, rules, solvers, sparse, summary, training
from .cells import CHECKPOINTS, LEAVES, chosen, loops
from .memory import peak, print_peak
from .picture import plot

#: Sizes from which peak memory says something.
LARGE = 1_000_000


def main(argv: Sequence[str]) -> int:
    """Measure, print a table, and write JSON and a picture if asked."""
    argv = list(argv)
    if argv[:1] == ["--peak"]:
        print_peak(*argv[1:])  # type: ignore[arg-type]
        return 0
    if argv[:1] in (["--sparse"], ["--grown"]):
        return sparse.main(argv[argv[0] == "--sparse" :], backends())
    options = _parser().parse_args(argv)
    lines = _against(options, argv) if options.against else _lines(options)
    if lines is not None:
        try:
            for line in lines:
                print(line, flush=True)
        except against.RevisionError as error:
            print(error, file=sys.stderr)
            return 2
        return 0
    timings = measured(_chosen(options), options, _with_memory if options.memory else lambda row, timing: timing)
    if options.plot and timings:
        plot(timings, options.plot)
    return 0 if timings else nothing_measured(options)


def _parser() -> argparse.ArgumentParser:
    made = parser("python -m adinterface_studies benchmark", LEAVES)
    made.epilog = (
        "With --sparse as the first word: sparse Jacobians and Hessians instead "
        "(--sparse --growth: how they grow; --processor-time where others compute, too)."
    )
    made.add_argument("--memory", action="store_true", help=f"also measure peak memory from n = {LARGE:,} on")
    made.add_argument("--plot", help="draw the ratios to this PNG file (needs matplotlib)")
    made.add_argument("--against", metavar="REV", help="compare with a revision of git, or another checkout, instead")
    instead = made.add_mutually_exclusive_group()
    for name, text in (
        ("loops", "measure long loops, written with scan, instead"),
        ("checkpoints", "measure the peak memory of ever longer loops, without and with checkpoints"),
        ("leaves", "measure how a gradient scales with the leaves of a tree instead"),
    ):
        instead.add_argument(f"--{name}", action="store_true", help=text)
    for name, text in (
        ("rules", "measure what rules and crossings cost instead"),
        ("entries", "count the functions that a call of the smallest size enters instead"),
        ("solvers", "solve classical problems by SciPy instead (needs scipy)"),
        ("training", "measure whole steps of training instead (needs optax)"),
    ):
        made.add_argument(f"--{name}", action="store_true", help=text)
    made.add_argument("--summary", metavar="FILE", help="print what a printed table says of prepared calls instead")
    return made


def _against(options: argparse.Namespace, argv: Sequence[str]) -> Iterator[str]:
    """A comparison with another revision; its option is not passed on."""
    place = next(n for n, word in enumerate(argv) if word.partition("=")[0] == "--against")
    rest = [*argv[:place], *argv[place + 2 - ("=" in argv[place]) :]]
    return against.table(options.against, rest, options.seconds)


def _lines(options: argparse.Namespace) -> Iterator[str] | None:
    """The lines of what is asked for instead of the table; None if nothing is."""
    if options.summary:
        return summary.of_file(options.summary)
    if options.rules:
        return rules.report(backends())
    if options.solvers:
        return solvers.table(backends())
    if options.training:
        return training.table(backends(), options.seconds)
    if options.entries:
        return entries.table(row for row in _chosen(options) if row[3] == row[0].sizes[0])
    return _memory(options) if options.checkpoints else None


def _memory(options: argparse.Namespace) -> Iterator[str]:
    yield f"{'loop':18} {'backend':12} {'steps':>8} {'peak memory':>12}"
    for cell, auto, operator, size, way in _chosen(options):
        if way == "one-shot":
            taken = peak(cell, auto, operator, size, way, True)
            yield f"{cell.name:18} {short(repr(auto)):12} {size:>8} {(taken or 0) / 2**20:>8.1f} MiB"


def _with_memory(row: Row, timing: Timing) -> Timing:
    cell, auto, operator, size, way = row
    if size < LARGE or cell not in CELLS:
        return timing
    mine, by_hand = (peak(cell, auto, operator, size, way, ours) for ours in (True, False))
    return replace(timing, memory=mine, handwritten_memory=by_hand)


def _chosen(options: argparse.Namespace) -> Iterator[Row]:
    """What to measure, in the order of the table."""
    if options.loops:
        return wanted(options, loops)
    if options.checkpoints:
        return wanted(options, lambda auto: CHECKPOINTS)
    if options.leaves:
        many = next(cell for cell in CELLS if cell.name == "tree of leaves")
        grown = replace(many, sizes=(10, 100, 1000, 10_000), operators=("gradient",), forward=100, alone=True)
        return wanted(options, lambda auto: [grown])
    return wanted(options, lambda auto: chosen(auto, options.leaf))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
