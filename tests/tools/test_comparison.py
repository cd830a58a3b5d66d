"""`compare`: results, differences with their paths, times, evaluations and errors."""

import importlib
import re
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import BACKENDS, ENGINES, assert_told

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    MissingEngineError,
    array_namespace,
    compare,
    gradient,
)
from adinterface.tools import compare_plot as plots

ALL = list(BACKENDS.values())
MODEL = {"w": np.arange(6.0).reshape(2, 3) / 7, "s": 2.0, "name": "model"}
X = np.array([1.0, -0.5, 2.0])


def loss(model, x):
    xp = array_namespace(x)
    return xp.sum(xp.tanh(model["w"] @ x) ** 2) * model["s"]


@jax.custom_vjp
def wrong_square(x):
    return x * x


wrong_square.defvjp(lambda x: (x * x, x), lambda x, g: (-2 * g * x,))


def wrong_under_jax(t):
    square = wrong_square if isinstance(t["b"], jax.Array) else lambda x: x * x
    return (t["a"] ** 2).sum() + square(t["b"]).sum()


TREE = {"a": np.ones(2), "b": np.array([1.0, 3.0])}


def test_every_backend_is_measured_against_the_first_that_differentiates():
    report = compare(gradient, loss, [AutoFiniteDifferences(), *ENGINES.values()], MODEL, X)
    assert report.operator == "gradient"
    assert report.reference is report.backends[1]
    assert report.reference.backend == AutoJax()
    assert report.reference.differences == ()
    assert [m.backend for m in report.backends] == [AutoFiniteDifferences(), *ENGINES.values()]
    for measured in report.backends:
        assert measured.error is None
        assert list(measured.leaves) == ["gradient[0]['w']", "gradient[0]['s']", "gradient[1]"]
        assert type(measured.result[0]["s"]) is float
        assert measured.first_seconds > 0
        assert measured.later_seconds > 0
    differences, *engines = report.backends
    assert 4 * 10 <= differences.evaluations <= 10 * 10
    assert [m.evaluations for m in engines] == [1, 1, 1]
    assert [d.path for d in differences.differences] == list(differences.leaves)
    assert 0 < differences.worst.relative < 1e-12
    assert report.agree()
    assert not report.agree(rtol=0, atol=0)


def test_a_wrong_leaf_is_named():
    report = compare(gradient, wrong_under_jax, [AutoTorch(), AutoJax(), AutoAutograd()], TREE)
    assert not report.agree()
    assert report.verdict == "wrong"
    assert not report.advice
    ((measured, difference, allowed),) = report.disagreements()
    assert (measured.backend, difference.path) == (AutoJax(), "gradient[0]['b']")
    assert (difference.absolute, difference.scale, difference.relative) == (12.0, 6.0, 2.0)
    assert not difference.kink
    assert 0 < allowed < 1e-8
    assert report.agree(rtol=3)
    assert report.agree(atol=13)


def test_an_error_is_data():
    def f(x):
        return torch.sum(x)

    report = compare(gradient, f, [AutoJax(), AutoTorch()], X)
    assert isinstance(report[AutoJax()].error, TypeError)
    assert report.reference.backend == AutoTorch()
    assert not report.agree()
    assert re.search(r"^AutoJax\(\) +TypeError: sum\(\):? .*", str(report), re.M)
    words = "AutoJax() raised TypeError, so nothing can be compared with it."
    assert_told(lambda: report.against(AutoJax()), ValueError, words)
    nothing = compare(gradient, lambda x: None, ALL, X)
    assert nothing.reference is None
    assert str(nothing).startswith("gradient with 4 backends; none of them succeeded\n")
    assert not nothing.agree()


def test_a_missing_engine_is_data(monkeypatch):
    module = importlib.import_module("adinterface.tools.compare")  # `tools.compare` is the function
    monkeypatch.setattr(
        module, "find", lambda auto: (_ for _ in ()).throw(MissingEngineError("gone"))
    )
    assert str(compare(gradient, loss, [AutoJax()], MODEL, X)).endswith(
        "AutoJax()  MissingEngineError: gone"
    )


def test_a_kink_is_not_a_disagreement_but_a_wrong_answer_there_is():
    def f(t):
        return (t["a"] ** 2).sum() + abs(t["b"]).sum()

    at_kink = {"a": np.ones(2), "b": np.zeros(2)}
    report = compare(gradient, f, ALL, at_kink)
    assert report.agree(), report
    assert [d.path for d in report[AutoTorch()].differences if d.kink] == ["gradient[0]['b']"]
    assert "gradient[0]['b'] (kink)" in str(report)
    assert report.against(AutoTorch()).agree()

    bad = jax.custom_vjp(jnp.abs)
    bad.defvjp(lambda x: (jnp.abs(x), x), lambda x, g: (g * 3 + 0 * x,))

    def g(t):
        return (t["a"] ** 2).sum() + (bad if isinstance(t["b"], jax.Array) else abs)(t["b"]).sum()

    report = compare(gradient, g, [AutoTorch(), AutoJax()], at_kink)
    assert not report.agree()
    assert [d.kink for d in report[AutoJax()].differences] == [False, False]


def logistic(x):
    for _ in range(60):
        x = 3.9 * x * (1 - x)
    return x


@pytest.mark.filterwarnings("ignore::adinterface.PrecisionWarning")
@pytest.mark.parametrize("x", [0.3, np.array(0.3), Constant], ids=["float", "array", "constant"])
def test_a_difference_that_rounding_explains_is_undecided(x):
    args = (np.array(1.0), Constant(np.array(0.3))) if x is Constant else (x,)

    def f(x, start=0.0):
        return logistic(x * start if start else x)

    report = compare(gradient, f, [AutoTorch(), AutoFiniteDifferences()], *args)
    assert report.verdict == "undecided"
    assert not report
    assert not report.agree()
    (difference,) = report[AutoFiniteDifferences()].differences
    assert difference.undecided
    assert str(difference).endswith(" undecided")
    assert "(undecided)" in str(report)
    assert (
        "undecided: results change as much if the arguments, and what f captures, are a few"
        " roundings off." in str(report)
    )
    assert report.against(AutoFiniteDifferences()).verdict == "undecided"
    with pytest.raises(AssertionError, match="are a few roundings off"):
        report.raise_if_failed()


def test_the_verdict_of_what_agrees_and_of_an_f_that_draws():
    assert compare(gradient, loss, ALL, MODEL, X).verdict == "right"
    random = np.random.default_rng(0)
    report = compare(gradient, lambda x: x * random.random(), [AutoTorch(), AutoAutograd()], 2.0)
    assert report.verdict == "undecided"
    assert "Fix its random numbers" in report.advice


def test_what_is_infinite_on_both_is_alike():
    f = lambda x: (x**0.5).sum()
    with np.errstate(all="ignore"):
        assert compare(gradient, f, [AutoTorch(), AutoAutograd()], np.array([0.0, 4.0])).agree()


def test_the_table():
    report = compare(gradient, wrong_under_jax, [AutoTorch(), AutoJax()], TREE)
    text = re.sub(r"[\d.e+]+ (µs|ms|s|B|KiB)\b", "#", str(report))
    text = "\n".join(
        re.sub(r"  +", "  ", line) for line in text.splitlines() if not line.startswith("---")
    )
    assert text == textwrap.dedent("""\
        gradient with 2 backends; reference AutoTorch()

        backend  difference  relative  at  first call  later calls  evaluations
        AutoTorch()  reference  #  #  1
        AutoJax()  1.2e+01  2.0e+00  gradient[0]['b']  #  #  1

        largest difference in each leaf, absolute (relative to the leaf's largest number)
        leaf  AutoJax()
        gradient[0]['a']  0 (0)
        gradient[0]['b']  1.2e+01 (2.0e+00)""")
    assert repr(report) == str(report)


def test_many_leaves_show_the_worst():
    leaves = [np.ones(2) for _ in range(30)]
    report = compare(
        gradient,
        lambda xs: sum((x**3).sum() for x in xs),
        [AutoAutograd(), AutoFiniteDifferences()],
        leaves,
    )
    assert str(report).splitlines()[-1] == "... and 10 leaves that differ less"
    assert len(report[AutoFiniteDifferences()].differences) == 30


def test_the_plot_has_a_row_for_each_backend(tmp_path):
    def f(t):
        return (
            torch.sum(t["a"])
            if isinstance(t["a"], np.ndarray)
            else (t["a"] ** 2).sum() + abs(t["b"]).sum()
        )

    report = compare(gradient, f, ALL, {"a": np.ones(2), "b": np.zeros(2)})
    figure = report.plot()
    accuracy, times = figure.axes
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000
    assert accuracy.get_xscale() == times.get_xscale() == "log"
    assert [label.get_text() for label in accuracy.get_yticklabels()] == [
        m.name for m in report.backends
    ]
    assert [text.get_text() for text in accuracy.texts] == ["reference", "raised TypeError"]
    assert accuracy.get_xlabel().startswith(
        "relative difference against AutoJax(), one point for each leaf"
    )
    assert [text.get_text() for text in times.get_legend().get_texts()] == [
        "first call",
        "later calls (median)",
    ]
    plots._pyplot().close(figure)

    own = plots._pyplot().figure()
    assert report.plot(own) is own
    plots._pyplot().close(own)
    nothing = compare(gradient, lambda x: None, ALL, X)
    plots._pyplot().close(nothing.plot())


def test_the_plot_names_what_it_needs(monkeypatch):
    report = compare(gradient, loss, [AutoAutograd()], MODEL, X)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(MissingEngineError) as error:
        report.plot()
    assert (
        str(error.value) == "Comparison.plot needs matplotlib, which is not installed: pip install"
        " 'adinterface[plot]'"
    )
    assert error.value.__suppress_context__


def test_estimated_errors_are_shown_and_count():
    backends, x = [AutoAutograd(), AutoFiniteDifferences()], np.array([0.3, 1.2])
    smooth = compare(gradient, lambda x: (x**3).sum(), backends, x)
    bent = compare(gradient, lambda x: (1 / (1.3 - x)).sum(), backends, x)
    assert smooth[AutoAutograd()].estimated is None
    assert bent[AutoFiniteDifferences()].estimated > 1e-11
    assert bent.agree()
    assert not bent.agree(rtol=1e-16, atol=0.0)
    assert smooth[AutoFiniteDifferences()].estimated < 1e-11
    assert "AutoFiniteDifferences() estimates its relative error at " in str(smooth)
    assert smooth.agree()
