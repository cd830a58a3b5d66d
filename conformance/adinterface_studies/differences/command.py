"""`python -m adinterface_studies differences`: the table of accuracy, and its picture."""

from __future__ import annotations

import argparse
from pathlib import Path

from .measure import Row, hessians, jacobians, measured, ours, peers, second_order
from .problems import problems


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m adinterface_studies differences",
        description=(
            "How exact finite differences are on published problems, and how many evaluations they"
            " take; beside them SciPy and numdifftools, where installed."
        ),
    )
    parser.add_argument(
        "--noise", type=float, default=0.0, metavar="S", help="relative noise to add to f's values"
    )
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="draw errors against evaluations (needs Matplotlib)",
    )
    parser.add_argument(
        "--first-order", action="store_true", help="Jacobians alone, without the Hessians"
    )
    options = parser.parse_args(argv)
    every = problems()
    points = jacobians(every)
    rows = [
        measured(name, method, points, options.noise)
        for name, method in {**ours(), **peers()}.items()
    ]
    numbers = sum(len(problem.x) for problem in every)
    print(
        f"Jacobians of {len(every)} problems with {numbers} numbers; errors relative to the largest"
        " number of each"
    )
    print(as_text(rows))
    if not options.first_order:
        squares = list(hessians(every))
        found = [
            measured(name, method, squares, options.noise)
            for name, method in second_order().items()
        ]
        print(f"\nHessians of {len(squares)} objectives")
        print(as_text(found))
    if options.plot is not None:
        from .picture import draw  # here, because Matplotlib takes long to import

        draw(rows, options.plot)
    return 0


def as_text(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    head = [
        "method",
        "median",
        "90 %",
        "worse than 1e-6",
        "not finite",
        "evaluations per number",
        "most",
        "estimate holds",
    ]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        holds = f"{100 * sum(row.holds) / len(row.holds):.1f} %" if row.holds else ""
        mean = sum(row.evaluations) / len(row.evaluations)
        lines.append([
            row.method, f"{row.quantile(0.5):.1e}", f"{row.quantile(0.9):.1e}",
            str(row.worse_than(1e-6)), str(row.not_finite), f"{mean:.1f}",
            f"{max(row.evaluations):.1f}", holds,
        ])  # fmt: skip
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
