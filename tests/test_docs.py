"""Every code block of the documentation runs, and its printed results are right.

Each page is one namespace. A `python` block is executed; a `pycon` block is a doctest; a block with a caption is a file:
a module that the page can import, or a pyproject.toml whose entry points count as installed.
"""

from __future__ import annotations

import doctest
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import adinterface
from adinterface import registry

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(page for page in DOCS.glob("*.md"))
FENCE = re.compile(
    r"^```(?:\{code-block\} *)?(?P<kind>\w+)\n(?::caption: (?P<caption>[^\n]+)\n\n?)?(?P<code>.*?)^```$", re.M | re.S
)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


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
    for cached in (registry._entry_points, registry.backend_class, registry.backend_of):
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
    report: list[str] = []
    for block in FENCE.finditer(text):
        line = text.count("\n", 0, block.start("code"))
        if block["caption"]:
            _install(block["caption"], block["code"], installed)
        elif block["kind"] == "python":
            exec(compile("\n" * line + block["code"], str(page), "exec"), names)
        elif block["kind"] == "pycon":
            test = doctest.DocTestParser().get_doctest(block["code"], {}, page.name, str(page), line)
            test.globs = names  # the page's own, not a copy
            doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)


def test_api_page_is_complete() -> None:
    listed = set(re.findall(r"^\.\. auto\w+:: (?:adinterface\.)?(\w+)", (DOCS / "api.md").read_text(), re.M))
    missing = set(adinterface.__all__) - listed - {"__version__", "tree"}
    assert not missing, f"docs/api.md lacks {sorted(missing)}"
