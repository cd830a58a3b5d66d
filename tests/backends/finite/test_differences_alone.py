"""Differences of functions of NumPy arrays: the numerical package, without adinterface."""

import numpy as np
import pytest
from adinterface_finite.differences import (
    OUTSIDE,
    ArrayEvaluations,
    BasePoint,
    Coordinates,
    StepError,
    along,
    below,
    differentiate,
    errors_by_leaf,
    hessian,
    method_of,
    overall,
    product,
)
from adinterface_finite.differences.levels import Level

X = np.array([0.5, 1.0, 2.0])
SINES = np.diag(np.cos(X))
OPTIONS = method_of().options


def around(f, *arrays, **options):
    evaluations = ArrayEvaluations(f, *arrays)
    return evaluations, Coordinates(
        BasePoint(arrays, **options), [array.dtype.kind == "c" for array in arrays]
    )


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


def test_a_complex_number_has_two_lines():
    z = np.array([1.0 + 2.0j])
    evaluations, lines = around(lambda z: np.abs(z) ** 2, z)
    slopes = method_of().slopes(evaluations, lines, evaluations.copies)
    np.testing.assert_allclose(lines.part(0, slopes.values.T), [[2 + 4j]], rtol=1e-12)


def test_outside_of_the_domain_a_side_is_left_out():
    def root(x):
        if x.min() < 0:
            raise ValueError
        return np.sqrt(x + x**2)

    assert ValueError in OUTSIDE
    np.testing.assert_allclose(differentiate(root, np.array([1e-12])).values, [[5e5]], rtol=1e-4)
    with pytest.raises(ZeroDivisionError):
        differentiate(lambda x: 1 / 0, X)


def test_second_derivatives():
    f = lambda x: np.prod(np.sin(x))
    evaluations, lines = around(f, X)
    first, slopes = hessian(OPTIONS, evaluations, lines, evaluations.copies)
    exact = f(X) * (np.outer(1 / np.tan(X), 1 / np.tan(X)) * (1 - np.eye(3)) - np.eye(3))
    np.testing.assert_allclose(first[:, 0], f(X) / np.tan(X), rtol=1e-11)
    np.testing.assert_allclose(slopes.values, exact, rtol=1e-8)
    assert (np.abs(slopes.values - exact) <= 10 * slopes.errors + 1e-14).all()
    times = product(OPTIONS, evaluations, lines, evaluations.copies, stacks=[np.ones((1, 3))])
    np.testing.assert_allclose(times.slopes.values[:, 0], exact.sum(axis=0), rtol=1e-8)
    np.testing.assert_allclose(
        along(OPTIONS, *around(np.sin, X[:1]), evaluations.copies).slopes.values,
        -np.sin(0.5),
        rtol=1e-9,
    )
    with pytest.raises(StepError):
        along(OPTIONS, *around(np.sum, np.array([1e200])), evaluations.copies)


def test_an_inner_error_is_the_noise_of_the_outer_function():
    with below(Level()) as level:
        level.note(1e-8, 1)
        level.note(1e-9, 2)
    assert (level.error, level.order) == (1e-8, 2)


def test_errors_by_leaf():
    f = lambda x, y: np.sin(x[0]) + np.sin(1e9 * y[0] ** 2)
    evaluations, lines = around(f, np.array([0.5]), np.array([0.7]))
    slopes = method_of().slopes(evaluations, lines, evaluations.copies)
    smooth, rough = errors_by_leaf(lines, slopes, 1, 2.0**-52)
    assert (smooth.leaf, smooth.doubtful, rough.leaf, rough.doubtful) == (0, False, 1, True)
    assert overall(slopes)[0] >= rough.relative > 1e-4
