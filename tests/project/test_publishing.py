"""What is published says the same in each file: versions, Pythons, tools."""

import re
import tomllib
from pathlib import Path

import pytest
import versions
import yaml

import adinterface

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")}


def pythons() -> set[str]:
    """The versions of Python that the classifiers name."""
    found = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line) for line in PROJECT["classifiers"]]
    return {match[1] for match in found if match}


def test_each_file_has_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert PROJECT["version"] == citation["version"] == adinterface.__version__
    assert citation["license"] == PROJECT["license"]
    assert citation["repository-code"] == PROJECT["urls"]["Homepage"]
    assert f"## [{PROJECT['version']}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_classifiers_name_each_python_that_the_workflow_must_pass() -> None:
    matrix = WORKFLOWS["tests"]["jobs"]["tests"]["strategy"]["matrix"]["include"]
    allowed_to_fail = set(re.findall(r"matrix\.python == '([\d.]+)'", WORKFLOWS["tests"]["jobs"]["tests"]["continue-on-error"]))
    assert {row["python"] for row in matrix} - allowed_to_fail == pythons()
    assert f">={min(pythons(), key=lambda version: int(version[2:]))}" == PROJECT["requires-python"]
    assert all((ROOT / row["constraints"]).exists() for row in matrix)


def test_the_classifiers_name_the_pythons_of_the_table() -> None:
    rows = [line for line in versions.TABLE.read_text().splitlines() if line.startswith(("| lowest", "| newest"))]
    assert {line.split("|")[2].strip().rpartition(".")[0] for line in rows} <= pythons()


@pytest.mark.parametrize("name", ["tests", "docs"])
def test_the_workflows_run_targets_that_exist(name: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M))
    commands = [step["run"] for job in WORKFLOWS[name]["jobs"].values() for step in job["steps"] if "run" in step]
    made = [command.split()[1] for command in commands if command.startswith("make ")]
    assert made
    assert set(made) <= targets


def test_pre_commit_has_the_ruff_of_the_constraints_and_the_mypy_of_make() -> None:
    repositories = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    (ruff,) = [repository for repository in repositories if repository["repo"].endswith("/ruff-pre-commit")]
    assert ruff["rev"] == f"v{versions.pins(versions.PINNED)['ruff']}"
    (mypy,) = [hook for repository in repositories for hook in repository["hooks"] if hook["id"] == "mypy"]
    sources = re.search(r"^SOURCES := (.*)$", (ROOT / "Makefile").read_text(), re.M)
    assert sources
    assert mypy["entry"] == f".venv/bin/mypy {sources[1]}"


def test_each_group_names_an_extra_of_this_package() -> None:
    groups = SETTINGS["dependency-groups"]
    for name in ("demo", "docs", "test"):
        assert groups[name] == [f"adinterface[{name}]"]
        assert name in PROJECT["optional-dependencies"]
    included = {entry["include-group"] for entry in groups["dev"] if isinstance(entry, dict)}
    assert included <= set(groups)


def test_each_check_that_is_left_out_has_a_reason() -> None:
    lines = (ROOT / "pyproject.toml").read_text().splitlines()
    for code in SETTINGS["tool"]["repo-review"]["ignore"]:
        (line,) = [line for line in lines if line.strip().startswith(f'"{code}"')]
        assert len(line.partition("#")[2].split()) >= 5, line
