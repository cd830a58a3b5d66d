"""Published sparse problems: the pattern is that of the dense derivative, the numbers are those of every other engine."""

import numpy as np
import pytest
from adinterface_studies.sparse_published import PUBLISHED
from backends_table import each_backend

from adinterface import AutoAutograd, AutoFiniteDifferences, AutoJax, AutoSparse, SecondOrder, hessian, jacobian, prepare
from adinterface.sparse import sparsity

pytestmark = pytest.mark.sweep

each_published = pytest.mark.parametrize("problem", PUBLISHED, ids=lambda problem: problem.name)


def dense(problem, backend):
    """The dense derivative; compiled where the engine compiles, which takes less time than its eager operations."""
    operator = hessian if problem.scalar else jacobian
    if problem.scalar and isinstance(backend, AutoFiniteDifferences):
        backend = SecondOrder(backend, AutoAutograd())
    found = prepare(operator, problem.f, backend, problem.x())(problem.x())
    return found if problem.scalar else found[0]


@each_published
@pytest.mark.parametrize("detect", ["trace", "probe"])
def test_the_pattern_is_that_of_the_dense_derivative(problem, detect):
    operator = hessian if problem.scalar else jacobian
    pattern = sparsity(operator, problem.f, AutoSparse(AutoAutograd(), detect=detect), problem.x())
    expected = dense(problem, AutoAutograd())
    scale = np.abs(expected).max()
    nonzero = np.abs(expected) > 1e-13 * scale
    assert not (nonzero & ~pattern.toarray()).any()
    assert np.count_nonzero(nonzero) == problem.entries
    assert pattern.nnz == problem.entries + (problem.cancelled if detect == "trace" else 0)


@each_published
@each_backend
def test_the_numbers_are_those_of_the_dense_derivative(problem, backend):
    operator = hessian if problem.scalar else jacobian
    measured = isinstance(backend, AutoFiniteDifferences)
    sparse = AutoSparse(SecondOrder(backend, AutoAutograd()) if problem.scalar and measured else backend)
    if isinstance(backend, AutoJax):  # compiled, for the sake of time
        found = prepare(operator, problem.f, sparse, problem.x())(problem.x())
    else:
        found = operator(problem.f, sparse, problem.x())
    matrix, expected = found if problem.scalar else found[0], dense(problem, AutoAutograd())
    assert matrix.nnz == problem.entries + problem.cancelled
    tolerance = 1e-6 if measured else 1e-12
    np.testing.assert_allclose(matrix.toarray(), expected, rtol=0, atol=tolerance * np.abs(expected).max())
