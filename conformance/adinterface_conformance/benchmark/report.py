"""The benchmark's table and picture."""

from __future__ import annotations

from collections.abc import Sequence

from .timing import Timing

HEAD = (
    f"{'cell':18} {'leaf':7} {'operator':18} {'backend':12} {'way':8} {'n':>8} {'calls':>6} {'first':>9} {'ours':>9} "
    f"{'by hand':>9}  ratio"
)


def row(timing: Timing) -> str:
    """One line of the table."""
    by_hand = "-" if timing.handwritten is None else _duration(timing.handwritten)
    ratio = ""
    if timing.ratio is not None and timing.quartiles is not None:
        ratio = f"{timing.ratio:.2f} ({timing.quartiles[0]:.2f} to {timing.quartiles[1]:.2f})"
    if timing.memory is not None and timing.handwritten_memory:
        ratio += f", memory {timing.memory / 2**20:.0f} MiB, {timing.memory / timing.handwritten_memory:.2f} of by hand"
    name, calls = short(timing.backend), "" if timing.evaluations is None else str(timing.evaluations)
    return (
        f"{timing.cell:18} {timing.leaf:7} {timing.operator:18} {name:12} {timing.way:8} {timing.size:>8} {calls:>6} "
        f"{_duration(timing.first):>9} {_duration(timing.ours):>9} {by_hand:>9}  {ratio}"
    ).rstrip()


def short(backend: str) -> str:
    """The name of a backend in a narrow column."""
    return backend.partition("(")[0].removeprefix("Auto").replace("FiniteDifferences", "Differences")


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.0f} us"


def plot(timings: Sequence[Timing], file: str) -> None:
    """Every ratio as a point with its quartiles, a panel for each backend; below 1 ours is faster."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [timing for timing in timings if timing.ratio is not None]
    backends = list(dict.fromkeys(timing.backend for timing in shown))
    names = list(dict.fromkeys((t.cell, t.size, t.operator) for t in shown))
    figure, axes = pyplot.subplots(
        1, max(1, len(backends)), figsize=(3.2 * max(1, len(backends)) + 3, 0.24 * len(names) + 1.6), sharey=True, squeeze=False
    )
    for axis, backend in zip(axes[0], backends):
        for way, marker, color, shift in (("one-shot", "o", "tab:gray", -0.17), ("prepared", "D", "tab:blue", 0.17)):
            points = [t for t in shown if t.backend == backend and t.way == way]
            if not points:
                continue
            heights = [names.index((t.cell, t.size, t.operator)) + shift for t in points]
            ratios = [t.ratio or 0.0 for t in points]
            spread = [
                [ratio - t.quartiles[0] for ratio, t in zip(ratios, points) if t.quartiles],
                [t.quartiles[1] - ratio for ratio, t in zip(ratios, points) if t.quartiles],
            ]
            axis.errorbar(ratios, heights, xerr=spread, fmt=marker, color=color, markersize=3.5, linewidth=1, label=way)
        axis.axvline(1.0, color="black", linewidth=0.8)
        axis.set_xscale("log")
        axis.set_xlim(0.015, 4)
        axis.set_xticks([0.02, 0.1, 0.25, 0.5, 1, 2, 4], ["0.02", "0.1", "¼", "½", "1", "2", "4"])
        axis.minorticks_off()
        axis.set_title(short(backend))
        axis.set_xlabel("time / hand-written")
        axis.grid(True, axis="both", alpha=0.25)
    axes[0][0].set_yticks(
        range(len(names)), [f"{cell}, n = {size:,}: {operator}" for cell, size, operator in names], fontsize=7
    )
    axes[0][0].invert_yaxis()
    axes[0][-1].legend(fontsize=8, loc="lower left")
    figure.tight_layout()
    figure.savefig(file, dpi=130)
