"""The benchmark's table."""

from __future__ import annotations

from .timing import Timing

HEAD = (
    f"{'cell':18} {'leaf':7} {'operator':18} {'backend':12} {'way':8} {'n':>8} {'calls':>6}"
    f" {'first':>9} {'ours':>9} {'by hand':>9}  ratio"
)


def row(timing: Timing) -> str:
    """One line of the table."""
    by_hand = "-" if timing.handwritten is None else _duration(timing.handwritten)
    ratio = ""
    if timing.ratio is not None and timing.quartiles is not None and timing.fastest is not None:
        ratio = (
            f"{timing.ratio:.2f} ({timing.quartiles[0]:.2f} to {timing.quartiles[1]:.2f}), fastest"
            f" {timing.fastest:.2f}"
        )
    if timing.memory is not None and timing.handwritten_memory:
        ratio += (
            f", memory {timing.memory / 2**20:.0f} MiB,"
            f" {timing.memory / timing.handwritten_memory:.2f} of by hand"
        )
    name, calls = (
        short(timing.backend),
        "" if timing.evaluations is None else str(timing.evaluations),
    )
    return (
        f"{timing.cell:18} {timing.leaf:7} {timing.operator:18} {name:12} {timing.way:8}"
        f" {timing.size:>8} {calls:>6} {_duration(timing.first):>9} {_duration(timing.ours):>9}"
        f" {by_hand:>9}  {ratio}"
    ).rstrip()


def short(backend: str) -> str:
    """The name of a backend in a narrow column."""
    return (
        backend.partition("(")[0].removeprefix("Auto").replace("FiniteDifferences", "Differences")
    )


def _duration(seconds: float) -> str:
    return (
        f"{seconds:.2f} s"
        if seconds >= 1
        else f"{seconds * 1e3:.2f} ms"
        if seconds >= 1e-3
        else f"{seconds * 1e6:.0f} us"
    )
