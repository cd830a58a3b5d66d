"""What several backends did, as a page of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .measured import Measured

_HEADINGS = (
    "backend",
    "difference",
    "relative",
    "at",
    "first call",
    "later calls",
    "evaluations",
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


def _row(measured: Measured, is_reference: bool) -> list[str]:
    """That of a backend that failed has its error in the second column."""
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
    return [measured.name, *difference, *times, str(measured.evaluations)]


def _brief(number: float) -> str:
    return "0" if number == 0 else "inf" if math.isinf(number) else f"{number:.1e}"


def as_text(operator: str, backends: Sequence[Measured], reference: Measured | None) -> str:
    """Two tables: the backends, and the leaves."""
    count, chosen = len(backends), reference.backend if reference else None
    against = f"; reference {reference.name}" if reference else "; none of them succeeded"
    lines = [
        f"{operator} with {count} backend{'s' * (count != 1)}{against}",
        "",
        *aligned([list(_HEADINGS), *[_row(m, m.backend == chosen) for m in backends]]),
    ]
    lines += [
        f"{measured.name} estimates its relative error at {measured.estimated:.0e}"
        for measured in backends
        if measured.estimated is not None
    ]
    return "\n".join([*lines, *_leaves([m for m in backends if m.differences])])


def _leaves(backends: Sequence[Measured]) -> list[str]:
    """The table of the leaves with the largest relative differences."""
    if not backends:
        return []
    by_path = [{d.path: d for d in m.differences} for m in backends]
    paths = list(dict.fromkeys(path for leaf in by_path for path in leaf))
    worst = sorted(
        paths, key=lambda path: -max(leaf[path].relative for leaf in by_path if path in leaf)
    )
    shown = set(worst[:SHOWN])
    rows = [
        [path, *(str(leaf.get(path, "")) for leaf in by_path)] for path in paths if path in shown
    ]
    lines = [
        "",
        "largest difference in each leaf, absolute (relative to the leaf's largest number)",
        *aligned([["leaf", *(m.name for m in backends)], *rows]),
    ]
    hidden = len(paths) - len(rows)
    return [*lines, f"... and {hidden} leaves that differ less"] if hidden else lines


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
