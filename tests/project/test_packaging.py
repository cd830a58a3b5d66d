"""The sdist builds the wheel, the wheel holds our packages and nothing else, and it works in a bare
environment.
"""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {
    "adinterface",
    "adinterface_jax",
    "adinterface_torch",
    "adinterface_autograd",
    "adinterface_finite",
    "adinterface_conformance",
}

USE = """
import sys
import adinterface, adinterface_conformance
from adinterface import AutoFiniteDifferences, AutoJax, gradient
from importlib.metadata import version

assert "site-packages" in adinterface.__file__, adinterface.__file__
assert version("adinterface") == adinterface.__version__
slope, = gradient(lambda x: x["a"] ** 3, AutoFiniteDifferences(), {"a": 2.0, "b": "text"})
assert abs(slope["a"] - 12) < 1e-7 and slope["b"] is None, slope
try:
    gradient(lambda x: x, AutoJax(), 1.0)
except adinterface.MissingEngineError as error:
    print(error)
"""


def run(*command: str | Path, folder: Path) -> str:
    """The output of a command that sees nothing of this checkout."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("distributions")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, folder=folder)
    (sdist,) = folder.glob("*.tar.gz")
    (wheel,) = folder.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def python(distributions: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a fresh environment with the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    pins = ("--constraint", ROOT / "constraints.txt")
    pip = (
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "-q",
        "--no-compile",
        "--disable-pip-version-check",
    )
    run(*pip, *pins, distributions[1], folder=folder)
    return python


def test_the_wheel_holds_exactly_our_packages(distributions: tuple[Path, Path]) -> None:
    names = zipfile.ZipFile(distributions[1]).namelist()
    top = {name.partition("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == PACKAGES
    assert len(top) == len(PACKAGES) + 1
    assert all(f"{package}/py.typed" in names for package in PACKAGES)
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)
    assert not any("__pycache__" in name for name in names)


def test_the_wheel_holds_every_module_of_the_checkout(distributions: tuple[Path, Path]) -> None:
    folders = [ROOT, ROOT / "backends", ROOT / "conformance"]
    expected = {
        path.relative_to(folder).as_posix()
        for folder in folders
        for name in PACKAGES
        for path in (folder / name).rglob("*.py")
    }
    assert expected == {
        name for name in zipfile.ZipFile(distributions[1]).namelist() if name.endswith(".py")
    }


def test_the_sdist_holds_what_a_packager_needs(distributions: tuple[Path, Path]) -> None:
    with tarfile.open(distributions[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "Makefile",
        "constraints.txt",
    } <= names
    assert "tests/project/test_packaging.py" in names
    assert not any(
        name.startswith((".venv", "demo_output", "docs/_build", ".git/")) for name in names
    )


def test_requires_numpy_and_array_api_compat_only(python: Path) -> None:
    code = (
        "from importlib.metadata import distributions\nprint(*sorted(d.name for d in"
        " distributions()))"
    )
    installed = set(run(python, "-c", code, folder=python.parent).split())
    assert installed == {"adinterface", "array-api-compat", "numpy"}


def test_works_in_a_bare_environment(python: Path) -> None:
    expected = "AutoJax needs jax, which is not installed: pip install 'adinterface[jax]'\n"
    assert run(python, "-W", "error", "-c", USE, folder=python.parent) == expected
