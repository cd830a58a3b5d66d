"""Every code block of the documentation runs, and its printed results are right.

Each page is one namespace. A `python` block is executed; a `pycon` block is a doctest; a block with
a caption is a file: a module that the page can import, a test that pytest runs, or a pyproject.toml
whose entry points count as installed. A `text` block holds commands, whose options must exist, or
what a command or an expression prints, whose numbers alone may differ. A block behind `% needs:
package` runs where that package is installed.
"""

from __future__ import annotations

import doctest
import importlib
import importlib.util
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
from adinterface_conformance.outcome import known_failures
from adinterface_studies.scenarios import SCENARIOS

import adinterface
from adinterface.core import contract
from adinterface.core.contract import registry
from adinterface.core.contract.auto import BUILT_IN

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.glob("*.md"))
FENCE = re.compile(
    r"^```(?:\{code-block\} *)?(?P<kind>\w+)\n(?::caption:"
    r" (?P<caption>[^\n]+)\n\n?)?(?P<code>.*?)^```$",
    re.M | re.S,
)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


#: A block that is executed, or shown as it is, or put in by Sphinx from elsewhere; no other kind is
#: there.
OPENING = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<text>.*?)^```$", re.M | re.S)


class Shown(NamedTuple):
    """A text, at a line.

    The expression that gives it, from a comment in front of it, if there is one.
    """

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
    registry.REGISTRY.backends.clear()
    for cached in (registry._entry_points, registry.backend_for):
        cached.cache_clear()


def _install(caption: str, code: str, folder: Path) -> None:
    if caption != "pyproject.toml":
        (folder / caption).write_text(code)
        return
    settings = tomllib.loads(code)["project"]
    info = folder / f"{settings['name'].replace('-', '_')}-{settings['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {settings['name']}\nVersion: {settings['version']}\n"
    )
    lines = [
        f"[{group}]\n{name} = {value}\n"
        for group, points in settings["entry-points"].items()
        for name, value in points.items()
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
            assert _without_numbers(block["code"]) == _without_numbers(
                str(eval(expression, names))
            ), expression
        elif block["kind"] == "python":
            exec(compile("\n" * line + block["code"], str(page), "exec"), names)
        elif block["kind"] == "pycon":
            test = doctest.DocTestParser().get_doctest(
                block["code"], {}, page.name, str(page), line
            )
            test.globs = names  # the page's own, not a copy
            doctest.DocTestRunner(optionflags=OPTIONS).run(
                test, out=report.append, clear_globs=False
            )
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
    # the one with the largest rounding error is another everywhere
    text = re.sub(r"gradient(\[[^]]*\])+", "leaf", text)
    text = re.sub(r"\d[\d.]*(e[+-]?\d+)?( (s|ms|µs|ns|[KMG]?i?B)\b)?", "#", text)
    return " ".join(re.sub(r"-+", "-", text).split())


def _run_tests(folder: Path) -> None:
    """The test files of a page, by pytest with the plugin, on the two backends that load
    quickly.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    path = os.pathsep.join([str(folder), *sys.path])
    done = subprocess.run(
        [*command, "--adinterface-backends=AutoAutograd,AutoFiniteDifferences", str(folder)],
        cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_of_conformance_is_of_all_checks_families_and_built_in_backends() -> None:
    table = (DOCS / "tables" / "conformance.md").read_text()
    rows = re.findall(r"^\| `(\w[\w-]*)` \|", table, re.M)
    assert sorted(rows) == sorted([*CHECKS, *{scenario.family for scenario in SCENARIOS}])
    # Written before a scenario was added, the table would hold another number of them.
    counts = re.findall(r"\d+", table.partition("| `runs` |")[2].partition("\n")[0])
    assert counts == [str(len(SCENARIOS))] * len(BUILT_IN), (
        "run python -m adinterface_studies tables conformance"
    )
    assert all(
        f"`{auto.__name__}()`" in table.partition("| check |")[2].partition("\n")[0]
        for auto in BUILT_IN
    )
    for auto in BUILT_IN:
        for known in known_failures(auto()):
            # the functions have their own
            if any(fnmatchcase(scenario.name, known.scenario) for scenario in SCENARIOS):
                assert known.link in table, known


def test_api_page_is_complete() -> None:
    described = "".join(page.read_text() for page in (DOCS / "api").glob("*.md"))
    listed = re.findall(r"^\.\. auto\w+:: (?:adinterface\.)?([\w.]+)", described, re.M)
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
    missing = (
        public
        - names
        - {
            "__version__",
            "tree",
            "rules",
            "loops",
            "sparse",
            "tools",
            "fit",
            "EXTENSION",
            "is_sparse",
        }
    )
    assert not missing, f"docs/api lacks {sorted(missing)}"


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
    found = [
        test
        for module in modules
        for test in doctest.DocTestFinder(exclude_empty=True).find(module)
    ]
    return list({test.name: test for test in found if test.examples}.values())


@pytest.mark.parametrize(
    "test", _examples(), ids=lambda test: test.name.rpartition("adinterface.")[2]
)
def test_examples_of_docstrings(test: doctest.DocTest) -> None:
    """They are shown on the API page."""
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert not report, "".join(report)
