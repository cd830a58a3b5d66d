"""Solvers on `AutoSparse`: SciPy gets a sparse matrix where it takes one, else an error."""

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from backends_table import ENGINES, assert_told, each_backend

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoSparse,
    AutoTorch,
    BackendError,
    SecondOrder,
    TreeError,
    array_namespace,
    tree,
    value_and_jacobian,
)
from adinterface.fit import curve_fit, find_root, flat, least_squares, minimize, solve_ivp

SECOND = [*ENGINES.values(), SecondOrder(AutoFiniteDifferences(), AutoAutograd())]
second = pytest.mark.parametrize("backend", SECOND, ids=lambda auto: type(auto).__name__)
N = 30


def equations(m):
    """Broyden's tridiagonal equations, of which a model holds one half each."""
    xp = array_namespace(m["a"])
    x = xp.concat([m["a"], m["b"]])
    none = xp.zeros_like(x[:1])
    y = (3 - 2 * x) * x - xp.concat([none, x[:-1]]) - 2 * xp.concat([x[1:], none]) + 1
    return {"first": y[: N // 2], "second": y[N // 2 :]}


def energy(m):
    y = equations(m)
    return (y["first"] ** 2).sum() + (y["second"] ** 2).sum()


def model():
    return {"a": -np.ones(N // 2), "b": -np.ones(N - N // 2)}


def seen(monkeypatch, module, name, taken):
    """What SciPy's solver is given is kept in `taken`."""
    original = getattr(module, name)

    def spy(*args, **kwargs):
        taken.append((args, kwargs))
        return original(*args, **kwargs)

    monkeypatch.setattr(module, name, spy)


@each_backend
@pytest.mark.parametrize("format", ["csr", "native"])
def test_a_problem_gives_one_sparse_matrix_for_all_leaves(backend, format):
    problem, dense = (
        flat(equations, AutoSparse(backend, format=format), model()),
        flat(equations, backend, model()),
    )
    x = np.linspace(-1, 1, N)
    matrix = problem.jacobian(x)
    assert isinstance(matrix, scipy.sparse.sparray)
    assert matrix.format == {"native": "csr"}.get(format, format)
    assert matrix.shape == (N, N)
    assert matrix.dtype == np.float64
    assert matrix.nnz == 3 * N - 2
    np.testing.assert_allclose(matrix.toarray(), dense.jacobian(x), rtol=1e-6, atol=1e-6)


@each_backend
def test_find_root_gets_the_factors(backend):
    root = find_root(equations, AutoSparse(backend), model(), method="krylov")
    assert root.success
    assert np.abs(flat(equations, backend, model()).residuals(root.vector)).max() < 1e-5
    assert root.nit <= 6


@second
@pytest.mark.parametrize("method", ["trust-constr", "Newton-CG"])
def test_minimize_gets_the_sparse_hessian(backend, method, monkeypatch):
    taken = []
    seen(monkeypatch, scipy.optimize, "minimize", taken)
    result = minimize(energy, AutoSparse(backend), model(), method=method, hessian="matrix")
    assert result.fun < 1e-6
    assert scipy.sparse.issparse(taken[0][1]["hess"](result.vector))
    products = minimize(energy, AutoSparse(backend), model(), method=method)
    assert products.fun < 1e-6


def test_where_scipy_takes_dense_matrices_an_error_says_so():
    sparse = AutoSparse(AutoTorch(), check=False)
    circle = {"type": "eq", "fun": lambda m: m["a"] - 1}
    dense = {
        "minimize: the method 'trust-exact' takes a dense Hessian, but AutoSparse gives...": [
            lambda: minimize(energy, sparse, model(), method="trust-exact"),
        ],
        "...or choose 'trust-constr' or 'Newton-CG' with hessian='matrix'...": [
            lambda method=method: minimize(energy, sparse, model(), method=method, hessian="matrix")
            for method in ("dogleg", "trust-ncg", "trust-krylov")
        ],
        "minimize: the method 'SLSQP' takes a dense Jacobian of a constraint, but...": [
            lambda method=method: minimize(energy, sparse, model(), method=method, constraints=circle)
            for method in (None, "SLSQP")
        ],
        "least_squares: method='lm' takes a dense Jacobian, but ... leave method= out.": [
            lambda: least_squares(equations, sparse, model(), method="lm"),
        ],
        "least_squares: tr_solver='exact' takes a dense Jacobian...": [
            lambda: least_squares(equations, sparse, model(), tr_solver="exact"),
        ],
        "find_root: the method '...' takes ... or choose method='krylov'.": [
            lambda method=method: find_root(equations, sparse, model(), method=method)
            for method in ("hybr", "lm")
        ],
        "curve_fit: SciPy computes the covariance from a dense Jacobian...": [
            lambda: curve_fit(lambda m, x: m * x, sparse, np.ones(3), np.ones(3), 1.0),
        ],
        "solve_ivp: the method 'LSODA' takes a dense Jacobian, but AutoSparse gives a sparse one...": [
            lambda: solve_ivp(lambda t, y: -y, sparse, (0, 1), np.ones(2), method="LSODA"),
        ],
    }  # fmt: skip
    for words, calls in dense.items():
        for call in calls:
            assert_told(call, BackendError, words)
    assert minimize(energy, sparse, model(), method="trust-ncg").fun < 1e-6
    plane = scipy.optimize.LinearConstraint(np.ones((1, N)), 0, 0)
    assert abs(minimize(energy, sparse, model(), constraints=plane).vector.sum()) < 1e-6


@each_backend
def test_blocks_of_trees_as_one_matrix(backend):
    value, blocks = value_and_jacobian(equations, AutoSparse(backend), model())
    matrix = tree.as_matrix(blocks, value, (model(),))
    assert isinstance(matrix, scipy.sparse.csr_array)
    assert matrix.shape == (N, N)
    blocks["first"][0]["b"] = None
    assert tree.as_matrix(blocks, value, (model(),)).shape == (N, N)
    blocks["first"][0]["b"] = np.zeros((15, 15))
    together = lambda: tree.as_matrix(blocks, value, (model(),))
    words = "as_matrix: the blocks are sparse matrices and a ndarray. Pass one kind alone."
    assert_told(together, TreeError, words)
    blocks["first"][0]["b"] = scipy.sparse.csr_array((15, 14))
    words = "as_matrix: a sparse block has shape (15, 14), but its row and column have 15 and 15..."
    assert_told(together, TreeError, words)
