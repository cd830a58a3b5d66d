"""Differences of functions of NumPy arrays: the numerical package, without adinterface."""

import numpy as np
import pytest
from adinterface_finite.differences import (
    OUTSIDE,
    differentiate,
    method_of,
)

X = np.array([0.5, 1.0, 2.0])
SINES = np.diag(np.cos(X))


@pytest.mark.parametrize(
    ("name", "error"),
    [("adaptive", 1e-13), ("complex", 1e-15), ("central", 1e-9), ("forward", 1e-7)],
)
def test_derivatives(name, error):
    found = differentiate(np.sin, X, method=method_of(name))
    np.testing.assert_allclose(found.values, SINES, atol=error)
    off = np.abs(found.values - SINES)
    assert found.values.shape == (3, 3)
    assert (off <= 10 * found.errors + 1e-15).all()


def test_outside_of_the_domain_a_side_is_left_out():
    def root(x):
        if x.min() < 0:
            raise ValueError
        return np.sqrt(x + x**2)

    assert ValueError in OUTSIDE
    np.testing.assert_allclose(differentiate(root, np.array([1e-12])).values, [[5e5]], rtol=1e-4)
    with pytest.raises(ZeroDivisionError):
        differentiate(lambda x: 1 / 0, X)
