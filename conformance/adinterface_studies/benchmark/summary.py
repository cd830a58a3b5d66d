"""The table of docs/performance.md, from the lines that the benchmark printed: no figure in it is
copied by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .report import HEAD

FOUR = ("gradient", "value_and_gradient", "hvp", "jacobian")


class Line(NamedTuple):
    """What the table says of one cell."""

    cell: str
    leaf: str
    operator: str
    backend: str
    way: str
    size: int
    ratio: float


class Row(NamedTuple):
    """Cells that belong together: the best and the worst of these operators."""

    title: str
    cell: str
    leaf: str
    size: int | None = None
    operators: tuple[str, ...] = ("gradient",)


ROWS = (
    Row("NumPy array, n = 10", "one array", "ndarray", 10, FOUR),
    Row("NumPy array, n = 10,000", "one array", "ndarray", 10_000, FOUR),
    Row("dict of 6 NumPy arrays, n = 10", "dict of 6", "ndarray", 10, FOUR),
    Row("the engine's own array, n = 10", "one array", "native", 10),
    Row("the engine's own array, n = 10,000", "one array", "native", 10_000),
    Row("dict of 6 of the engine's own arrays", "dict of 6", "native", 10),
    Row("Equinox", "Equinox model", "module"), Row("Flax", "Flax model", "module"),
    Row("`nn.Linear(3, 1)`", "nn.Linear(3, 1)", "module"),
    Row("MLP 64-64-10 on a batch of 128", "nn.Module", "module"),
    Row("50 `nn.Linear` (100 parameters)", "50 nn.Linear", "module"),
    Row("20 blocks of convolution and BatchNorm", "20 conv + norm", "module"),
    Row("transformer encoder of 12 layers", "transformer", "module"),
    Row("MLP under `compile=True`, against one that the user compiles", "compiled nn.Module", "module"),
    Row("`pullback` and one `back`, a loop of 20 steps, n = 10", "loop of 20 steps", "native", 10, ("pullback",)),
    Row("the same, n = 100,000", "loop of 20 steps", "native", 100_000, ("pullback",)),
)  # fmt: skip


def read(lines: Iterable[str]) -> Iterator[Line]:
    """The cells with a ratio, of a printed table."""
    columns = [
        HEAD.index(name) for name in ("leaf", "operator", "backend", "way", "calls", "ratio")
    ]
    for line in lines:
        cell, leaf, operator, backend, rest = (
            line[a:b].strip() for a, b in zip([0, *columns], columns[:4] + [columns[4]])
        )
        ratio = line[columns[5] :].partition("(")[0].strip()
        if leaf in ("ndarray", "native", "module") and ratio:
            way, size = rest.split()
            yield Line(cell, leaf, operator, backend, way, int(size), float(ratio))


def of_file(path: str) -> Iterator[str]:
    """The lines of the table of a file that holds what the benchmark printed."""
    with open(path, encoding="utf-8") as file:
        yield from table(file)


def table(lines: Iterable[str]) -> list[str]:
    """The lines of a Markdown table of prepared calls: the ratio, or the best and the worst of
    several operators.
    """
    found = [line for line in read(lines) if line.way == "prepared"]
    engines = dict.fromkeys(line.backend for line in found)
    printed = [
        f"| time, ours / by hand | {' | '.join(engines)} |",
        "| --- " * (len(engines) + 1) + "|",
    ]
    for row in ROWS:
        cells = []
        for engine in engines:
            ratios = [
                line.ratio
                for line in found
                if (line.cell, line.leaf, line.backend) == (row.cell, row.leaf, engine)
                and row.size in (None, line.size)
                and line.operator in row.operators
            ]
            cells.append(_range(ratios))
        printed.append(f"| {row.title} | {' | '.join(cells)} |")
    return printed


def _range(ratios: list[float]) -> str:
    if not ratios:
        return "-"
    best, worst = min(ratios), max(ratios)
    return f"{best:.2f}" if best == worst else f"{best:.2f} to {worst:.2f}"
