"""The problem object under SciPy, optimagic and pounce, on every engine."""

import warnings

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from backends_table import assert_told

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoSparse,
    AutoTorch,
    BackendError,
    NotDifferentiableError,
    OutputError,
    SecondOrder,
    SparsityError,
    TreeError,
    array_namespace,
)
from adinterface.fit.entries import Entries
from adinterface.integrations.problem import Problem

BACKENDS = [
    AutoJax(),
    AutoTorch(),
    AutoAutograd(),
    SecondOrder(AutoFiniteDifferences(), AutoAutograd()),
]
every = pytest.mark.parametrize("backend", BACKENDS, ids=lambda auto: type(auto).__name__)


def hs71(m, scale):
    x = m["x"]
    return scale * (x[0] * m["last"] * (x[0] + x[1] + x[2]) + x[2])


def sides(m):
    x, last = m["x"], m["last"]
    return {
        "product": x[0] * x[1] * x[2] * last,
        "squares": array_namespace(x).stack([(x**2).sum() + last**2]),
    }


def start():
    return {"x": np.array([1.0, 5.0, 5.0]), "last": 1.0}


def made(backend, **options):
    limits = {
        "lower": {"product": 25.0, "squares": np.array([40.0])},
        "upper": {"product": np.inf, "squares": np.array([40.0])},
    }
    return Problem(
        hs71, backend, start(), 1.0, constraint=sides, **limits | {"bounds": (1.0, 5.0)} | options
    )


#: In the order of tree.ravel, where "x" stands first.
SOLUTION = [1.0, 4.742999, 3.821151, 1.379408]


def by_hand(x, lagrange, factor):
    a, b, c, d = x
    jacobian = np.array([[b * c * d, a * c * d, a * b * d, a * b * c], 2 * x])
    f = np.array(
        [[2 * d, d, d, 2 * a + b + c], [d, 0, 0, a], [d, 0, 0, a], [2 * a + b + c, a, a, 0]]
    )
    g = np.array(
        [
            [0, c * d, b * d, b * c],
            [c * d, 0, a * d, a * c],
            [b * d, a * d, 0, a * b],
            [b * c, a * c, a * b, 0],
        ]
    )
    return jacobian, factor * f + lagrange[0] * g + lagrange[1] * 2 * np.eye(4)


@every
def test_the_callbacks_of_ipopt(backend):
    problem = made(backend)
    x, lagrange, factor = np.array([1.1, 4.0, 3.5, 1.3]), np.array([0.3, -0.7]), 1.7
    jacobian, hessian = by_hand(x, lagrange, factor)
    assert (problem.n, problem.m) == (4, 2)
    assert problem.objective(x) == pytest.approx(x[0] * x[3] * x[:3].sum() + x[2])
    expected = [x[3] * (2 * x[0] + x[1] + x[2]), x[0] * x[3], x[0] * x[3] + 1, x[0] * x[:3].sum()]
    np.testing.assert_allclose(problem.gradient(x), expected, rtol=1e-6)
    np.testing.assert_allclose(problem.constraints(x), [np.prod(x), x @ x], rtol=1e-12)
    found = scipy.sparse.coo_array((problem.jacobian(x), problem.jacobianstructure()), shape=(2, 4))
    np.testing.assert_allclose(found.toarray(), jacobian, rtol=1e-6)
    rows, columns = problem.hessianstructure()
    assert (rows >= columns).all()
    found = scipy.sparse.coo_array(
        (problem.hessian(x, lagrange, factor), (rows, columns)), shape=(4, 4)
    ).toarray()
    np.testing.assert_allclose(found, np.tril(hessian), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        problem.hessian_matrix(x, lagrange, 0.0).toarray(), by_hand(x, lagrange, 0.0)[1], atol=1e-5
    )


@every
@pytest.mark.parametrize("method", ["trust-constr", "SLSQP"])
def test_scipy(backend, method):
    problem = made(backend)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "delta_grad == 0.0")
        result = scipy.optimize.minimize(**problem.for_scipy(method))
    np.testing.assert_allclose(result.x, SOLUTION, atol=1e-3)
    assert problem.unravel(result.x)["last"] == pytest.approx(1.379408, abs=1e-3)


def test_scipy_gets_sparse_matrices_where_it_takes_them():
    problem = made(AutoJax())
    (part,) = problem.for_scipy("trust-constr")["constraints"]
    assert scipy.sparse.issparse(part.jac(problem.x0))
    assert scipy.sparse.issparse(part.hess(problem.x0, np.ones(2)))
    equations, rest = problem.for_scipy("SLSQP")["constraints"]
    assert type(equations.jac(problem.x0)) is type(rest.jac(problem.x0)) is np.ndarray
    assert (equations.lb, equations.ub) == (40.0, 40.0)
    free = Problem(lambda m: (m**2).sum(), AutoJax(), np.ones(3)).for_scipy("trust-constr")
    assert "bounds" not in free
    assert free["constraints"] == []


def test_optimagic():
    om = pytest.importorskip("optimagic")
    problem = made(AutoTorch())
    result = om.minimize(
        fun=problem.objective,
        jac=problem.gradient,
        params=problem.x0,
        algorithm="scipy_slsqp",
        bounds=om.Bounds(lower=problem.lb, upper=problem.ub),
        constraints=om.NonlinearConstraint(
            func=problem.constraints,
            derivative=lambda x: problem.jacobian_matrix(x).toarray(),
            lower_bound=problem.cl,
            upper_bound=np.minimum(problem.cu, 1e6),
        ),
    )
    np.testing.assert_allclose(result.params, SOLUTION, atol=1e-3)


ENTRIES = Entries(scipy.sparse.csr_array(np.eye(3)), lower=False)
#: A call that is refused: the class of the error, and its words.
WRONG = {
    "a pattern": (lambda: made(AutoSparse(AutoJax(), pattern=np.eye(4))), BackendError,
     "Problem: the Jacobian and the Hessian have a pattern each: leave pattern= out of..."),
    "a name": (lambda: made("jax"), BackendError, "...must be a backend..."),
    "complex": (lambda: Problem(lambda m: abs(m["z"]), AutoJax(), {"z": 1j}), NotDifferentiableError,
     "Problem: the start['z'] is complex..."),
    "an array": (lambda: Problem(lambda m: m["x"], AutoTorch(), start()), OutputError, "...gradient..."),
    "no function": (lambda: Problem(3.0, AutoTorch(), start()), TypeError, "...f must be a function, but is the float 3.0..."),
    "keys of a limit": (lambda: made(AutoJax(), lower={"product": 25.0}), TreeError,
     "the lower limit has 1 children, but the constraint has 2 there...."),
    "shape of a limit": (lambda: made(AutoJax(), upper={"product": 25.0, "squares": np.ones(2)}), TreeError,
     "the upper limit['squares'] has shape (2,), but the constraint has shape (1,)..."),
    "a bound": (lambda: made(AutoJax(), bounds=({"x": 1.0}, None)), TreeError, "the lower bound..."),
    "a vector": (lambda: made(AutoJax()).objective(np.ones(3)), ValueError,
     "...the vector has shape (3,), but the start has 4 numbers..."),
    "other entries": (lambda: ENTRIES.of(scipy.sparse.csr_array(np.ones((3, 3)))), SparsityError,
     "A sparse matrix has shape (3, 3) and 9 entries, but (3, 3) and 3 at the start...."),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_is_told(name):
    call, cls, words = WRONG[name]
    assert_told(call, cls, words)
