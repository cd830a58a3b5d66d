"""The peak memory of one call, in a fresh process each, since engines allocate outside Python."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import adinterface

from .cells import CELLS, Way
from .timing import Call, Calls, Row


def peak(row: Row, ours: bool) -> int | None:
    """Bytes by which one call raises the peak memory of a fresh process.

    A small call has gone before.

    If prepared, the call that is measured is the second of its size, so that compiling does not
    count. None where there is no hand-written code.
    """
    cell, auto, operator, size, way = row
    words = [CELLS.index(cell), type(auto).__name__, operator, size, way, int(ours)]
    command = [sys.executable, "-m", "adinterface_studies", "benchmark", "--peak", *map(str, words)]
    # Freed arrays go back to the system at once, or what an earlier call left behind would hide
    # what this one takes.
    threshold = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
    found = subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **threshold}
    )
    return int(found.stdout) if found.stdout.strip() else None


def print_peak(index: str, name: str, operator: str, size: str, way: Way, ours: str) -> None:
    """What the fresh process does."""
    cell, auto = CELLS[int(index)], getattr(adinterface, name)()

    def build(n: int) -> Call | None:
        calls = Calls(cell, auto, operator, n, way)
        return calls.ours() if int(ours) else calls.handwritten()

    small, call = build(cell.sizes[0]), build(int(size))
    if small is None or call is None:
        return
    small()
    if way == "prepared":
        call()
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets earlier peaks
    before = high_water()
    call()
    print(high_water() - before)


def high_water() -> int:
    """The peak memory of this process in bytes, as Linux counts it."""
    # `getrusage` would count the parent's memory, which survives fork and exec
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
