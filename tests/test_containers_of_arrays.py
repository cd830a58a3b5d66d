"""Arrays of another kind, xarray's, that hold the arrays of an engine: plain code of theirs, as HIPS autograd takes it."""

import operator

import autograd
import numpy as np
import pytest

from adinterface import AutoAutograd, AutoFiniteDifferences, gradient

xarray = pytest.importorskip("xarray")
X = np.array([0.4, 1.3, 2.2])
TABLE = xarray.DataArray([1.0, 2.0, 3.0], dims="t")

OPERATORS = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv, operator.lt,
    operator.ge,
]  # fmt: skip
ORDERS = {
    "in front": lambda op, x: op(x, TABLE),
    "behind": lambda op, x: op(TABLE, x),
    "one number": lambda op, x: op(x[1], TABLE) + op(TABLE, x[2]),
    "inside": lambda op, x: op(xarray.DataArray(x, dims="t"), TABLE) + op(TABLE, xarray.DataArray(x, dims="t")),
    "both": lambda op, x: op(x, xarray.DataArray(x, dims="t")),
    "a variable": lambda op, x: op(x, TABLE.variable),
    "a data set": lambda op, x: op(x, xarray.Dataset({"a": TABLE}))["a"],
}
CODE = {
    "dot": lambda x: xarray.dot(xarray.DataArray(x, dims="t"), TABLE).data,
    "broadcast": lambda x: (xarray.DataArray(x, dims="t") * xarray.DataArray([1.0, 2.0], dims="s")).sum().data,
    "where": lambda x: xarray.where(TABLE > 1, xarray.DataArray(x, dims="t"), 0.0).sum().data,
    "sel": lambda x: (xarray.DataArray(x, dims="t", coords={"t": [10, 20, 30]}).sel(t=20) * 2).data,
}


@pytest.mark.parametrize("mode", [None, "forward"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_arithmetic(op, order, mode):
    def f(x):
        return (ORDERS[order](op, x).data * x).sum()

    wanted = gradient(f, AutoFiniteDifferences(), X)[0]
    np.testing.assert_allclose(gradient(f, AutoAutograd(mode=mode), X)[0], wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", CODE)
def test_functions(name):
    found = gradient(CODE[name], AutoAutograd(), X)[0]
    np.testing.assert_allclose(found, autograd.grad(CODE[name])(X), rtol=1e-12)
