"""Three verdicts: right is not called wrong, wrong not right, and the unknown is told."""

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


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_scale_of_f_is_found(scale):
    f = lambda x: torch.sin(torch.as_tensor(x) / scale)
    assert check_gradient(f, AutoTorch(), 0.3 * scale).verdict == "right"
    wrong = lambda x: (1.001 * math.cos(x / scale) / scale,)
    assert check_gradient(f, AutoTorch(), 0.3 * scale, gradient=wrong).verdict == "wrong"


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
