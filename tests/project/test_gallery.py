"""The gallery: each problem on the engines, beside what is published of it, in fewer steps where
those are alike.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import matplotlib.pyplot as plt
import numpy as np
import pytest
from backends_table import BACKENDS

DEMO = Path(__file__).parents[2] / "docs" / "demo"
#: The problems that differences would take long for, and fewer steps than the docs take.
ENGINES = ("jax", "torch", "autograd")
FEWER = {
    "hamiltonian": {"draws": 15},
    "informed": {"steps": 8},
    "autoencoder": {"steps": 6, "images": 60},
    "predator_prey": {"steps": 2},
}
#: What is published, or known to be right, and how far from it the solution may lie, relative.
KNOWN = {
    "newton": {"accuracy": (0.98770, 1e-5)},
    "kalman": {"noise": (15099.0, 1e-4), "drift": (1469.1, 1e-4), "likelihood": (-632.5456, 1e-6)},
    "predator_prey": {"rates": ([0.55, 0.028, 0.80, 0.024], 0.05)},
    "gauss_newton": {"b": ([238.94212918, 5.5015643181e-4], 1e-9)},
    "laplace": {"intercept": (15.0429, 1e-5), "slope": (-0.2322, 1e-3)},
}
#: How far the engines may lie apart: where a solver stops in a flat valley is decided by rounding.
APART = {"gaussian_process": 1e-3, "hyperparameters": 1e-5}


@pytest.fixture(scope="module")
def gallery():
    sys.path.insert(0, str(DEMO))
    yield importlib.import_module("gallery")
    sys.path.remove(str(DEMO))


@pytest.fixture(scope="module")
def found(gallery):
    return {}


def problems() -> list[str]:
    return sorted(path.stem for path in (DEMO / "gallery").glob("[!_]*.py"))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", problems())
def test_a_problem_has_one_solution(gallery, found, name, engine):
    problem: ModuleType = gallery.PROBLEMS[name]
    solution = problem.solve(BACKENDS[engine], **FEWER.get(name, {}))
    for key, (value, close) in KNOWN.get(name, {}).items():
        np.testing.assert_allclose(solution[key], value, rtol=close)
    first = found.setdefault(name, solution)
    for key, value in first.items():
        if not key.startswith("error"):
            close = APART.get(name, 1e-8)
            np.testing.assert_allclose(
                solution[key], value, rtol=0, atol=close * max(1e-300, np.max(np.abs(value)))
            )
    if first is solution:
        figure, axes = plt.subplots()
        problem.draw(axes, solution)
        assert axes.has_data()
        plt.close(figure)
