"""A run as files: JSON for programs, JUnit for continuous integration, one HTML page for people (see `page`), the
tables of the documentation."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

from .outcome import Outcome
from .page import page
from .runner import Run


def write_json(run: Run, path: Path) -> None:
    """All outcomes, and what they were measured on."""
    data = {
        "versions": run.versions,
        "backends": run.backends,
        "scenarios": run.scenarios,
        "seconds": round(run.seconds, 3),
        "counts": {backend: run.counts(backend) for backend in run.backends},
        "outcomes": [asdict(outcome) for outcome in run.outcomes],
    }
    path.write_text(json.dumps(data, indent=1) + "\n")


def write_junit(run: Run, path: Path) -> None:
    """One suite for each backend, one case for each check; known failures are skipped cases with their reason."""
    suites = ElementTree.Element("testsuites", name="adinterface conformance", time=f"{run.seconds:.3f}")
    for backend in run.backends:
        outcomes = [outcome for outcome in run.outcomes if outcome.backend == backend]
        counts = run.counts(backend)
        suite = ElementTree.SubElement(
            suites,
            "testsuite",
            name=backend,
            tests=str(len(outcomes)),
            failures=str(counts["failed"] + counts["unexpected"]),
            skipped=str(counts["known"]),
            errors="0",
            time=f"{sum(outcome.seconds for outcome in outcomes):.3f}",
        )
        for outcome in outcomes:
            _case(suite, outcome)
    ElementTree.indent(suites)
    ElementTree.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)


def _case(suite: ElementTree.Element, outcome: Outcome) -> None:
    case = ElementTree.SubElement(
        suite,
        "testcase",
        classname=f"{outcome.backend}.{outcome.family}.{outcome.operator}",
        name=f"{outcome.scenario}: {outcome.check}",
        time=f"{outcome.seconds:.6f}",
    )
    if outcome.status == "known":
        ElementTree.SubElement(case, "skipped", message=_text(f"{outcome.reason} ({outcome.link})"))
    elif not outcome.good:
        ElementTree.SubElement(case, "failure", type=outcome.status, message=_text(outcome.message))


def _text(message: str) -> str:
    """Without the characters that XML has no form for."""
    return "".join(letter if letter >= " " or letter in "\t\n" else " " for letter in message)


def write_html(run: Run, path: Path) -> None:
    """The support matrix as one page that needs nothing else."""
    path.write_text(page(run), encoding="utf-8")


def write_markdown(run: Run, path: Path) -> None:
    """How many of the scenarios each backend passes, by check and by family; what is known to fail, with the reason."""
    lines = [*_counted(run, "check"), "", *_counted(run, "family")]
    known = dict.fromkeys((o.backend, o.scenario, o.reason, o.link) for o in run.outcomes if o.status == "known")
    if known:
        lines += ["", "| backend | scenario | known not to work, because |", "| --- | --- | --- |"]
        lines += [
            f"| `{backend}` | `{scenario}` | [{reason.rstrip('.')}]({link}) |" for backend, scenario, reason, link in known
        ]
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    lines += ["", f"Measured with {versions}; `passed / all` where not all passed."]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _counted(run: Run, what: str) -> list[str]:
    """A table with a row for each check, or for each family of scenarios, and a column for each backend."""
    names = list(dict.fromkeys(getattr(outcome, what) for outcome in run.outcomes))
    lines = [f"| {what} | " + " | ".join(f"`{backend}`" for backend in run.backends) + " |"]
    lines.append("| --- |" + " --- |" * len(run.backends))
    for name in sorted(names) if what == "family" else names:
        cells = []
        for backend in run.backends:
            found = [o.status for o in run.outcomes if o.backend == backend and getattr(o, what) == name]
            passed = found.count("passed")
            cells.append("-" if not found else str(passed) if passed == len(found) else f"{passed} / {len(found)}")
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return lines
