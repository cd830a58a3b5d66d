"""Trees with a leaf of another shape are refused, and the study finds what takes them."""

import numpy as np
import pytest
from adinterface_conformance.fuzz.program import Program
from adinterface_studies.__main__ import main
from adinterface_studies.misfits import FUNCTIONS, misfits, tried
from backends_table import BACKENDS, each_engine

import adinterface
from adinterface import AutoAutograd, tree

pytestmark = pytest.mark.sweep


def test_misfits_of_random_models_are_refused_on_all_backends():
    done = tried(list(BACKENDS.values()), 2026, 12)
    assert [str(failure) for failure in done.failures] == []
    assert set(done.comparisons) == {type(backend).__name__ for backend in BACKENDS.values()}
    assert sum(done.comparisons.values()) > 100


@each_engine
def test_trees_with_a_leaf_of_another_shape_are_refused(backend):
    model = {"w": np.array([[1.0], [2.0], [3.0]]), "b": [np.array(2.0), np.array([1.0, 2.0])], "steps": 2}
    program = Program((model,), {}, (), (), "scalar")
    for seed in range(8):
        count, found = misfits(program, backend, np.random.default_rng(seed))
        assert count == len(FUNCTIONS)
        assert [misfit.text for misfit in found] == []


@pytest.mark.parametrize(("name", "kind"), [("add", "takes a misfit"), ("vdot", "raises KeyError"), ("axpy", "does not name")])
def test_a_misfit_that_is_taken_is_found(name, kind, monkeypatch):
    def wrong(*args):
        if kind == "raises KeyError":
            raise KeyError(name)
        if kind == "does not name":
            raise adinterface.TreeError("no.")

    monkeypatch.setattr(tree, name, wrong)
    program = Program(({"w": np.array([1.0, 2.0])},), {}, (), (), "scalar")
    _, found = misfits(program, AutoAutograd(), np.random.default_rng(0))
    (misfit,) = [misfit for misfit in found if misfit.function == f"tree.{name}"]
    assert misfit.kind.startswith(kind)
    assert "model = {'x': np.array([1.0, 2.0])}" in misfit.text


def test_the_command_says_what_it_did(capsys, monkeypatch):
    options = ["misfits", "--backend", "AutoFiniteDifferences", "--programs", "4", "--seed", "4"]
    assert main(options) == 0
    assert capsys.readouterr().out.endswith(" misfits of 4 programs, 0 ways to fail\n")
    monkeypatch.setattr(tree, "add", lambda *args: None)
    assert main(options) == 1
    assert "takes a misfit" in capsys.readouterr().out
    assert main(["misfits", "--backend", "AutoNothing"]) == 2
    assert "There is no backend 'AutoNothing'" in capsys.readouterr().err
