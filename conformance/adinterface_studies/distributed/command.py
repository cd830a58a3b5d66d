"""`python -m adinterface_studies distributed`: processes on this machine, or this process as a
member of a group.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from adinterface_conformance.installed import is_installed
from adinterface_conformance.runner import backend_from

from adinterface import AutoBackend
from adinterface.core.contract.auto import BUILT_IN

from .checks import Outcome, outcomes
from .engine import yardstick_of
from .launch import Member, Report, together


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if everything went as it should, 1 if not, 2 for a wrong command line."""
    options = _parser().parse_args(argv)
    try:
        chosen = [backend_from(text) for text in options.backend]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    backends = [auto for auto in chosen or _installed() if yardstick_of(auto) is not None]
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
        for count in options.processes or [2, 4]:
            reports = together(
                member,
                count,
                auto,
                options.setting,
                options.seconds,
                seconds=options.seconds,
                imported=_imports(auto),
            )
            status |= show(f"{auto!r}, {count} processes", reports)
    return status


def _imports(auto: AutoBackend) -> list[str]:
    """What all processes of a group may have from one import."""
    module = yardstick_of(auto)
    assert module is not None
    return [__name__, module] if importlib.import_module(module).FORKS else []


def member(
    place: Member | None, auto: AutoBackend, settings: Sequence[str], seconds: float
) -> list[Outcome]:
    """One process of the group: all checks of its engine, in the settings that match a pattern if
    there is any.
    """
    module = yardstick_of(auto)
    assert module is not None
    yardstick: Any = importlib.import_module(module)
    with yardstick.group(place, seconds):
        return list(outcomes(auto, yardstick, settings))


def show(title: str, reports: Sequence[Report]) -> int:
    """A line for each check that all processes ran, and what went wrong in any."""
    print(title)
    good = True
    for report in reports:
        if report.error:
            good = False
            print(f"  process {report.rank}: {report.error}")
    ran = [report for report in reports if not report.error]
    for rows in zip(*[report.result for report in ran]):
        wrong = [(report.rank, row.error) for report, row in zip(ran, rows) if row.error]
        slowest = max(row.seconds for row in rows)
        print(
            f"  {'FAILED' if wrong else 'ok':6}  {rows[0].setting:42} {rows[0].check:14}"
            f" {slowest:7.3f} s"
        )
        for rank, error in wrong:
            good = False
            print(f"    process {rank}: {error}")
    return 0 if good else 1


def _installed() -> list[AutoBackend]:
    return [auto() for auto in BUILT_IN if is_installed(auto)]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m adinterface_studies distributed",
        description=(
            "Check gradients of models that several processes have together. Started by a launcher,"
            " or with --member, this is one process of a group; otherwise it starts processes on"
            " this machine."
        ),
    )
    parser.add_argument(
        "--backend",
        action="append",
        default=[],
        metavar="VALUE",
        help="an engine; by default all that can",
    )
    parser.add_argument(
        "--processes",
        action="append",
        type=int,
        metavar="N",
        help="how many to start; by default 2, then 4",
    )
    parser.add_argument(
        "--setting", action="append", default=[], metavar="PATTERN",
        help="a way to spread a model, with * and ?; by default all",
    )  # fmt: skip
    parser.add_argument(
        "--member", action="store_true", help="a member of a group that is already started"
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        metavar="S",
        help="when to give up on a group (default: 60)",
    )
    return parser
