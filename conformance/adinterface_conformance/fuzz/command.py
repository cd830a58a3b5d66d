"""`python -m adinterface_conformance fuzz`: random programs, for as long as one likes."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from ..installed import installed_backends
from ..progress import progress
from ..runner import backend_from
from .chunks import RENEW, fuzz_on
from .record import Fuzzing, read
from .run import OPERATORS, SHARE

#: After how many seconds the state is written again.
EVERY = 10.0


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing failed, 1 if something did, 2 for a wrong command line."""
    options = _parser().parse_args(argv)
    try:
        backends = [backend_from(text) for text in options.backend] or installed_backends()
        done = _begun(options, [repr(backend) for backend in backends])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    seconds = None if options.programs is not None and options.minutes is None else 60 * (options.minutes or 1.0)
    shown, start, saved = len(done.failures), time.monotonic(), 0.0
    with progress(seconds if options.programs is None else options.programs) as update:

        def seen(fuzzing: Fuzzing) -> None:
            nonlocal shown, saved
            update(time.monotonic() - start if options.programs is None else fuzzing.programs, _line(fuzzing))
            news = fuzzing.failures[shown:]
            for failure in news:
                print(failure, file=sys.stderr, flush=True)
            if news or time.monotonic() - saved > EVERY:
                shown, saved = len(fuzzing.failures), time.monotonic()
                _save(options, fuzzing)

        try:
            fuzz_on(
                done, backends, programs=options.programs, seconds=seconds, jobs=options.jobs, renew=options.renew, seen=seen
            )
        finally:
            _save(options, done)
    print(_text(done), end="")
    return 0 if done.good else 1


def _begun(options: argparse.Namespace, backends: list[str]) -> Fuzzing:
    """What a run that is resumed has done so far; else nothing. Raises ValueError if it was another run."""
    fresh = Fuzzing(options.seed, options.start, backends=backends, operators=options.operators, share=options.share)
    if options.resume is None or not options.resume.exists():
        return fresh
    try:
        done = read(options.resume.read_text(encoding="utf-8"))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{options.resume} is no state of a run: {error!r}") from error
    for name in ("seed", "start", "backends", "operators", "share"):
        if getattr(done, name) != getattr(fresh, name):
            raise ValueError(
                f"{options.resume} is of a run with {name} {getattr(done, name)}, not {getattr(fresh, name)}. "
                f"Resume with the same options, or name another file."
            )
    return done


def _save(options: argparse.Namespace, fuzzing: Fuzzing) -> None:
    if options.output is not None:
        options.output.write_text(_text(fuzzing), encoding="utf-8")
    if options.resume is not None:
        aside = options.resume.with_name(f"{options.resume.name}.new")  # an interrupt leaves the old or the new one
        aside.write_text(fuzzing.written(), encoding="utf-8")
        os.replace(aside, options.resume)


def _text(done: Fuzzing) -> str:
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m adinterface_conformance fuzz", description=__doc__)
    parser.add_argument("--backend", action="append", default=[], metavar="VALUE", help="default: all that are installed")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed makes the same programs")
    parser.add_argument("--minutes", type=float, metavar="M", help="for how long; 1 by default")
    parser.add_argument("--programs", type=int, metavar="N", help="how many programs, instead of how long")
    parser.add_argument("--start", type=int, default=0, metavar="N", help="the number of the first program")
    parser.add_argument("--operators", type=int, default=OPERATORS, metavar="N", help="how many a program is tried with")
    parser.add_argument("--share", type=int, default=SHARE, metavar="N", help="engines that compile try one program of N")
    parser.add_argument("--renew", type=int, default=RENEW, metavar="N", help="with --jobs: replace a process after N programs")
    parser.add_argument("--jobs", type=int, metavar="N", help="that many processes, which are renewed; for long runs")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the failures there as they are found")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="keep the state there, and go on from it")
    return parser
