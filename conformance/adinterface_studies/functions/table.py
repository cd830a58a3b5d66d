"""The table of functions: one row for each, one column for each backend, and what is behind every
cell that is not right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from adinterface_conformance.use import Use

from adinterface import AutoBackend
from adinterface.core.contract import KnownFailure
from adinterface.core.contract.registry import find

from .checks import Wrong, judge, modes_of

Status = Literal["right", "known", "refused", "wrong", "unexpected"]


@dataclass(frozen=True)
class Trial:
    """One way to call a function, on one backend, in one mode."""

    key: str
    backend: str
    mode: str
    status: Status
    message: str = ""
    reason: str = ""
    link: str = ""

    @property
    def good(self) -> bool:
        """Whether it is right, or listed as an upstream fact."""
        return self.status in ("right", "known")

    def __str__(self) -> str:
        return f"{self.key} on {self.backend}, {self.mode}: {self.status}: {self.message}"


def known_failure(use: Use, backend: AutoBackend, mode: str) -> KnownFailure | None:
    """The datum of the backend's folder that speaks of this cell."""
    for known in find(backend).known_failures:
        if fnmatchcase(use.key, known.scenario) and fnmatchcase(mode, known.check):
            return known
    return None


def run(
    uses: Iterable[Use],
    backend: AutoBackend,
    *,
    modes: Sequence[str] | None = None,
    progress: Callable[[str], None] = lambda name: None,
) -> list[Trial]:
    """Check every use on a backend."""
    trials: list[Trial] = []
    name = type(backend).__name__
    for use in uses:
        progress(use.name)
        for mode in modes_of(use, backend):
            if modes is not None and mode not in modes:
                continue
            status: Status = "right"
            message = ""
            try:
                judge(use, backend, mode)
            except Wrong as wrong:
                status, message = "wrong", str(wrong)
            except Exception as refused:  # whatever an engine raises: that is what is asked
                status, message = "refused", f"{type(refused).__name__}: {refused}"
            known = known_failure(use, backend, mode)
            if known is not None and status != "right":
                trials.append(
                    Trial(use.key, name, mode, "known", message, known.reason, known.link)
                )
            else:
                trials.append(Trial(use.key, name, mode, status, message))
    return trials


def unexpected(
    trials: Iterable[Trial], backend: AutoBackend, prefix: str = "function:"
) -> list[KnownFailure]:
    """The known failures of functions that failed nowhere: they can be taken out of the backend's
    folder.
    """
    used = {(trial.reason, trial.link) for trial in trials if trial.status == "known"}
    listed = [known for known in find(backend).known_failures if known.scenario.startswith(prefix)]
    return [known for known in listed if (known.reason, known.link) not in used]


_SIGNS: dict[Status, str] = {
    "right": "✓",
    "known": "known",
    "refused": "refused",
    "wrong": "wrong",
    "unexpected": "?",
}


def markdown(trials: Sequence[Trial]) -> str:
    """A row for each function, a column for each backend.

    What is not right in all modes is explained below.
    """
    keys = list(dict.fromkeys(trial.key for trial in trials))
    backends = list(dict.fromkeys(trial.backend for trial in trials))
    notes: dict[tuple[str, str], int] = {}
    cells: dict[tuple[str, str], list[Trial]] = {}
    for trial in trials:
        cells.setdefault((trial.key, trial.backend), []).append(trial)
    lines = ["| function | " + " | ".join(backends) + " |", "| --- |" + " --- |" * len(backends)]
    for key in keys:
        row = []
        for backend in backends:
            row.append(_cell(cells.get((key, backend), []), notes))
        name = key.partition(":")[2].replace("|", "\\|")
        lines.append(f"| `{name}` | " + " | ".join(row) + " |")
    lines.append("")
    lines.extend(
        f"{number}. {reason} ([upstream]({link}))" for (reason, link), number in notes.items()
    )
    return "\n".join(lines) + "\n"


def _cell(trials: Sequence[Trial], notes: dict[tuple[str, str], int]) -> str:
    if not trials:
        return ""
    bad = [trial for trial in trials if trial.status != "right"]
    if not bad:
        return "✓"
    modes = list(dict.fromkeys(trial.mode for trial in bad))
    whole = len(modes) == len({trial.mode for trial in trials})
    numbers = [
        str(notes.setdefault((o.reason, o.link), len(notes) + 1))
        for o in bad
        if o.status == "known"
    ]
    words = dict.fromkeys(_SIGNS[trial.status] for trial in bad)
    where = "" if whole else " in " + ", ".join(modes)
    return (
        ", ".join(words)
        + where
        + (" (" + ", ".join(dict.fromkeys(numbers)) + ")" if numbers else "")
    )
