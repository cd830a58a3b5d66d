"""`tools.choose`: the recommended backend runs, is right, and is the fastest of those."""

import importlib
import math
import re

import jax
import numpy as np
import pytest
import torch
from backends_table import BACKENDS, ENGINES

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    array_namespace,
    explain,
    gradient,
    hessian,
    hvp,
    linearize,
    numpy_function,
    pullback,
    pushforward,
    value_and_gradient,
)
from adinterface.tools import Comparison, Measured, choose

module = importlib.import_module("adinterface.tools.choose")  # `tools.choose` is the function
DIFFERENCES = AutoFiniteDifferences()
CENTRAL = AutoFiniteDifferences(method="central")
X = np.array([1.0, -0.5])


def loss(x):
    return (x**3).sum()


@jax.custom_vjp
def wrong_square(x):
    return x * x


wrong_square.defvjp(lambda x: (x * x, x), lambda x, g: (-2 * g * x,))


def wrong_on_jax(x):
    return (wrong_square(x) if isinstance(x, jax.Array) else x * x).sum()


def test_all_installed_backends_are_tried_and_the_fastest_engine_is_chosen():
    choice = choose(gradient, loss, np.tile(X, 6))
    report = choice.comparison
    assert {m.backend for m in report.backends} == set(BACKENDS.values()) == set(choice.agreeing)
    assert choice.backend == min(
        ENGINES.values(), key=lambda backend: report[backend].later_seconds
    )
    assert choice.agreeing[-1] == DIFFERENCES
    assert str(choice).startswith("prepared gradient with 4 backends; reference ")
    assert f"\n\nUse {choice.backend!r}".partition("(")[0] in str(choice)


@pytest.mark.parametrize(
    ("operator", "args"),
    [
        (value_and_gradient, (X,)),
        (hessian, (X,)),
        (hvp, (X, X)),
        (pullback, (X,)),
        (linearize, (X,)),
        (pushforward, ((X,), (X,))),
    ],
)
def test_every_operator_has_a_choice(operator, args):
    choice = choose(operator, loss, *args, backends=[AutoTorch(), DIFFERENCES, AutoAutograd()])
    assert choice.backend in (AutoTorch(), AutoAutograd())
    assert len(choice.agreeing) == 3


def test_keywords_and_constants_are_passed_on():
    choice = choose(
        gradient,
        lambda x, c, *, power: c * (x**power).sum(),
        X,
        Constant(2.0),
        power=2,
        backends=[AutoTorch()],
    )
    np.testing.assert_allclose(choice.comparison[AutoTorch()].result[0], 4 * X)


@pytest.mark.parametrize("operator", [gradient, hessian])
def test_one_that_disagrees_is_never_chosen(operator):
    choice = choose(operator, wrong_on_jax, X, backends=[AutoJax(), AutoTorch(), DIFFERENCES])
    assert choice.agreeing == (AutoTorch(), DIFFERENCES)
    assert choice.backend == AutoTorch()
    assert "Finite differences contradict AutoJax()." in choice.reason
    choice = choose(operator, wrong_on_jax, X, backends=[AutoJax(), AutoTorch()])
    assert (choice.backend, choice.agreeing) == (None, ())
    assert choice.reason.startswith(
        "No backend can be recommended: they disagree, and it is not known which is right. Add Auto"
    )
    choice = choose(operator, wrong_on_jax, X, backends=[AutoJax(), DIFFERENCES])
    assert choice.backend is None


def test_values_that_differ_between_engines_leave_no_choice():
    """Each gradient is right of the f that its engine has. Differences take a third one."""

    def f(x):
        return (x * (1 + isinstance(x, jax.Array) + 2 * isinstance(x, torch.Tensor))).sum()

    assert choose(gradient, f, X, backends=[AutoJax(), AutoTorch(), DIFFERENCES]).backend is None


def test_an_f_that_draws_leaves_no_choice():
    random = np.random.default_rng(0)
    choice = choose(
        gradient, lambda x: (x * random.normal()).sum(), X, backends=[AutoAutograd(), AutoTorch()]
    )
    assert choice.backend is None
    assert choice.reason == "No backend can be recommended: the results do not repeat themselves."


def test_kinks_are_no_disagreement():
    assert set(choose(gradient, abs, 0.0).agreeing) == {*BACKENDS.values(), CENTRAL}


def test_differences_that_take_less_time_are_named():
    @numpy_function(deep=True)
    def pendulum(angle, speed):
        for _ in range(100):
            speed = speed - 0.01 * math.sin(angle)
            angle = angle + 0.01 * speed
        return angle

    choice = choose(gradient, pendulum, 0.5, 1.0, backends=[AutoTorch(), CENTRAL])
    assert choice.backend == AutoTorch()
    assert re.search(
        r"AutoFiniteDifferences\(method='central'\) takes .*s, to fewer digits\.$", choice.reason
    )
    assert explain(gradient, pendulum, AutoTorch(), 0.5, 1.0).steps == (
        "numpy_function(deep=True): each operation of f on single numbers takes tens of"
        " microseconds; with few of them to differentiate, `tools.choose` shows whether differences"
        " take less",
        "AutoTorch: one pullback of 1",
    )


def test_where_none_runs_the_note_of_the_first_error_is_said():
    choice = choose(gradient, lambda x: x**2, [1.0, 2.0], backends=[AutoAutograd(), AutoTorch()])
    assert choice.reason.endswith(
        "which reaches f as a list of its entries. Pass np.array(x) for one array."
    )


def test_differences_are_chosen_only_where_no_engine_runs():
    def plain(x):
        return np.sin(x).sum()

    choice = choose(gradient, plain, X, backends=[DIFFERENCES, AutoTorch()])
    assert choice.backend == DIFFERENCES
    assert choice.reason.endswith(" No engine ran.")
    assert isinstance(choice.comparison[AutoTorch()].error, Exception)


def test_differences_of_many_numbers_are_not_tried_unless_asked_for():
    def first(x):
        return array_namespace(x).sum(x[:1])

    many = np.zeros(1001)
    tried = [m.backend for m in choose(gradient, first, many).comparison.backends]
    assert set(tried) == set(ENGINES.values())
    assert choose(gradient, first, many, backends=[DIFFERENCES]).backend == DIFFERENCES


def test_the_number_of_calls_from_which_it_is_worth_it_is_named():
    torch_, autograd = (
        Measured(AutoTorch(), None, None, {}, 0.2, 0.001),
        Measured(AutoAutograd(), None, None, {}, 0.001, 0.021),
    )
    said = module._reason(
        Comparison("gradient", (autograd, torch_), autograd, "float64"), [torch_, autograd]
    )
    assert (
        said
        == "Use AutoTorch(): its prepared call takes 1 ms. For fewer than 11 calls AutoAutograd()"
        " takes less time in all."
    )
