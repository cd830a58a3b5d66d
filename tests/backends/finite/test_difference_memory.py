"""Differences of an f that computes into memory of its own, or writes into its arguments."""

import numpy as np
import pytest

from adinterface import (
    AutoFiniteDifferences,
    jacobian,
    pushforward,
    value_and_gradient,
    value_and_jacobian,
)

SQUARES = np.zeros(3)
POINT, ALONG = np.array([1.0, 2.0, -1.5]), np.array([0.5, 1.0, 2.0])


def squares_in_a_buffer(x):
    return np.multiply(x, x, out=SQUARES)


def a_view_of_a_buffer(x):
    np.multiply(x, x, out=SQUARES)
    return SQUARES[:]


@pytest.mark.parametrize("f", [squares_in_a_buffer, a_view_of_a_buffer])
def test_differences_of_a_function_that_computes_into_one_array(f):
    backend = AutoFiniteDifferences()
    np.testing.assert_allclose(jacobian(f, backend, POINT)[0], np.diag(2 * POINT), atol=1e-8)
    np.testing.assert_allclose(
        jacobian(lambda x, y: f(x * y), backend, POINT, POINT)[1], np.diag(2 * POINT**3), atol=1e-7
    )
    first, second = value_and_jacobian(f, backend, POINT), value_and_jacobian(f, backend, 2 * POINT)
    np.testing.assert_array_equal(first.value, POINT**2)
    np.testing.assert_array_equal(second.value, 4 * POINT**2)
    value, tangent = pushforward(f, backend, (POINT,), (ALONG,))
    np.testing.assert_array_equal(value, POINT**2)
    np.testing.assert_allclose(tangent, 2 * POINT * ALONG, rtol=1e-7)


def test_differences_keep_what_stands_beside_the_value_as_it_was_at_the_point():
    residuals = np.zeros(3)

    def f(x):
        np.subtract(x, 1.0, out=residuals)
        return (residuals**2).sum(), residuals

    for at in (POINT, 2 * POINT):
        (value, beside), (slope,) = value_and_gradient(f, AutoFiniteDifferences(), at)
        np.testing.assert_array_equal(beside, at - 1.0)
        np.testing.assert_allclose(value, ((at - 1.0) ** 2).sum())
        np.testing.assert_allclose(slope, 2 * (at - 1.0), rtol=1e-7)
