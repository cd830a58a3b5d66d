"""`python -m adinterface_conformance fuzz`: random programs, for a given time or number."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from adinterface import AutoBackend

from ..installed import installed_backends
from ..progress import progress
from ..runner import backend_from
from .record import Fuzzing
from .run import OPERATORS, SHARE, fuzz


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing failed, 1 if something did, 2 for a wrong command line."""
    options = parser("python -m adinterface_conformance fuzz", __doc__).parse_args(argv)
    try:
        backends = backends_of(options)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    seed, start, operators, share = options.seed, options.start, options.operators, options.share
    with shown(options) as seen:
        done = fuzz(
            backends, seed, programs=options.programs, seconds=seconds_of(options), start=start,
            operators=operators, share=share, seen=seen,
        )  # fmt: skip
    return finished(done, options)


def backends_of(options: argparse.Namespace) -> list[AutoBackend]:
    """The named backends, by default all that are installed. Raises ValueError for a value that is no backend."""
    return [backend_from(text) for text in options.backend] or installed_backends()


def seconds_of(options: argparse.Namespace) -> float | None:
    """The time limit; None if only a number of programs was given."""
    return None if options.programs is not None and options.minutes is None else 60 * (options.minutes or 1.0)


@contextmanager
def shown(options: argparse.Namespace, known: int = 0) -> Iterator[Callable[[Fuzzing], None]]:
    """Show the progress of a run, and each failure that is not known. Takes the state of the run."""
    start, total = time.monotonic(), options.programs
    with progress(seconds_of(options) if total is None else total) as update:

        def seen(fuzzing: Fuzzing) -> None:
            nonlocal known
            update(time.monotonic() - start if total is None else fuzzing.programs, _line(fuzzing))
            for failure in fuzzing.failures[known:]:
                print(failure, file=sys.stderr, flush=True)
            if fuzzing.failures[known:] and options.output is not None:
                options.output.write_text(report(fuzzing), encoding="utf-8")
            known = len(fuzzing.failures)

        yield seen


def finished(done: Fuzzing, options: argparse.Namespace) -> int:
    """Print the report, and write it to the named file. Returns the exit status."""
    if options.output is not None:
        options.output.write_text(report(done), encoding="utf-8")
    print(report(done), end="")
    return 0 if done.good else 1


def report(done: Fuzzing) -> str:
    """The failures, and a line that counts what was done."""
    lines = [f"{failure}\n" for failure in done.failures]
    counts = ", ".join(f"{name} {count}" for name, count in done.comparisons.items())
    refused = ", ".join(f"{name} {count}" for name, count in done.refused.items() if count)
    lines.append(
        f"seed {done.seed}: {done.programs} programs, {sum(done.comparisons.values())} comparisons ({counts}), "
        f"{done.skipped} trials skipped at kinks, {done.refused.total()} calls refused as documented"
        f"{f' ({refused})' if refused else ''}, {len(done.failures)} ways to fail\n"
    )
    return "\n".join(lines)


def _line(fuzzing: Fuzzing) -> str:
    compared = sum(fuzzing.comparisons.values())
    return f"{fuzzing.programs} programs, {compared} comparisons, {len(fuzzing.failures)} ways to fail"


def parser(program: str, description: str | None) -> argparse.ArgumentParser:
    """The options of a run."""
    made = argparse.ArgumentParser(prog=program, description=description)
    made.add_argument("--backend", action="append", default=[], metavar="VALUE", help="default: all that are installed")
    made.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed makes the same programs")
    made.add_argument("--minutes", type=float, metavar="M", help="for how long; 1 by default")
    made.add_argument("--programs", type=int, metavar="N", help="how many programs, instead of how long")
    made.add_argument("--start", type=int, default=0, metavar="N", help="the number of the first program")
    made.add_argument("--operators", type=int, default=OPERATORS, metavar="N", help="how many a program is tried with")
    made.add_argument("--share", type=int, default=SHARE, metavar="N", help="engines that compile try one program of N")
    made.add_argument("--output", type=Path, metavar="FILE", help="write the failures there as they are found")
    return made
