"""The peak memory of one call, in a fresh process each, since engines allocate outside Python."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import adinterface
from adinterface import AutoBackend

from .cells import CELLS, Cell, Way
from .timing import Call, Calls


def peak(
    cell: Cell, auto: AutoBackend, operator: str, size: int, way: Way, ours: bool
) -> int | None:
    """Bytes by which one call raises the peak memory of a fresh process; a small call has gone
    before.

    If prepared, the call that is measured is the second of its size, so that compiling does not
    count.
    """
    arguments = [
        str(CELLS.index(cell)),
        type(auto).__name__,
        operator,
        str(size),
        way,
        str(int(ours)),
    ]
    command = [sys.executable, "-m", "adinterface_studies", "benchmark", "--peak", *arguments]
    # Freed arrays go back to the system at once, or what an earlier call left behind would hide
    # what this one takes.
    environment = {
        **os.environ,
        "MALLOC_MMAP_THRESHOLD_": "131072",
        "MALLOC_TRIM_THRESHOLD_": "131072",
    }
    printed = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout.strip()
    return int(printed) if printed else None


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
        reset_high_water()
    before = high_water()
    call()
    print(high_water() - before)


def high_water() -> int:
    """The peak memory of this process in bytes."""
    status = Path("/proc/self/status")
    # Linux: `getrusage` would count the parent's memory, which survives fork and exec
    if status.exists():
        line = next(
            line
            for line in status.read_text(encoding="ascii").splitlines()
            if line.startswith("VmHWM")
        )
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def reset_high_water() -> None:
    """Forget earlier peaks, where the system can."""
    switch = Path("/proc/self/clear_refs")
    if switch.exists():
        switch.write_text("5", encoding="ascii")
