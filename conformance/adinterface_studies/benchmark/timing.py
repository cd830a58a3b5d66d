"""The time of a call relative to hand-written code.

Both run interleaved; the ratio is the median over pairs of runs.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import adinterface
from adinterface import AutoBackend, Constant

from . import engine_code
from .cells import VECTOR, Cell, Way

#: A run repeats short calls until it takes about so many seconds.
RUN = 1e-3
#: A call of so many seconds, compiling apart, is measured twice, and not tried before.
SLOW = 5.0
HEAD = (
    f"{'cell':18} {'leaf':7} {'operator':18} {'backend':12} {'way':8} {'n':>8} {'calls':>6}"
    f" {'first':>9} {'ours':>9} {'by hand':>9}  ratio"
)

Call = Callable[[], Any]
#: A cell on a backend: an operator at a size, in one way of calling it.
Row = tuple[Cell, AutoBackend, str, int, Way]


def words(row: Row) -> str:
    """The first columns of a table."""
    cell, auto, operator, size, way = row
    return f"{cell.name:18} {cell.leaf:7} {operator:18} {short(auto):12} {way:8} {size:>8}"


def short(auto: AutoBackend) -> str:
    """The name of a backend in a narrow column."""
    name = type(auto).__name__.removeprefix("Auto")
    return name.replace("FiniteDifferences", "Differences")


@dataclass(frozen=True)
class Timing:
    """One measured cell."""

    row: Row
    #: Seconds of the first call (preparation and compilation included), of later calls, of
    #: hand-written code.
    first: float
    ours: float
    by_hand: float | None = None
    #: The median ratio of the two, between its quartiles; that of the fastest runs, which a busy
    #: machine disturbs least.
    ratios: tuple[float, float, float] | None = None
    fastest: float | None = None
    #: How often a later call evaluates f; compiled code does not. None where it takes long to
    #: count.
    evaluations: int | None = None
    #: Peak memory in bytes, ours and by hand.
    memory: tuple[int | None, int | None] = (None, None)

    def __str__(self) -> str:
        """One line of the table."""
        calls = "" if self.evaluations is None else self.evaluations
        times = [_duration(seconds) for seconds in (self.first, self.ours, self.by_hand)]
        line = f"{words(self.row)} {calls:>6} {times[0]:>9} {times[1]:>9} {times[2]:>9}"
        if self.ratios is not None:
            low, middle, high = self.ratios
            line += f"  {middle:.2f} ({low:.2f} to {high:.2f}), fastest {self.fastest:.2f}"
        mine, theirs = self.memory
        if mine is not None and theirs:
            line += f", memory {mine / 2**20:.0f} MiB, {mine / theirs:.2f} of by hand"
        return line


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"


class Calls:
    """One cell on one backend as calls without arguments."""

    def __init__(self, cell: Cell, auto: AutoBackend, operator: str, size: int, way: Way):
        self.cell, self.operator, self.way = cell, operator, way
        self.auto = replace(auto, **dict(cell.options))
        self.code = engine_code.find(auto.name)
        self.problem = cell.build(size, np if self.code is None else self.code.namespace)
        self.f = self.problem.vector if operator in VECTOR else self.problem.scalar
        self.constants = self.problem.constants
        self.x, self.v = self.problem.x, self.problem.v
        if cell.leaf == "native":
            self.x, self.v = (
                engine_code.build(tree, map(self.code.native, engine_code.leaves(tree)))
                for tree in (self.x, self.v)
            )
        if operator == "hvp" and self.v is None:
            # A model's tangent is a model; its own gradient is one.
            self.v = adinterface.gradient(self.f, auto, self.x, *map(Constant, self.constants))[0]

    def ours(self, f: Callable[..., Any] | None = None) -> Call:
        """Our call; if prepared, prepared by the first call."""
        f, auto = f or self.f, self.auto
        operator, constants = getattr(adinterface, self.operator), [*map(Constant, self.constants)]
        args: tuple[Any, ...] = (self.x, *([self.v] if self.operator == "hvp" else []), *constants)
        if self.operator == "pushforward":
            args = (self.x, *constants), (self.v, *[None] * len(constants))
        fast: Any = None

        def prepared() -> Any:
            nonlocal fast
            if fast is None:
                fast = adinterface.prepare(operator, f, auto, *args)
            return fast(*args)

        call = prepared if self.way == "prepared" else lambda: operator(f, auto, *args)
        return self._waiting(self._with_back(call) if self.operator == "pullback" else call)

    def _with_back(self, call: Call) -> Call:
        def with_back() -> Any:
            value, back = call()
            return value, back(self.v)

        return with_back

    def _waiting(self, call: Call) -> Call:
        """The same for engine arrays, which some engines return before they are computed."""
        wait = None if self.code is None or self.cell.leaf == "ndarray" else self.code.wait
        return call if wait is None else lambda: wait(call())

    def handwritten(self) -> Call | None:
        """The engine's own code for the same; None if there is none."""
        if self.code is None:
            return None
        prepared = self.way == "prepared"
        if self.cell.by_hand is not None:
            transformed = self.cell.by_hand(self.operator, self.f, prepared)
        else:
            transformed = self.code.transform(self.cell.leaf, self.operator, self.f, prepared)
        if transformed is None:
            return None
        directed = self.operator in ("hvp", "pullback", "pushforward")
        args = (self.x, *([self.v] if directed else []), *self.constants)
        return self._waiting(lambda: transformed(*args))

    def evaluations(self) -> int:
        """How often a later call of ours evaluates f."""
        count = 0

        def counted(*args: Any) -> Any:
            nonlocal count
            count += 1
            return self.f(*args)

        call = self.ours(counted)
        call()
        before = count
        call()
        return count - before


def measure(row: Row, seconds: float) -> Timing:
    """Time one cell for about so many seconds."""
    calls = Calls(*row)
    ours, handwritten = calls.ours(), calls.handwritten()
    first = seconds_of(ours, 1)
    # What is prepared may take long once, for compiling.
    once = seconds_of(ours, 1) if first < SLOW or calls.way == "prepared" else first
    evaluations = calls.evaluations() if first < 5 * seconds else None
    both = [ours] if handwritten is None else [ours, handwritten]
    if once < SLOW:  # compilers may look at a second call once more
        for call in both[1:] * 2:
            call()
    repeats = repeats_of(once)
    rounds: list[list[float]] = []
    start = time.perf_counter()
    while len(rounds) < (3 if once < SLOW else 2) or (
        time.perf_counter() - start < seconds and len(rounds) < 1000
    ):
        turn = -1 if len(rounds) % 2 else 1
        rounds.append([seconds_of(call, repeats) for call in both[::turn]][::turn])
    mine, *theirs = zip(*rounds)
    timing = Timing(row, first, statistics.median(mine), evaluations=evaluations)
    if not theirs:
        return timing
    ratios = [mine / by_hand for mine, by_hand in rounds]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return replace(
        timing, by_hand=statistics.median(theirs[0]), ratios=(low, middle, high),
        fastest=min(mine) / min(theirs[0]),
    )  # fmt: skip


def repeats_of(once: float) -> int:
    """How often a call of so many seconds is repeated in a run."""
    return max(1, min(200, round(RUN / once)))


def seconds_of(call: Call, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats
