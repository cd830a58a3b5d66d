"""The benchmark measures what it says; no number of it is an assertion."""

import functools
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest
import torch
from adinterface_studies.__main__ import main as studies
from adinterface_studies.benchmark import engine_code
from adinterface_studies.benchmark.cells import CELLS, chosen
from adinterface_studies.benchmark.command import backends
from adinterface_studies.benchmark.memory import peak
from adinterface_studies.benchmark.timing import Calls

from adinterface import AutoAutograd, AutoJax, AutoTorch

ROOT = Path(__file__).parents[2]
ENGINES = {auto.name: auto for auto in backends()}
ARRAY, SIX, TREE = CELLS[:3]


def printed(capsys, options):
    assert studies(["benchmark", "--seconds", "0.01", *options.split()]) == 0
    return capsys.readouterr().out.splitlines()


def test_cells_become_rows(capsys):
    _, *rows = printed(capsys, "--operator hessian --backend AutoTorch --backend AutoAutograd")
    assert [row.split()[3:7] for row in rows[:8]] == [
        ["hessian", backend, way, size]
        for backend in ("Torch", "Autograd")
        for size in ("10", "300")
        for way in ("one-shot", "prepared")
    ]
    number = r"[\d.]+"
    for row in rows[:8]:
        assert re.search(rf"  {number} \({number} to {number}\), fastest {number}$", row)
    assert [line.partition(":")[0] for line in rows[8:]] == [
        "Torch, one-shot", "Torch, prepared", "Autograd, one-shot", "Autograd, prepared",
    ]  # fmt: skip


def test_cells_can_be_chosen(capsys):
    options = "--leaf native --operator hvp --way prepared --backend AutoTorch --max-size 10"
    _, *rows, _ = printed(capsys, options)
    assert [row[:25].split() for row in rows] == [
        ["one", "array", "native"], ["dict", "of", "6", "native"],
    ]  # fmt: skip
    assert chosen(AutoAutograd(), "native") == []  # its own arrays are NumPy's
    names = [cell.name for cell in chosen(AutoJax(), "module")]
    assert names == ["Equinox model", "Flax model"]
    assert len(chosen(AutoTorch(), "module")) == 6


def test_an_empty_table_is_an_error_that_says_why(capsys):
    assert studies(["benchmark", "--backend", "AutoMine"]) == 2
    assert "No cell matches the options; the backends are AutoJax, " in capsys.readouterr().err


def test_what_is_not_feasible_is_left_out():
    assert ARRAY.includes("jacobian", 10_000, reverse=True)
    assert not ARRAY.includes("jacobian", 1_000_000, reverse=True)
    assert ARRAY.includes("gradient", 10_000, reverse=False)
    assert not ARRAY.includes("gradient", 1_000_000, reverse=False)
    assert not ARRAY.includes("hvp", 10_000, reverse=False)


def test_results_that_are_not_there_yet_are_waited_for(monkeypatch):
    waited = []
    wait = lambda result: waited.append(result) or result
    monkeypatch.setattr(engine_code.find("jax"), "wait", wait)
    for leaf, times in (("native", 2), ("ndarray", 0)):
        calls = Calls(replace(ARRAY, leaf=leaf), AutoJax(), "gradient", 10, "one-shot")
        calls.ours()()
        calls.handwritten()()
        assert len(waited) == times
        waited.clear()


def test_another_revision_is_measured_in_turn(capsys, tmp_path):
    some = "--backend AutoAutograd --leaf ndarray --operator hvp --max-size 10"
    head, *rows = printed(capsys, f"{some} --against {ROOT}")
    assert head.split()[-3:] == ["here", "there", "ratio"]
    assert [row[:76].split()[-4:] for row in rows] == [
        ["hvp", "Autograd", way, "10"] for way in ("one-shot", "prepared") * 2
    ]
    assert studies(["benchmark", f"--against={tmp_path}"]) == 2
    assert "git finds no such revision, and no checkout is there" in capsys.readouterr().err


def test_a_revision_that_does_not_start(capfd, tmp_path):
    (tmp_path / "adinterface").mkdir()
    (tmp_path / "adinterface" / "__init__.py").write_text("raise ImportError('broken')\n")
    assert studies(["benchmark", "--backend", "AutoAutograd", "--against", str(tmp_path)]) == 2
    said = capfd.readouterr().err
    assert "The process of a revision ended (1)" in said
    assert "ImportError: broken" in said


def test_the_table_of_the_performance_page_is_what_was_printed(capsys):
    tables = ROOT / "docs" / "tables"
    assert studies(["benchmark", "--summary", str(tables / "benchmark.md")]) == 0
    lines = capsys.readouterr().out
    assert lines == (tables / "performance.md").read_text(encoding="utf-8")
    assert all(
        re.search(r"\d", row.partition("|")[2].partition("|")[2]) for row in lines.splitlines()[2:]
    )


def test_the_page_says_how_many_functions_a_prepared_gradient_enters():
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| (NumPy|the engine's own) \| (.*) \|$", page, re.MULTILINE))
    command = re.search(r"`python -m adinterface_studies (benchmark --entries [^`]*)`", page)[1]
    # a process of its own, as whoever reads the page has
    arguments = [sys.executable, "-m", "adinterface_studies", *shlex.split(command)]
    lines = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    counted = {tuple(line.split()[2:5:2]): line.split()[-1] for line in lines.splitlines()[1:]}
    for leaf, told in (("ndarray", table["NumPy"]), ("native", table["the engine's own"])):
        engines = ("Jax", "Torch", "Autograd")
        assert [cell.strip() for cell in told.split("|")] == [
            counted.get((leaf, engine), "") for engine in engines
        ]


def test_memory_is_measured_in_a_fresh_process():
    for way in ("one-shot", "prepared"):
        # at least the result
        assert peak((ARRAY, AutoAutograd(), "gradient", 1_000_000, way), True) >= 8_000_000
    none = CELLS[6], ENGINES["finite_differences"], "hessian", 10, "one-shot"
    assert peak(none, False) is None


def arrays_of(result):
    """The arrays of a result, whatever holds them; those of a module are its parameters."""
    leaves = jax.tree.leaves(result)
    parts = [
        list(leaf.parameters()) if isinstance(leaf, torch.nn.Module) else [leaf] for leaf in leaves
    ]
    return [np.asarray(array) for part in parts for array in part]


#: The smallest sizes that say as much.
SIZES = {"tree of leaves": 6, "MLP on a batch": 3}


def looked_at(auto):
    """Each cell and operator, prepared."""
    for cell in chosen(auto):
        size = SIZES.get(cell.name, min(cell.sizes[0], 20))
        for operator in cell.operators if not cell.options else ():
            if cell.includes(operator, size, auto.name != "finite_differences"):
                yield cell, auto, operator, size, "prepared"


def agree(*row):
    """Ours and hand-written code give the same numbers."""
    calls = Calls(*row)
    ours, by_hand = calls.ours(), calls.handwritten()
    for _ in range(2):
        found, expected = arrays_of(ours()), arrays_of(by_hand())
        assert len(found) == len(expected) > 0
        for mine, theirs in zip(found, expected):
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
            loose = mine.dtype == np.float32 or row[1].name == "finite_differences"
            tolerances = {"rtol": 1e-4, "atol": 1e-3} if loose else {"rtol": 1e-9, "atol": 1e-11}
            np.testing.assert_allclose(mine, theirs, **tolerances)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=f"{name}, {row[0].name}, {row[0].leaf}, {row[2]}")
        for name, auto in ENGINES.items()
        for row in looked_at(auto)
    ],
)
def test_hand_written_code_gives_what_ours_gives(row):
    agree(*row)


@pytest.mark.filterwarnings("ignore:`torch.jit.script")
def test_compiled_modules_too(monkeypatch):
    # Traced and differentiated as always; the half minute in which C++ is compiled is another
    # project's to test.
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="aot_eager"))
    (cell,) = [cell for cell in chosen(ENGINES["torch"]) if cell.options]
    assert Calls(cell, AutoTorch(), "gradient", 128, "prepared").auto == AutoTorch(compile=True)
    assert Calls(cell, AutoTorch(), "gradient", 128, "one-shot").handwritten() is None
    agree(cell, AutoTorch(), "gradient", 128, "prepared")


def test_engines_without_hand_written_code(monkeypatch):
    for auto in ENGINES.values():
        for leaf in engine_code.LEAVES[:2]:
            code = engine_code.find(auto.name)
            assert code.transform(leaf, "linearize", np.sin, True) is None
        for cell in chosen(auto, "module"):
            assert cell.by_hand("linearize", np.sin, True) is None
    monkeypatch.setattr(AutoAutograd, "name", "nobody")
    assert {cell.leaf for cell in chosen(AutoAutograd())} == {"ndarray"}
    assert Calls(SIX, AutoAutograd(), "gradient", 3, "one-shot").handwritten() is None
