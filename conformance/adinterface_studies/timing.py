"""How long calls take that run in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any


def fastest(
    calls: Sequence[Callable[[], Any]],
    *,
    rounds: int = 3,
    seconds: float = 0.0,
    batch: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Seconds of each call, the fastest of the rounds, in which they take turns: the others tell
    what else the machine did.

    rounds, seconds: at least so many rounds, and for so long. batch: seconds of a short call that
    is repeated in a round.
    """
    counts = []
    for call in calls:
        call()
        start = clock()
        call()
        counts.append(max(1, int(batch / max(clock() - start, 1e-9))))
    best, done, end = [float("inf")] * len(calls), 0, time.perf_counter() + seconds
    while done < rounds or time.perf_counter() < end:
        for n, (call, count) in enumerate(zip(calls, counts)):
            start = clock()
            for _ in range(count):
                call()
            best[n] = min(best[n], (clock() - start) / count)
        done += 1
    return best
