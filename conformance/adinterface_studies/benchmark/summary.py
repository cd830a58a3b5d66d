"""The table of docs/performance.md, from the lines that the benchmark printed: no figure in it is
copied by hand.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FOUR = ("gradient", "value_and_gradient", "hvp", "jacobian")


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
    Row(
        "MLP under `compile=True`, against one that the user compiles", "compiled nn.Module", "module"
    ),
    Row(
        "`pullback` and one `back`, a loop of 20 steps, n = 10", "loop of 20 steps", "native", 10,
        ("pullback",),
    ),
    Row("the same, n = 100,000", "loop of 20 steps", "native", 100_000, ("pullback",)),
)  # fmt: skip
#: A printed line with a ratio: cell, leaf, operator, backend, size, ratio.
_PREPARED = re.compile(
    r"(.{18}) (\w+) +(\w+) +(\w+) +prepared +(\d+) .* ([\d.]+) \([\d.]+ to ", re.MULTILINE
)


def table(path: str) -> list[str]:
    """The lines of a Markdown table of prepared calls: the ratio, or the best and the worst of
    several operators, of a file that holds what the benchmark printed.
    """
    text = Path(path).read_text(encoding="utf-8")
    found = [(cell.strip(), *rest) for cell, *rest in _PREPARED.findall(text)]
    engines = list(dict.fromkeys(line[3] for line in found))
    heading = f"| time, ours / by hand | {' | '.join(engines)} |"
    lines = [heading, "| --- " * (len(engines) + 1) + "|"]
    for row in ROWS:
        cells = []
        for engine in engines:
            ratios = sorted(
                float(ratio)
                for cell, leaf, operator, backend, size, ratio in found
                if (cell, leaf, backend) == (row.cell, row.leaf, engine)
                and operator in row.operators
                and row.size in (None, int(size))
            )
            ends = dict.fromkeys(f"{ratio:.2f}" for ratio in ratios[:1] + ratios[-1:])
            cells.append(" to ".join(ends) or "-")
        lines.append(f"| {row.title} | {' | '.join(cells)} |")
    return lines
