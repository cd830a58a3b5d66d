"""What is declared, pinned and tested are the same versions; the command that tests them reads and writes what it should."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
import versions
from xla_flags import flags_that_xla_knows

DOCS = Path(__file__).parents[2] / "docs"


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def rows() -> dict[str, list[str]]:
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in versions.TABLE.read_text().splitlines()]
    return {cells[0]: cells for cells in lines[2:]}


def test_the_lowest_versions_are_those_that_are_declared() -> None:
    pins = versions.pins(versions.LOWEST)
    assert {name: pins[name] for name in versions.declared()} == versions.declared()
    assert set(pins) - set(versions.declared()) == {"jaxlib", "scipy"}  # which the engines ask for
    assert pins["jaxlib"] == pins["jax"]


@pytest.mark.parametrize("path", [versions.PINNED, versions.NEWEST], ids=lambda path: path.stem)
def test_what_is_pinned_is_allowed(path: Path) -> None:
    pins = versions.pins(path)
    assert {name: pins[name] for name, least in versions.declared().items() if number(pins[name]) < number(least)} == {}
    assert list(pins) == list(versions.pins(versions.PINNED))


def test_the_documentation_says_what_was_tested() -> None:
    """By the table, or in a sentence where another run than that of the table tested a version."""
    found, columns, page = rows(), versions.COLUMNS, (DOCS / "versions.md").read_text()
    assert list(found) == list(versions.ENDS)
    for end, path in (("lowest", versions.LOWEST), ("newest", versions.NEWEST)):
        pins, told = versions.pins(path), dict(zip(columns, found[end][2:]))
        pairs = {title: (number(told[title]), number(pins[name])) for title, name in columns.items()}
        others = [title for title, (tested, pinned) in pairs.items() if tested[: len(pinned)] != pinned]
        assert end == "lowest" or others == []
        assert [title for title in others if f"{title} {pins[columns[title]]}" not in page] == []
    assert found["lowest"][1].startswith("3.11")


def test_a_row_replaces_that_of_the_same_end() -> None:
    cells = ["3.11.7", *"abcdef", "1", "2", "2026-01-02"]
    table = versions.replaced("", [["newest", *cells]])
    table = versions.replaced(table, [["lowest", *cells]])
    table = versions.replaced(table, [["newest", "3.13.0", *cells[1:]]])
    head = "| versions | Python | NumPy | array-api-compat | JAX | PyTorch | autograd | SciPy | core tests | conformance checks"
    assert table.splitlines() == [
        f"{head} | date |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        "| lowest | 3.11.7 | a | b | c | d | e | f | 1 | 2 | 2026-01-02 |",
        "| newest | 3.13.0 | a | b | c | d | e | f | 1 | 2 | 2026-01-02 |",
    ]


def test_constraints_are_written_in_the_order_of_the_pinned_ones() -> None:
    text = "# Engines\ntorch==2.13.0\nml-dtypes==0.6.0\n\n# Tools\nruff==0.1\n"
    found = versions.repinned(text, {"torch": "2.14.1+cpu", "ml-dtypes": "0.7.0", "numpy": "3.0"})
    assert found == "# Engines\ntorch==2.14.1\nml-dtypes==0.7.0\n\n# Tools\nruff==0.1\n"


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-newest.txt"])
def test_every_package_of_the_tests_and_the_documentation_is_pinned(name: str) -> None:
    extras = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    needed = {re.split(r"[<>=\[]", line)[0] for extra in ("test", "docs", "demo", "conformance") for line in extras[extra]}
    pinned = set(re.findall(r"^([\w-]+)==", (DOCS.parent / name).read_text(), re.M))
    assert needed - pinned == {"adinterface"}


def test_every_python_that_is_here_is_found_from_the_oldest_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    releases = {"python3": "3.9.1", "python3.12": "3.12.4", "python3.31": "3.31.0", "python3-config": "3.77.0"}
    for name, release in releases.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\necho {release.replace('.', ' ')}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    (tmp_path / "bin" / "python3.13").write_text("#!/bin/sh\nexit 127\n")
    (tmp_path / "bin" / "python3.13").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "none"))
    found = versions.pythons()
    assert found[sys.version_info[:3]] == Path(sys.executable)
    assert found[3, 31, 0] == tmp_path / "bin" / "python3.31"
    assert (3, 12, 4) in found
    assert (3, 9, 1) not in found
    assert list(found) == sorted(found)


def test_a_flag_that_xla_does_not_know_is_left_out() -> None:
    flags = {"xla_backend_optimization_level": "0", "xla_flag_that_never_was": "1"}
    assert flags_that_xla_knows(flags) == "--xla_backend_optimization_level=0"


def test_the_page_on_versions_names_the_files() -> None:
    page = (DOCS / "versions.md").read_text()
    assert all(path.name in page for path in (versions.PINNED, versions.LOWEST, versions.NEWEST, versions.TABLE))
