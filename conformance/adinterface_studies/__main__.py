"""`python -m adinterface_studies STUDY`: a table or a measurement of this project.

`--help` lists them.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import sys

from . import STUDIES


def main(argv: list[str] | None = None) -> int:
    """The exit status: that of the study, 2 for a wrong command line."""
    argv = sys.argv[1:] if argv is None else argv
    name = argv[0] if argv else ""
    if name in STUDIES:
        run = importlib.import_module(f"adinterface_studies.{STUDIES[name][0]}").main
        if inspect.signature(run).parameters:
            return int(run(argv[1:]) or 0)
        argparse.ArgumentParser(
            prog=f"python -m adinterface_studies {name}", description=STUDIES[name][1]
        ).parse_args(argv[1:])
        return int(run() or 0)  # without options
    out = sys.stdout if name in ("-h", "--help") else sys.stderr
    print("usage: python -m adinterface_studies STUDY [options]", *_list(), sep="\n", file=out)
    return 0 if out is sys.stdout else 2


def _list() -> list[str]:
    return [f"  {name:12} {what}" for name, (_, what) in STUDIES.items()]


if __name__ == "__main__":
    sys.exit(main())
