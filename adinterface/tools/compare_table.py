"""What several backends did, as plain text and as HTML."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

from .measured import LeafDifference, Measured

_HEADINGS = (
    "backend",
    "difference",
    "relative",
    "at",
    "first call",
    "later calls",
    "evaluations",
    "peak memory",
)
#: How many leaves are shown; `Measured.differences` has them all.
SHOWN = 20


def seconds(value: float) -> str:
    """`0.0021` -> `2.1 ms`."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if value * factor >= 1 or unit == "µs":
            return (
                f"{value * factor:.3g} {unit}"
                if value * factor < 1000
                else f"{value * factor:.0f} {unit}"
            )
    raise AssertionError(value)


def number_of_bytes(value: float) -> str:
    """`2048` -> `2.0 KiB`."""
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def headline(operator: str, backends: Sequence[Measured], reference: Measured | None) -> str:
    count = len(backends)
    against = f"; reference {reference.name}" if reference else "; none of them succeeded"
    return f"{operator} with {count} backend{'s' * (count != 1)}{against}"


def summary(backends: Sequence[Measured], reference: Measured | None) -> list[list[str]]:
    """One row for each backend; that of one that failed has its error in the second column."""
    chosen = reference.backend if reference else None
    return [_row(measured, measured.backend == chosen) for measured in backends]


def _row(measured: Measured, is_reference: bool) -> list[str]:
    if measured.error is not None:
        lines = str(measured.error).splitlines() or [""]
        return [measured.name, f"{type(measured.error).__name__}: {lines[0]}"]
    worst = measured.worst
    if is_reference:
        difference = ["reference", "", ""]
    elif worst is None:
        difference = ["-", "-", ""]
    else:
        where = worst.path + (f" ({worst.mark})" if worst.mark else "") if worst.absolute else ""
        difference = [_brief(worst.absolute), _brief(worst.relative), where]
    times = [seconds(measured.first_seconds), seconds(measured.later_seconds)]
    return [
        measured.name,
        *difference,
        *times,
        str(measured.evaluations),
        number_of_bytes(measured.peak_bytes),
    ]


def _brief(number: float) -> str:
    return "0" if number == 0 else "inf" if math.isinf(number) else f"{number:.1e}"


def leaves(backends: Sequence[Measured]) -> tuple[list[str], list[list[str]], int]:
    """The relative difference of each leaf: headings, rows of the worst leaves, and how many are
    left out.
    """
    others = [m for m in backends if m.differences]
    paths = list(dict.fromkeys(d.path for m in others for d in m.differences))
    by_path = [{d.path: d for d in m.differences} for m in others]
    worst = sorted(
        paths, key=lambda path: -max(leaf[path].relative for leaf in by_path if path in leaf)
    )
    shown = set(worst[:SHOWN])
    rows = [[path, *(_cell(leaf.get(path)) for leaf in by_path)] for path in paths if path in shown]
    return ["leaf", *(m.name for m in others)], rows, len(paths) - len(rows)


def _cell(difference: LeafDifference | None) -> str:
    return "" if difference is None else str(difference)


def as_text(operator: str, backends: Sequence[Measured], reference: Measured | None) -> str:
    """Two tables: the backends, and the leaves."""
    lines = [
        headline(operator, backends, reference),
        "",
        *aligned([list(_HEADINGS), *summary(backends, reference)]),
    ]
    lines += estimates(backends)
    headings, rows, hidden = leaves(backends)
    if rows:
        lines += [
            "",
            "largest difference in each leaf, absolute (relative to the leaf's largest number)",
        ]
        lines += aligned([headings, *rows])
    if hidden:
        lines.append(f"... and {hidden} leaves that differ less")
    return "\n".join(lines)


def estimates(backends: Sequence[Measured]) -> list[str]:
    """A line for each engine that estimates its error."""
    return [
        f"{measured.name} estimates its relative error at {measured.estimated:.0e}"
        for measured in backends
        if measured.estimated is not None
    ]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table whose first row is the headings."""
    columns = max(len(row) for row in rows)
    whole = [row for row in rows if len(row) == columns]  # an error takes the rest of its row
    widths = [max(len(row[i]) for row in whole) for i in range(columns)]
    widths[0] = max(len(row[0]) for row in rows)
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    ]
    for n, row in enumerate(rows):
        if len(row) < columns:
            lines[n] = f"{row[0].ljust(widths[0])}  {row[1]}"
    lines.insert(1, "  ".join("-" * width for width in widths))
    return lines


def as_html(operator: str, backends: Sequence[Measured], reference: Measured | None) -> str:
    """The same tables for a notebook."""
    title = html.escape(headline(operator, backends, reference))
    parts = [f"<p><b>{title}</b></p>", html_table(list(_HEADINGS), summary(backends, reference))]
    parts.extend(f"<p>{html.escape(line)}</p>" for line in estimates(backends))
    headings, rows, hidden = leaves(backends)
    if rows:
        parts.append(
            "<p>Largest difference in each leaf, absolute (relative to the leaf's largest"
            " number)</p>"
        )
        parts.append(html_table(headings, rows))
    if hidden:
        parts.append(f"<p>... and {hidden} leaves that differ less</p>")
    return "\n".join(parts)


def html_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; a row that is shorter than the headings ends with an error, in red."""
    style = ' style="text-align: left"'
    head = "".join(f"<th{style}>{html.escape(cell)}</th>" for cell in headings)
    lines = [f"<table><thead><tr>{head}</tr></thead><tbody>"]
    for row in rows:
        cells = [f"<td{style}>{html.escape(cell)}</td>" for cell in row]
        if len(row) < len(headings):
            cells[-1] = (
                f'<td{style[:-1]}; color: #b00020"'
                f' colspan="{len(headings) - 1}">{html.escape(row[-1])}</td>'
            )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</tbody></table>"])
