"""Every code block of the documentation runs, and its printed results are right.

Each page is one namespace. A `python` block is executed; a `pycon` block is a doctest; a block with a caption is a file:
a module that the page can import, a test that pytest runs, or a pyproject.toml whose entry points count as installed. A `text`
block holds commands, whose options must exist, or what a command or an expression prints, whose numbers alone may differ.
A block behind `% needs: package` runs where that package is installed.
"""

from __future__ import annotations

import contextlib
import dataclasses
import doctest
import importlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest
from adinterface_conformance import CHECKS
from adinterface_conformance.__main__ import main as conformance
from adinterface_conformance.outcome import known_failures
from adinterface_studies import tables
from adinterface_studies.__main__ import main as studies
from adinterface_studies.functions.exact import FUNCTIONS, GROUPS
from adinterface_studies.scenarios import SCENARIOS
from adinterface_studies.tables import TABLES

import adinterface
from adinterface.core import contract
from adinterface.core.contract import registry
from adinterface.core.contract.auto import BUILT_IN
from adinterface.tools.facts import operations

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.glob("*.md"))
FENCE = re.compile(
    r"^```(?:\{code-block\} *)?(?P<kind>\w+)\n(?::caption: (?P<caption>[^\n]+)\n\n?)?(?P<code>.*?)^```$", re.M | re.S
)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


#: A block that is executed, or shown as it is, or put in by Sphinx from elsewhere; no other kind is there.
OPENING = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<text>.*?)^```$", re.M | re.S)
EXECUTED = ("python", "pycon", "{code-block} python", "{code-block} toml")
BY_SPHINX = ("{eval-rst}", "{toctree}", "{include}", "{literalinclude}")
#: The first words of what takes too long to print again: tables of measurements.
MEASURED = ("cell               operator", "                           first   time per")


class Shown(NamedTuple):
    """A text, at a line; the expression that gives it, from a comment in front of it, if there is one."""

    expression: str | None
    text: str
    line: int


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path, as site-packages is; what a page puts there is forgotten again."""
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - modules:
        if (tmp_path / f"{name}.py").exists():
            del sys.modules[name]
    _forget()


def _forget() -> None:
    registry._known.clear()
    for cached in (registry._entry_points, registry.backend_of):
        cached.cache_clear()


def _install(caption: str, code: str, folder: Path) -> None:
    if caption != "pyproject.toml":
        (folder / caption).write_text(code)
        return
    settings = tomllib.loads(code)["project"]
    info = folder / f"{settings['name'].replace('-', '_')}-{settings['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {settings['name']}\nVersion: {settings['version']}\n")
    lines = [
        f"[{group}]\n{name} = {value}\n" for group, points in settings["entry-points"].items() for name, value in points.items()
    ]
    (info / "entry_points.txt").write_text("".join(lines))
    _forget()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page: Path, installed: Path) -> None:
    text = page.read_text()
    module = ModuleType("__main__")  # so that dataclasses find the module of their annotations
    names = module.__dict__
    shown = {block.line: block.expression for block in _shown(text) if block.expression}
    report: list[str] = []
    for block in FENCE.finditer(text):
        line = text.count("\n", 0, block.start("code"))
        needed = re.search(r"^% needs: (\w+)\n\Z", text[: block.start()], re.M)
        if needed and importlib.util.find_spec(needed[1]) is None:
            continue
        if block["caption"]:
            _install(block["caption"], block["code"], installed)
            if block["caption"].startswith("test_"):
                _run_tests(installed)
        elif line in shown:
            expression = shown[line]
            assert _without_numbers(block["code"]) == _without_numbers(str(eval(expression, names))), expression
        elif block["kind"] == "python":
            exec(compile("\n" * line + block["code"], str(page), "exec"), names)
        elif block["kind"] == "pycon":
            test = doctest.DocTestParser().get_doctest(block["code"], {}, page.name, str(page), line)
            test.globs = names  # the page's own, not a copy
            doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)


def _shown(text: str) -> list[Shown]:
    """The blocks that are not executed."""
    blocks = [block for block in OPENING.finditer(text) if block["kind"].strip() in ("", "text")]
    asked = [re.search(r"^% shows: (.+)\n\Z", text[: block.start()], re.M) for block in blocks]
    return [
        Shown(found and found[1], block["text"], text.count("\n", 0, block.start("text")))
        for found, block in zip(asked, blocks, strict=True)
    ]


def _without_numbers(text: str) -> str:
    text = re.sub(r"gradient(\[[^]]*\])+", "leaf", text)  # the one with the largest rounding error is another everywhere
    text = re.sub(r"\d[\d.]*(e[+-]?\d+)?( (s|ms|µs|ns|[KMG]?i?B)\b)?", "#", text)
    return " ".join(re.sub(r"-+", "-", text).split())


def _run_tests(folder: Path) -> None:
    """The test files of a page, by pytest with the plugin, on the two backends that load quickly."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    path = os.pathsep.join([str(folder), *sys.path])
    done = subprocess.run(
        [*command, "--adinterface-backends=AutoAutograd,AutoFiniteDifferences", str(folder)],
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", [*PAGES, DOCS.parent / "README.md"], ids=lambda page: page.stem)
def test_no_block_escapes_the_tests(page: Path) -> None:
    """Each is executed here (in the README by its own test), made by Sphinx, or a text that is checked below."""
    text = page.read_text()
    kinds = [block["kind"].strip() for block in OPENING.finditer(text)]
    assert len(re.findall(r"^\s*(```|:::)", text, re.M)) == 2 * len(kinds)
    executed = [kind for kind in kinds if kind in EXECUTED]
    assert len(executed) == sum(block["kind"] != "text" for block in FENCE.finditer(text))
    texts = [kind for kind in kinds if kind in ("", "text")]
    assert len(texts) == len(_shown(text))
    others = [kind for kind in kinds if kind not in EXECUTED and kind not in ("", "text")]
    assert all(kind.partition(" ")[0] in BY_SPHINX for kind in others)
    for block in _shown(text):
        if block.expression is None and not block.text.startswith(MEASURED):
            for line in block.text.splitlines():
                _check_command(line.partition("#")[0].strip())


def _check_command(line: str) -> None:
    """Whether a command could be given: its package, its extra, its options, its target exist."""
    words = [word.strip("[]'\"") for word in line.split()]
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())["project"]
    if words[:2] == ["pip", "install"]:
        name, _, extra = words[2].partition("[")
        assert name == project["name"] and extra in project["optional-dependencies"], line  # noqa: PT018
    elif words[:2] == ["python", "-m"] and words[2] == "adinterface":
        assert importlib.util.find_spec("adinterface.__main__") is not None
    elif words[:2] == ["python", "-m"] and words[2] in ("adinterface_conformance", "adinterface_studies"):
        shown, main = io.StringIO(), conformance if words[2] == "adinterface_conformance" else studies
        with contextlib.redirect_stdout(shown), pytest.raises(SystemExit) as finished:
            main([*[word for word in words[3:4] if not word.startswith("-")], "--help"])
        assert finished.value.code == 0
        assert all(word in shown.getvalue() for word in words if word.startswith("--")), line
    elif words[:1] == ["torchrun"]:
        if "-m" in words:
            _check_command(" ".join(["python", *words[words.index("-m") :]]))
        else:
            program = next(word for word in words if word.endswith(".py"))
            assert any(f":caption: {program}\n" in page.read_text() for page in PAGES), line
    elif words[:1] == ["python"] and words[1].startswith("docs/demo/"):
        file = DOCS.parent / words[1]
        program = (file / "__main__.py" if file.is_dir() else file).read_text()
        assert all(f'"{word}"' in program for word in words if word.startswith("--")), line
    elif words[:1] == ["pytest"]:
        from adinterface_conformance.plugin import OPTION

        assert all(word.partition("=")[0] == OPTION for word in words[1:]), line
    elif words[:1] == ["test_conformance"]:
        source = (DOCS.parent / "tests" / "core" / "contract" / "tutorial_backend" / "adinterface_mygrad.py").read_text()
        assert line == "test_conformance = conformance_tests(AutoMygrad())" and "class AutoMygrad" in source  # noqa: PT018
    elif words[:1] == ["make"]:
        assert re.search(rf"^{words[1]}:", (DOCS.parent / "Makefile").read_text(), re.M), line
    else:
        assert not words, f"a text that no test knows: {line}"


@pytest.mark.parametrize("auto", BUILT_IN, ids=lambda auto: auto.__name__)
def test_every_option_of_a_backend_is_described_and_tested(auto: type) -> None:
    text = (DOCS / "backends.md").read_text()
    section = text.partition(f"\n## {auto.__name__}\n")[2].partition("\n## ")[0]
    described = re.findall(r"^`(\w+)`\n: ", section, re.M)
    options = sorted(field.name for field in dataclasses.fields(auto))
    assert sorted(described) == options
    assert sorted(re.findall(r"^    (\w+): ", auto.__doc__ or "", re.M)) == options
    tested = "".join(file.read_text() for file in (DOCS.parent / "tests").rglob("*.py"))
    assert [name for name in options if not re.search(rf"{auto.__name__}\([^()]*\b{name}=", tested)] == [], "no test sets it"


def test_the_table_of_conformance_is_of_all_checks_families_and_built_in_backends() -> None:
    table = (DOCS / "tables" / "conformance.md").read_text()
    rows = re.findall(r"^\| `(\w[\w-]*)` \|", table, re.M)
    assert sorted(rows) == sorted([*CHECKS, *{scenario.family for scenario in SCENARIOS}])
    # Written before a scenario was added, the table would hold another number of them.
    counts = re.findall(r"\d+", table.partition("| `runs` |")[2].partition("\n")[0])
    assert counts == [str(len(SCENARIOS))] * len(BUILT_IN), "run python -m adinterface_studies tables conformance"
    assert all(f"`{auto.__name__}()`" in table.partition("| check |")[2].partition("\n")[0] for auto in BUILT_IN)
    for auto in BUILT_IN:
        for known in known_failures(auto()):
            if any(fnmatchcase(scenario.name, known.scenario) for scenario in SCENARIOS):  # the functions have their own
                assert known.link in table, known


def test_the_table_of_special_functions_has_every_one_and_nothing_wrong() -> None:
    page = (DOCS / "tables" / "special.md").read_text()
    assert re.findall(r"^\| `(.*?)` \|", page, re.M) == [name for title in GROUPS for name in _group(title)]
    assert re.findall(r"^\*\*(.*)\*\*$", page, re.M) == list(GROUPS.values())
    assert "wrong" not in page
    for row in re.findall(r"^\| `.*?` \|(.*)\|$", page, re.M):
        for cell in row.split("|"):
            assert re.fullmatch(r" *((✓|\de-\d\d)( \(\d+% refused\))?; ){2}[\d.]+x *", cell), row


def _group(first: str) -> list[str]:
    """The functions from this one to the first of the next group."""
    names = list(FUNCTIONS)
    begins = [names.index(name) for name in GROUPS]
    at = names.index(first)
    return names[at : min([place for place in begins if place > at], default=len(names))]


def test_the_home_page_shows_the_demo_and_performance_the_benchmark() -> None:
    assert "](_static/demo.png)" in (DOCS / "index.md").read_text()
    assert "```{include} tables/performance.md\n```" in (DOCS / "performance.md").read_text()


HOME = (DOCS / "index.md").read_text()
#: What this documentation consists of: pages, tables that commands write, public names with their docstrings.
WRITTEN = sorted(page.stem for page in PAGES if page.stem != "index")
LINK = re.compile(r"^\| \[(.+)\]\((\S+)\.md\) \|", re.M)


def _title(page: Path) -> str:
    return page.read_text().partition("\n")[0].removeprefix("# ")


def test_each_page_is_in_one_part_of_the_documentation() -> None:
    listed = [line for part in HOME.split("```{toctree}")[1:] for line in part.partition("```")[0].split("\n\n")[1].split()]
    assert sorted(listed) == sorted([*WRITTEN, "tables/index"])
    assert [name for _, name in LINK.findall(HOME)] == listed


def test_the_home_page_names_each_page_as_the_sidebar_does() -> None:
    assert [(title, name) for title, name in LINK.findall(HOME) if title != _title(DOCS / f"{name}.md")] == []


def test_each_table_is_written_by_a_command_and_listed() -> None:
    written = {f"{name}.md" for name in (*TABLES, *tables.FINISHED)} | {
        "index.md",
        "versions.md",
    }  # `make versions` writes the last
    assert {file.name for file in (DOCS / "tables").iterdir()} == written
    assert (DOCS / "tables" / "index.md").read_text() == tables.index()
    for name, table in TABLES.items():
        text = (DOCS / "tables" / f"{name}.md").read_text()
        assert text == tables.page(table, text.removeprefix(tables.page(table, "").rstrip("\n")).lstrip("\n"))
        _check_command(f"python -m adinterface_studies {table.command}")


def test_each_table_is_linked_from_a_page() -> None:
    text = "".join(page.read_text() for page in PAGES)
    assert [name for name in (*TABLES, *tables.FINISHED) if f"tables/{name}.md" not in text] == []


def test_api_page_is_complete() -> None:
    described = "".join(page.read_text() for page in (DOCS / "api").glob("*.md"))
    listed = re.findall(r"^\.\. auto\w+:: (?:adinterface\.)?([\w.]+)", described, re.M)
    index = re.findall(r"^   ~adinterface\.([\w.]+)$", (DOCS / "api.md").read_text(), re.M)
    assert sorted(listed) == sorted(index)
    assert len(set(listed)) == len(listed)
    names = {name.rpartition(".")[2] for name in listed}
    modules = (
        adinterface,
        adinterface.rules,
        adinterface.loops,
        adinterface.sparse,
        adinterface.tools,
        adinterface.fit,
        contract,
    )
    public = {name for module in modules for name in module.__all__}
    missing = public - names - {"__version__", "tree", "rules", "loops", "sparse", "tools", "fit", "EXTENSION", "is_sparse"}
    assert not missing, f"docs/api lacks {sorted(missing)}"


def test_the_table_of_operators_is_complete() -> None:
    page = (DOCS / "operators.md").read_text()
    table = re.search(r"(?:^\|.*\n)+", page, re.M)
    assert table is not None
    first = " ".join(row.split("|")[1] for row in table.group().splitlines())
    assert sorted(set(re.findall(r"`(\w+)`", first))) == sorted(operation.name for operation in operations())


def _examples() -> list[doctest.DocTest]:
    """The examples in the docstrings of the package."""
    names = [
        ".".join(file.relative_to(DOCS.parent).with_suffix("").parts)
        for file in sorted((DOCS.parent / "adinterface").rglob("*.py"))
        if re.search(r"^ *>>> ", file.read_text(), re.M)
    ]
    # What is public is found in its public module, the rest in its file.
    public = ("tree", "loops", "rules", "sparse", "tools", "fit", "core.contract")
    names += ["adinterface", *[f"adinterface.{name}" for name in public]]
    modules = [importlib.import_module(name) for name in names]
    found = [test for module in modules for test in doctest.DocTestFinder(exclude_empty=True).find(module)]
    return list({test.name: test for test in found if test.examples}.values())


@pytest.mark.parametrize("test", _examples(), ids=lambda test: test.name.rpartition("adinterface.")[2])
def test_examples_of_docstrings(test: doctest.DocTest) -> None:
    """They are shown on the API page."""
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert not report, "".join(report)
