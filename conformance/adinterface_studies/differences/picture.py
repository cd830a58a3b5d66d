"""Accuracy against evaluations, one curve of dots for each method."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

from .measure import Row

mpl.use("Agg")

from matplotlib.figure import Figure


def draw(rows: list[Row], path: Path) -> None:
    """The errors of each method, sorted, and its evaluations: median and spread."""
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    colours = mpl.colormaps["tab10"].colors  # type: ignore[attr-defined]
    for row, colour in zip(rows, colours):
        errors = np.clip(np.nan_to_num(np.sort(row.errors), nan=1e2, posinf=1e2), 1e-17, 1e2)
        left.plot(errors, np.linspace(0, 100, len(errors)), color=colour, label=row.method)
        mean, middle = float(np.mean(row.evaluations)), row.quantile(0.5)
        low, high = max(row.quantile(0.1), 1e-17), min(row.quantile(0.9), 1e2)
        right.plot([mean, mean], [low, high], color=colour, linewidth=1.2)
        right.plot([mean], [max(middle, 1e-17)], "o", color=colour)
        right.plot([mean], [high], "_", color=colour, markersize=9)
    left.set(
        xscale="log",
        xlabel="relative error of the Jacobian",
        ylabel="problems with at most that error (%)",
    )
    left.grid(alpha=0.3)
    left.legend(frameon=False, fontsize=8, loc="lower right")
    right.set(
        xscale="log",
        yscale="log",
        xlabel="evaluations of f per number",
        ylabel="relative error: median, 10 to 90 %",
    )
    right.set_xticks([2, 3, 5, 10, 20, 40], ["2", "3", "5", "10", "20", "40"])
    right.minorticks_off()
    right.grid(alpha=0.3)
    figure.savefig(path, dpi=130)
