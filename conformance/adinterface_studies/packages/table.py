"""Many trials as a table of the documentation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .trial import Trial

Column = tuple[str, bool]


def markdown(trials: Sequence[Trial]) -> str:
    """By package how many functions are right on each engine, then why others are not, a line for each reason."""
    columns = list(dict.fromkeys((trial.backend, trial.prepared) for trial in trials))
    lines = [
        "| package | functions | " + " | ".join(map(_head, columns)) + " |",
        "| --- | ---: |" + " ---: |" * len(columns),
    ]
    packages = sorted({trial.package for trial in trials}, key=lambda name: (not name.startswith("scipy"), name))
    for package in [*packages, None]:
        among = [trial for trial in trials if package in (None, trial.package)]
        count = len({trial.name for trial in among})
        cells = [_right(among, column, count if package is None else 0) for column in columns]
        lines.append(f"| {'all' if package is None else f'`{package}`'} | {count} | " + " | ".join(cells) + " |")
    for title, prepared in (("Not right on every engine, where it is called:", False), ("Prepared, besides:", True)):
        elsewhere = {trial.name for trial in trials if trial.status != "right" and not trial.prepared}
        bad = [
            trial for trial in trials
            if trial.status != "right" and trial.prepared == prepared
            and not (prepared and trial.name in elsewhere)
        ]  # fmt: skip
        if bad:
            lines += ["", title, "", "| why | where | functions |", "| --- | --- | --- |", *_reasons(bad)]
    return "\n".join(lines) + "\n"


def _head(column: Column) -> str:
    backend, prepared = column
    return f"{backend.removeprefix('Auto')}{' prepared' if prepared else ''}"


def _right(trials: Sequence[Trial], column: Column, of: int) -> str:
    """How many are right; of so many, in percent, too."""
    count = sum(trial.status == "right" and (trial.backend, trial.prepared) == column for trial in trials)
    return f"{count} ({count / of:.1%})" if of else str(count)


def _reasons(bad: Sequence[Trial]) -> list[str]:
    """A line for each reason, the one that concerns most functions first."""
    by_reason: dict[tuple[str, str], list[Trial]] = {}
    for trial in bad:
        by_reason.setdefault((trial.status, reason_of(trial)), []).append(trial)
    found = sorted(by_reason.items(), key=lambda item: -len({trial.name for trial in item[1]}))
    return [f"| {status}: {reason} | {_engines(some)} | {_names(some)} |" for (status, reason), some in found]


def _engines(trials: Sequence[Trial]) -> str:
    return ", ".join(dict.fromkeys(trial.backend.removeprefix("Auto") for trial in trials))


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
