"""The table of functions: one row for each, one column for each backend, and what is behind every cell that is not right."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from adinterface import AutoBackend, KnownFailure
from adinterface.registry import find

from .cell import Use
from .checks import Wrong, check, modes_of

Status = Literal["right", "known", "refused", "wrong", "unexpected"]


@dataclass(frozen=True)
class Outcome:
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
    progress: Callable[[Use], None] = lambda use: None,
) -> list[Outcome]:
    """Check every use on a backend."""
    found: list[Outcome] = []
    name = type(backend).__name__
    for use in uses:
        progress(use)
        for mode in modes_of(use, backend):
            if modes is not None and mode not in modes:
                continue
            status: Status = "right"
            message = ""
            try:
                check(use, backend, mode)
            except Wrong as wrong:
                status, message = "wrong", str(wrong)
            except Exception as refused:  # whatever an engine raises: that is what is asked
                status, message = "refused", f"{type(refused).__name__}: {refused}"
            known = known_failure(use, backend, mode)
            if known is not None and status != "right":
                found.append(Outcome(use.key, name, mode, "known", message, known.reason, known.link))
            else:
                found.append(Outcome(use.key, name, mode, status, message))
    return found


def unexpected(outcomes: Iterable[Outcome], backend: AutoBackend, prefix: str = "function:") -> list[KnownFailure]:
    """The known failures of functions that failed nowhere: they can be taken out of the backend's folder."""
    used = {(outcome.reason, outcome.link) for outcome in outcomes if outcome.status == "known"}
    listed = [known for known in find(backend).known_failures if known.scenario.startswith(prefix)]
    return [known for known in listed if (known.reason, known.link) not in used]


_SIGNS: dict[Status, str] = {"right": "✓", "known": "known", "refused": "refused", "wrong": "wrong", "unexpected": "?"}


def markdown(outcomes: Sequence[Outcome]) -> str:
    """A row for each function, a column for each backend; what is not right in all modes is explained below."""
    keys = list(dict.fromkeys(outcome.key for outcome in outcomes))
    backends = list(dict.fromkeys(outcome.backend for outcome in outcomes))
    notes: dict[tuple[str, str], int] = {}
    cells: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        cells.setdefault((outcome.key, outcome.backend), []).append(outcome)
    lines = ["| function | " + " | ".join(backends) + " |", "| --- |" + " --- |" * len(backends)]
    for key in keys:
        row = []
        for backend in backends:
            row.append(_cell(cells.get((key, backend), []), notes))
        name = key.partition(":")[2].replace("|", "\\|")
        lines.append(f"| `{name}` | " + " | ".join(row) + " |")
    lines.append("")
    lines.extend(f"{number}. {reason} ([upstream]({link}))" for (reason, link), number in notes.items())
    return "\n".join(lines) + "\n"


def _cell(outcomes: Sequence[Outcome], notes: dict[tuple[str, str], int]) -> str:
    if not outcomes:
        return ""
    bad = [outcome for outcome in outcomes if outcome.status != "right"]
    if not bad:
        return "✓"
    modes = list(dict.fromkeys(outcome.mode for outcome in bad))
    whole = len(modes) == len({outcome.mode for outcome in outcomes})
    numbers = [str(notes.setdefault((o.reason, o.link), len(notes) + 1)) for o in bad if o.status == "known"]
    words = dict.fromkeys(_SIGNS[outcome.status] for outcome in bad)
    where = "" if whole else " in " + ", ".join(modes)
    return ", ".join(words) + where + (" (" + ", ".join(dict.fromkeys(numbers)) + ")" if numbers else "")
