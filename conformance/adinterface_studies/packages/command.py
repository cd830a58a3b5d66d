"""`python -m adinterface_studies packages scipy.stats statsmodels ...`: functions of installed packages on every engine."""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from adinterface_conformance.installed import installed_backends
from adinterface_conformance.runner import backend_from

from adinterface import AutoBackend

from ..progress import steps
from . import table
from .example import Example, read
from .examples import examples
from .trial import Trial, Unusable, reference, run

#: The trials of a scan, and why examples were of no use, by name.
Kept = tuple[list[Trial], dict[str, str]]


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing is wrong, 1 if something is, 2 for a wrong command line."""
    options = _parser().parse_args(argv)
    try:
        backends = [backend_from(text) for text in options.backend] or installed_backends()
        known: Sequence[Example] = read(options.examples) if options.examples else _of_list(options.list)
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
    if options.resume and not options.json:
        print("--resume goes on with the trials of an earlier scan, which --json FILE names.", file=sys.stderr)
        return 2
    try:
        kept = _kept(options.json) if options.resume and options.json.exists() else None
    except (ValueError, KeyError, TypeError):
        print(f"{options.json} is no file that --json has written. Name another, or leave --resume out.", file=sys.stderr)
        return 2
    trials, unusable = tried(chosen, backends, options.prepared, options.verbose, options.json, kept)
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
    return 1 if any(trial.status == "wrong" for trial in trials) else 0


def tried(
    chosen: Sequence[Example],
    backends: Sequence[AutoBackend],
    prepared: bool = False,
    verbose: int = 0,
    file: Path | None = None,
    kept: Kept | None = None,
) -> Kept:
    """What becomes of each function, and why an example is of no use.

    prepared: engines that compile are asked for prepared calls, which are what they are made for. file: where all of it is
    written after each function. kept: what an earlier scan has found on these or other backends, which is not looked at again.
    """
    trials, unusable = kept or ([], {})
    done = {(trial.name, trial.backend, trial.prepared) for trial in trials}
    names = {example.name for example in chosen}
    with steps(len(chosen), "functions") as advance:
        for example in chosen:
            left = [each for each in backends if (example.name, type(each).__name__, prepared and compiles(each)) not in done]
            if left and example.name not in unusable:
                _try(example, left, prepared, verbose, trials, unusable)
                if file is not None:
                    _keep(file, trials, unusable)
            advance(_line(trials))
    return [trial for trial in trials if trial.name in names], {name: why for name, why in unusable.items() if name in names}


def _try(
    example: Example,
    backends: Sequence[AutoBackend],
    prepared: bool,
    verbose: int,
    trials: list[Trial],
    unusable: dict[str, str],
) -> None:
    try:
        wanted = reference(example)
    except Unusable as error:
        unusable[example.name] = str(error)
        return
    own = [trial for backend in backends for trial in run(example, wanted, [backend], [prepared and compiles(backend)])]
    trials += own
    if verbose:
        print(example.name, *[f"{trial.backend[4:]}:{trial.status}" for trial in own], flush=True)
        for trial in own if verbose > 1 else ():
            if trial.status != "right":
                print(trial, flush=True)


def compiles(backend: AutoBackend) -> bool:
    """Whether a prepared call of it is compiled."""
    return bool(getattr(backend, "jit", False) or getattr(backend, "compile", False))


def _of_list(name: str) -> list[Example]:
    if name != "first":
        return examples(held_out=name == "held-out")
    held_out = {example.name for example in examples(held_out=True)}
    return [example for example in examples() if example.name not in held_out]


def _keep(file: Path, trials: Sequence[Trial], unusable: dict[str, str]) -> None:
    found = {"trials": [dataclasses.asdict(trial) for trial in trials], "unusable": unusable}
    beside = file.with_suffix(".part")
    beside.write_text(json.dumps(found, indent=1), encoding="utf-8")
    beside.replace(file)  # whole at any time, as the scan may be interrupted


def _kept(file: Path) -> Kept:
    found = json.loads(file.read_text(encoding="utf-8"))
    return [Trial(**trial) for trial in found["trials"]], found["unusable"]


def _line(trials: Sequence[Trial]) -> str:
    return ", ".join(f"{count} {status}" for status, count in Counter(trial.status for trial in trials).most_common())


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
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies packages", description=__doc__)
    parser.add_argument("package", nargs="*", help="such as scipy.stats; default: all that examples are known for")
    parser.add_argument("--backend", action="append", default=[], metavar="BACKEND", help="default: all installed")
    parser.add_argument("--prepared", action="store_true", help="prepared calls of the engines that compile")
    parser.add_argument("--examples", type=Path, metavar="FILE", help="a file whose EXAMPLES has arguments by function")
    parser.add_argument(
        "--list", choices=("all", "first", "held-out"), default="all",
        help="held-out: what was written before it was run (`examples.unseen`); first: the others",
    )  # fmt: skip
    parser.add_argument("--sample", type=int, metavar="COUNT", help="so many of them, drawn by lot, always the same")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table for the documentation")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every trial, after each function")
    parser.add_argument("--resume", action="store_true", help="with --json: only what the file has not yet")
    parser.add_argument("--verbose", "-v", action="count", default=0, help="each function; twice: why it is not right")
    return parser
