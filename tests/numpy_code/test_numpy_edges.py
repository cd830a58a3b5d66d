"""Values at the edges of NumPy's and SciPy's functions: infinities, elements beside them, points
outside of the data.
"""

import numpy as np
import pytest
from backends_table import each_engine

from adinterface import (
    numpy_function,
    pushforward,
    value_and_gradient,
)

INF = np.inf
ROWS = [
    [1e-7, -1e10, 3.0],
    [1.0, -INF, 2.0, 3.0],
    [-INF, INF, 1.0],
    [INF, INF, 1.0, 2.0],
    [1.0, 2.0, INF],
    [0.1, 0.2, 0.3, 0.7],
]
METHODS = [
    "linear",
    "hazen",
    "lower",
    "higher",
    "midpoint",
    "nearest",
    "inverted_cdf",
    "averaged_inverted_cdf",
]


def _value(f, backend, x):
    x = np.array(x)
    return pushforward(numpy_function(f, deep=True), backend, (x,), (np.ones_like(x),))[0]


@each_engine
@pytest.mark.parametrize("row", ROWS, ids=str)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_quantiles_are_elements_where_numpys_are(row, backend):
    def f(x):
        found = [
            np.quantile(x, q, method=method)
            for method in METHODS
            for q in (0, 0.25, 0.3, 0.5, 0.9, 1.0)
        ]
        return np.stack(
            [*found, np.percentile(x, 75, method="higher"), np.median(x), np.nanmedian(x)]
        )

    np.testing.assert_allclose(_value(f, backend, row), f(np.array(row)), rtol=1e-13)


@each_engine
def test_division_by_infinity(backend):
    numbers = np.array([0.0, 1.5, -1.5, 3.0, -3.0, INF, -INF, np.nan])
    a, b = map(np.ravel, np.meshgrid(numbers, numbers))
    with np.errstate(all="ignore"):
        for f in (
            np.mod,
            np.fmod,
            np.floor_divide,
            lambda a, b: np.divmod(a, b)[0],
            lambda a, b: a % b,
            lambda a, b: a // b,
        ):
            np.testing.assert_array_equal(
                _value(lambda x, f=f: f(x[0], x[1]), backend, [a, b]), f(a, b)
            )
    value, (found,) = value_and_gradient(
        numpy_function(lambda x: np.sum(x % INF)), backend, np.array([1.5, 2.0])
    )
    assert value == 3.5
    np.testing.assert_array_equal(found, [1.0, 1.0])


@each_engine
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions_of_nothing_are_numpys(backend):
    for f in (
        lambda x: np.nanmax(x[:0], initial=2.5) + x[0],
        lambda x: np.nanmin(x * np.nan, initial=2.5) + x[0],
        lambda x: np.cumulative_sum(x[:0], include_initial=True) + x[0],
        lambda x: (
            np.cumulative_prod(np.reshape(x, (3, 1))[:, :0], axis=1, include_initial=True) + x[0]
        ),
        lambda x: np.sinc((x > 0).astype(np.int8)) + x,
    ):
        np.testing.assert_array_equal(
            _value(f, backend, [1.0, 2.0, 4.0]), f(np.array([1.0, 2.0, 4.0]))
        )


@each_engine
def test_quantiles_out_of_range(backend):
    with pytest.raises(ValueError, match=r"Quantiles must be in the range \[0, 1\]"):
        _value(lambda x: np.quantile(x, 50), backend, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"Percentiles must be in the range \[0, 100\]"):
        _value(lambda x: np.nanpercentile(x, -1.0), backend, [1.0, 2.0])
