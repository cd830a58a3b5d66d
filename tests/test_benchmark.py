"""The benchmark measures what it says; no number of it is an assertion."""

import json

import jax
import numpy as np
import pytest
import torch
from adinterface_conformance.__main__ import main
from adinterface_conformance.benchmark import backends
from adinterface_conformance.benchmark.cells import CELLS, models, scenarios
from adinterface_conformance.benchmark.memory import high_water, peak, reset_high_water
from adinterface_conformance.benchmark.report import plot
from adinterface_conformance.benchmark.timing import Calls, measure
from adinterface_conformance.functions.overhead import OPERATIONS

from adinterface import AutoAutograd, AutoFiniteDifferences, AutoJax, AutoTorch, registry

SHORT = ["benchmark", "--seconds", "0.01"]
ARRAY, SIX, LEAVES, MLP = CELLS[:4]


def leaves_of(tree):
    """The arrays of a tree, dicts in the order of their keys, as JAX returns them."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves_of(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for child in tree for leaf in leaves_of(child)]
    return [] if tree is None else [np.asarray(tree)]


def test_cells_become_rows_json_and_a_picture(tmp_path, capsys):
    file, picture = tmp_path / "benchmark.json", tmp_path / "benchmark.png"
    chosen = ["--operator", "hessian", "--backend", "AutoTorch", "--backend", "AutoAutograd"]
    assert main([*SHORT, *chosen, "--json", str(file), "--plot", str(picture)]) == 0
    timings = json.loads(file.read_text(encoding="utf-8"))
    assert [(t["backend"].partition("(")[0], t["way"], t["size"]) for t in timings] == [
        (backend, way, size)
        for backend in ("AutoTorch", "AutoAutograd")
        for size in (10, 300)
        for way in ("one-shot", "prepared")
    ]
    for timing in timings:
        low, high = timing["quartiles"]
        assert low <= timing["ratio"] <= high
        assert timing["first"] > 0
        assert timing["evaluations"] in (1, None)
    assert picture.stat().st_size > 1000
    printed = capsys.readouterr().out.splitlines()
    assert sum(" hessian " in line for line in printed) == 8
    assert [line.partition(":")[0] for line in printed[-4:]] == [
        "Torch, one-shot", "Autograd, one-shot", "Torch, prepared", "Autograd, prepared",
    ]  # fmt: skip


def test_cells_can_be_chosen(tmp_path):
    file = tmp_path / "benchmark.json"
    main([*SHORT, "--cell", "dict of 6", "--way", "prepared", "--backend", "AutoAutograd", "--json", str(file)])
    timings = json.loads(file.read_text(encoding="utf-8"))
    assert [t["operator"] for t in timings] == ["gradient", "value_and_gradient", "hvp", "jacobian"]
    assert {t["way"] for t in timings} == {"prepared"}
    main([*SHORT, "--leaves", "--way", "one-shot", "--backend", "AutoAutograd", "--max-size", "100", "--json", str(file)])
    assert [t["size"] for t in json.loads(file.read_text(encoding="utf-8"))] == [10, 100]


def test_what_is_not_feasible_is_left_out(tmp_path):
    assert ARRAY.includes("jacobian", 10_000, reverse=True)
    assert not ARRAY.includes("jacobian", 1_000_000, reverse=True)
    assert ARRAY.includes("gradient", 10_000, reverse=False)
    assert not ARRAY.includes("gradient", 1_000_000, reverse=False)
    assert not ARRAY.includes("hvp", 10_000, reverse=False)
    file = tmp_path / "benchmark.json"
    main([*SHORT, "--cell", "MLP on a batch", "--backend", "AutoFiniteDifferences", "--json", str(file)])
    assert json.loads(file.read_text(encoding="utf-8")) == []


def test_a_profile_says_where_the_time_goes(capsys):
    small = ["benchmark", "--profile", "--cell", "one array", "--max-size", "10"]
    main([*small, "--operator", "gradient", "--backend", "AutoTorch"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Torch: gradient of one array, n = 10: ")
    assert ", by hand " in lines[0]
    assert any("run_backward" in line and " + " not in line for line in lines)
    assert any(" + adinterface" in line for line in lines)
    assert lines[-2].endswith("in functions that hand-written code does not call (+)")
    main([*small, "--operator", "hessian", "--backend", "AutoAutograd"])
    assert "Autograd: hessian of one array" in capsys.readouterr().out


def test_any_scenario_can_be_measured(tmp_path):
    file = tmp_path / "benchmark.json"
    main([*SHORT, "--scenario", "zoo/back-*", "--backend", "AutoAutograd", "--json", str(file)])
    timings = json.loads(file.read_text(encoding="utf-8"))
    assert timings
    assert {t["operator"] for t in timings} == {"pullback"}
    assert all(t["ratio"] is None for t in timings)
    cell = next(cell for cell in scenarios("arrays/*") if cell.operators == ("gradient",))
    timing = measure(cell, AutoAutograd(), "gradient", cell.sizes[0], "one-shot", 0.01)
    plot([timing], str(tmp_path / "one.png"))


def test_memory_is_measured_in_a_fresh_process():
    for way in ("one-shot", "prepared"):
        assert peak(ARRAY, AutoTorch(), "gradient", 1_000_000, way, ours=True) >= 8_000_000  # at least the result
    assert peak(CELLS[-1], AutoFiniteDifferences(), "hessian", 10, "one-shot", ours=False) is None


def test_the_high_water_mark_can_be_reset():
    before = high_water()
    np.ones(30_000_000).sum()
    assert high_water() >= before
    reset_high_water()
    assert high_water() <= before + 240_000_000


@pytest.mark.parametrize("way", ["one-shot", "prepared"])
@pytest.mark.parametrize("name", ["jax", "torch", "autograd", "finite_differences"])
@pytest.mark.parametrize(
    ("cell", "size", "operator"),
    [
        *[(cell, size, operator) for cell, size in ((ARRAY, 10), (SIX, 10), (LEAVES, 6)) for operator in cell.operators],
        *[(MLP, 3, operator) for operator in ("gradient", "value_and_gradient", "hvp", "jacobian")],
        (CELLS[4], 20, "jacobian"),
        (CELLS[5], 20, "jacobian"),
        (CELLS[6], 5, "hessian"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "name", None),
)
def test_hand_written_code_gives_what_ours_gives(cell, size, operator, name, way):
    auto = next(backend for backend in backends() if backend.name == name)
    if name == "finite_differences" and (operator == "hessian" or cell is MLP):
        assert operator != "hessian" or Calls(cell, auto, operator, size, way).handwritten() is None
        return
    calls = Calls(cell, auto, operator, size, way)
    ours, by_hand = calls.ours(), calls.handwritten()
    for _ in range(2):
        found, expected = leaves_of(ours()), leaves_of(by_hand())
        assert len(found) == len(expected)
        rtol = 1e-4 if name == "finite_differences" else 1e-9
        for mine, theirs in zip(found, expected):
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs, rtol=rtol, atol=1e-3 if name == "finite_differences" else 1e-11)


@pytest.mark.parametrize("way", ["one-shot", "prepared"])
@pytest.mark.parametrize("operator", ["gradient", "value_and_gradient", "hvp", "jacobian"])
@pytest.mark.parametrize("auto", [AutoTorch(), AutoJax()], ids=["torch", "jax"])
def test_models_too(auto, operator, way):
    (cell,) = models(auto)
    calls = Calls(cell, auto, operator, 128, way)
    ours, by_hand = calls.ours()(), calls.handwritten()()
    if operator == "value_and_gradient":
        ours, by_hand = ours.gradient[0], by_hand[1]
    elif operator != "hvp":
        ours = ours[0]
    assert type(ours) is type(by_hand) is type(calls.problem.x)
    numbers = lambda model: list(model.parameters()) if isinstance(model, torch.nn.Module) else jax.tree.leaves(model)
    for mine, theirs in zip(numbers(ours), numbers(by_hand), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)


def test_engines_without_models_or_hand_written_code(monkeypatch):
    assert models(AutoAutograd()) == models(AutoFiniteDifferences()) == []
    monkeypatch.setattr(registry.backend_class("autograd"), "handwritten", None)
    assert models(AutoAutograd()) == []
    timing = measure(SIX, AutoAutograd(), "gradient", 3, "one-shot", 0.01)
    assert timing.ratio is None
    for name in ("jax", "torch", "finite_differences"):
        assert registry.backend_class(name).handwritten.transform("linearize", np.sin, True) is None


def test_the_overhead_of_each_operation_becomes_a_row_and_a_table(tmp_path, capsys):
    file, table = tmp_path / "overhead.json", tmp_path / "overhead.md"
    chosen = ["--backend", "AutoTorch", "--backend", "AutoAutograd", "--rounds", "2", "--processes", "0"]
    assert main(["overhead", *chosen, "--json", str(file), "--markdown", str(table)]) == 0
    found = json.loads(file.read_text(encoding="utf-8"))
    assert [(row["backend"], row["operation"]) for row in found] == [
        (backend, operation) for backend in ("AutoTorch", "AutoAutograd") for operation in OPERATIONS
    ]
    assert all(row["plain"] > 0 for row in found)
    assert all((row["numpy"] == 0) is not row["operation"].startswith("np.") for row in found)
    lines = table.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("| operation | torch, us | added | of it NumPy's | autograd, us |")
    assert len(lines) == len(OPERATIONS) + 3
    assert {line.count("|") for line in lines} == {8}
    assert capsys.readouterr().out.count("prepared: ") == 2


def test_overheads_are_the_medians_of_fresh_processes(tmp_path):
    file = tmp_path / "overhead.json"
    main(["overhead", "--backend", "AutoAutograd", "--rounds", "1", "--processes", "2", "--json", str(file)])
    for row in json.loads(file.read_text(encoding="utf-8")):
        least, most = row["range"]
        assert row["added"] == pytest.approx((least + most) / 2)


def test_an_engine_without_overhead_is_no_engine(capsys):
    assert main(["overhead", "--backend", "AutoNone"]) == 2
    assert "AutoNone" in capsys.readouterr().err
