"""`python -m adinterface_studies STUDY`: a table or a measurement of this project; `--help` lists them."""

from __future__ import annotations

import importlib
import sys

from . import STUDIES


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
