"""Sparse Jacobians and Hessians: the cost of the pattern, its colouring and a matrix, compared with another package."""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

import adinterface
from adinterface import AutoBackend, AutoSparse, hessian, jacobian, prepare
from adinterface.core.contract import registry
from adinterface.sparse import sparsity
from adinterface.sparse.colouring import by_symmetry, choose, symmetric
from adinterface.sparse.detect_trace import traced_pattern

from ..sparse_problems import PROBLEMS, SparseProblem
from ..timing import fastest

HEAD = (
    f"{'problem':21} {'n':>9} {'engine':10} {'detect':>8} {'colour':>8} {'passes':>6} {'first':>7} {'prepared':>9} "
    f"{'peer':>8} {'their':>8} {'their':>9} {'ratio':>6} {'dense':>9}\n"
    f"{'':21} {'':>9} {'':10} {'s':>8} {'s':>8} {'':>6} {'s':>7} {'ms':>9} {'detect s':>8} {'colour s':>8} {'ms':>9} {'':>6} "
    f"{'ms':>9}"
)
#: Dense matrices of more entries are not computed.
DENSE = 10**6


@dataclass(frozen=True)
class SparseTiming:
    """One problem on one engine. Seconds, the fastest of several rounds; None where something was not measured."""

    problem: str
    size: int
    backend: str
    detect: float
    colour: float
    passes: int
    #: Of `prepare` and the first call: detection, colouring, compiling, the check.
    first: float
    prepared: float
    #: From an array of the engine's own to its own matrix, which is what the peer gives.
    native: float | None = None
    peer_detect: float | None = None
    peer_colour: float | None = None
    peer_prepared: float | None = None
    dense: float | None = None

    @property
    def ratio(self) -> float | None:
        return None if self.peer_prepared is None or self.native is None else self.native / self.peer_prepared


#: What tells seconds: the wall's clock, or the processor's, which other programs do not slow down.
Clock = Callable[[], float]


def once(call: Callable[[], Any], clock: Clock = time.perf_counter) -> tuple[float, Any]:
    start = clock()
    result = call()
    return clock() - start, result


def measure(
    problem: SparseProblem,
    auto: AutoBackend,
    size: int,
    seconds: float,
    *,
    peers: bool = True,
    clock: Clock = time.perf_counter,
) -> SparseTiming:
    x = problem.x(size)
    operator: Callable[..., Any] = hessian if problem.scalar else jacobian

    def detect() -> Any:
        return traced_pattern(lambda leaves, others: problem.f(*leaves), [x], [], second=problem.scalar, values=True).pattern

    def colour() -> Any:
        return by_symmetry(symmetric(pattern)) if problem.scalar else choose(pattern, pushes=True, pulls=True)

    pattern = detect()
    times: dict[str, Any] = dict(zip(("detect", "colour"), fastest([detect, colour], seconds=seconds / 2, clock=clock)))

    def make() -> Any:
        fast = prepare(operator, problem.f, AutoSparse(auto), x)
        fast(x)
        return fast

    times["first"], fast = once(make, clock)
    calls: list[Callable[[], Any]] = [lambda: fast(x)]
    peer = peer_of(auto) if peers else None
    if peer is not None:
        own = prepare(operator, problem.f, AutoSparse(auto, format="native"), x)
        there = peer.native(x)
        calls.append(lambda: peer.wait(own(there) if problem.scalar else own(there)[0]))
        calls[-1]()
        if problem.name != "arrow":  # for which the peer takes minutes
            times["peer_detect"], found = once(lambda: peer.detected(problem.f, x, problem.scalar), clock)
            times["peer_colour"], colouring = once(lambda: peer.coloured(found, problem.scalar), clock)
            calls.append(peer.prepared(problem.f, x, colouring, problem.scalar))
            calls[-1]()
    best = fastest(calls, seconds=seconds, clock=clock)
    times |= dict(zip(("prepared", "native", "peer_prepared"), best))
    known = sparsity(operator, problem.f, AutoSparse(auto, pattern=pattern), x)
    if known.shape[0] * known.shape[1] <= DENSE:
        plain = prepare(operator, problem.f, auto, x)
        times["dense"] = fastest([lambda: plain(x)], clock=clock)[0]
    assert known.colouring is not None
    name, passes = type(auto).__name__, known.colouring.passes
    return SparseTiming(problem.name, x.size, name, passes=passes, **times)


def peer_of(auto: AutoBackend) -> ModuleType | None:
    """What the engine's users have for the same, if it is installed."""
    try:
        return importlib.import_module(f".engine_code.{auto.name}_sparse", __package__)
    except ImportError:
        return None


def row(timing: SparseTiming) -> str:
    def shown(value: float | None, width: int, digits: int, unit: float = 1.0) -> str:
        return f"{'-' if value is None else f'{value * unit:.{digits}f}':>{width}}"

    return (
        f"{timing.problem:21} {timing.size:9,} {timing.backend.removeprefix('Auto')[:10]:10} {timing.detect:8.3f} "
        f"{timing.colour:8.3f} {timing.passes:6} {timing.first:7.2f} {shown(timing.prepared, 9, 2, 1e3)} "
        f"{shown(timing.peer_detect, 8, 2)} {shown(timing.peer_colour, 8, 2)} {shown(timing.peer_prepared, 9, 2, 1e3)} "
        f"{shown(timing.ratio, 6, 2)} {shown(timing.dense, 9, 1, 1e3)}"
    )


# How it grows ----------------------------------------------------------------------------------------------------------


def grown(argv: Sequence[str]) -> None:
    """In a process of its own: the tridiagonal problem of one size on one engine, as JSON."""
    name, size, *processor = argv
    auto = getattr(adinterface, name)()
    problem = PROBLEMS[0]
    jacobian(problem.f, auto, problem.x(4))  # the engine is loaded
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    timing = measure(problem, auto, int(size), 0.5, peers=False, clock=_clock(bool(processor)))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(asdict(timing) | {"memory": 1024 * (after - before)}))


def _clock(processor: bool) -> Clock:
    return time.process_time if processor else time.perf_counter


def growth(backends: Sequence[AutoBackend], sizes: Sequence[int], *, processor: bool = False) -> None:
    print(f"{'engine':22} {'n':>9} {'detect s':>9} {'colour s':>9} {'first s':>8} {'prepared ms':>12} {'peak MB':>8}")
    for auto in backends:
        for size in sizes:
            command = [sys.executable, "-m", "adinterface_studies", "benchmark", "--grown", type(auto).__name__, str(size)]
            command += ["processor"] * processor
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            print(
                f"{found['backend']:22} {found['size']:9,} {found['detect']:9.3f} {found['colour']:9.3f} {found['first']:8.2f} "
                f"{1e3 * found['prepared']:12.2f} {found['memory'] / 1e6:8.0f}",
                flush=True,
            )


def main(argv: Sequence[str], backends: Sequence[AutoBackend]) -> int:
    if argv[:1] == ["--grown"]:
        grown(argv[1:])
        return 0
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies benchmark --sparse", description=__doc__)
    parser.add_argument("--backend", action="append", help="a backend's class, by its name; by default all")
    parser.add_argument("--problem", action="append", help="a problem's name; all by default")
    parser.add_argument("--size", type=int, help="in the place of each problem's own size")
    parser.add_argument(
        "--growth", action="store_true", help="the tridiagonal problem up to n = 10^6 instead, with peak memory"
    )
    parser.add_argument("--seconds", type=float, default=2.0, help="how long to measure each call (default: 2)")
    parser.add_argument(
        "--processor-time", action="store_true", help="count the processor's time, on a machine that others use, too"
    )
    options = parser.parse_args(list(argv))
    chosen = [auto for auto in backends if not options.backend or type(auto).__name__ in options.backend]
    if options.growth:
        growth(chosen, [10_000, 100_000, options.size or 1_000_000], processor=options.processor_time)
        return 0
    print(HEAD)
    for problem in PROBLEMS:
        if options.problem and problem.name not in options.problem:
            continue
        for auto in chosen:
            if "pullback" not in registry.find(auto).gives and (problem.scalar or problem.name == "arrow"):
                continue  # its gradients and full rows take as long as all columns
            size, clock = options.size or problem.measured, _clock(options.processor_time)
            print(row(measure(problem, auto, size, options.seconds, clock=clock)), flush=True)
    return 0
