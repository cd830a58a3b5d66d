"""What several backends did, as a figure. Matplotlib is loaded when one is drawn."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

from ..core.contract.errors import MissingEngineError
from .compare_table import seconds
from .measured import Measured

#: Colours that can be distinguished with any colour vision (Okabe and Ito, 2008).
_FIRST, _LATER, _LEAF, _KINK, _ERROR = "#E69F00", "#0072B2", "#009E73", "#CC79A7", "#B00020"


def _pyplot() -> Any:
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != "matplotlib":
            raise
        raise MissingEngineError(
            "Comparison.plot needs matplotlib, which is not installed: pip install"
            " 'adinterface[plot]'",
            name=error.name,
        ) from None


def draw(
    operator: str, backends: Sequence[Measured], reference: Measured | None, figure: Any = None
) -> Any:
    """Two panels with one row for each backend: differences against the reference, and times."""
    if figure is None:
        height = 1.9 + 0.45 * len(backends)
        figure = _pyplot().figure(figsize=(11, height), layout="constrained")
    accuracy, duration = figure.subplots(1, 2, sharey=True)
    _draw_differences(backends, reference, accuracy)
    _draw_times(backends, duration)
    rows = range(len(backends))
    accuracy.set_yticks(list(rows), [measured.name for measured in backends])
    accuracy.set_ylim(len(backends) - 0.5, -0.5)
    for axes in (accuracy, duration):
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{operator}: {len(backends)} backends", fontsize="medium")
    return figure


def _draw_differences(backends: Sequence[Measured], reference: Measured | None, axes: Any) -> None:
    chosen = reference.backend if reference else None
    shown = [d.relative for m in backends for d in m.differences if 0 < d.relative < math.inf]
    lowest = math.floor(math.log10(min(shown, default=1e-16)))
    highest = max(math.ceil(math.log10(max(shown, default=1e-15))), lowest + 1)
    zero, infinite = 10.0 ** (lowest - 1), 10.0 ** (highest + 1)
    for row, measured in enumerate(backends):
        if measured.error is not None:
            _write(axes, row, f"raised {type(measured.error).__name__}", _ERROR)
        elif measured.backend == chosen:
            _write(axes, row, "reference", "0.35")
        for difference in measured.differences:
            x = min(max(difference.relative, zero), infinite)
            shape = "X" if difference.kink else "o"
            axes.plot(
                x,
                row,
                shape,
                color=_KINK if difference.kink else _LEAF,
                alpha=0.6,
                markersize=8,
                markeredgewidth=0,
            )
    axes.axvline(zero * 10**0.5, color="0.6", linestyle=":", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlim(zero / 10**0.5, infinite * 10**0.5)

    def tick(x: float, _: int) -> str:
        return (
            "0" if x < 2 * zero else "∞" if x > infinite / 2 else f"$10^{{{round(math.log10(x))}}}$"
        )

    axes.xaxis.set_major_formatter(tick)
    name = reference.name if reference else "none"
    kinks = "\n(crosses: f has a kink there)" * any(d.kink for m in backends for d in m.differences)
    axes.set_xlabel(f"relative difference against {name}, one point for each leaf{kinks}")


def _write(axes: Any, row: int, text: str, color: str) -> None:
    axes.text(
        0.5,
        row,
        text,
        color=color,
        ha="center",
        va="center",
        transform=axes.get_yaxis_transform(),
        style="italic",
    )


def _draw_times(backends: Sequence[Measured], axes: Any) -> None:
    working = [(row, m) for row, m in enumerate(backends) if m.error is None]
    for row, m in working:
        axes.plot([m.later_seconds, m.first_seconds], [row, row], "-", color="0.75", zorder=1)
    rows = [row for row, _ in working]
    for label, times, shape, color in (
        ("first call", [m.first_seconds for _, m in working], "o", _FIRST),
        ("later calls (median)", [m.later_seconds for _, m in working], "D", _LATER),
    ):
        axes.plot(times, rows, shape, color=color, markersize=7.5, label=label)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    if high < 10 * low:  # so that there are at least two numbers on the axis
        axes.set_xlim(
            10.0 ** math.floor(math.log10(low)) / 1.2, 10.0 ** math.ceil(math.log10(high)) * 1.2
        )
    axes.xaxis.set_major_formatter(lambda x, _: seconds(x))
    axes.xaxis.set_minor_formatter("")
    axes.set_xlabel("time of a call")
    if working:
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
