"""What a gradient by differences costs beyond its evaluations: `python -m adinterface_studies differences --overhead`.

Each gradient is compared with the least that anybody would write: f at a copy of the point with one number displaced, as often
as the method evaluates f. The two run in turn, and the fastest of each counts, in processor time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from adinterface import AutoFiniteDifferences, gradient, prepare

from ..timing import fastest

Array = np.ndarray[Any, Any]

#: How many numbers a point has, and how long one measurement takes in seconds.
SIZES, LONG = (1, 20, 1000), 8.0
#: How long calls are timed together, in seconds.
BATCH = 1e-3


class Overhead(NamedTuple):
    """Of one gradient."""

    method: str
    way: str
    size: int
    evaluations: int
    #: Microseconds beyond f and the copy of its array, by evaluation; and the time of the gradient over that of these.
    each: float
    ratio: float


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
    once = prepare(gradient, cheap, backend, x) if way == "prepared" else partial(gradient, cheap, backend)
    places = [k % size for k in range(count)]

    def evaluations() -> None:
        for place in places:
            moved = x.copy()
            moved[place] += 1e-3
            cheap(moved)

    whole, plain = fastest([partial(once, x), evaluations], seconds=long, batch=BATCH, clock=time.process_time)
    return Overhead(method, way, size, count, 1e6 * (whole - plain) / count, whole / plain)


def as_text(rows: Iterator[Overhead]) -> str:
    """The rows as a Markdown table."""
    lines = ["| method | call | numbers | evaluations | us beyond each | whole / evaluations |", "| --- " * 6 + "|"]
    for row in rows:
        lines.append(f"| {row.method} | {row.way} | {row.size} | {row.evaluations} | {row.each:.1f} | {row.ratio:.2f} |")
    return "\n".join(lines)
