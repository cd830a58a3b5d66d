"""A `Comparison` as a figure. Matplotlib is loaded when one is drawn."""

from __future__ import annotations

import importlib
import math
from typing import Any

from .comparison import Comparison, Measured
from .errors import MissingEngineError

#: Colours that are told apart with any colour vision (Okabe and Ito, 2008).
_FIRST, _LATER, _LEAF, _ERROR = "#E69F00", "#0072B2", "#009E73", "#B00020"


def _pyplot() -> Any:
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != "matplotlib":
            raise
        raise MissingEngineError(
            "Comparison.plot needs matplotlib, which is not installed: pip install 'adinterface[demo]'", name=error.name
        ) from error


def draw(report: Comparison, figure: Any = None) -> Any:
    """Two panels with one row for each backend: differences against the reference, and times."""
    if figure is None:
        height = 1.9 + 0.45 * len(report.backends)
        figure = _pyplot().figure(figsize=(11, height), layout="constrained")
    accuracy, duration = figure.subplots(1, 2, sharey=True)
    _draw_differences(report, accuracy)
    _draw_times(report, duration)
    rows = range(len(report.backends))
    accuracy.set_yticks(list(rows), [measured.name for measured in report.backends])
    accuracy.set_ylim(len(report.backends) - 0.5, -0.5)
    for axes in (accuracy, duration):
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(f"{report.operator}: {len(report.backends)} backends", fontsize="medium")
    return figure


def _is_reference(report: Comparison, measured: Measured) -> bool:
    return report.reference is not None and measured.backend == report.reference.backend


def _draw_differences(report: Comparison, axes: Any) -> None:
    found = [d.relative for m in report.backends for d in m.differences if 0 < d.relative < math.inf]
    floor = 10.0 ** (math.floor(math.log10(min(found))) - 1) if found else 1e-17
    ceiling = 10.0 ** (math.ceil(math.log10(max(found))) + 1) if found else 1.0
    for row, measured in enumerate(report.backends):
        if measured.error is not None:
            _write(axes, row, f"raised {type(measured.error).__name__}", _ERROR)
        elif _is_reference(report, measured):
            _write(axes, row, "reference", "0.35")
        for difference in measured.differences:
            x = min(max(difference.relative, floor), ceiling)
            shape = "<" if difference.relative == 0 else ">" if math.isinf(difference.relative) else "o"
            axes.plot(x, row, shape, color=_LEAF, alpha=0.6, markersize=7, markeredgewidth=0, clip_on=False)
    axes.set_xscale("log")
    axes.set_xlim(floor, ceiling)
    name = report.reference.name if report.reference else "none"
    axes.set_xlabel(f"relative difference of each leaf against {name}\n(at the left edge: none at all)")


def _write(axes: Any, row: int, text: str, color: str) -> None:
    axes.text(0.5, row, text, color=color, ha="center", va="center", transform=axes.get_yaxis_transform(), style="italic")


def _draw_times(report: Comparison, axes: Any) -> None:
    labels = {"first": "first call", "later": "later calls (median)"}
    for row, measured in enumerate(report.backends):
        if measured.error is not None:
            continue
        axes.plot([measured.later_seconds, measured.first_seconds], [row, row], "-", color="0.75", zorder=1)
        axes.plot(measured.first_seconds, row, "o", color=_FIRST, markersize=8, label=labels.pop("first", None))
        axes.plot(measured.later_seconds, row, "D", color=_LATER, markersize=7, label=labels.pop("later", None))
    axes.set_xscale("log")
    axes.set_xlabel("seconds")
    if not labels:
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
