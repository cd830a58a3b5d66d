"""`python -m adinterface_studies fuzz`: random programs on every engine, by Hypothesis, which
shrinks what fails.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from adinterface_conformance.runner import backend_from
from hypothesis import HealthCheck, assume, given, seed, settings

from adinterface import AutoBackend

from .judging import wrong
from .programs import Program, programs

#: Programs of one search: what is found ends it.
EXAMPLES = 100


class Found(AssertionError):
    """A program, and what is wrong with it."""

    def __init__(self, program: Program, words: str):
        super().__init__(f"{program}# {words}")
        self.program, self.words = program, words


def search(
    backends: Sequence[AutoBackend],
    number: int,
    examples: int = EXAMPLES,
    known: Sequence[Found] = (),
    **options: Any,
) -> Found | None:
    """The smallest wrong program among so many, which the number decides; None if all are right.
    known: is not found again.
    """
    seen = {(each.program.backend, each.program.check, each.words[:40]) for each in known}

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        **options,
    )
    @given(programs(backends))
    def tried(program: Program | None) -> None:
        assume(program is not None)
        words = wrong(program)
        if (
            words is not None
            and program is not None
            and (program.backend, program.check, words[:40]) not in seen
        ):
            raise Found(program, words)

    try:
        tried()
    except Found as found:
        found.__notes__ = []
        return found
    return None


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing was found, 1 if something was, 2 for a wrong command line."""
    from ..options import backends, parser

    made: argparse.ArgumentParser = parser("fuzz", __doc__)
    made.add_argument(
        "--searches",
        type=int,
        default=10,
        metavar="N",
        help=f"each has {EXAMPLES} programs (default: 10)",
    )
    made.add_argument("--minutes", type=float, metavar="M", help="search for so long instead")
    made.add_argument(
        "--seed",
        type=int,
        default=0,
        help="the number of the first search, which decides its programs",
    )
    options = made.parse_args(argv)
    chosen = backends(options.backend)
    end = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    found: list[Found] = []
    number = options.seed
    while time.monotonic() < end if end is not None else number < options.seed + options.searches:
        one = search(chosen, number, known=found)
        if one is not None:
            found.append(one)
            print(f"{one}\n", flush=True)
        number += 1
    print(f"{number - options.seed} searches of {EXAMPLES} programs: {len(found)} findings")
    return 1 if found else 0


__all__ = ["Found", "Program", "backend_from", "main", "programs", "search", "wrong"]
