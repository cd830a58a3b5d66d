"""Where the microseconds of a prepared call go: the functions in which the profiler finds them."""

from __future__ import annotations

import cProfile
import pstats
import sys
from pathlib import Path
from typing import Any

from adinterface_conformance.benchmark.cells import Cell
from adinterface_conformance.benchmark.report import short
from adinterface_conformance.benchmark.timing import Calls

from adinterface import AutoBackend

CALLS = 2000
SHOWN = 14


def profile(cell: Cell, auto: AutoBackend, operator: str, size: int) -> str:
    """The functions in which a prepared call spends its time, as text; with the total of hand-written code.

    The profiler makes every Python function dearer than it is, so shares mean more than microseconds.
    """
    calls = Calls(cell, auto, operator, size, "prepared")
    ours, by_hand = _profiled(calls.ours()), _profiled(calls.handwritten())
    total = sum(own for own, _ in ours.values())
    theirs = f", by hand {sum(own for own, _ in by_hand.values()):.1f} us" if by_hand else ""
    lines = [f"{short(repr(auto))}: {operator} of {cell.name}, n = {size}: {total:.1f} us under the profiler{theirs}"]
    known = set(by_hand)
    for name, (own, count) in sorted(ours.items(), key=lambda item: -item[1][0])[:SHOWN]:
        mark = " " if name in known else "+"
        lines.append(f"{own:8.2f} us {100 * own / total:5.1f} %  {count:4.0f} x {mark} {name}")
    only = sum(own for name, (own, _) in ours.items() if name not in known)
    if by_hand:
        lines.append(
            f"{only:8.2f} us {100 * only / total:5.1f} %         in functions that hand-written code does not call (+)"
        )
    return "\n".join(lines)


def _profiled(call: Any) -> dict[str, tuple[float, float]]:
    """Of each function: microseconds of its own, and how often it is called, both for one call."""
    if call is None:
        return {}
    for _ in range(20):
        call()
    profiler = cProfile.Profile()
    profiler.enable()
    for _ in range(CALLS):
        call()
    profiler.disable()
    found: dict[str, tuple[float, float]] = {}
    for (file, line, name), (_, count, own, _, _) in pstats.Stats(profiler).stats.items():  # type: ignore[attr-defined]
        if "_lsprof" in name or file == __file__:
            continue
        where = name if file == "~" else f"{_shortened(file)}:{line} {name}"
        found[where] = (own / CALLS * 1e6, count / CALLS)
    return found


def _shortened(file: str) -> str:
    """A file's path from the folder in which Python found its package."""
    for folder in sorted(sys.path, key=len, reverse=True):
        if folder and file.startswith(folder.rstrip("/") + "/"):
            return str(Path(file).relative_to(folder))
    return Path(file).name
