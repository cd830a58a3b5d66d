"""The benchmark's picture: every ratio as a dot, a row for each cell, a colour for each engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .cells import Way
from .report import short
from .timing import Timing

#: Colours that differ for all eyes, in the order in which backends come.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: Ratios beyond these are at the edge, as triangles.
LEAST, MOST = 0.1, 10.0
TICKS = {
    0.1: "0.1",
    0.2: "0.2",
    0.5: "½",
    0.8: "0.8",
    1.0: "1",
    1.25: "1.25",
    2.0: "2",
    5.0: "5",
    10.0: "10",
}
#: From this ratio on a dot says which operator it is.
NAMED = 1.5
#: The height of an engine's line and the space around a row, in inches.
LINE, SPACE = 0.13, 0.1
#: What the leaf of a heading is, in words.
HEADINGS = {
    "ndarray": "NumPy arrays", "native": "the engine's own arrays", "number": "a Python number",
    "module": "models",
}  # fmt: skip


def plot(timings: Sequence[Timing], file: str) -> None:
    """Draw the ratios to a PNG file: below 1 ours is faster. Prepared calls are filled, one-shot
    ones are hollow.

    The dots of a row that share a line and a colour are the operators of the cell.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [timing for timing in timings if timing.ratio is not None]
    backends = list(dict.fromkeys(short(timing.backend) for timing in shown))
    colors = {backend: COLORS[n % len(COLORS)] for n, backend in enumerate(backends)}
    lines, headings, depth = _lines(shown, backends)
    figure, axis = pyplot.subplots(figsize=(8.0, depth + 1.3))
    for (row, backend), height in lines.items():
        _draw(
            axis,
            [t for t in shown if _row(t) == row and short(t.backend) == backend],
            height,
            colors[backend],
        )
    labels: dict[tuple[str, str, int], list[float]] = {}
    for (row, _), height in lines.items():
        labels.setdefault(row, []).append(height)
    axis.set_yticks(
        [sum(heights) / len(heights) for heights in labels.values()],
        [_label(row, shown) for row in labels],
        fontsize=9,
    )
    for leaf, height in headings.items():
        axis.text(LEAST, height, f" {HEADINGS[leaf]}", fontsize=9, fontweight="bold", va="center")
        axis.axhspan(height - LINE, height + LINE, color="0.92", linewidth=0)
    for heights in labels.values():
        axis.axhline(heights[-1] + LINE / 2 + SPACE / 2, color="0.88", linewidth=0.6)
    _scale(axis, depth)
    kinds: tuple[tuple[str, str, str], ...] = tuple(
        (name, color, color) for name, color in colors.items()
    )
    kinds += (("prepared", "0.3", "0.3"), ("one-shot", "0.3", "white"))
    handles = [
        axis.plot([], [], "o", color=edge, markerfacecolor=face, label=name, markersize=5)[0]
        for name, edge, face in kinds
    ]
    figure.legend(
        handles=handles, loc="upper center", ncols=len(handles), fontsize=9, frameon=False
    )
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.35 / (depth + 1.3)))
    figure.savefig(file, dpi=150)
    pyplot.close(figure)


def _row(timing: Timing) -> tuple[str, str, int]:
    return timing.leaf, timing.cell, timing.size


def _label(row: tuple[str, str, int], shown: Sequence[Timing]) -> str:
    _, cell, size = row
    operators = {timing.operator for timing in shown if _row(timing) == row}
    return f"{cell}, {size:,}" + (f": {operators.pop()}" if len(operators) == 1 else "")


def _lines(
    shown: Sequence[Timing], backends: Sequence[str]
) -> tuple[dict[tuple[tuple[str, str, int], str], float], dict[str, float], float]:
    """The height of each engine's line in each row and of each leaf's heading, from the top, and
    the depth of all.
    """
    lines: dict[tuple[tuple[str, str, int], str], float] = {}
    headings: dict[str, float] = {}
    depth = 0.0
    present = {(_row(timing), short(timing.backend)) for timing in shown}
    order = {leaf: n for n, leaf in enumerate(HEADINGS)}
    for row in sorted(dict.fromkeys(map(_row, shown)), key=lambda row: order[row[0]]):
        if row[0] not in headings:
            headings[row[0]] = depth + LINE
            depth += 2 * LINE
        depth += SPACE / 2
        for backend in backends:
            if (row, backend) in present:
                lines[row, backend] = depth + LINE / 2
                depth += LINE
        depth += SPACE / 2
    return lines, headings, depth


def _draw(axis: Any, timings: Sequence[Timing], height: float, color: str) -> None:
    faces: dict[Way, str] = {"one-shot": "white", "prepared": color}
    for timing in sorted(timings, key=lambda timing: timing.way):
        ratio, (low, high) = timing.ratio or 1.0, timing.quartiles or (1.0, 1.0)
        marker = "<" if ratio < LEAST else ">" if ratio > MOST else "o"
        place = min(max(ratio, LEAST), MOST)
        axis.plot(
            [max(low, LEAST), min(high, MOST)],
            [height, height],
            color=color,
            linewidth=0.8,
            alpha=0.35,
        )
        axis.plot(
            place, height, marker, color=color, markerfacecolor=faces[timing.way], markersize=4.5,
            markeredgewidth=0.9, clip_on=False, zorder=3,
        )  # fmt: skip
    worst = max(timings, key=lambda timing: timing.ratio or 0.0)
    if (worst.ratio or 0.0) >= NAMED:
        place = min(worst.ratio or 0.0, MOST)
        background = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
        text, side = (
            (f"{worst.operator}  ", "right") if place > 6 else (f"  {worst.operator}", "left")
        )
        axis.text(
            place,
            height,
            text,
            fontsize=7,
            color=color,
            va="center",
            ha=side,
            bbox=background,
            zorder=2.5,
        )


def _scale(axis: Any, depth: float) -> None:
    axis.set_xscale("log")
    axis.set_xlim(LEAST, MOST)
    axis.set_xticks(list(TICKS), list(TICKS.values()), fontsize=9)
    axis.minorticks_off()
    axis.set_ylim(depth, 0)
    axis.tick_params(axis="y", length=0)
    axis.tick_params(axis="x", labeltop=True)
    axis.grid(True, axis="x", alpha=0.3)
    axis.axvline(1.0, color="black", linewidth=1.0)
    axis.set_xlabel("time of ours / time of hand-written code", fontsize=9)
