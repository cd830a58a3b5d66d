"""`python -m adinterface_studies tables`: write the generated tables of the documentation into
docs/tables.

Each table is a page: its title, a text about its columns, the command, and what the command wrote
or printed. `--list` says how long each takes. All of them take about an hour on two cores: two at a
time, and what is timed alone. `make versions` writes docs/tables/versions.md.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal, NamedTuple

import adinterface

ROOT = Path(adinterface.__file__).parent.parent
FOLDER = ROOT / "docs" / "tables"


class Table(NamedTuple):
    """How a table is made.

    title: empty for a table that a page includes; it has no page of its own.
    command: the study and its options.
    minutes: about how long it takes.
    way: whether the study writes the table to the file of `--markdown`, or prints it, as Markdown
    or as text.
    """

    title: str
    text: str
    command: str
    minutes: int
    way: Literal["written", "printed", "text"] = "written"


_TRUE = (
    "A ✓ means that every use of the function is right in every mode; what is not is an upstream"
    " fact, with its link."
)

TABLES = {
    "conformance": Table(
        "Table: conformance",
        "The number of scenarios that each engine passes, by check and by family. `-` means that no"
        " scenario has this check.",
        "conformance",
        6,
    ),
    "functions": Table(
        "Table: functions of the Array API",
        "The functions of `array_namespace(x)`: the Array API standard 2024.12 with `linalg` and"
        " `fft`, and `einsum`. Each is used with axes, `keepdims`, broadcasting, negative strides,"
        " 0-d and empty arrays, and stacks of matrices. Value and dtype are compared with NumPy."
        " Every entry of the Jacobian is compared with central differences of eighth order, to"
        f" 1e-9, and a product of the Hessian to 1e-7. {_TRUE}",
        "functions",
        20,
    ),
    "numpy": Table(
        "Table: NumPy functions",
        "NumPy functions inside `numpy_function`, compared with NumPy as in the table of the Array"
        f" API, prepared calls included. {_TRUE}",
        "functions --numpy",
        25,
    ),
    "scipy": Table(
        "Table: SciPy functions",
        "The functions of `adinterface.scipy`, compared with SciPy: value and dtype in float64 and"
        " float32, every entry of the Jacobian to 1e-9, a product of the Hessian to 1e-7, and a"
        " prepared call.",
        "functions --scipy",
        15,
    ),
    "special": Table(
        "Table: special functions over their whole domain",
        "A cell is `worst error in float64; in float32`. The error is the largest relative one of"
        " the value and all derivatives, beyond the effect of rounding the arguments; ✓ means at"
        " most the dtype's precision. The share of refused or NaN results is in brackets.",
        "functions --sweep --dtype float64 --dtype float32",
        20,
    ),
    "benchmark": Table(
        "Table: time of every call",
        "Ours and hand-written code of the engine, interleaved in one process. `first` compiles, or"
        " loads parts of the engine; `calls` are the evaluations of f in a later call; the ratio"
        " has its quartiles.",
        "benchmark --memory",
        15,
        "text",
    ),
    "performance": Table("", "", "benchmark --summary docs/tables/benchmark.md", 0, "printed"),
}


#: Pages of tables that are no longer made; each says when, and with which versions, it was
#: measured.
FINISHED = {
    "leaves": "Table: many leaves",
    "overhead": "Table: the cost of numpy_function",
    "batched": "Table: batched calls",
    "packages": "Table: functions of packages",
    "judge": "Table: verdicts of check_gradient",
    "rules": "Table: the cost of rules, and of one engine inside another",
    "solvers": "Table: solvers",
    "training": "Table: training steps",
    "loops": "Table: loops",
    "checkpoints": "Table: memory of loops",
    "sparse": "Table: sparse Jacobians and Hessians",
}


def page(table: Table, body: str) -> str:
    """The text of the page of a table."""
    if not table.title:
        return f"{body.rstrip()}\n"
    command = f"python -m adinterface_studies {table.command}"
    return f"# {table.title}\n\n{table.text}\n\n```text\n{command}\n```\n\n{body.rstrip()}\n"


def index() -> str:
    """The page that lists the tables."""
    titled = {name: table for name, table in TABLES.items() if table.title}
    lines = [
        "# Tables",
        "",
        (
            "Each table is written by the command on its page, in a checkout of the project, or"
            " says when it was measured."
        ),
        "",
    ]
    for name, table in titled.items():
        lines += [f"[{table.title}]({name}.md)", f": {table.text}", ""]
    for name, title in FINISHED.items():
        lines += [f"[{title}]({name}.md)", ": Measured once.", ""]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *titled, *FINISHED, "```", ""])


def made(table: Table) -> str:
    """The body of a table, by its study in a process of its own."""
    command = [sys.executable, "-m", "adinterface_studies", *shlex.split(table.command)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.md"
        if table.way == "written":
            # A program that runs once need not be fast.
            flags = {"XLA_FLAGS": "--xla_backend_optimization_level=0", **os.environ}
            command += ["--markdown", str(file)]
            subprocess.run(command, check=True, cwd=ROOT, env=flags)
            return file.read_text(encoding="utf-8")
        printed = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT
        ).stdout
        return printed if table.way == "printed" else f"```text\n{printed.rstrip()}\n```"


def write(name: str) -> None:
    """Make a table and write its page."""
    text = page(TABLES[name], made(TABLES[name]))
    (FOLDER / f"{name}.md").write_text(text, encoding="utf-8")
    print(FOLDER / f"{name}.md", flush=True)


def main(argv: list[str] | None = None) -> int:
    """The exit status: 2 for a wrong command line."""
    parser = argparse.ArgumentParser(
        prog="python -m adinterface_studies tables", description=__doc__
    )
    parser.add_argument("names", nargs="*", metavar="TABLE", help="all by default")
    parser.add_argument("--list", action="store_true", help="say how long each takes, and end")
    options = parser.parse_args(argv)
    names = options.names or [*TABLES]
    if unknown := set(names) - {*TABLES}:
        parser.error(f"no table: {', '.join(sorted(unknown))}")
    if options.list:
        for name in names:
            each = TABLES[name]
            print(f"{name:12} {each.minutes:3} min  python -m adinterface_studies {each.command}")
        return 0
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, [name for name in names if TABLES[name].way == "written"]))
    for name in names:
        if TABLES[name].way != "written":  # what is timed, and its summary
            write(name)
    (FOLDER / "index.md").write_text(index(), encoding="utf-8")
    return 0
