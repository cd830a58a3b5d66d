"""The three lists of `docs/writing-a-backend.md` name every member of the contract, each in its list."""

import re
from pathlib import Path

import pytest

from adinterface.core.contract import Backend
from adinterface.core.contract.backend import Shortcuts
from adinterface.core.contract.library import Library, LibraryShortcuts

GUIDE = Path(__file__).parents[3] / "docs" / "writing-a-backend.md"
LISTS = {
    "What must be given": [Backend],
    "What gives speed": [Shortcuts, LibraryShortcuts],
    "What a library of arrays needs": [Library],
}


def members(cls):
    declared = {**vars(cls), **cls.__annotations__}
    return {name for name in declared if not name.startswith("_")}


def named(title):
    """The terms of a list, which stand at the starts of lines."""
    section = GUIDE.read_text().split(f"### {title}\n")[1].split("\n### ")[0]
    terms = [line for line in section.splitlines() if re.match(r"`[\w.]+`(?!\.)", line) and not line.endswith(".")]
    return {name for line in terms for name in re.findall(r"`(\w+)`", line)}


@pytest.mark.parametrize("title", LISTS)
def test_a_list_of_the_guide_names_each_member_of_its_part_of_the_contract(title):
    classes = LISTS[title]
    assert named(title) - {cls.__name__ for cls in classes} == set().union(*map(members, classes))
