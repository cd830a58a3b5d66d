"""`python -m adinterface_conformance packages scipy.stats statsmodels ...`: functions of installed packages on every engine."""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..installed import installed_backends
from ..runner import backend_from
from . import table
from .example import Example, read
from .examples import examples
from .trial import Trial, Unusable, reference, run


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing is wrong, 1 if something is, 2 for a wrong command line."""
    options = _parser().parse_args(argv)
    try:
        backends = [backend_from(text) for text in options.backend] or installed_backends()
        known: Sequence[Example] = read(options.examples) if options.examples else examples(options.held_out)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    chosen = [example for example in known if not options.package or _is_in(example.name, options.package)]
    if not chosen:
        print(
            f"No example is known for {' '.join(options.package) or 'anything'}. Write a file with EXAMPLES = "
            '{"package.function": (np.ones(3), 2.0), ...}, and give it with --examples FILE.',
            file=sys.stderr,
        )
        return 2
    if options.sample:
        chosen.sort(key=lambda example: example.name)
        random.Random(2026).shuffle(chosen)
        chosen = chosen[: options.sample]
    trials, unusable = tried(chosen, backends, (False, True) if options.prepared else (False,), options.verbose)
    for trial in trials:
        if trial.status == "wrong":
            print(trial)
    for name, reason in unusable.items():
        print(f"unusable {name}: {reason}")
    for line in summary(trials):
        print(line)
    print(f"{len({trial.name for trial in trials})} functions")
    if options.markdown:
        options.markdown.write_text(table.markdown(trials), encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps([dataclasses.asdict(trial) for trial in trials], indent=1), encoding="utf-8")
    return 1 if any(trial.status == "wrong" for trial in trials) else 0


def tried(
    chosen: Sequence[Example], backends: Sequence[object], prepared: Sequence[bool], verbose: int = 0
) -> tuple[list[Trial], dict[str, str]]:
    """What becomes of each function, and why an example is of no use."""
    trials: list[Trial] = []
    unusable: dict[str, str] = {}
    for example in chosen:
        try:
            wanted = reference(example)
        except Unusable as error:
            unusable[example.name] = str(error)
            continue
        trials += run(example, wanted, backends, prepared)  # type: ignore[arg-type]
        if verbose:
            own = [trial for trial in trials if trial.name == example.name]
            print(example.name, *[f"{trial.backend[4:]}:{trial.status}" for trial in own], flush=True)
            for trial in own if verbose > 1 else ():
                if trial.status != "right":
                    print(trial, flush=True)
    return trials, unusable


def summary(trials: Sequence[Trial]) -> list[str]:
    """A line for each engine."""
    lines = []
    for backend, prepared in dict.fromkeys((trial.backend, trial.prepared) for trial in trials):
        counts = Counter(trial.status for trial in trials if (trial.backend, trial.prepared) == (backend, prepared))
        share = counts["right"] / counts.total()
        words = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        lines.append(f"{backend}{' prepared' if prepared else ''}: {words} ({share:.1%} right)")
    return lines


def _is_in(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m adinterface_conformance packages", description=__doc__)
    parser.add_argument("package", nargs="*", help="such as scipy.stats; default: all that examples are known for")
    parser.add_argument("--backend", action="append", default=[], metavar="BACKEND", help="default: all installed")
    parser.add_argument("--prepared", action="store_true", help="prepared calls, too")
    parser.add_argument("--examples", type=Path, metavar="FILE", help="Python, in which EXAMPLES tells arguments by function")
    parser.add_argument("--held-out", action="store_true", help="only what was written before it was run: `examples.unseen`")
    parser.add_argument("--sample", type=int, metavar="COUNT", help="so many of them, drawn by lot, always the same")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table for the documentation")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every trial")
    parser.add_argument("--verbose", "-v", action="count", default=0, help="each function; twice: why it is not right")
    return parser
