"""Each extension can be deleted without a change to core: the rest imports, and passes the tests of core that need no more."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import adinterface

ROOT = Path(adinterface.__file__).parents[1]
EXTENSIONS = sorted(path.parent.name for path in (ROOT / "adinterface").glob("*/__init__.py") if path.parent.name != "core")
TESTS = sorted((ROOT / "tests" / "core").rglob("test_*.py"))
#: Public names of what is in extensions; each is deleted with what it imports.
NAMES = sorted(path.stem for path in (ROOT / "adinterface").glob("[!_]*.py"))
#: What tests import that needs the whole package.
WHOLE = {"adinterface_conformance", "adinterface_studies", "cells", "zoo", "numpy_programs", "processes"}


def _extensions_in(name):
    """The extensions that the modules of an extension, or the one module of this name, import when they are imported."""
    result, place = set(), ROOT / "adinterface" / name
    for path in [*place.rglob("*.py")] if place.is_dir() else [place.with_suffix(".py")]:
        depth = len(path.relative_to(ROOT / "adinterface").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level == depth and node.module:
                result.add(node.module.split(".")[0])
            elif isinstance(node, ast.ImportFrom) and node.level == depth:
                result |= {alias.name for alias in node.names}
    return result & set(EXTENSIONS)


def _deleted_with(extension):
    """The extension, and those that import it."""
    needs = {name: _extensions_in(name) for name in [*EXTENSIONS, *NAMES]}
    result, before = {extension}, set()
    while result != before:
        before, result = result, result | {name for name in needs if needs[name] & result}
    return result


def _without(source, deleted):
    """The text of `adinterface/__init__.py` without what it has from deleted folders."""
    body, missing = [], set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            kept = [alias for alias in node.names if (node.module or alias.name).split(".")[0] not in deleted]
            missing |= {alias.asname or alias.name for alias in node.names if alias not in kept}
            node.names = kept
            if not kept:
                continue
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            call.args = [arg for arg in call.args if not _names(arg) & missing]
            call.keywords = [word for word in call.keywords if not _names(word) & missing]
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Dict, ast.Tuple)):  # what is imported late
            late = ast.literal_eval(node.value)
            if isinstance(late, dict):
                late = {name: module for name, module in late.items() if (module or name) not in deleted}
            else:
                late = tuple([name for name in late if name not in deleted])
            node.value = ast.parse(repr(late), mode="eval").body
        body.append(node)
    return "\n".join(map(ast.unparse, body))


def _names(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _needs(path):
    """The modules, and the names of `adinterface` as `adinterface.name`, that a test file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "adinterface":
            yield from [f"adinterface.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from [alias.name for alias in node.names]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "adinterface":
            yield f"adinterface.{node.attr}"


def _runs_without(path, deleted, lacking):
    text = path.read_text(encoding="utf-8")
    if '"docs"' in text or "adinterface.__all__" in text:
        return False
    for name in _needs(path):
        parts = name.split(".")
        if parts[0] in WHOLE or (parts[0] == "adinterface" and parts[1:] and parts[1] in {*deleted, *lacking}):
            return False
    return True


@pytest.mark.sweep
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_core_passes_its_tests_without(extension, tmp_path):
    deleted = _deleted_with(extension)
    for folder in ("adinterface", "backends", "tests", "docs"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name in deleted:
        place = tmp_path / "adinterface" / name
        shutil.rmtree(place) if place.is_dir() else place.with_suffix(".py").unlink()
    init = tmp_path / "adinterface" / "__init__.py"
    init.write_text(_without(init.read_text(encoding="utf-8"), deleted), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(tmp_path / "backends")])}
    script = "import adinterface, sys; print(*[name for name in sys.argv[1:] if not hasattr(adinterface, name)])"
    used = sorted({name.split(".")[1] for path in TESTS for name in _needs(path) if name.startswith("adinterface.")})
    lacking = subprocess.run(
        [sys.executable, "-c", script, *used], env=env, cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.split()
    chosen = [path for path in TESTS if _runs_without(path, deleted, lacking)]
    assert len(chosen) >= 5
    paths = [str(path.relative_to(ROOT)) for path in chosen]
    command = [sys.executable, "-m", "pytest", "-q", "--maxfail=20", "-p", "no:cacheprovider", *paths]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
