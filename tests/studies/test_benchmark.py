"""The benchmark measures what it says; no number of it is an assertion."""

import json
from dataclasses import replace

import jax
import numpy as np
import pytest
from adinterface_studies.__main__ import main
from adinterface_studies.benchmark import engine_code
from adinterface_studies.benchmark.cells import CELLS, chosen
from adinterface_studies.benchmark.command import backends
from adinterface_studies.benchmark.timing import Calls

from adinterface import AutoAutograd, AutoJax

pytestmark = pytest.mark.sweep  # test_conformance.py and test_mutations.py run with every change

SHORT = ["benchmark", "--seconds", "0.01"]
ARRAY, SIX, TREE, MLP = CELLS[:4]


def test_cells_become_rows_and_json(tmp_path, capsys):
    file = tmp_path / "benchmark.json"
    chosen = ["--operator", "hessian", "--backend", "AutoTorch", "--backend", "AutoAutograd"]
    assert main([*SHORT, *chosen, "--json", str(file)]) == 0
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
    printed = capsys.readouterr().out.splitlines()
    assert sum(" hessian " in line for line in printed) == 8
    assert [line.partition(":")[0] for line in printed[-4:]] == [
        "Torch, one-shot", "Autograd, one-shot", "Torch, prepared", "Autograd, prepared",
    ]  # fmt: skip


def test_cells_can_be_chosen(tmp_path):
    file = tmp_path / "benchmark.json"
    main(
        [
            *SHORT,
            "--cell",
            "dict of 6",
            "--way",
            "prepared",
            "--backend",
            "AutoAutograd",
            "--json",
            str(file),
        ]
    )
    timings = json.loads(file.read_text(encoding="utf-8"))
    assert [t["operator"] for t in timings] == ["gradient", "value_and_gradient", "hvp", "jacobian"]
    assert {t["way"] for t in timings} == {"prepared"}
    smallest = ["--max-size", "10", "--operator", "hvp"]
    main(
        [
            *SHORT,
            *smallest,
            "--leaf",
            "native",
            "--way",
            "prepared",
            "--backend",
            "AutoTorch",
            "--json",
            str(file),
        ]
    )
    assert {t["leaf"] for t in json.loads(file.read_text(encoding="utf-8"))} == {"native"}
    assert chosen(AutoAutograd(), "native") == []  # its own arrays are NumPy's


def test_an_empty_table_is_an_error_that_says_why(capsys):
    assert main([*SHORT, "--backend", "AutoMine"]) == 2
    printed = capsys.readouterr().err.strip()
    assert printed.startswith("AutoMine: there is hand-written code to compare with for AutoJax, ")
    assert main([*SHORT, "--cell", "one array", "--operator", "nothing"]) == 2
    assert capsys.readouterr().err.strip() == "No cell matches the options."


def test_what_is_not_feasible_is_left_out(tmp_path):
    assert ARRAY.includes("jacobian", 10_000, reverse=True)
    assert not ARRAY.includes("jacobian", 1_000_000, reverse=True)
    assert ARRAY.includes("gradient", 10_000, reverse=False)
    assert not ARRAY.includes("gradient", 1_000_000, reverse=False)
    assert not ARRAY.includes("hvp", 10_000, reverse=False)
    file = tmp_path / "benchmark.json"
    main(
        [
            *SHORT,
            "--cell",
            "MLP on a batch",
            "--backend",
            "AutoFiniteDifferences",
            "--json",
            str(file),
        ]
    )
    assert json.loads(file.read_text(encoding="utf-8")) == []


def test_results_that_are_not_there_yet_are_waited_for(monkeypatch):
    waited = []
    monkeypatch.setattr(
        engine_code.find("jax"), "wait", lambda result: waited.append(result) or result
    )
    for leaf, times in (("native", 2), ("ndarray", 0)):
        calls = Calls(replace(ARRAY, leaf=leaf), AutoJax(), "gradient", 10, "one-shot")
        calls.ours()()
        calls.handwritten()()
        assert len(waited) == times
        waited.clear()


MEASURED = [
    *[
        (cell, size, operator)
        for cell, size in ((ARRAY, 10), (SIX, 10), (TREE, 6))
        for operator in cell.operators
    ],
    *[(MLP, 3, operator) for operator in ("gradient", "value_and_gradient", "hvp", "jacobian")],
    (CELLS[4], 20, "jacobian"),
    (CELLS[5], 20, "jacobian"),
    (CELLS[6], 5, "hessian"),
    (CELLS[7], 10, "pushforward"),
    (CELLS[7], 10, "pullback"),
]


@pytest.mark.parametrize("way", ["one-shot", "prepared"])
@pytest.mark.parametrize(
    ("cell", "size", "operator", "name"),
    [
        # JAX compiles each: the code by hand is the same for all of these problems.
        pytest.param(
            cell, size, operator, name, id=f"{cell.name}, {operator}, {name}",
            marks=[pytest.mark.sweep] * (name == "jax" and cell in (TREE, MLP)),
        )
        for cell, size, operator in MEASURED
        for name in ("jax", "torch", "autograd", "finite_differences")
    ],
)  # fmt: skip
def test_hand_written_code_gives_what_ours_gives(cell, size, operator, name, way):
    auto = next(backend for backend in backends() if backend.name == name)
    if name == "finite_differences" and (cell in CELLS[6:] or cell is MLP):
        assert operator != "hessian" or Calls(cell, auto, operator, size, way).handwritten() is None
        return
    calls = Calls(cell, auto, operator, size, way)
    ours, by_hand = calls.ours(), calls.handwritten()
    for _ in range(2):
        found, expected = ([*map(np.asarray, jax.tree.leaves(call()))] for call in (ours, by_hand))
        assert len(found) == len(expected)
        rtol = 1e-4 if name == "finite_differences" else 1e-9
        for mine, theirs in zip(found, expected):
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(
                mine, theirs, rtol=rtol, atol=1e-3 if name == "finite_differences" else 1e-11
            )
