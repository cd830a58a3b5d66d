"""`python -m adinterface_studies fuzz`: long runs of the random programs of the judge.

They run in processes that are renewed, because an engine keeps what it has compiled, and a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import multiprocessing
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

from adinterface_conformance.fuzz import command
from adinterface_conformance.fuzz.record import Failure, Fuzzing
from adinterface_conformance.fuzz.run import fuzz

from adinterface import AutoBackend

#: How many programs a process tries before it reports, and before another process takes its place.
CHUNK, RENEW = 20, 200
#: After how many seconds the state is written again.
EVERY = 10.0


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing failed, 1 if something did, 2 for a wrong command line."""
    options = _parser().parse_args(argv)
    try:
        backends = command.backends_of(options)
        done = _begun(options, [repr(backend) for backend in backends])
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    written = [repr(backend) for backend in backends]
    shown, saved = len(done.failures), 0.0
    with command.shown(options, shown) as show:

        def seen(fuzzing: Fuzzing) -> None:
            nonlocal shown, saved
            show(fuzzing)
            if len(fuzzing.failures) > shown or time.monotonic() - saved > EVERY:
                shown, saved = len(fuzzing.failures), time.monotonic()
                _save(options.resume, fuzzing, written)

        try:
            fuzz_on(
                done, backends, programs=options.programs, seconds=command.seconds_of(options),
                jobs=options.jobs, renew=options.renew, seen=seen,
            )  # fmt: skip
        finally:
            _save(options.resume, done, written)
    return command.finished(done, options)


def _parser() -> argparse.ArgumentParser:
    parser = command.parser("python -m adinterface_studies fuzz", __doc__)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="that many processes, which are renewed")
    parser.add_argument("--renew", type=int, default=RENEW, metavar="N", help="replace a process after N programs")
    parser.add_argument("--resume", type=Path, metavar="FILE", help="keep the state there, and go on from it")
    return parser


# The state of a run in a file ----------------------------------------------------------------------------------------


def _begun(options: argparse.Namespace, backends: list[str]) -> Fuzzing:
    """What a run that is resumed has done so far; else nothing. Raises ValueError if it was another run."""
    fresh = Fuzzing(options.seed, options.start, operators=options.operators, share=options.share)
    if options.resume is None or not options.resume.exists():
        return fresh
    try:
        done, known = read(options.resume)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{options.resume} is no state of a run: {error!r}") from error
    for name, before, now in (
        *[(name, getattr(done, name), getattr(fresh, name)) for name in ("seed", "start", "operators", "share")],
        ("backends", known, backends),
    ):
        if before != now:
            raise ValueError(
                f"{options.resume} is of a run with {name} {before}, not {now}. "
                f"Resume with the same options, or name another file."
            )
    return done


def _save(path: Path | None, fuzzing: Fuzzing, backends: list[str]) -> None:
    if path is not None:
        failures = [{**vars(each), "rules": sorted(each.rules)} for each in fuzzing.failures]
        aside = path.with_name(f"{path.name}.new")  # an interrupt leaves the old or the new one
        aside.write_text(json.dumps({**vars(fuzzing), "failures": failures, "backends": backends}), encoding="utf-8")
        os.replace(aside, path)


def read(path: Path) -> tuple[Fuzzing, list[str]]:
    """The state of a run, and its backends as they are written. Raises ValueError, KeyError or TypeError if it is none."""
    state = json.loads(path.read_text(encoding="utf-8"))
    backends = state.pop("backends")
    for name in ("comparisons", "refused"):
        state[name] = Counter(state[name])
    state["failures"] = [Failure(**{**each, "rules": frozenset(each["rules"])}) for each in state["failures"]]
    return Fuzzing(**state), backends


# Processes -----------------------------------------------------------------------------------------------------------


def fuzz_on(
    done: Fuzzing,
    backends: Sequence[AutoBackend],
    *,
    programs: int | None,
    seconds: float | None,
    jobs: int,
    renew: int = RENEW,
    seen: Callable[[Fuzzing], None],
) -> None:
    """Go on until so many programs are done in all, or for so long; `seen` gets all results so far.

    jobs: that many processes, each of which tries `renew` programs.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    modules = tuple({type(backend).__module__ for backend in backends})
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=max(1, renew // CHUNK)) as pool:
        waiting: deque[Future[Fuzzing]] = deque()

        def take() -> None:
            """Add the oldest chunk: in their order, what is written down has no gaps."""
            add(done, waiting.popleft().result())
            seen(done)

        try:
            for start, count in _chunks(done, programs):
                waiting.append(pool.submit(_chunk, modules, backends, replace(done, failures=[*done.failures]), start, count))
                if len(waiting) > jobs:
                    take()
                if deadline is not None and time.monotonic() > deadline:
                    break
            while waiting:
                take()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def add(done: Fuzzing, more: Fuzzing) -> None:
    """Add what came of the programs after these."""
    done.programs += more.programs
    done.comparisons += more.comparisons
    done.skipped += more.skipped
    done.refused += more.refused
    for failure in more.failures:
        done.note(failure)


def _chunks(done: Fuzzing, programs: int | None) -> Iterator[tuple[int, int]]:
    """The number of the first program of each chunk, and how many there are in it."""
    start, end = done.start + done.programs, None if programs is None else done.start + programs
    while end is None or start < end:
        count = CHUNK if end is None else min(CHUNK, end - start)
        yield start, count
        start += count


def _chunk(modules: Sequence[str], backends: Sequence[AutoBackend], done: Fuzzing, start: int, count: int) -> Fuzzing:
    """What comes of `count` programs more, with the settings of the run."""
    for module in modules:  # where the backend values are defined
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # the engines' own objects, which a collection would look at again and again
    return fuzz(
        backends, done.seed, programs=count, start=start, operators=done.operators, share=done.share, known=done.failures
    )
