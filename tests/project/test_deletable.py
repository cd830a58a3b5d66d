"""Each extension can be deleted without a change to core: the rest imports, and derivatives of
every engine are right.
"""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import adinterface

ROOT = Path(adinterface.__file__).parents[1]
EXTENSIONS = sorted(
    path.parent.name
    for path in (ROOT / "adinterface").glob("*/__init__.py")
    if path.parent.name != "core"
)
#: Public names of what is in extensions; each is deleted with what it imports.
NAMES = sorted(path.stem for path in (ROOT / "adinterface").glob("[!_]*.py"))
USE = """
import numpy as np
from adinterface import (
    AutoAutograd, AutoFiniteDifferences, AutoJax, AutoTorch, Constant, hessian, prepare,
    pushforward, value_and_gradient,
)

def loss(m, x):
    return ((m["w"] * x) ** 3).sum()

w, x = np.array([1.0, 2.0]), np.array([0.5, -1.0])
for backend in (AutoJax(), AutoTorch(), AutoAutograd(), AutoFiniteDifferences()):
    fast = prepare(value_and_gradient, loss, backend, {"w": w}, Constant(x))
    for value, (slope, none) in (fast({"w": w}, Constant(x)), value_and_gradient(loss, backend, {"w": w}, Constant(x))):
        np.testing.assert_allclose(slope["w"], 3 * w**2 * x**3, rtol=1e-6)
        assert none is None
    np.testing.assert_allclose(hessian(lambda w: (w**3).sum(), backend, w), np.diag(6 * w), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(pushforward(lambda w: w * w, backend, (w,), (w,)).tangent, 2 * w * w, rtol=1e-6)
"""


def _extensions_in(name):
    """The extensions that the modules of an extension, or the one module of this name, import when
    they are imported.
    """
    result, place = set(), ROOT / "adinterface" / name
    for path in [*place.rglob("*.py")] if place.is_dir() else [place.with_suffix(".py")]:
        depth = len(path.relative_to(ROOT / "adinterface").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.level == depth:
                result |= (
                    {node.module.split(".")[0]}
                    if node.module
                    else {alias.name for alias in node.names}
                )
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
            kept = [
                alias
                for alias in node.names
                if (node.module or alias.name).split(".")[0] not in deleted
            ]
            missing |= {alias.asname or alias.name for alias in node.names if alias not in kept}
            node.names = kept
            if not kept:
                continue
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            call.args = [arg for arg in call.args if not _names(arg) & missing]
            call.keywords = [word for word in call.keywords if not _names(word) & missing]
        elif isinstance(node, ast.Assign) and isinstance(
            node.value, (ast.Dict, ast.Tuple)
        ):  # what is imported late
            late = ast.literal_eval(node.value)
            if isinstance(late, dict):
                late = {
                    name: module for name, module in late.items() if (module or name) not in deleted
                }
            else:
                late = tuple([name for name in late if name not in deleted])
            node.value = ast.parse(repr(late), mode="eval").body
        body.append(node)
    return "\n".join(map(ast.unparse, body))


def _names(node):
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_core_works_without(extension, tmp_path):
    deleted = _deleted_with(extension)
    shutil.copytree(
        ROOT / "adinterface", tmp_path / "adinterface", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in deleted:
        place = tmp_path / "adinterface" / name
        shutil.rmtree(place) if place.is_dir() else place.with_suffix(".py").unlink()
    init = tmp_path / "adinterface" / "__init__.py"
    init.write_text(_without(init.read_text(encoding="utf-8"), deleted), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "backends")])}
    done = subprocess.run(
        [sys.executable, "-c", USE],
        env=env,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
