"""`python -m adinterface_studies packages scipy.stats statsmodels ...`: functions of installed packages on every engine."""

from __future__ import annotations

import re
import runpy
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from adinterface import AutoBackend

from .. import options
from ..progress import steps
from .examples import examples
from .trial import Example, Trial, Unusable, reference, run


def main(argv: Sequence[str]) -> int:
    """The exit status: 0 if nothing is wrong, 1 if something is, 2 for a wrong command line."""
    parser = options.parser("packages", __doc__)
    parser.add_argument("package", nargs="*", help="such as scipy.stats; default: all that examples are known for")
    parser.add_argument("--prepared", action="store_true", help="prepared calls of the engines that compile")
    parser.add_argument("--examples", type=Path, metavar="FILE", help="a file whose EXAMPLES has arguments by function")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table for the documentation")
    given = parser.parse_args(argv)
    try:
        known = read(given.examples) if given.examples else examples()
    except (ValueError, OSError) as error:
        parser.error(str(error))
    chosen = [example for example in known if not given.package or _is_in(example.name, given.package)]
    if not chosen:
        parser.error(
            f"No example is known for {' '.join(given.package) or 'anything'}. Write a file with EXAMPLES = "
            '{"package.function": (np.ones(3), 2.0), ...}, and give it with --examples FILE.'
        )
    trials, unusable = tried(chosen, options.backends(given.backend), given.prepared)
    for trial in trials:
        if trial.status != "right":
            print(trial)
    for name, reason in unusable.items():
        print(f"unusable {name}: {reason}", file=sys.stderr)
    for backend, prepared in dict.fromkeys((trial.backend, trial.prepared) for trial in trials):
        counts = Counter(trial.status for trial in trials if (trial.backend, trial.prepared) == (backend, prepared))
        words = ", ".join(f"{count} {status}" for status, count in counts.most_common())
        print(f"{backend}{' prepared' if prepared else ''}: {words} ({counts['right'] / counts.total():.1%} right)")
    if given.markdown:
        given.markdown.write_text(markdown(trials), encoding="utf-8")
    return 1 if any(trial.status == "wrong" for trial in trials) else 0


def read(path: Path) -> list[Example]:
    """The examples of a user's file: `EXAMPLES`, a dict from names to tuples of arguments. Raises ValueError without it."""
    found = runpy.run_path(str(path)).get("EXAMPLES")
    if not isinstance(found, dict) or not all(isinstance(value, tuple) for value in found.values()):
        raise ValueError(
            f"{path} has no EXAMPLES that tells a tuple of arguments for each function. Write EXAMPLES = "
            '{"package.function": (np.ones(3), 2.0), ...} in it.'
        )
    return [Example(name, arguments) for name, arguments in found.items()]


def _is_in(name: str, packages: Sequence[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def tried(
    chosen: Sequence[Example], backends: Sequence[AutoBackend], prepared: bool = False
) -> tuple[list[Trial], dict[str, str]]:
    """What becomes of each function, and why an example is of no use.

    prepared: engines that compile are asked for prepared calls, which are what they are made for.
    """
    trials: list[Trial] = []
    unusable: dict[str, str] = {}
    with steps(len(chosen), "functions") as advance:
        for example in chosen:
            try:
                wanted = reference(example)
            except Unusable as error:
                unusable[example.name] = str(error)
            else:
                trials += [run(example, wanted, backend, prepared and options.compiles(backend)) for backend in backends]
            counts = Counter(trial.status for trial in trials)
            advance(", ".join(f"{count} {status}" for status, count in counts.most_common()))
    return trials, unusable


# The table -----------------------------------------------------------------------------------------------------------


def markdown(trials: Sequence[Trial]) -> str:
    """By package how many functions are right on each engine, then why others are not, a line for each reason."""
    columns = list(dict.fromkeys((trial.backend, trial.prepared) for trial in trials))
    heads = [f"{backend.removeprefix('Auto')}{' prepared' if prepared else ''}" for backend, prepared in columns]
    lines = [f"| package | functions | {' | '.join(heads)} |", "| --- | ---: |" + " ---: |" * len(columns)]
    packages = sorted({trial.package for trial in trials}, key=lambda name: (not name.startswith("scipy"), name))
    for package in [*packages, None]:
        among = [trial for trial in trials if package in (None, trial.package)]
        count = len({trial.name for trial in among})
        right = Counter((trial.backend, trial.prepared) for trial in among if trial.status == "right")
        cells = [f"{right[each]}" if package else f"{right[each]} ({right[each] / count:.1%})" for each in columns]
        lines.append(f"| {f'`{package}`' if package else 'all'} | {count} | {' | '.join(cells)} |")
    elsewhere = {trial.name for trial in trials if trial.status != "right" and not trial.prepared}
    for title, ahead in (("Not right on every engine, where it is called:", False), ("Prepared, besides:", True)):
        by_reason: dict[str, list[Trial]] = {}
        for trial in trials:
            if trial.status != "right" and trial.prepared == ahead and not (ahead and trial.name in elsewhere):
                by_reason.setdefault(f"{trial.status}: {reason_of(trial)}", []).append(trial)
        if by_reason:
            lines += ["", title, "", "| why | where | functions |", "| --- | --- | --- |"]
        for reason, some in sorted(by_reason.items(), key=lambda item: -len({trial.name for trial in item[1]})):
            engines = dict.fromkeys(trial.backend.removeprefix("Auto") for trial in some)
            lines.append(f"| {reason} | {', '.join(engines)} | {_names(some)} |")
    return "\n".join(lines) + "\n"


def _names(trials: Sequence[Trial]) -> str:
    """The functions, those of one module or object behind its name."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(trial.name for trial in trials):
        owner, _, last = name.partition(" ")[0].rpartition(".")
        groups.setdefault(owner, []).append(last + name[len(owner) + 1 + len(last) :])
    return "; ".join(f"`{owner}`: {', '.join(names)}" for owner, names in groups.items())


#: What differs between errors that say the same: numbers, and the name of the engine whose arrays it was.
_DIFFERENT = (
    (r"\[[^\]]*\]", "..."),
    (r"-?\d+\.\d+(e[+-]?\d+)?", "..."),
    (r"on \w+ arrays", "on an engine's arrays"),
)


def reason_of(trial: Trial) -> str:
    """The first sentence of why a function is not right, alike for all engines and numbers."""
    if trial.status == "wrong":
        return "another gradient than differences" if "gradient" in trial.reason else "another value than NumPy's"
    text = trial.reason.replace("\n", " ").replace("|", "\\|")
    text = re.split(r" -{9,}|(?<=[a-z)\]])\. |, which would drop| and that would drop|, which takes plain", text)[0]
    for pattern, instead in _DIFFERENT:
        text = re.sub(pattern, instead, text)
    return text[:140] + ("..." if len(text) > 140 else "")
