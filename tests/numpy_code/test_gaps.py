"""Data with NaN: what is left out of a result has the derivative 0, and a result that is NaN has
NaN.
"""

import numpy as np
import pytest
from backends_table import each_engine

from adinterface import (
    AutoFiniteDifferences,
    gradient,
    jacobian,
    numpy_function,
    value_and_gradient,
)

each_depth = pytest.mark.parametrize("deep", [False, True], ids=["usual", "deep"])
DATA = np.array([1.0, np.nan, 2.0, np.nan, 4.0])
TIMES = np.arange(5.0)
X = np.array([0.7, 1.3, 0.9, 1.1, 0.4])


def _masked(x):
    y = x * DATA
    return np.sum(y[~np.isnan(y)] ** 2)


def _filled(x):
    y = x * DATA
    y[np.isnan(y)] = 3.0
    return np.sum(y * x)


FUNCTIONS = {
    "nansum": lambda x: np.nansum(x * DATA),
    "nanmean": lambda x: np.nanmean((DATA - x) ** 2),
    "nanmedian": lambda x: np.nanmedian(x * DATA) + np.nanquantile(x - DATA, 0.3),
    "where": lambda x: np.sum(np.where(np.isnan(x * DATA), 0.0, (x * DATA) ** 3)),
    "nan_to_num": lambda x: np.sum(np.nan_to_num(DATA * x)),
    "likelihood": lambda x: np.nansum(-0.5 * ((DATA - x[0] * TIMES) / np.exp(x[1])) ** 2 - x[1]),
    "functions": lambda x: np.nansum(
        np.exp(-np.abs(-(DATA - x))) * x[0] + np.log(np.square(DATA * x)) * np.sqrt(x)
    ),
    "mask": _masked,
    "write": _filled,
}


@each_engine
@each_depth
@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_gaps_in_data(f, deep, backend):
    wanted = gradient(f, AutoFiniteDifferences(), X)[0]
    value, (found,) = value_and_gradient(numpy_function(f, deep=deep), backend, X)
    assert value == pytest.approx(f(X), rel=1e-12)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-7)


@each_engine
def test_a_result_that_is_nan_has_derivatives_that_are_nan(backend):
    assert np.isnan(
        gradient(numpy_function(lambda x: np.sum((DATA - x) ** 2)), backend, X)[0]
    ).all()
    rows = jacobian(numpy_function(lambda x: {"y": x * DATA, "z": np.nansum(x * DATA)}), backend, X)
    np.testing.assert_array_equal(
        np.isnan(rows["y"][0]), np.isnan(DATA)[:, None] & np.ones(5, bool)
    )
    np.testing.assert_allclose(rows["z"][0], np.where(np.isnan(DATA), 0.0, DATA))
    np.testing.assert_allclose(
        gradient(numpy_function(lambda x: np.sum((np.ones(5) - x) ** 2)), backend, X)[0], 2 * X - 2
    )
