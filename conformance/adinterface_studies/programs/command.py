"""`python -m adinterface_studies programs`: how many small programs of plain NumPy are right on each engine."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from adinterface_conformance.installed import installed_backends
from adinterface_conformance.runner import backend_from

from adinterface import AutoBackend
from adinterface.core.contract.backend import gives
from adinterface.core.contract.registry import find

from .trial import VERDICTS, Outcome, Program, programs, reference, run


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing is wrong, 1 if something is, 2 for a wrong command line."""
    options = _parser().parse_args(argv)
    try:
        backends = [backend_from(text) for text in options.backend] or [
            backend for backend in installed_backends() if gives(find(backend), "pullback")
        ]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    chosen = [program for program in programs() if _is_meant(program, options.program)]
    if not chosen:
        print("No program has such a name or theme.", file=sys.stderr)
        return 2
    outcomes = tried(chosen, backends, deep=not options.plain, shown=VERDICTS if options.verbose else VERDICTS[1:])
    for line in summary(outcomes):
        print(line)
    if options.markdown:
        options.markdown.write_text(markdown(outcomes), encoding="utf-8")
    return 1 if any(outcome.verdict == "wrong" for outcome in outcomes) else 0


def tried(
    chosen: Sequence[Program], backends: Sequence[AutoBackend], *, deep: bool, shown: Sequence[str] = ()
) -> list[Outcome]:
    """What becomes of each program on each engine; of verdicts that are shown, a line."""
    outcomes = []
    for program in chosen:
        wanted = reference(program)
        for backend in backends:
            outcomes.append(run(program, wanted, backend, deep=deep))
            if outcomes[-1].verdict in shown:
                print(outcomes[-1], flush=True)
    return outcomes


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for each engine."""
    lines = []
    for backend in dict.fromkeys(outcome.backend for outcome in outcomes):
        counts = Counter(outcome.verdict for outcome in outcomes if outcome.backend == backend)
        share = (counts["right"] + counts["in part"]) / counts.total()
        words = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS)
        lines.append(f"{backend}: {counts.total()} programs, {words} ({share:.1%} right or right in part)")
    return lines


def markdown(outcomes: Sequence[Outcome]) -> str:
    """By theme how many programs are right, and right in part, on each engine; then what is neither, and why."""
    backends = list(dict.fromkeys(outcome.backend for outcome in outcomes))
    lines = [
        "| theme | programs | " + " | ".join(backend.removeprefix("Auto") for backend in backends) + " |",
        "| --- | ---: |" + " ---: |" * len(backends),
    ]
    for theme in [*dict.fromkeys(outcome.theme for outcome in outcomes), None]:
        among = [outcome for outcome in outcomes if theme in (None, outcome.theme)]
        cells = []
        for backend in backends:
            counts = Counter(outcome.verdict for outcome in among if outcome.backend == backend)
            cells.append(f"{counts['right']}" + (f" + {counts['in part']} in part" if counts["in part"] else ""))
        lines.append(f"| {theme or 'all'} | {len({o.program for o in among})} | " + " | ".join(cells) + " |")
    rest = [outcome for outcome in outcomes if outcome.verdict in ("refused", "wrong")]
    if rest:
        lines += ["", "| neither right nor in part | where | why |", "| --- | --- | --- |"]
    for name in dict.fromkeys(outcome.program for outcome in rest):
        of_it = [outcome for outcome in rest if outcome.program == name]
        reason = next(reason for _, reason in of_it[0].modes.values() if reason).replace("|", "\\|").replace("\n", " ")
        where = ", ".join(outcome.backend.removeprefix("Auto") for outcome in of_it)
        lines.append(f"| `{name}` | {where} | {of_it[0].verdict}: {reason[:120]}{'...' if len(reason) > 120 else ''} |")
    return "\n".join(lines) + "\n"


def _is_meant(program: Program, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(text, pattern) for text in (program.name, program.theme) for pattern in patterns)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies programs", description=__doc__)
    parser.add_argument("--backend", action="append", default=[], metavar="BACKEND", help="default: all that trace f")
    parser.add_argument("--program", action="append", default=[], metavar="PATTERN", help="a name or theme, with * and ?")
    parser.add_argument("--plain", action="store_true", help="under numpy_function without deep=True")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table of the documentation")
    parser.add_argument("--verbose", "-v", action="store_true", help="a line for each program")
    return parser
