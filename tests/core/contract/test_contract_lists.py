"""The three lists of `docs/writing-a-backend.md` name every member of the contract, each in its
list.
"""

import re
from pathlib import Path

import pytest
from adinterface_studies.__main__ import main as studies
from adinterface_studies.contract import CLASSES, members

from adinterface.core.contract import Backend, Library, LibraryShortcuts, NodeType, Shortcuts

GUIDE = Path(__file__).parents[3] / "docs" / "writing-a-backend.md"
LISTS = {
    "What must be given": [Backend],
    "What gives speed": [Shortcuts, LibraryShortcuts],
    "Containers": [NodeType],
    "What a library of arrays needs": [Library],
}


def named(title):
    """The terms of a list, which stand at the starts of lines."""
    section = GUIDE.read_text().split(f"### {title}\n")[1].split("\n### ")[0]
    terms = [
        line
        for line in section.splitlines()
        if re.match(r"`[\w.]+`(?!\.)", line) and not line.endswith(".")
    ]
    return {name for line in terms for name in re.findall(r"`(\w+)`", line)}


#: Each release may only lower it.
MOST = 86


def test_the_contract_has_no_more_members(capsys):
    assert studies(["contract"]) == 0
    assert sum(len(members(cls)) for cls in CLASSES) <= MOST
    printed = capsys.readouterr().out
    assert all(
        name in printed
        for name in ("pullback", "to_numpy", "unflatten", "while_loop", "Pushforward")
    )


@pytest.mark.parametrize("title", LISTS)
def test_a_list_of_the_guide_names_each_member_of_its_part_of_the_contract(title):
    classes = LISTS[title]
    assert named(title) - {cls.__name__ for cls in classes} == {
        name for cls in classes for name in members(cls)
    }
