"""Three verdicts: what is right is not called wrong, what is wrong is not called right, and what
cannot be told is said.
"""

import math
import warnings
from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from judged_functions import FAULTS, RIGHT

from adinterface import (
    AutoJax,
    AutoTorch,
    check_gradient,
    compare,
    gradient,
    prepare,
    value_and_gradient,
)
from adinterface.tools.evidence import Look, decide, look_at, settle

#: Where the rounding of f hides the slope.
UNDECIDED = {"20 ReLU layers", "saturated tanh"}


def rows(table, dtypes):
    return [
        pytest.param(name, row, dtype, id=f"{name}-{dtype}")
        for name, row in table.items()
        for dtype in dtypes
        if not (row.double and dtype != "float64")
    ]


def verdict(row, dtype, seed=0):
    """What is said, and the check."""
    f, args, *prepared = row.make(np.random.default_rng([seed, 51]), dtype)
    auto = AutoTorch() if "AutoTorch" in row.engines else AutoJax()
    auto = auto if row.mode is None else replace(auto, mode=row.mode)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        fast = prepare(gradient, prepared[0], auto, *args) if prepared else None
        check = check_gradient(f, auto, *args, seed=seed, gradient=fast)
    return check.verdict, check


@pytest.mark.parametrize(("name", "row", "dtype"), rows(RIGHT, ["float64", "float32"]))
def test_what_is_right_is_not_called_wrong(name, row, dtype):
    said, check = verdict(row, dtype)
    assert said == "right" or (said == "undecided" and name in UNDECIDED), check


@pytest.mark.parametrize(("name", "row", "dtype"), rows(FAULTS, ["float64", "float32"]))
def test_what_is_wrong_is_called_so(name, row, dtype):
    said, check = verdict(row, dtype)
    assert said == "wrong", check


def test_what_f_cannot_compute_in_double_precision_is_undecided_in_half():
    x = torch.tensor([0.3, 1.2, -0.7], dtype=torch.float16)
    check = check_gradient(lambda x: (torch.sin(x.half()) @ x.half()) * 1e-3 + 1.0, AutoTorch(), x)
    assert check.verdict == "undecided"
    assert not check
    first = str(check).splitlines()[0]
    assert first.startswith("check_gradient(AutoTorch()): UNDECIDED, ")
    assert "the rounding of f hides slopes below " in first
    assert first.endswith("Check in float64, or check a smaller part of f.")
    with pytest.raises(AssertionError, match="UNDECIDED"):
        check.raise_if_failed()


# The decision
# ------------------------------------------------------------------------------------------------


def test_decide():
    assert decide(1e-9, 1e-10, 1.0, 1e-8) == "right"
    assert decide(0.5, 1e-3, 1.0, 1e-8) == "wrong"
    assert decide(0.0, 1.0, 1.0, 1e-8) == "undecided"  # 0 and the negative would agree as well
    assert decide(2.0, math.inf, 1.0, 1e-8) == "undecided"
    assert decide(math.inf, 0.0, 1.0, 1e-8) == "wrong"
    assert decide(0.0, 0.0) == "right"


def looks_of(f, slope, *, grain=0.0):
    def rounded(t):
        return round(f(t) / grain) * grain if grain else f(t)

    def look(step):
        return look_at(
            (rounded(-step), rounded(0.0), rounded(step)), step, slope, 2.0**-52 * abs(f(0.0))
        )

    return look


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_steps_find_the_scale_of_f(scale):
    found = settle(
        looks_of(lambda t: math.sin(t / scale + 0.3), math.cos(0.3) / scale), 1e-3, 4e-10
    )
    assert found.outcome(4e-10, 1e-3) == "right"
    wrong = settle(
        looks_of(lambda t: math.sin(t / scale + 0.3), 1.001 * math.cos(0.3) / scale), 1e-3, 4e-10
    )
    assert wrong.outcome(4e-10, 1e-3) == "wrong"


def test_an_f_that_does_not_depend_is_right_only_with_zero():
    assert settle(looks_of(lambda t: 1.0, 0.0), 1e-3, 4e-10).outcome(4e-10, 1e-3) == "right"
    assert settle(looks_of(lambda t: 1.0, 1e-3), 1e-3, 4e-10).outcome(4e-10, 1e-3) == "wrong"


def test_a_jump_is_no_slope():
    found = settle(looks_of(lambda t: float(t > 0), 0.0), 1e-3, 4e-10)
    assert found.outcome(4e-10, 1e-3) == "undecided"
    assert found.kink is None
    assert Look(1.0, 0.0, 0.0, 0.0, 0.0, 0.0).blind


# What is said
# ------------------------------------------------------------------------------------------------


def test_f_of_one_triangle_is_told():
    a = np.array([[3.0, 1.0], [1.0, 2.0]])
    check = check_gradient(lambda a: torch.linalg.eigvalsh(a)[0], AutoTorch(), a)
    assert check, check
    assert (
        "f reads one triangle, so symmetric displacements were taken. Write f((a + a.T) / 2)"
        in str(check)
    )
    other = check_gradient(lambda a: torch.linalg.eigvalsh((a + a.T) / 2)[0], AutoTorch(), a)
    assert other
    assert "triangle" not in str(other)


def test_between_the_slopes_of_a_kink_but_no_engines_choice_is_undecided():
    class Third(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.abs()

        @staticmethod
        def backward(ctx, g):
            return 0.3 * g

    check = check_gradient(lambda x: Third.apply(x), AutoTorch(), 0.0)
    assert check.verdict == "undecided"
    assert "0.3 is between them, but no engine's choice. Check near the kink." in str(check)


# Implementations
# ------------------------------------------------------------------------------------------------


def test_implementations_are_compared_each_on_its_backend():
    p = {"w": np.array([0.3, 0.4])}
    ported = {
        AutoTorch(): lambda p: torch.sin(p["w"]).sum(),
        AutoJax(): lambda p: jnp.sin(p["w"]).sum(),
    }
    report = compare(value_and_gradient, ported, p)
    assert report.agree(), report
    assert [measured.backend for measured in report.backends] == [AutoTorch(), AutoJax()]
    ported[AutoJax()] = lambda p: 1.01 * jnp.sin(p["w"]).sum()
    assert not compare(gradient, ported, {"w": torch.tensor([0.3, 0.4])}).agree()
    with pytest.raises(
        TypeError,
        match=r"f is a list\. To compare several functions, write a dict with the backend of each",
    ):
        compare(gradient, [torch.sin, jnp.sin], [AutoTorch(), AutoJax()], p)


def test_an_f_that_draws_random_numbers_is_told_from_a_kink():
    random = np.random.default_rng(0)
    report = compare(
        gradient,
        lambda x: (x * x).sum() * random.standard_normal(),
        [AutoTorch(), AutoJax()],
        np.ones(3),
    )
    assert not report.agree()
    assert "at the same point. Fix its random numbers" in str(report)
