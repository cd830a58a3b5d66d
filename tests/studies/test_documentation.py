"""The commands that write the tables of the documentation, and that each study is asked for
somewhere.
"""

import re
from pathlib import Path

import pytest
from adinterface_studies import STUDIES, tables
from adinterface_studies.__main__ import main as studies
from adinterface_studies.tables import Table


def test_tables_are_written_by_name(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    monkeypatch.setattr(
        tables,
        "TABLES",
        {"members": Table("Table: members", "The members.", "contract", 0, "text")},
    )
    assert studies(["tables", "members"]) == 0
    page = (tmp_path / "members.md").read_text(encoding="utf-8")
    assert page.startswith(
        "# Table: members\n\nThe members.\n\n```text\npython -m adinterface_studies"
        " contract\n```\n\n```text\n"
    )
    assert page.endswith("\n```\n")
    assert "[Table: members](members.md)\n: The members.\n" in (tmp_path / "index.md").read_text(
        encoding="utf-8"
    )
    assert studies(["tables", "--list"]) == 0
    assert "members        0 min  python -m adinterface_studies contract" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        studies(["tables", "nothing"])
    assert "no table: nothing" in capsys.readouterr().err


def test_a_table_that_a_page_includes_has_no_title():
    assert tables.page(tables.TABLES["performance"], "| a |\n| --- |\n") == "| a |\n| --- |\n"


@pytest.mark.parametrize("study", STUDIES)
def test_what_a_study_names_as_its_reader_has_its_command(study):
    """A page; for what writes or counts files, the map or the file itself."""
    root = Path(__file__).parents[2]
    pages = [root / f"{name}.md" for name in re.findall(r"docs/\w+", STUDIES[study][1])]
    pages += [
        *(root / "docs" / "tables").glob("*.md"),
        root / "CHANGELOG.md",
        root / "docs" / "architecture.md",
    ]
    pages += [root / "adinterface" / "core" / "operators" / "typed.py"]
    texts = [page.read_text(encoding="utf-8") for page in pages if page.is_file()]
    assert any(f"python -m adinterface_studies {study}" in text for text in texts)


@pytest.mark.parametrize("study", STUDIES)
def test_each_study_prints_its_help(study, capsys):
    with pytest.raises(SystemExit) as end:
        studies([study, "--help"])
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith("usage: python -m ")
