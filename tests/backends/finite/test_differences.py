"""Finite differences by themselves: what they do where f is awkward, their methods and their
orders.
"""

import math
import warnings

import numpy as np
import pytest

from adinterface import (
    AutoFiniteDifferences,
    OutputError,
    PrecisionError,
    PrecisionWarning,
    check_gradient,
    derivative,
    explain,
    gradient,
    hessian,
    jacobian,
    numpy_function,
    pullback,
    pushforward,
    second_derivative,
    value_and_gradient,
)

FD = AutoFiniteDifferences()


def error(found, wanted):
    return float(np.max(np.abs(np.asarray(found) - wanted)) / np.max(np.abs(wanted)))


# Awkward functions
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [-12, 0, 12])
def test_small_and_large_units(exponent):
    x = 3.0 * 10.0**exponent
    assert error(derivative(math.log, FD, x), 1 / x) < 1e-12
    assert error(derivative(math.sqrt, FD, x), 0.5 / math.sqrt(x)) < 1e-12
    assert error(second_derivative(math.log, FD, x), -1 / x**2) < 1e-10


@pytest.mark.parametrize("x", [0.0, 1e-300, 1e-30, 1e-17, -1e-9])
def test_at_zero_and_next_to_it(x):
    assert error(derivative(lambda x: 1.0 + np.sin(x), FD, x), np.cos(x)) < 1e-8
    assert error(derivative(np.exp, FD, x), np.exp(x)) < 1e-8
    assert abs(derivative(np.cos, FD, x) + np.sin(x)) < 1e-11


def test_next_to_a_pole_and_to_the_edge_of_the_domain():
    assert (
        error(
            derivative(lambda x: 1 / (x - 1), AutoFiniteDifferences(max_evaluations=14), 1.01), -1e4
        )
        < 1e-8
    )
    assert error(derivative(np.log, FD, 1e-9), 1e9) < 1e-12
    with np.errstate(all="ignore"):
        assert (
            error(
                derivative(lambda x: np.log(x - 1), AutoFiniteDifferences(max_evaluations=14), 1.1),
                10.0,
            )
            < 1e-8
        )
        assert (
            error(derivative(lambda x: np.arcsin(x), FD, 0.999), 1 / np.sqrt(1 - 0.999**2)) < 1e-6
        )


def test_bounds_are_kept():
    seen = []

    def f(x):
        seen.append(x.copy())
        return np.exp(x).sum()

    x = np.array([0.0, 0.5, 1.0, 1e-4])
    (found,) = gradient(f, AutoFiniteDifferences(bounds=(0, 1)), x)
    assert min(map(np.min, seen)) >= 0
    assert max(map(np.max, seen)) <= 1
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-7)
    seen.clear()
    pushforward(
        f, AutoFiniteDifferences(bounds=(0, None)), (x,), (np.array([1.0, -1.0, 2.0, -1.0]),)
    )
    assert min(map(np.min, seen)) >= 0


def test_scale_says_over_what_distance_f_changes():
    def f(x):
        return np.sin(1e4 * x)

    x = 123.456
    assert error(derivative(f, AutoFiniteDifferences(scale=1e-4), x), 1e4 * np.cos(1e4 * x)) < 1e-9


@pytest.mark.parametrize("edge", [1.0, 1 - 1e-2, 1 - 1e-4, 1 - 1e-12])
@pytest.mark.parametrize("raises", [False, True])
def test_no_more_than_ten_evaluations_near_an_edge(edge, raises):
    count = 0

    def f(x):
        nonlocal count
        count += 1
        if x < edge:
            if raises:
                raise ValueError("outside")
            return math.nan
        return math.exp(x)

    assert derivative(f, FD, 1.0) == pytest.approx(math.e, rel=1e-7)
    assert count <= 10


def test_an_output_that_is_not_finite_leaves_the_others_alone():
    (found,) = jacobian(
        lambda x: np.array([np.sin(x[0]), np.inf, np.nan * x[1], x[0] * x[1]]),
        FD,
        np.array([1.0, 2.0]),
    )
    np.testing.assert_allclose(found[0], [np.cos(1.0), 0.0], atol=1e-13)
    np.testing.assert_allclose(found[3], [2.0, 1.0], rtol=1e-12)
    assert np.isnan(found[1:3]).all()


def test_a_plateau_of_nans_is_nan():
    assert np.isnan(derivative(lambda x: x * np.nan, FD, 1.0))


def test_a_kink_has_the_mean_of_its_slopes_and_is_told_as_one():
    f = lambda x: np.maximum(3 * x, -x)
    assert derivative(f, FD, 0.0) == pytest.approx(1.0)
    assert check_gradient(f, FD, 0.0)
    assert derivative(abs, FD, 1e-3) == pytest.approx(1.0, rel=1e-12)


# Complex step
# ------------------------------------------------------------------------------------------------


STEP = AutoFiniteDifferences(method="complex")


def test_a_complex_step_is_as_exact_as_f():
    x = np.array([0.3, 1.7, -2.2])
    (found,) = gradient(lambda x: np.sum(np.sin(x) * np.exp(x)), STEP, x)
    np.testing.assert_allclose(found, (np.sin(x) + np.cos(x)) * np.exp(x), rtol=4e-16)
    (found,) = gradient(numpy_function(lambda x: np.prod(x) + np.sqrt(np.sum(x * x))), STEP, x)
    np.testing.assert_allclose(found, np.prod(x) / x + x / np.linalg.norm(x), rtol=1e-15)


SPOILERS = {
    "abs": (lambda x: np.sum(np.abs(x) * x), lambda x: 2 * np.abs(x)),
    "conj": (lambda x: np.real(np.sum(np.conj(x) * x)), lambda x: 2 * x),
    "real": (lambda x: np.sum(np.real(x) ** 3), lambda x: 3 * x**2),
    "maximum": (
        lambda x: np.sum(np.where(np.real(x) > 0, x, 0 * x) ** 2),
        lambda x: 2 * np.maximum(x, 0),
    ),
    "float": (
        lambda x: math.exp(float(np.sum(x * x).real)),
        lambda x: 2 * x * np.exp(np.sum(x * x)),
    ),
    "math": (
        lambda x: math.sin(x[0]) * x[1] + x[2],
        lambda x: np.array([math.cos(x[0]) * x[1], math.sin(x[0]), 1.0]),
    ),
}


@pytest.mark.parametrize("spoiler", SPOILERS)
def test_what_spoils_a_complex_step_is_noticed(spoiler):
    f, slope = SPOILERS[spoiler]
    x = np.array([0.3, 1.1, -0.7])
    (found,) = gradient(f, STEP, x)
    np.testing.assert_allclose(found, slope(x), rtol=1e-11, atol=1e-12)


def test_a_complex_step_falls_back_number_by_number():
    calls = []

    def f(x):
        calls.append(x.dtype.kind)
        return np.sum(np.sin(x[:3])) + np.abs(x[3])

    (found,) = gradient(f, STEP, np.array([0.3, 1.1, -0.7, 2.0]))
    np.testing.assert_allclose(found, [np.cos(0.3), np.cos(1.1), np.cos(-0.7), 1.0], rtol=1e-13)
    assert calls.count("c") == 4
    assert len(calls) <= 4 * 3 + 10


# Nesting and second order
# --------------------------------------------------------------------------------------------


def nested(order, f, backend=FD):
    return f if order == 0 else lambda x: derivative(nested(order - 1, f, backend), backend, x)


FUNCTIONS = {
    "sin": (np.sin, [np.cos, lambda x: -np.sin(x), lambda x: -np.cos(x), np.sin]),
    "exp": (np.exp, [np.exp] * 4),
    "power": (
        lambda x: x**4.5,
        [lambda x, k=k: math.prod([4.5, 3.5, 2.5, 1.5][:k]) * x ** (4.5 - k) for k in (1, 2, 3, 4)],
    ),
    "log": (
        np.log,
        [lambda x: 1 / x, lambda x: -1 / x**2, lambda x: 2 / x**3, lambda x: -6 / x**4],
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("x", [1.2, 0.37])
@pytest.mark.parametrize(("order", "rtol"), [(2, 1e-10), (3, 1e-8)])
def test_nested_derivatives_are_right(name, x, order, rtol):
    f, slopes = FUNCTIONS[name]
    assert error(nested(order, f)(x), slopes[order - 1](x)) < rtol


@pytest.mark.parametrize("name", ["sin"])
def test_the_fourth_derivative_is_right_and_what_precision_does_not_allow_is_refused(name):
    f, slopes = FUNCTIONS[name]
    assert error(nested(4, f)(1.2), slopes[3](1.2)) < 1e-6
    with pytest.raises(PrecisionError, match=r"of order 3, by differences of differences, is"):
        nested(3, f)(np.float32(1.2))


def test_nested_plain_differences_are_refused_from_the_third_level_on():
    central = AutoFiniteDifferences(method="central")
    message = "this derivative of order 3, by differences of differences, is"
    with pytest.raises(PrecisionError, match=message):
        gradient(
            lambda x: gradient(lambda x: gradient(np.sin, central, x)[0], central, x)[0],
            central,
            1.2,
        )


def test_a_second_derivative_at_the_edge_of_the_domain_falls_back():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        found = hessian(
            lambda x: np.where(x[0] < 0, np.nan, np.exp(x[0])) * x[1] ** 2, FD, np.array([0.0, 3.0])
        )
    np.testing.assert_allclose(found, [[9.0, 6.0], [6.0, 2.0]], rtol=1e-3)


# Options
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "order", "rtol"),
    [("central", 2, 1e-8), ("central", 4, 1e-10), ("central", 6, 1e-11), ("forward", 1, 1e-6), ("forward", 2, 1e-8),
     ("backward", 1, 1e-6), ("backward", 3, 1e-9)],
)  # fmt: skip
def test_fixed_steps_of_every_order(method, order, rtol):
    backend = AutoFiniteDifferences(method=method, order=order)
    x = np.array([0.3, 1.7, 2.2])
    value, (found,) = value_and_gradient(lambda x: np.exp(x).sum(), backend, x)
    assert value == np.exp(x).sum()
    np.testing.assert_allclose(found, np.exp(x), rtol=10 * rtol)
    _, back = pullback(np.sin, backend, x)
    np.testing.assert_allclose(back(np.ones(3))[0], np.cos(x), rtol=10 * rtol)


def test_what_f_raises_everywhere_is_raised():
    def f(x):
        raise ValueError("never")

    with pytest.raises(ValueError, match="never"):
        gradient(f, FD, 1.0)
    with pytest.raises(ValueError, match="only here"):
        derivative(lambda x: x if x == 1.0 else fail("only here"), FD, 1.0)


def fail(message):
    raise ValueError(message)


# Plain central differences
# ------------------------------------------------------------------------------------------

CENTRAL = AutoFiniteDifferences(method="central")


def test_plain_central_differences_tell_their_error_to_those_who_ask():
    assert 1e-12 < explain(gradient, lambda x: np.sum(x**2), CENTRAL, np.ones(3)).error < 1e-8


# One number at a time
# ------------------------------------------------------------------------------------------------


def test_one_output_has_the_derivatives_that_it_has_beside_others():
    x = np.array([0.4, 1e-9, 700.0, 0.0])
    for f in (
        lambda x: np.sum(np.exp(-x) * np.cos(x)),
        lambda x: np.log1p(x[1]) + x[0] ** 3 * x[2],
    ):
        (one,) = jacobian(f, FD, x)
        (two,) = jacobian(lambda x, f=f: np.stack([f(x), f(x)]), FD, x)
        np.testing.assert_allclose(np.stack([one, one]), two, rtol=1e-12)


@pytest.mark.parametrize("method", ["adaptive", "complex", "central", "forward"])
@pytest.mark.parametrize(
    "beyond",
    [lambda x: np.append(x, 1.0), lambda x: [x, x], lambda x: 1j * x],
    ids=["size", "several", "complex"],
)
def test_that_outputs_that_change_near_the_point_are_named(method, beyond):
    backend, x = AutoFiniteDifferences(method=method), np.array([1.0, 2.0])
    f = lambda x: x if np.sum(x) <= 3.0 else beyond(x)
    for call in (
        lambda: jacobian(f, backend, x),
        lambda: jacobian(lambda x: (x, f(x)), backend, x),
        lambda: pushforward(f, backend, (x,), (np.ones(2),)),
        lambda: pullback(f, backend, x).back(x),
        lambda: derivative(lambda t: f(t * x), backend, 1.0),
    ):
        with pytest.raises(
            OutputError,
            match=r"shapes \[.*near it\. Give f outputs whose shapes and dtypes do not depend on",
        ):
            call()
