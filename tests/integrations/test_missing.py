"""An integration without its package says how to install it.

These tests need none of the packages.
"""

import importlib
import sys
import tomllib
from pathlib import Path

import pytest

from adinterface import MissingEngineError

ROOT = Path(__file__).parents[2]
INTEGRATIONS = ("openmdao", "pytensor", "pymanopt", "tesseract")
PACKAGES = {"tesseract": "tesseract_core"}


@pytest.fixture
def fresh(monkeypatch):
    """Imports an integration anew, and forgets it."""

    def integration(name):
        monkeypatch.delitem(sys.modules, f"adinterface.integrations.{name}", raising=False)
        try:
            return importlib.import_module(f"adinterface.integrations.{name}")
        finally:
            sys.modules.pop(f"adinterface.integrations.{name}", None)

    return integration


def _without(monkeypatch, package):
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize("name", INTEGRATIONS)
def test_a_missing_package_is_named_with_its_extra(name, fresh, monkeypatch):
    package = PACKAGES.get(name, name)
    _without(monkeypatch, package)
    with pytest.raises(MissingEngineError) as caught:
        fresh(name)
    assert (
        str(caught.value)
        == f"adinterface.integrations.{name} needs {package}, which is not installed: pip install"
        f" 'adinterface[{name}]'"
    )
    assert caught.value.name == package
    assert caught.value.__suppress_context__
    assert (
        name
        in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    )


def _package(folder, monkeypatch, text):
    """A stand-in for Tesseract's runtime whose import does what the text says."""
    _without(monkeypatch, "tesseract_core")
    monkeypatch.delitem(sys.modules, "tesseract_core")
    runtime = folder / "tesseract_core" / "runtime"
    runtime.mkdir(parents=True)
    (folder / "tesseract_core" / "__init__.py").write_text("")
    (runtime / "__init__.py").write_text(text)
    monkeypatch.syspath_prepend(str(folder))


def test_a_package_that_exits_without_its_own_packages_is_named_too(tmp_path, fresh, monkeypatch):
    _package(tmp_path, monkeypatch, "import sys\nsys.exit(1)\n")
    with pytest.raises(MissingEngineError) as caught:
        fresh("tesseract")
    assert (
        str(caught.value)
        == "adinterface.integrations.tesseract needs tesseract_core, which is not installed with"
        " all that it needs: pip install 'adinterface[tesseract]'"
    )
    assert caught.value.__suppress_context__
