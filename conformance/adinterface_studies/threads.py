"""Random programs called from many threads at once: the numbers are those of one thread, to the last bit, and nothing grows.

Prepared calls are shared between the threads, which call them at two points and with two sets of static values. A call is drawn
the more often the less time it takes, so that all kinds of calls get the same time.
"""

from __future__ import annotations

import argparse
import contextvars
import dataclasses
import gc
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from adinterface_conformance.fuzz.elsewhere import switches
from adinterface_conformance.fuzz.judging import NotSmooth, judge
from adinterface_conformance.fuzz.run import calls, drawn, may_prepare
from adinterface_conformance.fuzz.trial import Call, Trial
from adinterface_conformance.installed import installed_backends
from adinterface_conformance.progress import progress
from adinterface_conformance.runner import backend_from
from adinterface_conformance.state import changes, global_state
from adinterface_conformance.trees import assert_close

from adinterface import AutoBackend

from .benchmark.memory import high_water

#: How many programs the calls are drawn from.
PROGRAMS = 24
#: The calls of this part come before memory is measured, for caches fill.
WARM = 0.2
#: What is no growth: what an allocator takes at once, and what it loses with each call, in bytes.
ALLOWED, ALLOWED_A_CALL = 64 * 2**20, 32
#: How many wrong calls are described.
SHOWN = 20
#: How many draws a thread makes at once.
DRAWS = 1000


@dataclass(frozen=True)
class Task:
    """One call, and what it gives in one thread."""

    name: str
    call: Callable[[], dict[str, Any]]
    wanted: dict[str, Any]
    seconds: float = 1.0

    def wrong(self) -> str | None:
        """What is wrong with one more call; None if nothing is."""
        try:
            for part, got in self.call().items():
                assert_close(got, self.wanted[part], part, 0.0)
        except Exception as error:  # whatever an engine raises among threads
            return f"{self.name}: {type(error).__name__}: {error}"
        return None


@dataclass
class Hammering:
    """What came of the calls."""

    threads: int
    #: How many calls there are to draw from.
    tasks: int = 0
    calls: int = 0
    seconds: float = 0.0
    wrong: int = 0
    described: list[str] = field(default_factory=list)
    #: Bytes in use when caches were full, after how many calls that was, and bytes at the end.
    before: int = 0
    measured_after: int = 0
    after: int = 0
    changed: list[str] = field(default_factory=list)

    @property
    def grown(self) -> bool:
        return self.after - self.before > ALLOWED + ALLOWED_A_CALL * (self.calls - self.measured_after)

    @property
    def good(self) -> bool:
        return not (self.wrong or self.grown or self.changed)

    def __str__(self) -> str:
        lines = [*self.described, *self.changed]
        per_call = (self.after - self.before) / max(1, self.calls - self.measured_after)
        lines.append(
            f"{self.calls} calls of {self.tasks} kinds from {self.threads} threads in {self.seconds:.0f} s "
            f"({self.calls / max(self.seconds, 1e-9):.0f} a second), {self.wrong} wrong, memory {self.before / 2**20:.0f} MiB "
            f"after {self.measured_after} calls and {self.after / 2**20:.0f} MiB at the end ({per_call:.0f} bytes a call"
            f"{', which is growth' if self.grown else ''}), {len(self.changed)} changes of global state"
        )
        return "\n".join(lines)


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing was wrong, grew or changed; 2 for a wrong command line."""
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies threads", description=__doc__)
    parser.add_argument("--backend", action="append", default=[], metavar="VALUE", help="default: all that are installed")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed makes the same programs")
    parser.add_argument("--threads", type=int, default=8, metavar="T", help="from how many threads")
    parser.add_argument("--calls", type=int, default=20_000, metavar="N", help="how many calls in all")
    options = parser.parse_args(argv)
    try:
        backends = [backend_from(text) for text in options.backend] or installed_backends()
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    with progress(options.calls) as update:
        seen: Callable[[Hammering], None] = lambda done: update(done.calls, _line(done))
        done = hammer(backends, options.seed, options.threads, options.calls, seen=seen)
    print(done)
    return 0 if done.good else 1


def _line(done: Hammering) -> str:
    if not done.calls:
        return f"{done.tasks} kinds of calls are made in one thread"
    return f"{done.calls} calls, {done.calls / max(done.seconds, 1e-9):.0f} a second, {done.wrong} wrong"


def hammer(
    backends: Sequence[AutoBackend],
    seed: int,
    count: int,
    calls: int,
    *,
    programs: int = PROGRAMS,
    seen: Callable[[Hammering], None] = lambda done: None,
) -> Hammering:
    """So many calls in all, from so many threads; `seen` gets the counts from time to time."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        done = Hammering(count)
        made: list[Task] = []
        for number in range(programs):
            made += tasks(backends, seed, number)
            done.tasks = len(made)
            seen(done)
        states = [global_state(backend) for backend in backends]
        _run(done, made, seed, calls, seen)
        for backend, state in zip(backends, states):
            done.changed += [f"global state: {change}" for change in changes(state, global_state(backend))]
    return done


def _run(done: Hammering, made: list[Task], seed: int, calls: int, seen: Callable[[Hammering], None]) -> None:
    counts, lock, stop = [0] * done.threads, threading.Lock(), threading.Event()
    rates = np.array([1 / task.seconds for task in made])
    rates /= rates.sum()

    def work(n: int) -> None:
        rng = np.random.default_rng([seed, n])
        draws: list[int] = []
        for _ in range(n, calls, done.threads):
            if stop.is_set():
                return
            draws = draws or rng.choice(len(made), DRAWS, p=rates).tolist()
            text = made[draws.pop()].wrong()
            counts[n] += 1
            if text is not None:
                with lock:
                    done.wrong += 1
                    if len(done.described) < SHOWN:
                        done.described.append(text)

    start = time.monotonic()
    # Each thread in a copy of this context, because NumPy's error state is one of its variables.
    workers = [threading.Thread(target=contextvars.copy_context().run, args=(work, n)) for n in range(done.threads)]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            while worker.is_alive():
                worker.join(0.5)
                done.calls, done.seconds = sum(counts), time.monotonic() - start
                if not done.before and done.calls >= WARM * calls:
                    done.before, done.measured_after = in_use(), done.calls
                seen(done)
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    # A thread that ends between two looks of the loop above would be counted as of the look before.
    done.calls, done.seconds = sum(counts), time.monotonic() - start
    done.after = in_use()


def in_use() -> int:
    """The memory of this process in bytes; where the system does not tell, the most that it has had."""
    gc.collect()
    pages = Path("/proc/self/statm")
    if pages.exists():
        return int(pages.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return high_water()


# What is called ------------------------------------------------------------------------------------------------------


def tasks(backends: Sequence[AutoBackend], seed: int, number: int) -> list[Task]:
    """Calls of a program that are right in one thread: one-shot, and prepared at two points."""
    found: list[Task] = []
    for trial in drawn(seed, number)[1]:
        for call in calls(seed, number, trial, backends):
            for prepared in (False, True) if may_prepare(trial, call.backend) else (False,):
                found += _tasks(trial, dataclasses.replace(call, prepared=prepared))
    return found


def _tasks(trial: Trial, call: Call) -> list[Task]:
    try:
        judgement = judge(trial, call)
    except NotSmooth:
        return []
    if judgement.parts is None or judgement.findings:  # refused, or what the fuzzer finds
        return []
    case, name = trial.case(call), f"{trial.operation.name}, program {trial.seed}, {call}"
    if not call.prepared:
        return [_timed(Task(name, case.again, judgement.parts))]
    fast = case.prepared()

    def operator(f: Any, backend: Any, *args: Any, **kwargs: Any) -> Any:
        return fast(*args, **kwargs)

    found = [_timed(Task(name, lambda: case.parts(case.apply(operator, trial.f)), judgement.parts))]
    if not (trial.elsewhere.turns and switches(trial.program)):  # a switch affects all threads
        args, kwargs = case.elsewhere()
        elsewhere: Callable[[], dict[str, Any]] = lambda: case.parts(fast(*args, **kwargs))
        found.append(_timed(Task(f"{name}, elsewhere", elsewhere, elsewhere())))
    return found


def _timed(task: Task) -> Task:
    """The task with the time of a call, the shorter one of two."""
    times = []
    for _ in range(2):
        start = time.thread_time()
        task.wrong()
        times.append(time.thread_time() - start)
    return dataclasses.replace(task, seconds=max(min(times), 1e-5))
