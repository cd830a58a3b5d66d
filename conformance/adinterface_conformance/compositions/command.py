"""`python -m adinterface_conformance compositions`: for a given time or number."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..fuzz.command import backends_of, seconds_of
from ..progress import progress
from .blocks import BLOCKS
from .run import Compositions, compositions


def main(argv: Sequence[str], program: str = "python -m adinterface_conformance compositions") -> int:
    """The exit status: 0 if nothing was found, 1 if something was, 2 for a wrong command line."""
    options = _parser(program).parse_args(argv)
    try:
        backends = backends_of(options)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    for name in options.without:
        if BLOCKS.pop(name, None) is None:
            print(f"There is no block {name!r}, but {', '.join(sorted(BLOCKS))}.", file=sys.stderr)
            return 2
    start, shown, seconds = time.monotonic(), 0, seconds_of(options)
    with progress(seconds if options.programs is None else options.programs) as update:

        def seen(done: Compositions) -> None:
            nonlocal shown
            update(time.monotonic() - start if options.programs is None else done.programs, str(done))
            for each in done.finds[shown:]:
                print(f"{each}\n", file=sys.stderr, flush=True)
            if options.output is not None and len(done.finds) > shown:
                options.output.write_text(_report(done, refusals=options.refusals), encoding="utf-8")
            shown = len(done.finds)

        done = compositions(
            backends, options.seed, programs=options.programs, seconds=seconds, start=options.start, seen=seen
        )  # fmt: skip
    report = _report(done, refusals=options.refusals)
    if options.output is not None:
        options.output.write_text(report, encoding="utf-8")
    print(report, end="")
    return 1 if done.finds else 0


def _report(done: Compositions, *, refusals: bool) -> str:
    lines = [f"{each}\n" for each in done.finds]
    if refusals:
        lines += [f"refused {count} times: {words}" for words, count in done.refused.most_common()]
    return "\n".join([*lines, f"seed {done.seed}: {done}"]) + "\n"


def _parser(program: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=program, description=__doc__)
    parser.add_argument("--backend", action="append", default=[], metavar="VALUE", help="default: all that are installed")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed makes the same programs")
    parser.add_argument("--minutes", type=float, metavar="M", help="for how long; 1 by default")
    parser.add_argument("--programs", type=int, metavar="N", help="how many programs, instead of how long")
    parser.add_argument("--start", type=int, default=0, metavar="N", help="the number of the first program")
    parser.add_argument("--without", action="append", default=[], metavar="BLOCK", help="draw other programs, without it")
    parser.add_argument("--refusals", action="store_true", help="list the errors that were accepted")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write what is found there, as it is found")
    return parser
