"""The benchmark of this project measures what it says; no number of it is an assertion."""

import functools
import json
import re
from pathlib import Path

import jax
import numpy as np
import pytest
import torch
from adinterface_studies.__main__ import main as studies
from adinterface_studies.benchmark import engine_code, entries
from adinterface_studies.benchmark.cells import CELLS, chosen, models
from adinterface_studies.benchmark.command import backends
from adinterface_studies.benchmark.engine_code import LEAVES
from adinterface_studies.benchmark.memory import high_water, peak, reset_high_water
from adinterface_studies.benchmark.timing import Calls

from adinterface import AutoAutograd, AutoFiniteDifferences, AutoJax, AutoTorch
from adinterface.core.contract import registry

pytestmark = pytest.mark.sweep

SHORT = ["benchmark", "--seconds", "0.01"]
ARRAY, SIX = CELLS[:2]


def test_cells_become_rows_and_a_picture(tmp_path):
    file, picture = tmp_path / "benchmark.json", tmp_path / "benchmark.png"
    some = ["--operator", "hessian", "--backend", "AutoTorch", "--backend", "AutoAutograd"]
    assert studies([*SHORT, *some, "--json", str(file), "--plot", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    assert len(json.loads(file.read_text(encoding="utf-8"))) == 8


def test_a_tree_of_more_and_more_leaves(tmp_path):
    file = tmp_path / "benchmark.json"
    studies(
        [
            *SHORT,
            "--leaves",
            "--way",
            "one-shot",
            "--backend",
            "AutoAutograd",
            "--max-size",
            "100",
            "--json",
            str(file),
        ]
    )
    assert [t["size"] for t in json.loads(file.read_text(encoding="utf-8"))] == [10, 100]


def test_another_revision_is_measured_in_turn(capsys, tmp_path):
    here = str(Path(__file__).parents[2])
    some = [
        "--backend",
        "AutoAutograd",
        "--cell",
        "one array",
        "--operator",
        "gradient",
        "--max-size",
        "10",
    ]
    assert studies([*SHORT, *some, "--against", here]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[-3:] == ["here", "there", "ratio"]
    assert [row.split()[:7] for row in rows] == [
        ["one", "array", "ndarray", "gradient", "Autograd", way, "10"]
        for way in ("one-shot", "prepared")
    ]
    assert studies([*SHORT, *some, f"--against={tmp_path}"]) == 2
    assert "git finds no such revision, and no checkout is there" in capsys.readouterr().err


def test_a_revision_that_does_not_start(capfd, tmp_path):
    (tmp_path / "adinterface").mkdir()
    (tmp_path / "adinterface" / "__init__.py").write_text("raise ImportError('broken')\n")
    assert studies([*SHORT, "--backend", "AutoAutograd", "--against", str(tmp_path)]) == 2
    said = capfd.readouterr().err
    assert "The process of a revision ended (1)" in said
    assert "ImportError: broken" in said


def test_the_table_of_the_performance_page_is_what_was_printed(capsys):
    tables = Path(__file__).parents[2] / "docs" / "tables"
    assert studies(["benchmark", "--summary", str(tables / "benchmark.md")]) == 0
    printed = capsys.readouterr().out
    assert printed == (tables / "performance.md").read_text(encoding="utf-8")
    for row in printed.splitlines()[2:]:
        # no row without a figure
        assert any(character.isdigit() for character in row.partition("|")[2].partition("|")[2]), (
            row
        )


def test_function_entries_are_counted(capsys):
    small = [
        "benchmark",
        "--entries",
        "--operator",
        "gradient",
        "--way",
        "prepared",
        "--backend",
        "AutoTorch",
    ]
    studies([*small, "--leaf", "native"])
    studies([*small, "--leaf", "module", "--cell", "nn.Linear(3, 1)"])
    heading, array, _, _, module = capsys.readouterr().out.splitlines()
    assert heading.split()[-1] == "own"
    assert array.startswith("one array          native  gradient ")
    assert int(module.split()[-1]) > int(array.split()[-1]) > 10


def test_the_same_call_enters_the_same_functions_each_time():
    assert (
        len({entries.count(ARRAY, AutoAutograd(), "gradient", 10, "one-shot") for _ in range(3)})
        == 1
    )


def test_the_page_says_how_many_functions_a_prepared_gradient_enters(capsys):
    for auto in ("AutoJax", "AutoTorch", "AutoAutograd"):
        options = [
            "--operator",
            "gradient",
            "--way",
            "prepared",
            "--cell",
            "one array",
            "--max-size",
            "10",
            "--backend",
            auto,
        ]
        studies(["benchmark", "--entries", *options])
    rows = [
        line.split()
        for line in capsys.readouterr().out.splitlines()
        if line.startswith("one array")
    ]
    counted = {(leaf, engine): own for _, _, leaf, _, engine, _, _, own in rows}
    page = (Path(__file__).parents[2] / "docs" / "performance.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| (NumPy|the engine's own) \| (.*) \|$", page, re.MULTILINE))
    told = {"ndarray": table["NumPy"], "native": table["the engine's own"]}
    for leaf, cells in told.items():
        numbers = [cell.strip() for cell in cells.split("|")]
        assert numbers == [
            counted.get((leaf, engine), "") for engine in ("Jax", "Torch", "Autograd")
        ]


def test_memory_is_measured_in_a_fresh_process():
    for way in ("one-shot", "prepared"):
        # at least the result
        assert peak(ARRAY, AutoAutograd(), "gradient", 1_000_000, way, ours=True) >= 8_000_000
    assert peak(CELLS[6], AutoFiniteDifferences(), "hessian", 10, "one-shot", ours=False) is None


def test_the_high_water_mark_can_be_reset():
    before = high_water()
    np.ones(30_000_000).sum()
    assert high_water() >= before
    reset_high_water()
    assert high_water() <= before + 240_000_000


def arrays_of(result):
    """The arrays of a result, whatever holds them; those of a module are its parameters."""
    leaves = jax.tree.leaves(result)
    parts = [
        list(leaf.parameters()) if isinstance(leaf, torch.nn.Module) else [leaf] for leaf in leaves
    ]
    return [np.asarray(array) for part in parts for array in part]


def agree(cell, auto, operator, size, way):
    """Ours and hand-written code give the same numbers."""
    calls = Calls(cell, auto, operator, size, way)
    ours, by_hand = arrays_of(calls.ours()()), arrays_of(calls.handwritten()())
    assert len(ours) == len(by_hand) > 0
    for mine, theirs in zip(ours, by_hand):
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        single = mine.dtype == np.float32
        np.testing.assert_allclose(
            mine, theirs, rtol=1e-4 if single else 1e-9, atol=1e-5 if single else 1e-11
        )


ENGINES = {auto.name: auto for auto in backends()}
SMALL = {"list of leaves": 20}


def looked_at(auto):
    """Each further cell, operator and way; on an engine that compiles, each cell once, in its
    dearer way if that is short.
    """
    for cell in chosen(auto):
        if cell in CELLS or cell.options:
            continue
        operators = [
            name
            for name in cell.operators
            if cell.includes(name, 10, auto.name != "finite_differences")
        ]
        if auto.name != "jax":
            yield from (
                (cell, operator, way) for operator in operators for way in ("one-shot", "prepared")
            )
        else:
            long = cell.operators == ("pushforward",)
            yield from (
                (cell, operator, "one-shot" if long else "prepared") for operator in operators
            )


@pytest.mark.parametrize(
    ("auto", "cell", "operator", "way"),
    [
        pytest.param(
            auto, *row, id=f"{auto.name}, {row[0].name}, {row[0].leaf}, {row[1]}, {row[2]}"
        )
        for auto in ENGINES.values()
        for row in looked_at(auto)
    ],
)
def test_every_other_cell_gives_what_hand_written_code_gives(auto, cell, operator, way):
    agree(cell, auto, operator, SMALL.get(cell.name, min(cell.sizes[0], 10)), way)


@pytest.mark.filterwarnings("ignore:`torch.jit.script")
def test_compiled_modules_too(monkeypatch):
    # Traced and differentiated as always; the half minute in which C++ is compiled is another
    # project's to test.
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="aot_eager"))
    (cell,) = [cell for cell in models(ENGINES["torch"]) if cell.options]
    assert Calls(cell, AutoTorch(), "gradient", 128, "prepared").auto == AutoTorch(compile=True)
    assert Calls(cell, AutoTorch(), "gradient", 128, "one-shot").handwritten() is None
    agree(cell, AutoTorch(), "gradient", 128, "prepared")


def test_cells_are_chosen_by_what_their_leaves_are():
    by_leaf = {
        leaf: [(cell.name, cell.leaf) for cell in chosen(AutoTorch(), leaf)] for leaf in LEAVES
    }
    assert [name for name, _ in by_leaf["native"]] == ["one array", "dict of 6", "loop of 20 steps"]
    assert len(by_leaf["module"]) == 6
    assert {leaf for cells in by_leaf.values() for _, leaf in cells} == set(LEAVES)
    assert sum(len(cells) for cells in by_leaf.values()) == len(chosen(AutoTorch()))
    assert [cell.name for cell in chosen(AutoJax(), "module")] == ["Equinox model", "Flax model"]
    # Their own arrays are NumPy's.
    assert chosen(AutoAutograd(), "native") == chosen(AutoFiniteDifferences(), "native") == []


def test_a_leaf_can_be_measured(tmp_path):
    file = tmp_path / "benchmark.json"
    small = [*SHORT, "--max-size", "10", "--way", "prepared", "--json", str(file)]
    studies([*small, "--leaf", "native", "--operator", "gradient", "--backend", "AutoTorch"])
    timings = json.loads(file.read_text(encoding="utf-8"))
    assert [(t["cell"], t["leaf"]) for t in timings] == [
        ("one array", "native"),
        ("dict of 6", "native"),
    ]
    assert all(t["ratio"] > 0 for t in timings)


def test_engines_without_models_or_a_yardstick(monkeypatch):
    assert models(AutoAutograd()) == models(AutoFiniteDifferences()) == []
    for name in ENGINES:
        for leaf in LEAVES[:2]:
            assert engine_code.find(name).transform(leaf, "linearize", np.sin, True) is None
    for cell in (*models(AutoTorch()), *models(AutoJax())):
        assert cell.by_hand("linearize", np.sin, True) is None
    assert engine_code.find("nobody") is None
    monkeypatch.setattr(AutoAutograd, "name", "nobody")
    monkeypatch.setattr(registry, "find", lambda auto: pytest.fail("not needed"))
    assert models(AutoAutograd()) == []
    assert {cell.leaf for cell in chosen(AutoAutograd())} == {"ndarray"}
    assert Calls(SIX, AutoAutograd(), "gradient", 3, "one-shot").handwritten() is None


def test_the_accuracy_of_differences_becomes_a_table(capsys):
    assert studies(["differences", "--problem", "beale", "--problem", "meyer x 10"]) == 0
    heading, _, *rows = capsys.readouterr().out.splitlines()
    assert heading.count("|") == rows[0].count("|") == 9
    assert [row.split("|")[1].strip() for row in rows] == [
        "adaptive", "complex", "central", "Hessian, adaptive", "Hessian, central",
    ]  # fmt: skip
    assert all(float(row.split("|")[2]) < 1e-5 for row in rows)
