"""A dense Jacobian or Hessian of more than 10^7 entries that is almost all zeros gives one warning, which names AutoSparse."""

import warnings
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import each_backend, each_engine

from adinterface import (
    AutoAutograd,
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

pytestmark = pytest.mark.sweep  # test_sparse.py runs with every change

#: Each number in x gives so many results; of the entries one in X.size is other than zero.
EACH = 3
X = np.linspace(0.5, 1.5, 200)


@pytest.fixture(autouse=True)
def _a_hundredth_of_the_limit(request, monkeypatch):
    """So that what is warned of takes a hundredth of the time, and of 80 MB."""
    if "at_the_limit_itself" not in request.node.name:
        monkeypatch.setattr("adinterface.core.operators.operation.LARGE", 10**5)


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
@pytest.mark.parametrize("operator", [jacobian, value_and_jacobian], ids=lambda operator: operator.__name__)
def test_a_wasteful_jacobian_is_told_once(operator, backend):
    fast = prepare(operator, spread, backend, X)
    for call in (lambda: operator(spread, backend, X), lambda: fast(X)):
        (warning,) = told(call)
        assert warning.category is DenseJacobianWarning
        assert warning.filename == __file__
        assert str(warning.message) == (
            f"{operator.__name__}: of a dense Jacobian with 120,000 entries, less than 1 % of a sample are other than zero. "
            f"AutoSparse(backend) computes these alone, in a few products: {operator.__name__}(f, AutoSparse(backend), *args)."
        )


@each_backend
def test_a_dense_jacobian_is_not(backend):
    assert not told(jacobian, full, backend, X)
    assert not told(prepare(jacobian, full, backend, X), X)


def test_python_shows_it_once_for_each_line():
    fast = prepare(jacobian, lambda x: spread(x) * (x[0] > 0), AutoTorch(), X)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for x in (X, 2 * X, -X):
            fast(x)
    assert len(found) == 1


def test_a_part_of_the_rows_is_enough_not_to_be_told():
    """As units that are dead at the moment: one row in fifty is full."""

    def f(x):
        y = torch.zeros(EACH * X.size, dtype=x.dtype)
        y[::50] = x.sum() ** 2
        return y

    assert not told(jacobian, f, AutoTorch(), X)


@each_engine
def test_blocks_count_together_and_are_told_of_once(backend):
    def f(tree):
        return {name: spread(leaf) for name, leaf in tree.items()}

    tree = {"a": X[:50], "b": X[50:100], "c": X[100:150], "d": X[150:]}
    (warning,) = told(jacobian, f, backend, tree)
    assert "of a dense Jacobian with 120,000 entries" in str(warning.message)
    tree = {name: leaf[:45] for name, leaf in tree.items()}  # 97,200
    assert not told(jacobian, f, backend, tree)


@pytest.mark.parametrize("operator", [hessian, value_gradient_and_hessian], ids=lambda operator: operator.__name__)
@pytest.mark.parametrize("backend", [AutoJax(), AutoTorch()], ids=str)
def test_a_wasteful_hessian_is_told_once(operator, backend):
    x = np.linspace(0.5, 1.5, 320)
    fast = prepare(operator, lambda x: array_namespace(x).sum(x**3), backend, x)
    (warning,) = told(fast, x)
    assert str(warning.message) == (
        f"{operator.__name__}: of a dense Hessian with 102,400 entries, less than 1 % of a sample are other than zero. "
        f"AutoSparse(backend) computes these alone, in a few products: {operator.__name__}(f, AutoSparse(backend), *args)."
    )
    assert not told(prepare(operator, lambda x: array_namespace(x).sum(x**2) ** 2, backend, x), x)


def test_arrays_of_the_engines_and_short_numbers():
    for x in (torch.tensor(X), torch.tensor(X, dtype=torch.bfloat16), torch.tensor(X, dtype=torch.complex64)):
        assert len(told(jacobian, spread, AutoTorch(), x)) == 1
    x = jnp.asarray(X, dtype="float32")
    assert len(told(jacobian, spread, AutoJax(), x)) == 1
    assert not told(jax.jit(lambda x: jacobian(spread, AutoJax(), x)[0]), x)  # where there are no numbers to look at


def test_prepared_on_arrays_of_the_engines_own():
    """Whose results compiled code finishes, but for those that are looked at."""
    for x, backend in ((jnp.asarray(X, dtype="float32"), AutoJax()), (torch.tensor(X), AutoTorch())):
        fast, dense = prepare(jacobian, spread, backend, x), prepare(jacobian, full, backend, x)
        assert [len(told(fast, x)) for _ in range(3)] == [1, 1, 1]
        assert not told(dense, x)


def test_what_lies_on_many_machines_is_not_looked_at():
    with mock.patch.object(type(handler_of(jnp.ones(1))), "to_numpy", side_effect=ConversionError("in parts")):
        assert not told(jacobian, spread, AutoJax(), jnp.asarray(X))


def test_a_small_one_is_not_looked_at():
    with mock.patch("adinterface.sparse.wasteful.warn_if_wasteful", side_effect=AssertionError):
        assert not told(jacobian, spread, AutoAutograd(), X[:180])  # 97,200


def test_ten_million_entries_are_at_the_limit_itself():
    def wide(x):
        xp = array_namespace(x)
        return xp.concat([x, xp.zeros(100_000 - x.shape[0], dtype=x.dtype)])

    assert not told(jacobian, wide, AutoAutograd(mode="forward"), np.ones(100, "float32"))
    (warning,) = told(jacobian, wide, AutoAutograd(mode="forward"), np.ones(101, "float32"))
    assert "of a dense Jacobian with 10,100,000 entries" in str(warning.message)
