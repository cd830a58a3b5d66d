"""A run as files: JSON for programs, JUnit for continuous integration."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from .outcome import Outcome
from .runner import Run


class JsonFile:
    """All outcomes and the platform.

    The file is valid JSON after each `add`, because a run may be killed.
    """

    def __init__(self, path: Path, run: Run, options: dict[str, Any]):
        self.path, self.run = path, run
        facts = {
            "versions": run.versions,
            "backends": run.backends,
            "scenarios": run.scenarios,
            "options": options,
        }
        self.start = path.write_bytes(json.dumps(facts).encode()[:-1] + b',\n"outcomes": [')
        self._restart()
        self.add(run.outcomes)

    def _restart(self) -> None:
        self.end, self.comma = self.start, ""

    def add(self, outcomes: Iterable[Outcome], end: str = "}") -> None:
        """Write these outcomes, and the end of the document, over its last end."""
        text = ""
        for outcome in outcomes:
            text, self.comma = f"{text}{self.comma}\n{json.dumps(asdict(outcome))}", ","
        with self.path.open("r+b") as file:
            file.seek(self.end)
            file.write(f"{text}\n]{end}\n".encode())
            file.truncate()
        self.end += len(text.encode())

    def close(self) -> None:
        """The run has ended: write all of it in its order, and the counts."""
        self._restart()
        counts = {backend: self.run.counts(backend) for backend in self.run.backends}
        self.add(
            self.run.outcomes,
            f",\n{json.dumps({'seconds': round(self.run.seconds, 3), 'counts': counts})[1:]}",
        )


def read_json(path: Path, fresh: Run, options: dict[str, Any]) -> Run:
    """The outcomes of a stopped run.

    Raises ValueError for the file of another run, and for other files.
    """
    try:
        data = json.loads(path.read_text())
        found = {name: data[name] for name in ("versions", "backends", "scenarios", "options")}
        outcomes = [Outcome(**outcome) for outcome in data["outcomes"]]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} holds no outcomes of a run: {error!r}") from error
    wanted = {
        **asdict(replace(fresh, outcomes=[])),
        "backends": list(fresh.backends),
        "options": options,
    }
    for name, value in found.items():
        if value != wanted[name]:
            raise ValueError(
                f"{path} is of a run with {name} {value}, not {wanted[name]}. Resume with the same,"
                " or name no file."
            )
    return replace(fresh, outcomes=outcomes, seconds=sum(outcome.seconds for outcome in outcomes))


def write_junit(run: Run, path: Path) -> None:
    """One suite for each backend, one case for each check.

    Known failures are skipped cases with their reason.
    """
    suites = ElementTree.Element(
        "testsuites", name="adinterface conformance", time=f"{run.seconds:.3f}"
    )
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
