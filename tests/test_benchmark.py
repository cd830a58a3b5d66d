"""The benchmark measures what it says; no number of it is an assertion."""

import json

import numpy as np
import pytest
from adinterface_conformance import benchmark
from adinterface_conformance.__main__ import main

from adinterface import AutoTorch, registry

SHORT = ["--seconds", "0.01"]


def test_cells_become_rows_json_and_a_picture(tmp_path, capsys):
    file, picture = tmp_path / "benchmark.json", tmp_path / "benchmark.png"
    chosen = ["--operator", "hessian", "--backend", "AutoTorch", "--backend", "AutoAutograd"]
    assert main(["benchmark", *SHORT, *chosen, "--json", str(file), "--plot", str(picture)]) == 0
    timings = json.loads(file.read_text(encoding="utf-8"))
    assert [(t["backend"].partition("(")[0], t["size"]) for t in timings] == [
        ("AutoTorch", 10), ("AutoTorch", 300), ("AutoAutograd", 10), ("AutoAutograd", 300),
    ]  # fmt: skip
    for timing in timings:
        low, high = timing["quartiles"]
        assert low <= timing["ratio"] <= high
        assert timing["first"] > 0
        assert timing["evaluations"] == 1
    assert picture.stat().st_size > 1000
    assert capsys.readouterr().out.count("hessian") == 4


def test_engines_without_reverse_mode_are_left_out_of_large_cells(tmp_path):
    file = tmp_path / "benchmark.json"
    benchmark.main([*SHORT, "--operator", "hvp", "--backend", "AutoFiniteDifferences", "--json", str(file)])
    (timing,) = json.loads(file.read_text(encoding="utf-8"))
    assert timing["size"] == 10
    assert timing["evaluations"] == 63  # 3 (1 + 2n)
    assert timing["ratio"] is None


def test_any_scenario_can_be_measured(tmp_path):
    file = tmp_path / "benchmark.json"
    benchmark.main([*SHORT, "--scenario", "zoo/back-*", "--backend", "AutoAutograd", "--json", str(file)])
    timings = json.loads(file.read_text(encoding="utf-8"))
    assert timings
    assert {t["operator"] for t in timings} == {"pullback"}


def test_memory_is_measured_in_a_fresh_process():
    cell = next(cell for cell in benchmark.CELLS if cell.operator == "hvp")
    assert benchmark._peak(cell, AutoTorch(), 1_000_000, ours=True) >= 8_000_000  # at least one array of the result


@pytest.mark.parametrize("name", ["jax", "torch", "autograd"])
@pytest.mark.parametrize("operator", ["gradient", "value_and_gradient", "jacobian", "hvp", "hessian"])
def test_hand_written_code_gives_what_ours_gives(name, operator):
    cell = next(cell for cell in benchmark.CELLS if cell.operator == operator)
    f, args = cell.build(10)
    auto = next(backend for backend in benchmark.backends() if backend.name == name)
    mine = benchmark._ours(cell, auto, f, args)()
    by_hand = registry.backend_class(name).handwritten(operator, f, args)()
    if operator in ("gradient", "jacobian"):
        (mine,) = mine
    if operator == "value_and_gradient":
        (mine,), by_hand = mine.gradient, by_hand[1]
        for key, leaf in mine.items():
            np.testing.assert_allclose(leaf, by_hand[key], rtol=1e-10)
    else:
        np.testing.assert_allclose(mine, by_hand, rtol=1e-9, atol=1e-12)


def test_there_is_hand_written_code_for_some_operators_only():
    cell = benchmark.CELLS[0]
    f, args = cell.build(3)
    for name in ("jax", "torch", "autograd", "finite_differences"):
        assert registry.backend_class(name).handwritten("linearize", f, args) is None
    by_hand = registry.backend_class("finite_differences").handwritten("gradient", f, args)()
    (x,) = args
    np.testing.assert_allclose(by_hand, np.cos(x) * x**2 + 2 * x * np.sin(x), rtol=1e-7)
