"""`python -m adinterface_conformance`: scenarios times checks."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from .checks import CHECKS
from .installed import installed_backends
from .report import write_json
from .runner import Run, Selection, backend_from, is_function, matching, show
from .scenario import Scenario
from .scenarios.namespace import FUNCTIONS

Writers = Mapping[str, tuple[Callable[[Run, Path], None], str]]
#: What a run can be written as, by the name of the option: how, and what `--help` says.
WRITERS: Writers = {"json": (write_json, "write all outcomes")}


def main(argv: list[str] | None = None) -> int:
    """The exit status: 0 if everything went as it should, 1 if not, 2 for a wrong command line."""
    return table(sys.argv[1:] if argv is None else argv)


def table(argv: list[str], catalogue: str = Selection.catalogue, writers: Writers = WRITERS) -> int:
    """Run scenarios times checks.

    catalogue: the module whose `SCENARIOS` are run. writers: what a run can be written as.
    """
    options = _parser(writers).parse_args(argv)
    known: tuple[Scenario, ...] = importlib.import_module(catalogue).SCENARIOS
    if options.list:
        return _list(matching(known, options.scenario))
    try:
        backends = tuple(backend_from(text) for text in options.backend) or tuple(
            installed_backends()
        )
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    # Functions have scenarios of one name.
    functions = dict.fromkeys(scenario.name for scenario in matching(FUNCTIONS, options.scenario))
    asked = any(is_function(pattern) for pattern in options.scenario)
    scenarios = (
        *[scenario.name for scenario in matching(known, options.scenario)],
        *(functions if asked or options.all else ()),
    )
    if not scenarios or not backends:
        print(
            "No scenario matches." if not scenarios else "No engine is installed.", file=sys.stderr
        )
        return 2
    selection = Selection(backends, scenarios, tuple(options.check), options.all, catalogue)
    run = show(selection, jobs=options.jobs, limit=options.limit)
    for name, (write, _) in writers.items():
        path = getattr(options, name)
        if path is not None:
            write(run, path)
    return 0 if run.good else 1


def _parser(writers: Writers) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m adinterface_conformance",
        description=(
            "Check what any engine must get right: scenarios times laws, on every installed"
            " backend."
        ),
    )
    parser.add_argument(
        "--backend", action="append", default=[], metavar="VALUE",
        help="such as AutoMine or 'AutoMine(mode=\"forward\")'; may be repeated; by default all that are installed",
    )  # fmt: skip
    parser.add_argument(
        "--scenario", action="append", default=[], metavar="PATTERN",
        help="a name, family, operator or tag, with * and ?; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="PATTERN",
        help="the name of a check, with * and ?",
    )
    parser.add_argument(
        "--all", action="store_true", help="every check on every scenario, array functions"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="that many processes; one that crashes is a failure",
    )
    parser.add_argument(
        "--limit", type=float, metavar="SECONDS",
        help="give a scenario up after that time; it runs in a process of its own, whose crash is a failure, too",
    )  # fmt: skip
    for name, (_, words) in writers.items():
        parser.add_argument(f"--{name}", type=Path, metavar="FILE", help=words)
    parser.add_argument(
        "--list", action="store_true", help="list the scenarios and checks, and run nothing"
    )
    return parser


def _list(scenarios: list[Scenario]) -> int:
    for scenario in scenarios:
        print(
            f"{scenario.name}  {scenario.operator.__name__}  {' '.join(sorted(scenario.tags))}".rstrip()
        )
    print()
    for name, check in CHECKS.items():
        print(f"{name}  {check.summary}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
