"""`python -m adinterface_studies programs`: small programs of plain NumPy under `numpy_function`, in every mode."""

import numpy as np
import pytest
from adinterface_studies.__main__ import main
from adinterface_studies.programs.command import markdown, summary, tried
from adinterface_studies.programs.trial import Outcome, Program, programs, reference, run

from adinterface import AutoAutograd, AutoJax, AutoTorch

pytestmark = pytest.mark.sweep

PROGRAMS = programs()


def test_there_are_a_few_hundred_of_many_themes():
    assert len(PROGRAMS) == len({program.name for program in PROGRAMS}) >= 900
    assert len({program.theme for program in PROGRAMS}) >= 18


@pytest.mark.parametrize(("backend", "n"), [(AutoTorch(), 0), (AutoAutograd(), 2)], ids=["torch", "autograd"])
def test_a_sixth_of_them(backend, n):
    """Each holds every sixth program of each theme; the command runs all, and on JAX."""
    outcomes = tried(PROGRAMS[n::6], [backend], deep=True)
    bad = [str(outcome) for outcome in outcomes if outcome.verdict in ("refused", "wrong")]
    assert not any(line.startswith("wrong") for line in bad), bad
    assert len(bad) <= 0.02 * len(outcomes), bad


@pytest.mark.parametrize(
    "name", ["np.sin(M)", "np.linalg.solve(S, R)", "a_dict", "items_are_written", "stats.norm.logcdf(x, a, q)", "z / w"]
)
def test_some_on_jax(name):
    (program,) = [program for program in PROGRAMS if program.name == name]
    outcome = run(program, reference(program), AutoJax(), deep=True)
    assert outcome.verdict == "right", outcome


def test_none_is_wrong_without_deep():
    """More of them are refused there; the sixth has lists of what is differentiated in it, which autograd does not follow."""
    some = PROGRAMS[[program.name for program in PROGRAMS].index("np.concatenate([[a], x])") % 6 :: 6]
    outcomes = tried(some, [AutoAutograd()], deep=False)
    assert [str(outcome) for outcome in outcomes if outcome.verdict == "wrong"] == []
    assert sum(outcome.verdict == "right" for outcome in outcomes) > 0.8 * len(outcomes)


def test_what_is_wrong_or_refused_is_told():
    def flat_on_engines(x):
        return np.sum(x) if type(x).__module__ == "numpy" else np.sum(0 * x)

    def a_float(x):
        return float(x[0]) * np.sum(x)

    for f, verdict, said in (
        (flat_on_engines, "wrong", "the gradient along a direction is 0, by differences"),
        (a_float, "refused", "float(x[0]) makes a Python number of it"),
    ):
        program = Program(f.__name__, "faults", f, (np.array([0.4, 1.3]),))
        outcome = run(program, reference(program), AutoTorch(), deep=False)
        assert outcome.verdict == verdict
        assert said in str(outcome)


def test_the_table_and_the_summary():
    def outcome(name, **modes):
        return Outcome(name, "sums", "AutoTorch", {mode.replace("_", " "): status for mode, status in modes.items()})

    right, refused = ("right", ""), ("refused", "a | b")
    outcomes = [outcome("f", reverse=right), outcome("g", reverse=right, forward=refused), outcome("h", reverse=refused)]
    assert [o.verdict for o in outcomes] == ["right", "in part", "refused"]
    assert summary(outcomes) == ["AutoTorch: 3 programs, 1 right, 1 in part, 1 refused, 0 wrong (66.7% right or right in part)"]
    text = markdown(outcomes)
    assert "| sums | 3 | 1 + 1 in part |" in text
    assert "| `h` | Torch | refused: a \\| b |" in text


def test_a_program_without_a_smooth_point_is_no_reference():
    with pytest.raises(ValueError, match="choose another point"):
        reference(Program("kink", "faults", lambda x: np.sum(np.abs(x)), (np.zeros(2),)))


def test_the_command(tmp_path, capsys):
    table = tmp_path / "table.md"
    command = ["programs", "--program", "np.tan(*)", "--backend", "AutoAutograd", "-v", "--markdown", str(table)]
    assert main(command) == 0
    assert "AutoAutograd: 4 programs, 4 right" in capsys.readouterr().out
    assert "| functions of numbers | 1 | 1 |" in table.read_text()
    assert main(["programs", "--program", "nothing"]) == 2
    assert main(["programs", "--backend", "AutoNobody"]) == 2
