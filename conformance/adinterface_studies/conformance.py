"""The table of the judge, over the scenarios of this project too, and as the tables of the
documentation.
"""

from __future__ import annotations

from pathlib import Path

from adinterface_conformance.__main__ import WRITERS, table
from adinterface_conformance.runner import Run


def main(argv: list[str]) -> int:
    """The exit status: 0 if everything went as it should, 1 if not, 2 for a wrong command line."""
    writers = {**WRITERS, "markdown": (write_markdown, "write the tables of the documentation")}
    return table(argv, "adinterface_studies.scenarios", writers)


def write_markdown(run: Run, path: Path) -> None:
    """How many of the scenarios each backend passes, by check and by family.

    What is known to fail, with the reason.
    """
    lines = [*_counted(run, "check"), "", *_counted(run, "family")]
    known = dict.fromkeys(
        (o.backend, o.scenario, o.reason, o.link) for o in run.outcomes if o.status == "known"
    )
    if known:
        lines += ["", "| backend | scenario | known not to work, because |", "| --- | --- | --- |"]
        lines += [
            f"| `{backend}` | `{scenario}` | [{reason.rstrip('.')}]({link}) |"
            for backend, scenario, reason, link in known
        ]
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    lines += ["", f"Measured with {versions}; `passed / all` where not all passed."]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _counted(run: Run, what: str) -> list[str]:
    """A table with a row for each check, or for each family of scenarios, and a column for each
    backend.
    """
    names = list(dict.fromkeys(getattr(outcome, what) for outcome in run.outcomes))
    lines = [f"| {what} | " + " | ".join(f"`{backend}`" for backend in run.backends) + " |"]
    lines.append("| --- |" + " --- |" * len(run.backends))
    for name in sorted(names) if what == "family" else names:
        cells = []
        for backend in run.backends:
            found = [
                o.status for o in run.outcomes if o.backend == backend and getattr(o, what) == name
            ]
            passed = found.count("passed")
            cells.append(
                "-"
                if not found
                else str(passed)
                if passed == len(found)
                else f"{passed} / {len(found)}"
            )
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return lines
