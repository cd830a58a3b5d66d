"""A dense Jacobian or Hessian of more than 10^7 entries that is almost all zeros gives one warning,
which names AutoSparse.
"""

import warnings
from unittest import mock

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import each_backend

from adinterface import (
    AutoJax,
    AutoTorch,
    ConversionError,
    DenseJacobianWarning,
    array_namespace,
    hessian,
    jacobian,
    prepare,
    value_and_jacobian,
    value_gradient_and_hessian,
)
from adinterface.core.tree import handler_of

#: Each number in x gives so many results; of the entries one in X.size is other than zero.
EACH = 3
X = np.linspace(0.5, 1.5, 200)


@pytest.fixture(autouse=True)
def _a_hundredth_of_the_limit(monkeypatch):
    """So that what is warned of takes a hundredth of the time, and of 80 MB."""
    monkeypatch.setattr("adinterface.core.call.messages.LARGE", 10**5)


def spread(x):
    xp = array_namespace(x)
    return xp.repeat(x, EACH) ** 2


def full(x):
    xp = array_namespace(x)
    return xp.repeat(x, EACH) * xp.sum(x)


def told(call, *args):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call(*args)
    return found


@each_backend
@pytest.mark.parametrize(
    "operator", [jacobian, value_and_jacobian], ids=lambda operator: operator.__name__
)
def test_a_wasteful_jacobian_is_told_once(operator, backend):
    fast = prepare(operator, spread, backend, X)
    for call in (lambda: operator(spread, backend, X), lambda: fast(X)):
        (warning,) = told(call)
        assert warning.category is DenseJacobianWarning
        assert warning.filename == __file__
        assert (
            str(warning.message)
            == f"{operator.__name__}: of a dense Jacobian with 120,000 entries, less than 1 % of a"
            " sample are other than zero. AutoSparse(backend) computes these alone, in a few"
            f" products: {operator.__name__}(f, AutoSparse(backend), *args)."
        )


@each_backend
def test_a_dense_jacobian_is_not(backend):
    assert not told(jacobian, full, backend, X)
    assert not told(prepare(jacobian, full, backend, X), X)


def test_a_part_of_the_rows_is_enough_not_to_be_told():
    """As units that are dead at the moment: one row in fifty is full."""

    def f(x):
        y = torch.zeros(EACH * X.size, dtype=x.dtype)
        y[::50] = x.sum() ** 2
        return y

    assert not told(jacobian, f, AutoTorch(), X)


@pytest.mark.parametrize(
    "operator", [hessian, value_gradient_and_hessian], ids=lambda operator: operator.__name__
)
@pytest.mark.parametrize("backend", [AutoJax(), AutoTorch()], ids=str)
def test_a_wasteful_hessian_is_told_once(operator, backend):
    x = np.linspace(0.5, 1.5, 320)
    fast = prepare(operator, lambda x: array_namespace(x).sum(x**3), backend, x)
    (warning,) = told(fast, x)
    assert (
        str(warning.message)
        == f"{operator.__name__}: of a dense Hessian with 102,400 entries, less than 1 % of a"
        " sample are other than zero. AutoSparse(backend) computes these alone, in a few"
        f" products: {operator.__name__}(f, AutoSparse(backend), *args)."
    )
    assert not told(prepare(operator, lambda x: array_namespace(x).sum(x**2) ** 2, backend, x), x)


def test_what_lies_on_many_machines_is_not_looked_at():
    with mock.patch.object(
        type(handler_of(jnp.ones(1))), "to_numpy", side_effect=ConversionError("in parts")
    ):
        assert not told(jacobian, spread, AutoJax(), jnp.asarray(X))
