"""The scan of functions of installed packages: without this file its table could hold what no run would find."""

import sys

import numpy as np
import pytest
from adinterface_studies.__main__ import main
from adinterface_studies.packages.command import markdown, reason_of
from adinterface_studies.packages.examples import examples
from adinterface_studies.packages.trial import Example, Trial, Unusable, reference, run
from adinterface_studies.progress import steps

from adinterface import AutoAutograd, AutoTorch

pytestmark = pytest.mark.sweep

EXAMPLES = {example.name: example for example in examples()}


def test_there_are_two_hundred():
    assert len(EXAMPLES) == len(examples()) == 200


#: One of each kind that runs on each engine.
CHOSEN = (
    "scipy.stats.Uniform pdf", "scipy.stats.lognorm.isf", "scipy.stats.ttest_ind welch", "scipy.special.lambertw",
    "scipy.linalg.expm_frechet", "scipy.spatial.distance.euclidean weighted", "scipy.integrate.quad_vec",
    "scipy.signal.lp2hp", "scipy.interpolate.pade", "scipy.ndimage.prewitt", "scipy.fft.fft padded",
)  # fmt: skip


@pytest.mark.parametrize("name", CHOSEN)
def test_a_function_of_scipy(name):
    for backend in (AutoTorch(), AutoAutograd()):
        trial = run(EXAMPLES[name], reference(EXAMPLES[name]), backend, False)
        assert trial.status == "right", trial


def squared(x):
    return np.asarray(x) ** 2


@pytest.fixture
def mine(monkeypatch):
    monkeypatch.setitem(sys.modules, "mine", sys.modules[__name__])


def test_what_becomes_of_a_function(mine, tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("raise TypeError('not for this Python')\n")
    monkeypatch.syspath_prepend(tmp_path)
    example = Example("mine.squared", (np.ones(3),))
    assert str(run(example, reference(example), AutoTorch(), False)).startswith("right    AutoTorch mine.squared")
    for name, argument, said in (
        ("nobody.f", 1.0, "No module named 'nobody'"),
        ("broken_package.f", 1.0, "importing it raises TypeError: not for this Python"),
        ("mine.squared", None, "NumPy's own call raises TypeError"),
    ):
        with pytest.raises(Unusable, match=said):
            reference(Example(name, (argument,)))


def test_the_table_tells_reasons_once(mine):
    example = Example("mine.squared", (np.ones(3),))
    trials = [run(example, reference(example), AutoTorch(), prepared) for prepared in (False, True)]
    text = markdown(trials)
    assert "| package | functions | Torch | Torch prepared |" in text
    assert "| `mine` | 1 | 1 | 1 |" in text
    make = lambda name, backend, reason: Trial(name, "mine", backend, False, "refused", reason)
    where = "numpy_function: mine.g does not work on {} arrays. The table lists what does."
    trials = [
        make("mine.f", "AutoTorch", where.format("torch")),
        make("mine.f", "AutoJax", where.format("jax")),
        make("mine.h two", "AutoTorch", where.format("torch")),
        Trial("mine.k", "mine", "AutoTorch", True, "wrong", "the gradient is [1. 2.], by differences [3. 4.]"),
    ]
    text = markdown(trials)
    assert "| refused: numpy_function: mine.g does not work on an engine's arrays | Torch, Jax | `mine`: f, h two |" in text
    assert "Prepared, besides:" in text
    assert reason_of(trials[-1]) == "another gradient than differences"


def test_a_module_of_ones_own(tmp_path, monkeypatch, capsys):
    (tmp_path / "mymodule.py").write_text("import numpy as np\ndef f(x): return np.sum(np.asarray(x) ** 2)\n")
    (tmp_path / "arguments.py").write_text("import numpy as np\nEXAMPLES = {'mymodule.f': (np.ones(3),)}\n")
    monkeypatch.syspath_prepend(tmp_path)
    words = ["packages", "--examples", str(tmp_path / "arguments.py"), "--backend", "AutoTorch", "--backend", "AutoJax"]
    assert main([*words, "--prepared", "--markdown", str(tmp_path / "table.md")]) == 0
    assert "AutoTorch: 1 right (100.0% right)\nAutoJax prepared: 1 right" in capsys.readouterr().out
    assert "`mymodule`" in (tmp_path / "table.md").read_text()


@pytest.mark.parametrize("seen", [False, True])
def test_long_work_says_how_far_it_is(monkeypatch, capsys, seen):
    monkeypatch.setattr("adinterface_conformance.progress.EVERY", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: seen, raising=False)
    with steps(2, "functions") as advance:
        advance("1 right")
        advance("2 right")
    said = capsys.readouterr().err
    assert "2 of 2 functions, 2 right" in said
    assert ("s: 2 of 2" in said) is not seen


def test_wrong_command_lines(tmp_path, capsys):
    (tmp_path / "empty.py").write_text("")
    for words, said in (
        (["nothing.of.that.name"], "No example is known for nothing.of.that.name. Write a file with EXAMPLES"),
        (["--examples", str(tmp_path / "empty.py")], "has no EXAMPLES that tells a tuple of arguments for each function"),
        (["--backend", "AutoNothing"], "There is no backend 'AutoNothing'"),
    ):
        with pytest.raises(SystemExit):
            main(["packages", *words])
        assert said in capsys.readouterr().err
