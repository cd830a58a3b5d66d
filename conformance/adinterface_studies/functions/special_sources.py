"""`python -m adinterface_studies special`: the table of scipy.special, and what each installed
engine has natively.
"""

from __future__ import annotations

from adinterface_conformance.installed import installed_backends

from adinterface.core.contract.library import Library
from adinterface.core.contract.registry import find
from adinterface.scipy.special.on_engines import source_of
from adinterface.scipy.special.table import ROWS


def lines() -> list[str]:
    """A row for each function: its signature, and the source of its values and derivatives on each
    engine.
    """
    libraries: dict[str, Library] = {}
    for backend in installed_backends():
        library = find(backend).library
        if library is not None and library.numpy_sources():
            libraries[type(backend).__name__] = library
    rows = [["function", *libraries], ["---"] * (1 + len(libraries))]
    for row in ROWS:
        sources = [source_of(row.name, library) for library in libraries.values()]
        rows.append([
            f"`{row.name}({', '.join(row.parameters)})`",
            *["" if source is None else source.value for source in sources],
        ])  # fmt: skip
    return [f"| {' | '.join(row)} |" for row in rows]


def main() -> int:
    print(*lines(), sep="\n")
    return 0
