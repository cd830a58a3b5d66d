"""The table of the judge, over the scenarios of this project too."""

from __future__ import annotations

from adinterface_conformance.__main__ import table


def main(argv: list[str]) -> int:
    """The exit status: 0 if everything went as it should, 1 if not, 2 for a wrong command line."""
    return table(argv, "adinterface_studies.scenarios")
