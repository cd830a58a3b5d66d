"""Solve every problem with every engine, print what each found, and draw it.

    python docs/demo/gallery [--problem newton] [--plots docs/_static/gallery]

needs the extras `all`, `optax` and `scipy`, and the group `demo`.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from adinterface import AutoAutograd, AutoBackend, AutoFiniteDifferences, AutoJax, AutoTorch
from gallery import PROBLEMS

BACKENDS: tuple[AutoBackend, ...] = (
    AutoJax(),
    AutoTorch(),
    AutoAutograd(),
    AutoFiniteDifferences(),
)
NAMES = {
    "AutoJax": "JAX",
    "AutoTorch": "torch",
    "AutoAutograd": "autograd",
    "AutoFiniteDifferences": "differences",
}


def apart(found: dict[str, Any], first: dict[str, Any]) -> float:
    """How far two engines' numbers lie apart, relative to the largest of each array."""
    return max(
        float(
            np.max(np.abs(np.asarray(found[name]) - first[name]), initial=0.0)
            / max(1e-300, np.max(np.abs(first[name])))
        )
        for name in first
        if not name.startswith("error")
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python docs/demo/gallery", description="Ten problems, solved with every engine."
    )
    parser.add_argument(
        "--problem", action="append", choices=PROBLEMS, help="only this one; all by default"
    )
    parser.add_argument(
        "--plots", type=Path, help="draw what was found into this folder (needs matplotlib)"
    )
    options = parser.parse_args()
    print(f"{'problem':34} {'engine':12} {'seconds':>8}  {'apart':>8}  found")
    for name in options.problem or PROBLEMS:
        problem, first = PROBLEMS[name], None
        for backend in BACKENDS:
            if type(backend).__name__ in getattr(problem, "REFUSED", ()):
                continue
            start = time.perf_counter()
            found = problem.solve(backend)
            seconds = time.perf_counter() - start
            first = found if first is None else first
            shown = ", ".join(
                f"{key} {float(value):.7g}" for key, value in found.items() if np.ndim(value) == 0
            )
            print(
                f"{problem.TITLE:34} {NAMES[type(backend).__name__]:12} {seconds:8.2f} "
                f" {apart(found, first):8.1e}  {shown}",
                flush=True,
            )
        if options.plots and first is not None:
            draw(problem, first, options.plots / f"{name}.png")


def draw(problem: Any, found: dict[str, Any], file: Path) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(4.2, 2.8), layout="constrained")
    problem.draw(axes, found)
    axes.set_title(problem.TITLE, fontsize=10)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
