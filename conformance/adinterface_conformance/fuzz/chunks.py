"""Many programs, in processes that are renewed: an engine keeps what it has compiled. A run that was stopped goes on."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import replace

from adinterface import AutoBackend

from .record import Fuzzing
from .run import fuzz

#: How many programs a process tries before it reports, and before another process takes its place.
CHUNK, RENEW = 20, 200


def fuzz_on(
    done: Fuzzing,
    backends: Sequence[AutoBackend],
    *,
    programs: int | None,
    seconds: float | None,
    jobs: int | None,
    renew: int = RENEW,
    seen: Callable[[Fuzzing], None],
) -> None:
    """Go on until so many programs are done in all, or for so long; `seen` is told of all that came of it so far.

    jobs: that many processes, each of which tries `renew` programs; None tries all in this one.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    if jobs is None:
        for start, count in _chunks(done, programs, 1):
            if deadline is not None and time.monotonic() > deadline:
                return
            done.add(_tried(backends, done, start, count))
            seen(done)
        return
    modules = tuple({type(backend).__module__ for backend in backends})
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=max(1, renew // CHUNK)) as pool:
        waiting: deque[Future[Fuzzing]] = deque()
        try:
            for start, count in _chunks(done, programs, CHUNK):
                waiting.append(pool.submit(_chunk, modules, backends, replace(done, failures=[*done.failures]), start, count))
                if len(waiting) > jobs:  # added in their order, so that what is written down has no gaps
                    done.add(waiting.popleft().result())
                    seen(done)
                if deadline is not None and time.monotonic() > deadline:
                    break
            while waiting:
                done.add(waiting.popleft().result())
                seen(done)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _chunks(done: Fuzzing, programs: int | None, size: int) -> Iterator[tuple[int, int]]:
    """The number of the first program of each chunk, and how many there are in it."""
    start, end = done.start + done.programs, None if programs is None else done.start + programs
    while end is None or start < end:
        count = size if end is None else min(size, end - start)
        yield start, count
        start += count


def _tried(backends: Sequence[AutoBackend], done: Fuzzing, start: int, count: int) -> Fuzzing:
    """What comes of `count` programs more, with the settings of the run."""
    return fuzz(
        backends, done.seed, programs=count, start=start, operators=done.operators, share=done.share, known=done.failures
    )


def _chunk(modules: Sequence[str], backends: Sequence[AutoBackend], done: Fuzzing, start: int, count: int) -> Fuzzing:
    for module in modules:  # where the backend values are defined
        importlib.import_module(module)
    gc.collect()
    gc.freeze()  # the engines' own objects, which a collection would look at again and again
    return _tried(backends, done, start, count)
