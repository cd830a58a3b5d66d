"""Backends of a distribution of their own, in the folder `small_engines`: found by entry point,
used as ours are.
"""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "small_engines"
ENGINES = {"dualnum": "AutoDual", "tapenum": "AutoTape"}
each_stranger = pytest.mark.parametrize(("engine", "auto"), ENGINES.items(), ids=ENGINES)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A directory into which the distribution is installed."""
    folder = tmp_path_factory.mktemp("stranger")
    shutil.copytree(SOURCE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-index",
    ]
    command += ["--no-build-isolation", "--target", str(folder / "site"), str(folder / "source")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.fixture
def run(site):
    """Runs a program beside the installed distribution, warnings being errors, and gives what it
    printed.
    """

    def program(text):
        command = [sys.executable, "-W", "error", "-c", textwrap.dedent(text)]
        environment = {**os.environ, "PYTHONPATH": str(site)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return program


def test_strangers_are_found_by_their_entry_points_without_being_imported(run):
    printed = run("""
        import json, sys
        from adinterface.core.contract import registry
        print(json.dumps([registry.names(), sorted(sys.modules)]))
    """)
    names, modules = json.loads(printed)
    assert {"dualnum", "tapenum", "jax", "torch", "autograd", "finite_differences"} <= set(names)
    assert names == sorted(names)
    assert not {"dualnum", "tapenum", "adinterface_dual", "adinterface_tape"} & set(modules)


@each_stranger
def test_a_stranger_differentiates_a_tree_as_our_backends_do(engine, auto, run):
    printed = run(f"""
        import dataclasses, json
        import numpy as np
        from adinterface import AutoAutograd, Constant, array_namespace, gradient, value_and_gradient
        from adinterface_{engine.removesuffix("num")} import {auto}

        @dataclasses.dataclass(frozen=True)
        class Model:
            weights: dict
            scale: float
            name: str = "model"

        model = Model({{"w": np.array([[1.0, 2.0], [3.0, 4.0]]), "unused": np.ones(3)}}, 2.0)
        x = np.array([0.5, -0.25])

        def loss(m, x, power):
            y = array_namespace(x).sin(m.weights["w"][0] * x - 1.0)
            for _ in range(power - 1):
                y = y * y
            return {{"loss": m.scale * y.sum(), "y": y}}

        results = [value_and_gradient(loss, backend, model, x, Constant(2)) for backend in ({auto}(), AutoAutograd())]
        for value, (m, dx, none) in results:
            assert type(m) is Model and m.name is None and none is None, (m, none)
            assert type(m.scale) is float and type(m.weights["unused"]) is np.ndarray
            assert type(value) is dict and type(value["y"]) is np.ndarray
        print(json.dumps([
            [float(v["loss"]), v["y"].tolist(), m.weights["w"].tolist(), m.weights["unused"].tolist(), m.scale, dx.tolist()]
            for v, (m, dx, _) in results
        ]))
        assert gradient(lambda x: x * x * x, {auto}(), 2.0) == (12.0,)
        (found,) = gradient(lambda d: (d["a"] * d["b"]).sum(), {auto}(), {{"a": x, "b": x}})
        np.testing.assert_array_equal(found["a"], x)
        np.testing.assert_array_equal(found["b"], x)
    """)
    stranger, ours = json.loads(printed)
    for mine, theirs in zip(ours, stranger, strict=True):
        assert theirs == (pytest.approx(mine) if not isinstance(mine, list) else _close(mine))


def _close(numbers):
    return [
        _close(number) if isinstance(number, list) else pytest.approx(number, rel=1e-12)
        for number in numbers
    ]
