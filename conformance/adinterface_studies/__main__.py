"""`python -m adinterface_studies STUDY`: a table or a measurement of this project; `--help` lists them."""

from __future__ import annotations

import importlib
import sys

#: The studies by name: the module whose `main(argv)` runs each, and what it does.
STUDIES = {
    "conformance": ("conformance", "the table of the judge, over the scenarios of this project too"),
    "benchmark": ("benchmark.command", "time and memory beside hand-written code: cells, objectives, loops, solvers, rules"),
    "functions": ("functions.command", "every function of the Array API standard, of NumPy or of SciPy, on every engine"),
    "special": ("functions.special_sources", "the functions of scipy.special, and what each engine has natively"),
    "overhead": ("functions.overhead", "what `numpy_function` adds to a call"),
    "packages": ("packages.command", "functions of installed packages under `numpy_function(deep=True)`"),
    "compositions": ("compositions", "random compositions of operators, rules, loops and what each engine has of its own"),
    "batched": ("batches", "`batched` beside loops and hand-written batches"),
    "differences": ("differences.command", "accuracy, evaluations and overhead of finite differences"),
    "distributed": ("distributed.command", "gradients over several processes"),
    "s2mpj": ("s2mpj", "the CUTEst problems of the S2MPJ collection, unmodified, on every engine"),
    "pymanopt": ("integrations.pymanopt", "pymanopt's own tests, through our integration"),
    "openmdao": ("integrations.openmdao", "the NumPy `compute` methods of OpenMDAO and Dymos, unchanged"),
    "ipopt": ("ipopt", "a constrained problem under pounce, beside callbacks by hand"),
    "foreign": ("foreign", "functions of packages that nobody chose to fit, beside their own derivatives"),
    "deep-costs": ("deep_costs", "the time of gradients of copied code, over that of the plain function"),
    "signatures": ("signatures", "write the overloads of the operators"),
    "judge": ("judge.command", "right derivatives that `check_gradient` fails, planted faults that it misses"),
    "tables": ("tables", "write the generated tables of the documentation into docs/tables"),
    "words": ("words", "count the words of the documentation"),
    "architecture": ("architecture", "draw the folders of the package and what each imports"),
}


def main(argv: list[str] | None = None) -> int:
    """The exit status: that of the study, 2 for a wrong command line."""
    argv = sys.argv[1:] if argv is None else argv
    name = argv[0] if argv else ""
    if name in STUDIES:
        return int(importlib.import_module(f"adinterface_studies.{STUDIES[name][0]}").main(argv[1:]) or 0)
    out = sys.stdout if name in ("-h", "--help") else sys.stderr
    print("usage: python -m adinterface_studies STUDY [options]", *_list(), sep="\n", file=out)
    return 0 if out is sys.stdout else 2


def _list() -> list[str]:
    return [f"  {name:12} {what}" for name, (_, what) in STUDIES.items()]


if __name__ == "__main__":
    sys.exit(main())
