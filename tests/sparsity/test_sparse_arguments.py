"""`AutoSparse` at corners, on every engine, prepared and not: nothing but empty leaves, NaN, and patterns that do not hold."""

import numpy as np
import pytest
from backends_table import ENGINES, each_backend, each_engine, rtol_of

from adinterface import (
    AutoAutograd,
    AutoJax,
    AutoSparse,
    SparsityError,
    array_namespace,
    hessian,
    jacobian,
    prepare,
    value_and_jacobian,
    value_gradient_and_hessian,
)

pytestmark = pytest.mark.sweep  # test_sparse.py runs with every change

X = np.array([0.7, -1.3, 0.4, 2.1, 0.9, -0.6])
FORMS = ("csr", "csc", "coo", "native")
each_call = pytest.mark.parametrize("prepared", [False, True], ids=["one-shot", "prepared"])


def call_of(operator, f, backend, *args, prepared, **kwargs):
    return prepare(operator, f, backend, *args, **kwargs) if prepared else lambda *args, **kw: operator(f, backend, *args, **kw)


def close(matrix, expected, backend, dtype="float64"):
    expected = np.asarray(expected)
    tolerance = 100 * rtol_of(backend, dtype) * max(1.0, np.nanmax(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(matrix.toarray(), expected, rtol=0, atol=tolerance)


def energy(x):
    xp = array_namespace(x)
    return xp.sum(x[1:] * x[:-1] ** 2) + xp.sum(xp.exp(x))


@each_backend
@each_call
@pytest.mark.parametrize("detect", ["trace", "probe"])
def test_nothing_but_empty_leaves(backend, prepared, detect):
    sparse, none = AutoSparse(backend, detect=detect), np.zeros((0, 3))
    (matrix,) = call_of(jacobian, lambda x: x * x, sparse, none, prepared=prepared)(none)
    assert (matrix.shape, matrix.nnz) == ((0, 0), 0)
    (matrix,) = call_of(jacobian, lambda x: array_namespace(x).sum(x), sparse, none, prepared=prepared)(none)
    assert (matrix.shape, matrix.nnz) == ((1, 0), 0)


@each_engine
@each_call
@pytest.mark.parametrize("detect", ["trace", "probe"])
def test_nan_in_a_hessian_stays_where_it_is(backend, prepared, detect):
    x = X.copy()
    call = call_of(hessian, energy, AutoSparse(backend, detect=detect), x, prepared=prepared)
    x[5] = np.nan
    found, expected = call(x).toarray(), hessian(energy, AutoAutograd(), X)
    assert np.isnan(found[4:, 4:]).any()
    np.testing.assert_allclose(found[:4, :4], expected[:4, :4], rtol=1e-10)
    assert np.isfinite(found[:4]).all()  # a zero of the seed times what is NaN in a row is NaN in all of that row


# Patterns that do not hold ---------------------------------------------------------------------------------------------


def chain(x):
    xp = array_namespace(x)
    return xp.concat([xp.reshape(xp.sum(x**2), (1,)), x[1:] * x[:-1] + xp.sin(x[1:])])


@each_backend
@each_call
@pytest.mark.parametrize("form", FORMS)
def test_a_wrong_pattern_is_found_in_every_form(form, backend, prepared):
    sparse = AutoSparse(backend, pattern=np.eye(6), format=form)
    for operator in (jacobian, value_and_jacobian):
        message = rf"{operator.__name__}: the derivative has entries outside its pattern \(given\)"
        with pytest.raises(SparsityError, match=message):
            call_of(operator, chain, sparse, X, prepared=prepared)(X)


@each_engine
@each_call
@pytest.mark.parametrize("operator", [hessian, value_gradient_and_hessian])
def test_a_wrong_pattern_of_a_hessian_is_found(operator, backend, prepared):
    sparse = AutoSparse(backend, pattern=np.eye(6))
    with pytest.raises(SparsityError, match=rf"{operator.__name__}: the derivative has entries outside its pattern \(given\)"):
        call_of(operator, energy, sparse, X, prepared=prepared)(X)


@pytest.mark.parametrize("backend", (ENGINES | {"jax": AutoJax(jit=False)}).values(), ids=ENGINES)
def test_a_hessian_whose_pattern_changes_with_the_values(backend):
    def f(x):
        xp = array_namespace(x)
        return xp.sum(x**3) if x[0] > 0 else xp.sum(x[1:] ** 2 * x[:-1])

    fast = prepare(hessian, f, AutoSparse(backend), X)
    close(fast(X), np.diag(6 * X), backend)
    with pytest.raises(SparsityError, match="f branches on values, and these lead another way"):
        fast(-X)
    for x in (X, -X):
        close(hessian(f, AutoSparse(backend), x), hessian(f, AutoAutograd(), x), backend)
