"""What a gradient by differences costs beyond its evaluations: `python -m adinterface_studies differences --overhead`.

Each gradient is compared with the least that anybody would write: f at a copy of the point with one number displaced, as often
as the method evaluates f. The two run in turn, each round within milliseconds, and the median of the ratios counts. So a
machine whose speed changes disturbs it least. Microseconds are this ratio times the lower tenth of the evaluations' times.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from adinterface import AutoFiniteDifferences, gradient, prepare

Array = np.ndarray[Any, Any]

#: How many numbers a point has, and how long one measurement takes in seconds.
SIZES, LONG = (1, 20, 1000), 4.0
#: How long calls are timed together, in seconds.
BATCH = 1e-3


class Overhead(NamedTuple):
    """Of one gradient. Times in seconds."""

    method: str
    way: str
    size: int
    evaluations: int
    #: Of the gradient, and of its evaluations alone.
    whole: float
    bare: float

    @property
    def each(self) -> float:
        """Beyond f and the copy of its array, by evaluation."""
        return (self.whole - self.bare) / self.evaluations


def cheap(x: Array) -> Any:
    """A few microseconds, and as many evaluations as most functions take."""
    return np.exp(np.sin(x)).sum()


def overheads(sizes: tuple[int, ...] = SIZES, long: float = LONG) -> Iterator[Overhead]:
    for method in ("adaptive", "central"):
        for size in sizes:
            for way in ("one-shot", "prepared"):
                yield overhead(method, way, size, long)


def overhead(method: str, way: str, size: int, long: float = LONG) -> Overhead:
    """Measure one gradient and its evaluations."""
    backend, x = AutoFiniteDifferences(method=method), np.linspace(0.3, 2.0, size)  # type: ignore[arg-type]
    count = 0

    def counted(x: Array) -> Any:
        nonlocal count
        count += 1
        return cheap(x)

    gradient(counted, backend, x)
    once = prepare(gradient, cheap, backend, x) if way == "prepared" else lambda x: gradient(cheap, backend, x)
    places = [k % size for k in range(count)]

    def bare(x: Array) -> None:
        for place in places:
            moved = x.copy()
            moved[place] += 1e-3
            cheap(moved)

    whole, alone = _median(once, bare, x, long)
    return Overhead(method, way, size, count, whole, alone)


def _median(first: Callable[[Array], Any], second: Callable[[Array], Any], x: Array, long: float) -> tuple[float, float]:
    """Seconds of a call of each: of the second the lower tenth, of the first so much more as the median ratio says.

    Calls are timed in batches, since the clock of processor time may stop for microseconds.
    """
    times = max(1, round(BATCH / max(_batch(first, x, 3), 1e-9)))
    rounds: list[tuple[float, float]] = []
    end = time.process_time() + long
    while time.process_time() < end or not rounds:
        rounds.append((_batch(first, x, times), _batch(second, x, times)))
    ratio = statistics.median([one / max(other, 1e-9) for one, other in rounds])
    quick = sorted([other for _, other in rounds])[len(rounds) // 10]
    return ratio * quick, quick


def _batch(run: Callable[[Array], Any], x: Array, times: int) -> float:
    """Seconds of one of so many calls."""
    start = time.process_time()
    for _ in range(times):
        run(x)
    return (time.process_time() - start) / times


def as_text(rows: Iterator[Overhead]) -> str:
    """The rows as a Markdown table."""
    lines = ["| method | call | numbers | evaluations | us beyond each | whole / evaluations |", "| --- " * 6 + "|"]
    for row in rows:
        lines.append(
            f"| {row.method} | {row.way} | {row.size} | {row.evaluations} | {1e6 * row.each:.1f} | {row.whole / row.bare:.2f} |"
        )
    return "\n".join(lines)
