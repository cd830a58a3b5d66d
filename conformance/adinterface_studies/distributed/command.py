"""`python -m adinterface_studies distributed`: gradients of models that several processes have
together.

Started by a launcher, or with --member, this is one process of a group; otherwise it starts
processes on this machine.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import Any

from adinterface import AutoBackend

from .. import options as studies
from .checks import Outcome, outcomes
from .launch import Member, Report, together


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if everything went as it should, 1 if not, 2 for a wrong command line."""
    parser = studies.parser("distributed", __doc__)
    add = parser.add_argument
    add("--processes", action="append", type=int, metavar="N", help="by default 2, then 4")
    add("--setting", action="append", default=[], metavar="PATTERN", help="ways to spread a model")
    add("--member", action="store_true", help="a member of a group that is already started")
    add("--seconds", type=float, default=60.0, help="when to give up on a group (default: 60)")
    options = parser.parse_args(argv)
    backends = [auto for auto in studies.backends(options.backend) if module_of(auto)]
    if not backends:
        print("No engine among those chosen has a set for several processes.", file=sys.stderr)
        return 2
    if "RANK" in os.environ or options.member:
        if len(backends) > 1:
            print("A member of a group runs one engine: say which, by --backend.", file=sys.stderr)
            return 2
        found = member(None, backends[0], options.setting, options.seconds)
        return show(repr(backends[0]), [Report(int(os.environ.get("RANK", "0")), found)])
    status = 0
    for auto in backends:
        module = module_of(auto)
        # What all processes of a group may have from one import.
        imported = [__name__, module] if importlib.import_module(module).FORKS else []
        for count in options.processes or [2, 4]:
            reports = together(
                member, count, auto, options.setting, options.seconds,
                seconds=options.seconds, imported=imported,
            )  # fmt: skip
            status |= show(f"{auto!r}, {count} processes", reports)
    return status


def module_of(auto: AutoBackend) -> str:
    """The module in which an engine's users spread models over processes.

    Empty if there is none.
    """
    module = f"{__package__}.{auto.name}_processes"
    return module if importlib.util.find_spec(module) is not None else ""


def member(
    place: Member | None, auto: AutoBackend, settings: Sequence[str], seconds: float
) -> list[Outcome]:
    """One process of the group: all checks of its engine, in the settings that match a pattern if
    there is any.
    """
    yardstick: Any = importlib.import_module(module_of(auto))
    with yardstick.group(place, seconds):
        return list(outcomes(auto, yardstick, settings))


def show(title: str, reports: Sequence[Report]) -> int:
    """A line for each check that all processes ran, and what went wrong in any."""
    print(title)
    wrong: list[str] = []
    ran = [report for report in reports if not report.error]
    for rows in zip(*[report.result for report in ran]):
        errors = [
            f"    process {report.rank}: {row.error}" for report, row in zip(ran, rows) if row.error
        ]
        first, slowest = rows[0], max(row.seconds for row in rows)
        word = "FAILED" if errors else "ok"
        print(
            f"  {word:6}  {first.setting:42} {first.check:14} {slowest:7.3f} s", *errors, sep="\n"
        )
        wrong += errors
    for report in reports:
        if report.error:
            print(f"  process {report.rank}: {report.error}")
    return int(bool(wrong) or len(ran) < len(reports))
