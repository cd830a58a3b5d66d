"""The time of a call relative to hand-written code. Both run interleaved; the ratio is the median
over pairs of runs.
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
from .cells import Cell, Way
from .engine_code import Leaf
from .problems import VECTOR, Problem

#: A run repeats short calls until it takes about so many seconds.
RUN = 1e-3
#: A call of so many seconds, compiling apart, is measured twice, and not tried before.
SLOW = 5.0


@dataclass(frozen=True)
class Timing:
    """One measured cell."""

    cell: str
    operator: str
    backend: str
    way: Way
    size: int
    #: Seconds of the first call (preparation and compilation included), of later calls, of
    #: hand-written code.
    first: float
    ours: float
    handwritten: float | None
    #: The median ratio of the two, and its quartiles.
    ratio: float | None
    quartiles: tuple[float, float] | None
    #: The ratio of the fastest runs of the two, which a busy machine disturbs least.
    fastest: float | None = None
    #: Peak memory above that of the imports and arguments, in bytes; None unless asked for.
    memory: int | None = None
    handwritten_memory: int | None = None
    leaf: Leaf = "ndarray"
    #: How often a later call evaluates f; compiled code does not. None where it takes long to
    #: count.
    evaluations: int | None = None


Call = Callable[[], Any]


class Calls:
    """One cell on one backend as calls without arguments."""

    def __init__(self, cell: Cell, auto: AutoBackend, operator: str, size: int, way: Way):
        self.cell, self.auto, self.operator, self.way = (
            cell,
            replace(auto, **dict(cell.options)),
            operator,
            way,
        )
        self.yardstick = yardstick = engine_code.find(auto.name)
        self.problem: Problem = cell.build(size, np if yardstick is None else yardstick.namespace)
        if cell.leaf == "native" and yardstick is not None and yardstick.native is not None:
            self.problem = self.problem.made_of(yardstick.native)
        problem = self.problem
        self.f = problem.vector if operator in VECTOR else problem.scalar
        self.v = problem.v
        if operator == "hvp" and problem.v is None:
            # A model's tangent is a model; its own gradient is one.
            self.v = adinterface.gradient(
                self.f, auto, problem.x, *map(Constant, problem.constants)
            )[0]

    def ours(self, f: Callable[..., Any] | None = None) -> Call:
        """Our call; if prepared, prepared by the first call."""
        f = self.f if f is None else f
        operator, args, auto = getattr(adinterface, self.operator), self._arguments(), self.auto
        fast: Any = None

        def prepared() -> Any:
            nonlocal fast
            if fast is None:
                fast = adinterface.prepare(operator, f, auto, *args)
            return fast(*args)

        call = prepared if self.way == "prepared" else lambda: operator(f, auto, *args)
        return self._waiting(self._with_back(call) if self.operator == "pullback" else call)

    def _arguments(self) -> tuple[Any, ...]:
        """What our operator takes after the backend."""
        problem = self.problem
        constants = tuple(map(Constant, problem.constants))
        if self.operator == "pushforward":
            return (problem.x, *constants), (self.v, *[None] * len(constants))
        return (problem.x, *([self.v] if self.operator == "hvp" else []), *constants)

    def _with_back(self, call: Call) -> Call:
        def with_back() -> Any:
            value, back = call()
            return value, back(self.v)

        return with_back

    def _waiting(self, call: Call) -> Call:
        """The same for engine arrays, which some engines return before they are computed."""
        wait = (
            None
            if self.yardstick is None or self.cell.leaf not in ("native", "module")
            else self.yardstick.wait
        )
        return call if wait is None else lambda: wait(call())

    def handwritten(self) -> Call | None:
        """The engine's own code for the same; None if there is none."""
        if self.yardstick is None or self.problem.x is None or self.cell.alone:
            return None
        prepared = self.way == "prepared"
        if self.cell.by_hand is not None:
            transformed = self.cell.by_hand(self.operator, self.f, prepared)
        else:
            transformed = self.yardstick.transform(self.cell.leaf, self.operator, self.f, prepared)
        if transformed is None:
            return None
        directed = self.operator in ("hvp", "pullback", "pushforward")
        args = (self.problem.x, *([self.v] if directed else []), *self.problem.constants)
        return self._waiting(lambda: transformed(*args))

    def evaluations(self) -> int:
        """How often a later call of ours evaluates f."""
        count = 0

        def counted(*args: Any, **keywords: Any) -> Any:
            nonlocal count
            count += 1
            return self.f(*args, **keywords)

        call = self.ours(counted)
        call()
        before = count
        call()
        return count - before


def measure(
    cell: Cell, auto: AutoBackend, operator: str, size: int, way: Way, seconds: float
) -> Timing:
    """Time one cell for about so many seconds."""
    calls = Calls(cell, auto, operator, size, way)
    ours, handwritten = calls.ours(), calls.handwritten()
    first = _time(ours, 1)
    # What is prepared may take long once, for compiling.
    once = _time(ours, 1) if first < SLOW or way == "prepared" else first
    evaluations = calls.evaluations() if first < 5 * seconds else None
    if handwritten is not None and once < SLOW:
        for _ in range(2):  # as ours: compilers may look at a second call once more
            handwritten()
    repeats = max(1, min(200, round(RUN / once)))
    pairs: list[tuple[float, float]] = []
    start = time.perf_counter()
    while len(pairs) < (3 if once < SLOW else 2) or (
        time.perf_counter() - start < seconds and len(pairs) < 1000
    ):
        if handwritten is None:
            pairs.append((_time(ours, repeats), float("nan")))
        elif len(pairs) % 2:
            theirs = _time(handwritten, repeats)
            pairs.append((_time(ours, repeats), theirs))
        else:
            pairs.append((_time(ours, repeats), _time(handwritten, repeats)))
    later = statistics.median(pair[0] for pair in pairs)
    common = (cell.name, operator, repr(calls.auto), way, size, first, later)
    if handwritten is None:
        return Timing(*common, None, None, None, leaf=cell.leaf, evaluations=evaluations)
    ratios = [mine / theirs for mine, theirs in pairs]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    by_hand = statistics.median(pair[1] for pair in pairs)
    fastest = min(pair[0] for pair in pairs) / min(pair[1] for pair in pairs)
    return Timing(
        *common, by_hand, middle, (low, high), fastest, leaf=cell.leaf, evaluations=evaluations
    )


def _time(call: Call, repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats
