"""What holds the boxes of autograd: xarray's arrays, and containers of autograd's own, as HIPS
autograd takes them.
"""

import operator

import numpy as np
import pytest
from autograd import builtins

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    gradient,
    jacobian,
    prepare,
    pullback,
)

xarray = pytest.importorskip("xarray")
X = np.array([0.4, 1.3, 2.2])
TABLE = xarray.DataArray([1.0, 2.0, 3.0], dims="t")

OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod,
    operator.floordiv, operator.lt, operator.ge,
]  # fmt: skip
ORDERS = {
    "in front": lambda op, x: op(x, TABLE),
    "behind": lambda op, x: op(TABLE, x),
    "one number": lambda op, x: op(x[1], TABLE) + op(TABLE, x[2]),
    "inside": lambda op, x: (
        op(xarray.DataArray(x, dims="t"), TABLE) + op(TABLE, xarray.DataArray(x, dims="t"))
    ),
    "both": lambda op, x: op(x, xarray.DataArray(x, dims="t")),
    "a variable": lambda op, x: op(x, TABLE.variable),
    "a data set": lambda op, x: op(x, xarray.Dataset({"a": TABLE}))["a"],
}


@pytest.mark.parametrize("mode", [None, "forward"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_arithmetic(op, order, mode):
    def f(x):
        return (ORDERS[order](op, x).data * x).sum()

    wanted = gradient(f, AutoFiniteDifferences(), X)[0]
    np.testing.assert_allclose(
        gradient(f, AutoAutograd(mode=mode), X)[0], wanted, rtol=1e-6, atol=1e-8
    )


BUILTINS = {
    "dict": (lambda x: builtins.dict({"a": x * 2, "b": x[0] ** 2}), dict),
    "list": (lambda x: builtins.list([x * 2, x[0] ** 2]), list),
    "tuple": (lambda x: builtins.tuple((x * 2, x[0] ** 2)), tuple),
    "inside": (lambda x: {"k": builtins.list([x * 2, x[0] ** 2])}, dict),
}


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize("prepared", [False, True], ids=["plain", "prepared"])
@pytest.mark.parametrize("name", BUILTINS)
def test_what_f_returns_in_a_container_of_autograd_is_a_tree(name, prepared, mode):
    f, cls = BUILTINS[name]
    backend = AutoAutograd(mode=mode)
    found = prepare(jacobian, f, backend, X)(X) if prepared else jacobian(f, backend, X)
    assert type(found) is cls
    parts = list(found["k"] if name == "inside" else found.values() if cls is dict else found)
    np.testing.assert_array_equal(parts[0][0], 2 * np.eye(3))
    np.testing.assert_array_equal(parts[1][0], [2 * X[0], 0.0, 0.0])
    value, back = pullback(f, backend, X)
    assert type(value) is cls
    assert back(value)[0].shape == (3,)
