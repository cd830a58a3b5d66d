"""`python -m adinterface_conformance fuzz`: random programs, for as long as one likes."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..installed import installed_backends
from ..progress import progress
from ..runner import backend_from
from .run import Fuzzing, fuzz


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing failed, 1 if something did, 2 for a wrong command line."""
    options = _parser().parse_args(argv)
    try:
        backends = [backend_from(text) for text in options.backend] or installed_backends()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    seconds = None if options.programs is not None and options.minutes is None else 60 * (options.minutes or 1.0)
    shown = 0
    start = time.monotonic()
    with progress(seconds if options.programs is None else options.programs) as update:

        def seen(fuzzing: Fuzzing) -> None:
            nonlocal shown
            update(time.monotonic() - start if options.programs is None else fuzzing.programs, _line(fuzzing))
            if options.output is not None and len(fuzzing.failures) > shown:
                shown = len(fuzzing.failures)
                options.output.write_text(_text(fuzzing), encoding="utf-8")

        done = fuzz(backends, options.seed, programs=options.programs, seconds=seconds, start=options.start, seen=seen)
    print(_text(done), end="")
    if options.output is not None:
        options.output.write_text(_text(done), encoding="utf-8")
    return 0 if done.good else 1


def _text(done: Fuzzing) -> str:
    lines = [f"{failure}\n" for failure in done.failures]
    counts = ", ".join(f"{name} {count}" for name, count in done.comparisons.items())
    lines.append(
        f"seed {done.seed}: {done.programs} programs, {sum(done.comparisons.values())} comparisons ({counts}), "
        f"{done.skipped} trials skipped at kinks, {len(done.failures)} ways to fail\n"
    )
    return "\n".join(lines)


def _line(fuzzing: Fuzzing) -> str:
    compared = sum(fuzzing.comparisons.values())
    return f"{fuzzing.programs} programs, {compared} comparisons, {len(fuzzing.failures)} ways to fail"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m adinterface_conformance fuzz", description=__doc__)
    parser.add_argument("--backend", action="append", default=[], metavar="VALUE", help="default: all that are installed")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed makes the same programs")
    parser.add_argument("--minutes", type=float, metavar="M", help="for how long; 1 by default")
    parser.add_argument("--programs", type=int, metavar="N", help="how many programs, instead of how long")
    parser.add_argument("--start", type=int, default=0, metavar="N", help="the number of the first program")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the failures there as they are found")
    return parser
