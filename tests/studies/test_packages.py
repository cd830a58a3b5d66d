"""`python -m adinterface_studies packages`: the scan of functions of installed packages."""

import json
import sys

import numpy as np
import pytest
from adinterface_studies.__main__ import main
from adinterface_studies.packages import command
from adinterface_studies.packages.example import Example
from adinterface_studies.packages.examples import examples
from adinterface_studies.packages.table import markdown
from adinterface_studies.packages.trial import Trial, Unusable, reference, run
from adinterface_studies.progress import steps

from adinterface import AutoAutograd, AutoTorch

pytestmark = pytest.mark.sweep


def test_the_list_is_long_and_has_each_name_once():
    names = [example.name for example in examples()]
    assert len(names) == len(set(names)) >= 600
    assert 300 <= len(examples(held_out=True)) < len(names)


#: One of each kind that runs on each engine.
CHOSEN = (
    "scipy.stats.norm.logpdf", "scipy.stats.gamma.pdf", "scipy.stats.linregress", "scipy.special.logsumexp axis",
    "scipy.linalg.cho_factor", "scipy.spatial.distance.canberra", "scipy.integrate.simpson", "scipy.signal.savgol_filter",
    "scipy.interpolate.BarycentricInterpolator", "scipy.optimize.rosen_hess",
)  # fmt: skip


@pytest.mark.parametrize("name", CHOSEN)
def test_a_function_of_scipy(name):
    example = next(example for example in examples() if example.name == name)
    for trial in run(example, reference(example), [AutoTorch(), AutoAutograd()], [False]):
        assert trial.status == "right", trial


def squared(x):
    return np.asarray(x) ** 2


def test_what_becomes_of_a_function(monkeypatch):
    monkeypatch.setitem(sys.modules, "mine", sys.modules[__name__])
    (trial,) = run(example := Example("mine.squared", (np.ones(3),)), reference(example), [AutoTorch()], [False])
    assert str(trial).startswith("right    AutoTorch mine.squared")
    with pytest.raises(Unusable, match="No module named 'nobody'"):
        reference(Example("nobody.f", (1.0,)))
    with pytest.raises(Unusable, match="raises TypeError"):
        reference(Example("mine.squared", (1.0, 2.0)))


def test_a_package_that_cannot_be_imported(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("raise TypeError('not for this Python')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(Unusable, match="importing it raises TypeError: not for this Python"):
        reference(Example("broken_package.f", (1.0,)))


def test_the_table(monkeypatch):
    monkeypatch.setitem(sys.modules, "mine", sys.modules[__name__])
    example = Example("mine.squared", (np.ones(3),))
    trials = run(example, reference(example), [AutoTorch()], [False, True])
    text = markdown(trials)
    assert "| package | functions | Torch | Torch prepared |" in text
    assert "| `mine` | 1 | 1 | 1 |" in text


def test_a_module_of_ones_own(tmp_path, monkeypatch, capsys):
    (tmp_path / "mymodule.py").write_text("import numpy as np\ndef f(x): return np.sum(np.asarray(x) ** 2)\n")
    (tmp_path / "arguments.py").write_text("import numpy as np\nEXAMPLES = {'mymodule.f': (np.ones(3),)}\n")
    monkeypatch.syspath_prepend(tmp_path)
    words = ["packages", "--examples", str(tmp_path / "arguments.py"), "--backend", "AutoTorch"]
    assert main([*words, "--markdown", str(tmp_path / "table.md"), "--json", str(tmp_path / "trials.json")]) == 0
    assert "AutoTorch: 1 right (100.0% right)" in capsys.readouterr().out
    assert "`mymodule`" in (tmp_path / "table.md").read_text()


def test_a_scan_goes_on_where_it_was_interrupted(tmp_path, monkeypatch, capsys):
    (tmp_path / "interrupted.py").write_text("import numpy as np\ndef f(x): return np.sum(x ** 2)\ndef g(x): return f(x) * 2\n")
    text = "import numpy as np\nEXAMPLES = {'interrupted.f': (np.ones(3),), 'interrupted.none': (1.0,), "
    text += "'interrupted.g': (np.ones(2),)}\n"
    (tmp_path / "arguments.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "trials.json"
    words = [
        "packages",
        "--examples",
        str(tmp_path / "arguments.py"),
        "--backend",
        "AutoTorch",
        "--json",
        str(file),
        "--resume",
    ]
    tries = []
    real = command.run

    def run(example, *others):
        tries.append(example.name)
        if len(tries) == 2:
            raise KeyboardInterrupt
        return real(example, *others)

    monkeypatch.setattr(command, "run", run)
    with pytest.raises(KeyboardInterrupt):
        main(words)
    assert main([*words, "--markdown", str(tmp_path / "table.md")]) == 0
    assert tries == ["interrupted.f", "interrupted.g", "interrupted.g"]
    assert "AutoTorch: 2 right" in capsys.readouterr().out
    assert [trial["name"] for trial in json.loads(file.read_text())["trials"]] == ["interrupted.f", "interrupted.g"]
    assert main([word for word in words if word not in ("--json", str(file))]) == 2
    assert "--resume goes on with the trials of an earlier scan" in capsys.readouterr().err


def test_a_scan_goes_on_with_another_engine(tmp_path, monkeypatch, capsys):
    (tmp_path / "another.py").write_text("import numpy as np\ndef f(x): return np.sum(x ** 2)\n")
    (tmp_path / "arguments.py").write_text("import numpy as np\nEXAMPLES = {'another.f': (np.ones(3),)}\n")
    monkeypatch.syspath_prepend(tmp_path)
    words = ["packages", "--examples", str(tmp_path / "arguments.py"), "--json", str(tmp_path / "trials.json"), "--resume"]
    assert main([*words, "--backend", "AutoTorch"]) == 0
    assert main([*words, "--backend", "AutoTorch", "--backend", "AutoAutograd"]) == 0
    assert "AutoTorch: 1 right (100.0% right)\nAutoAutograd: 1 right (100.0% right)\n1 functions" in capsys.readouterr().out
    (tmp_path / "trials.json").write_text("[]")
    assert main([*words, "--backend", "AutoTorch"]) == 2
    assert "trials.json is no file that --json has written" in capsys.readouterr().err


def test_engines_that_compile_are_asked_for_prepared_calls(tmp_path, monkeypatch, capsys):
    (tmp_path / "compiling.py").write_text("import numpy as np\ndef f(x): return np.sum(x ** 2)\n")
    (tmp_path / "arguments.py").write_text("import numpy as np\nEXAMPLES = {'compiling.f': (np.ones(3),)}\n")
    monkeypatch.syspath_prepend(tmp_path)
    words = ["packages", "--examples", str(tmp_path / "arguments.py"), "--backend", "AutoTorch", "--backend", "AutoJax"]
    assert main([*words, "--prepared"]) == 0
    assert "AutoTorch: 1 right (100.0% right)\nAutoJax prepared: 1 right" in capsys.readouterr().out


def test_the_lists_have_nothing_in_common(monkeypatch):
    drawn = []
    monkeypatch.setattr(command, "tried", lambda chosen, *options: drawn.append({each.name for each in chosen}) or ([], {}))
    for words in ([], ["--list", "first"], ["--list", "held-out"]):
        assert main(["packages", "--backend", "AutoTorch", *words]) == 0
    everything, first, held_out = drawn
    assert first | held_out == everything
    assert not first & held_out
    assert len(first) > 1500
    assert len(held_out) > 1100


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


def test_a_sample_is_always_the_same(monkeypatch):
    drawn = []
    monkeypatch.setattr(command, "tried", lambda chosen, *options: drawn.append([each.name for each in chosen]) or ([], {}))
    for _ in range(2):
        assert main(["packages", "--list", "held-out", "--sample", "5", "--backend", "AutoTorch"]) == 0
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 5
    assert set(drawn[0]) <= {example.name for example in examples(held_out=True)}


def test_reasons_are_told_once(monkeypatch):
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
    assert "| wrong: another gradient than differences | Torch | `mine`: k |" in text


def test_wrong_command_lines(tmp_path, capsys):
    assert main(["packages", "nothing.of.that.name"]) == 2
    assert "No example is known for nothing.of.that.name. Write a file with EXAMPLES" in capsys.readouterr().err
    (tmp_path / "empty.py").write_text("")
    assert main(["packages", "--examples", str(tmp_path / "empty.py")]) == 2
    assert "has no EXAMPLES that tells a tuple of arguments for each function" in capsys.readouterr().err
