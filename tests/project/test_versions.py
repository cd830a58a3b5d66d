"""What is declared, pinned and tested are the same versions; the command that tests them reads and
writes what it should.
"""

import re
import tomllib
from pathlib import Path

import pytest
import versions

DOCS = Path(__file__).parents[2] / "docs"


def number(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def test_the_lowest_versions_are_those_that_are_declared() -> None:
    pins = versions.pins(versions.LOWEST)
    assert {name: pins[name] for name in versions.declared()} == versions.declared()
    assert set(pins) - set(versions.declared()) == {"jaxlib", "scipy"}  # which the engines ask for
    assert pins["jaxlib"] == pins["jax"]


@pytest.mark.parametrize("path", [versions.PINNED, versions.NEWEST], ids=lambda path: path.stem)
def test_what_is_pinned_is_allowed(path: Path) -> None:
    pins = versions.pins(path)
    assert {
        name: pins[name]
        for name, least in versions.declared().items()
        if number(pins[name]) < number(least)
    } == {}
    assert list(pins) == list(versions.pins(versions.PINNED))


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-newest.txt"])
def test_every_package_of_the_tests_and_the_documentation_is_pinned(name: str) -> None:
    settings = tomllib.loads((DOCS.parent / "pyproject.toml").read_text())
    extras, groups = settings["project"]["optional-dependencies"], settings["dependency-groups"]
    lists = [groups[name] for name in ("test", "docs", "demo")]
    lists += [extras[name] for name in ("conformance", "plot", "export", "optax", "scipy")]
    needed = {
        re.split(r"[<>=\[]", line)[0] for names in lists for line in names if type(line) is str
    }
    pinned = set(re.findall(r"^([\w-]+)==", (DOCS.parent / name).read_text(), re.M))
    assert needed - pinned == {"adinterface"}
