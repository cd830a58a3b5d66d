"""Many trials as a table of the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from .trial import Trial


def markdown(trials: Sequence[Trial]) -> str:
    """By package how many functions are right on each engine, then what is not, and why."""
    columns = list(dict.fromkeys((trial.backend, trial.prepared) for trial in trials))
    heads = [f"{backend.removeprefix('Auto')}{' prepared' if prepared else ''}" for backend, prepared in columns]
    lines = [
        "| package | functions | " + " | ".join(heads) + " |",
        "| --- | ---: |" + " ---: |" * len(heads),
    ]
    packages = list(dict.fromkeys(trial.package for trial in trials))
    for package in [*packages, None]:
        among = [trial for trial in trials if package in (None, trial.package)]
        count = len({trial.name for trial in among})
        cells = [
            f"{sum(t.status == 'right' for t in among if (t.backend, t.prepared) == column)}" for column in columns
        ]  # fmt: skip
        lines.append(f"| {'all' if package is None else f'`{package}`'} | {count} | " + " | ".join(cells) + " |")
    lines += ["", "Not right on every engine:", "", "| function | where | why |", "| --- | --- | --- |"]
    for name in dict.fromkeys(trial.name for trial in trials if trial.status != "right" and not trial.prepared):
        bad = [trial for trial in trials if trial.name == name and trial.status != "right" and not trial.prepared]
        for reason in dict.fromkeys(trial.reason for trial in bad):
            where = ", ".join(trial.backend.removeprefix("Auto") for trial in bad if trial.reason == reason)
            text = reason.replace("|", "\\|").replace("\n", " ")
            lines.append(f"| `{name}` | {where} | {bad[0].status}: {text[:160]}{'...' if len(text) > 160 else ''} |")
    return "\n".join(lines) + "\n"
