"""How exact finite differences are on published problems, and what they say of their own
accuracy.
"""

import re
import warnings

import numpy as np
import pytest

from adinterface import (
    AutoFiniteDifferences,
    PrecisionWarning,
    derivative,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    pushforward,
    second_derivative,
)
from adinterface.tools.recording import recording

FD = AutoFiniteDifferences()


# Knowing how good it is
# ----------------------------------------------------------------------------------------------


def test_a_noisy_derivative_is_told_with_its_leaf():
    random = np.random.default_rng(0)

    def f(p):
        return (
            np.sin(p["clean"])
            + 1e-3 * p["noisy"]
            + 1e-5 * random.standard_normal() * (p["noisy"] != 2.0)
        )

    with pytest.warns(
        PrecisionWarning, match=re.escape("in the derivative by args[0]['noisy'] (")
    ) as told:
        gradient(f, FD, {"clean": 1.0, "noisy": 2.0})
    assert "'clean'" not in str(told[0].message)
    assert told[0].filename == __file__


def test_known_noise_sets_the_steps():
    random = np.random.default_rng(3)
    f = lambda x: np.sin(x) * (1 + 1e-7 * random.standard_normal())
    errors = []
    for noise in (None, 1e-7, (1e-7, 1e-9)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PrecisionWarning)
            found = [derivative(f, AutoFiniteDifferences(noise=noise), 1.3) for _ in range(20)]
        errors.append(np.median(np.abs(np.array(found) - np.cos(1.3))))
    assert errors[1] < 1e-5
    assert errors[2] < 1e-5


# Values that are rounded
# ---------------------------------------------------------------------------------------------


def test_short_numbers_of_exact_arithmetic_are_not_taken_for_rounded_ones():
    count = 0

    def line(x):
        nonlocal count
        count += 1
        return 3 * x + 1

    assert derivative(line, FD, 1.0) == 3.0
    assert count == 5  # f at the point is one of them
    with recording() as record:
        assert derivative(lambda x: x * x, FD, 1000.0) == pytest.approx(2000, rel=1e-13)
    assert record.accuracies[0].relative < 1e-11


# Estimates
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [gradient, jacobian], ids=["gradient", "jacobian"])
@pytest.mark.parametrize("make", [list, np.array], ids=["numbers", "array"])
@pytest.mark.parametrize("x", [[1.0, 1e16], [1.0, 1e100], [2.8e14, 1.0]])
def test_what_the_rounding_of_f_hides_is_in_the_estimate(call, make, x):
    with (
        recording() as record,
        pytest.warns(PrecisionWarning, match=r"large in the derivative by args\[0\]"),
    ):
        (found,) = call(sum, FD, make(x))
    off = np.max(np.abs(np.array(found) - 1))
    assert 1e-7 < off < 10 * max(leaf.relative for leaf in record.accuracies[0].leaves)


@pytest.mark.parametrize("offset", [1e15, 1e100])
@pytest.mark.parametrize(
    "call",
    [
        lambda c: derivative(lambda t: c + 1 + t, FD, 0.0),
        lambda c: derivative(lambda t: c + 1 + t, AutoFiniteDifferences(bounds=(0.0, None)), 0.0),
        lambda c: pushforward(lambda t: c + t, FD, (1.0,), (1.0,)).tangent,
        lambda c: gradient(lambda x: c + np.sum(x), FD, np.arange(3.0))[0],
        lambda c: jacobian(lambda x: c + x, FD, np.ones(1))[0],
        lambda c: derivative(lambda t: np.float32(min(c, 1e40) / 1e9) + t, FD, np.float32(1.0)),
        lambda c: hvp(lambda x: 1e3 * c + np.sum(x) ** 2 / 2, FD, np.ones(1), np.ones(1)),
        lambda c: hessian(lambda x: 1e3 * c + np.sum(x) ** 2 / 2, FD, np.ones(1)),
        lambda c: second_derivative(lambda t: 1e3 * c + t * t / 2, FD, 1.0),
        lambda c: diagonal_hessian(lambda x: 1e3 * c + np.sum(x) ** 2 / 2, FD, np.ones(1))[0],
    ],
)
def test_rounding_that_hides_all_derivatives_is_in_the_estimate_and_named(call, offset):
    """Each derivative is 1. What f rounds may change with the steps, or not at all."""
    with (
        recording() as record,
        pytest.warns(PrecisionWarning, match=r"rounding of f's value hides"),
    ):
        found = call(offset)
    (accuracy,) = record.accuracies
    assert np.max(np.abs(found - 1)) <= 10 * accuracy.relative * max(1.0, np.max(np.abs(found)))


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (lambda x: x * np.log(x), np.exp(-1.0)),
        (lambda x: 1 + x**3, 0.0),
        (lambda x: 4 * (x**-12 - x**-6), 2 ** (1 / 6)),
        (lambda x: np.sin(x) + np.sin(3 * x) / 3, np.pi / 2),
    ],
    ids=["entropy", "saddle", "Lennard-Jones", "waves"],
)
def test_a_derivative_that_is_zero_is_no_reason_for_a_warning(f, x):
    """The slopes at both sides differ, and so f's rounding is multiplied where they are
    extrapolated.
    """
    assert abs(derivative(f, FD, x)) < 1e-11
    assert np.max(np.abs(gradient(lambda x: np.sum(f(x)), FD, np.full(3, x))[0])) < 1e-11


def test_rounding_that_hides_little_is_no_reason_for_a_warning():
    """Beside what is seen of f, or where nothing is seen.

    An output without a change beside another one is independent.
    """
    np.testing.assert_allclose(gradient(sum, FD, [1.0, 1e9])[0], 1.0, rtol=1e-6)
    assert gradient(lambda x, y: y * y, FD, 0.3, 1.0)[0] == 0.0
    assert gradient(lambda x: 1e8, FD, np.ones(2))[0].tolist() == [0.0, 0.0]
    assert jacobian(lambda x: 2 * x, FD, np.array([1.0, 1e100]))[0][1, 0] == 0.0
