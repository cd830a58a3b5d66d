"""`check_gradient` and `check_rule` as witnesses: right derivatives of awkward functions, and faults planted in plain ones.

Each row is a function at random points, on each engine and in each dtype. A right gradient that is called wrong is an error of
the judge, and so is a fault that is called right. "undecided" is an error of neither kind, but it should be rare.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from adinterface_conformance.runner import backend_from

from adinterface import AutoAutograd, AutoBackend, check_gradient, gradient, prepare
from adinterface.rules.rule import Rule
from adinterface.tools import check_rule

from .functions import FAULTS, RIGHT, Row
from .models import MODELS
from .rules import RIGHT_RULES, RULE_FAULTS

#: Rows that half precision cannot hold, or whose linear algebra engines refuse in it.
_NOT_HALF = ("complex", "conjugate", "ReLU layers", "1e12", "Cholesky", "eigenvalue", "an inverse")


def verdict(row: Row, auto: AutoBackend, dtype: str, seed: int) -> tuple[str, Any]:
    """What is said, or the name of an error; and the check."""
    f, args, *prepared = row.make(np.random.default_rng([seed, 51]), dtype)
    if row.mode is not None:
        auto = replace(auto, mode=row.mode)  # type: ignore[call-arg]
    check: Any
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if isinstance(f, Rule):
                check = check_rule(f, *args, backend=auto, seed=seed)
            else:
                fast = prepare(gradient, prepared[0], auto, *args) if prepared else None
                check = check_gradient(f, auto, *args, seed=seed, gradient=fast)
    except Exception as error:  # what is no verdict is counted, too
        return type(error).__name__, error
    return check.verdict, check


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if no right gradient was called wrong and no fault right in float64, else 1."""
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies judge", description=__doc__)
    parser.add_argument("--backend", action="append", default=[], metavar="VALUE", help="default: torch, JAX and autograd")
    parser.add_argument("--dtype", action="append", default=[], help="default: float64, float32, float16, bfloat16")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="random points of each row")
    parser.add_argument("--only", default="", metavar="WORDS", help="rows whose name contains these words")
    parser.add_argument("--show", action="store_true", help="print each check that is not as it should be")
    options = parser.parse_args(argv)
    autos = [backend_from(text) for text in options.backend or ("AutoTorch()", "AutoJax()", "AutoAutograd()")]
    sections = (
        ("Right derivatives", {**RIGHT, **MODELS, **RIGHT_RULES}, "right"),
        ("Planted faults", {**FAULTS, **RULE_FAULTS}, "wrong"),
    )
    failed, half = False, ("float16", "bfloat16")
    for title, rows, wanted in sections:
        start, total = time.perf_counter(), Counter[tuple[str, str]]()
        print(f"\n| {title} | dtype | {' | '.join(type(auto).__name__ for auto in autos)} |\n|{' --- |' * (2 + len(autos))}")
        for name, row in rows.items():
            for dtype in options.dtype or ("float64", "float32", *half):
                if options.only not in name or (row.double and dtype != "float64"):
                    continue
                if dtype in half and any(word in name for word in _NOT_HALF):
                    continue
                cells = []
                for auto in autos:
                    found = Counter[str]()
                    runs = type(auto).__name__ in row.engines and (dtype, type(auto)) != ("bfloat16", AutoAutograd)
                    for seed in range(options.seeds if runs else 0):
                        said, check = verdict(row, auto, dtype, seed)
                        found[said] += 1
                        total[dtype, said] += 1
                        if options.show and said != wanted:
                            print(f"--- {name}, {dtype}, {auto!r}, seed {seed}: {said}\n{check}")
                    cells.append(", ".join(f"{count} {said}" for said, count in sorted(found.items())))
                print(f"| {name} | {dtype} | {' | '.join(cells)} |", flush=True)
        print(f"\n{title}, in {time.perf_counter() - start:.0f} s:")
        for dtype in dict.fromkeys(dtype for dtype, _ in total):
            counts = {word: count for (of, word), count in sorted(total.items()) if of == dtype}
            print(f"  {dtype}: {', '.join(f'{count} {word}' for word, count in counts.items())}")
            failed = failed or bool(dtype == "float64" and counts.get("wrong" if wanted == "right" else "right"))
    return int(failed)
