"""The classical problems of the benchmark, at small sizes: SciPy's minima with fewer evaluations, and the published ones."""

import functools
import warnings

import pytest
from adinterface_studies.benchmark.solvers import SIZE, problems, size_of, solve

from adinterface import AutoAutograd, AutoJax, AutoTorch

pytestmark = pytest.mark.sweep

SMALL = 8
PROBLEMS = {problem.name: problem for problem in problems(SMALL)}

engines = pytest.mark.parametrize("backend", [AutoJax(), AutoTorch(), AutoAutograd()], ids=["jax", "torch", "autograd"])


@functools.cache
def by_differences(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of precision, at the end
        return solve(PROBLEMS[name], None, repeats=1)


@engines
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_minimum_of_scipy_with_fewer_evaluations(name, backend):
    problem = PROBLEMS[name]
    theirs, ours = by_differences(name), solve(problem, backend, repeats=1)
    assert ours.minimum == pytest.approx(theirs.minimum, rel=1e-5, abs=1e-5)
    # Differences take an evaluation more for each number, of which there are eight here.
    assert ours.calls < theirs.calls / 3


@engines
def test_published_minima(backend):
    """Moré, Garbow and Hillstrom: sums of squares for ten numbers."""
    ten = {problem.name: problem for problem in problems(10)}
    assert solve(ten["penalty"], backend, repeats=1).minimum == pytest.approx(7.08765e-5, abs=3e-6)
    assert solve(ten["trigonometric"], backend, repeats=1).minimum == pytest.approx(2.79506e-5, rel=1e-4)


def test_the_ten_are_large():
    sizes = {problem.name: size_of(problem) for problem in problems()}
    assert len(sizes) == 10
    assert all(size == SIZE for name, size in sizes.items() if name != "variably")
