"""The commands that write the tables of the documentation and count its words."""

import pytest
from adinterface_studies import tables, words
from adinterface_studies.__main__ import main as studies
from adinterface_studies.tables import Table


def test_tables_are_written_by_name(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    monkeypatch.setattr(tables, "TABLES", {"words": Table("Table: words", "The words.", "words", "text")})
    assert studies(["tables", "words"]) == 0
    page = (tmp_path / "words.md").read_text(encoding="utf-8")
    assert page.startswith("# Table: words\n\nThe words.\n\n```text\npython -m adinterface_studies words\n```\n\n```text\n")
    assert page.endswith(" words\n```\n")
    assert "[Table: words](words.md)\n: The words.\n" in (tmp_path / "index.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        studies(["tables", "nothing"])
    assert "no table: nothing" in capsys.readouterr().err


def test_a_table_that_a_page_includes_has_no_title():
    assert tables.page(tables.TABLES["performance"], "| a |\n| --- |\n") == "| a |\n| --- |\n"


def test_words_leave_out_code_and_tables(tmp_path, monkeypatch, capsys):
    (tmp_path / "page.md").write_text("# Title\n\n(anchor)=\nFour words of prose.\n\n```python\ncode\n```\n\n| a | table |\n")
    monkeypatch.setattr(words, "DOCS", tmp_path)
    assert studies(["words"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 pages, 6 words"
