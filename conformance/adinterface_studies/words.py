"""`python -m adinterface_studies words`: the words of prose on each page of the documentation, and the number of pages.

Code, tables, directives and generated pages (`docs/tables`, `docs/api`) are left out.
"""

from __future__ import annotations

import re
from pathlib import Path

import adinterface

DOCS = Path(adinterface.__file__).parent.parent / "docs"


def prose(page: Path) -> str:
    """A page without its code, tables and directives."""
    text = re.sub(r"^(```|:::).*?^(```|:::)$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"^(\s*\||%|\([\w-]+\)=).*$", "", text, flags=re.M)


def words() -> dict[str, int]:
    """The number of words of each page."""
    return {page.stem: len(prose(page).split()) for page in sorted(DOCS.glob("*.md"))}


def main() -> int:
    """Print the words. The exit status."""
    found = words()
    for page, count in found.items():
        print(f"{page:20} {count:6,}")
    print(f"{len(found)} pages, {sum(found.values()):,} words")
    return 0
