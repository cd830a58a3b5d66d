"""Prepared calls of code that goes on by numbers which a compiled call does not know: a form for each way that it takes."""

import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.stats
from adinterface_jax.decided import MANY_WAYS, Decided

from adinterface import (
    AutoJax,
    AutoTorch,
    Constant,
    NumpyCodeError,
    UnrolledWarning,
    gradient,
    hessian,
    hvp,
    jacobian,
    numpy_function,
    prepare,
    pullback,
    pushforward,
    value_and_gradient,
)

pytestmark = pytest.mark.sweep  # test_numpy_code.py, test_numpy_function.py and test_numpy_errors.py run with every change

X = np.array([3.0, 1.0, 2.0])
WAYS = [[3.0, 1.0, 2.0], [0.1, 0.2, -0.3], [0.1, 0.2, 0.3], [10.0, 2.0, 3.0], [0.1, -0.2, 0.3]]


@numpy_function(deep=True)
def branching(x):
    """A loop until a number is small, a branch, a mask, and a count."""
    halvings = 0
    while np.sum(np.asarray(x) ** 2) > 1:
        x = x / 2
        halvings += 1
    if x[0] > 0.3:
        return np.sum(np.sin(x)) + halvings
    positive = x[x > 0]
    return np.sum(positive**2) * float(x[0]) + len(positive)


def _as_torch(operator, *args):
    return operator(branching, AutoTorch(), *args)


@pytest.mark.parametrize("operator", [gradient, value_and_gradient, hessian, jacobian])
def test_every_way_is_right_and_compiled_once(operator):
    fast = prepare(operator, branching, AutoJax(), X)
    for way in [*WAYS, *WAYS]:
        for found, wanted in zip(_flat(fast(np.array(way))), _flat(_as_torch(operator, np.array(way))), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    assert fast.specializations == 1
    (made,) = fast._known.entries()
    assert len(made.__self__.compute._by_path._forms) == len(WAYS)


def _flat(results):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(results)]


def test_along_tangents_and_back():
    v = np.array([0.3, -0.2, 0.9])
    for way in WAYS[:3]:
        x = np.array(way)
        np.testing.assert_allclose(prepare(hvp, branching, AutoJax(), X, v)(x, v), _as_torch(hvp, x, v), atol=1e-12)
        fast = prepare(pushforward, branching, AutoJax(), (X,), (v,))
        np.testing.assert_allclose(fast((x,), (v,)), _as_torch(pushforward, (x,), (v,)), rtol=1e-12)
        value, back = prepare(pullback, branching, AutoJax(), X)(x)
        wanted, back_of_torch = _as_torch(pullback, x)
        np.testing.assert_allclose(value, wanted)
        np.testing.assert_allclose(back(2.0)[0], back_of_torch(2.0)[0], atol=1e-12)


def test_constants_decide_too():
    @numpy_function(deep=True)
    def f(x, limit, counts):
        y = np.where(x > limit, x**2, x)
        if limit > 1:
            y = y * 3
        return np.sum(np.repeat(y, counts)) + np.sum(y[np.nonzero(counts - 1)])

    fast = prepare(gradient, f, AutoJax(), X, Constant(0.5), Constant(np.array([1, 2, 1])))
    for limit, counts in ((0.5, [1, 2, 1]), (1.5, [1, 2, 1]), (0.7, [0, 3, 1])):
        constants = Constant(limit), Constant(np.array(counts))
        np.testing.assert_allclose(fast(X, *constants)[0], gradient(f, AutoTorch(), X, *constants)[0])


def test_many_ways_run_uncompiled():
    @numpy_function(deep=True)
    def f(x):
        order = [int(10 * part) for part in x]
        return np.sum(x ** (order[0] % 7 + 1))

    fast = prepare(gradient, f, AutoJax(), X)
    for n in range(MANY_WAYS + 3):
        x = X + n / 10
        np.testing.assert_allclose(fast(x)[0], gradient(f, AutoTorch(), x)[0], rtol=1e-12)


def test_a_long_way_runs_uncompiled(monkeypatch):
    """XLA would compile it for long, and a loop until an error is small has another way for each count of steps."""

    @numpy_function(deep=True)
    def root(x):
        y, error = x, np.inf
        while error > 1e-12:
            y, before = (y + x / y) / 2, y
            error = np.max(np.abs(y - before))
        return np.sum(y)

    monkeypatch.setattr("adinterface_jax.decided.LONG", 30)
    fast = prepare(gradient, root, AutoJax(), X)
    with pytest.warns(
        UnrolledWarning, match=r"The path of this call has \d+ operations, which XLA would take about \d s"
    ) as caught:
        found = fast(X)[0]
    assert caught[0].filename == __file__
    np.testing.assert_allclose(found, 0.5 / np.sqrt(X), rtol=1e-8)
    np.testing.assert_allclose(fast(X + 1)[0], 0.5 / np.sqrt(X + 1), rtol=1e-8)  # and says it once


def test_code_that_takes_plain_arrays_of_its_numbers_runs_uncompiled():
    """The numbers have no derivative, so an uncompiled run may hand them on to code that is compiled already."""

    @numpy_function(deep=True)
    def f(x):
        taken = scipy.sparse.csr_matrix((np.ones(2), (x > 1.5).nonzero()[0][:2], np.array([0, 1, 2])), shape=(2, 3))
        return np.sum((taken @ x) ** 2)

    fast = prepare(gradient, f, AutoJax(), X)
    for x in (X, X[::-1].copy(), np.array([2.0, 3.0, 1.0])):
        np.testing.assert_allclose(fast(x)[0], gradient(f, AutoTorch(), x)[0])


def test_integers_of_compiled_code_are_known_to_an_uncompiled_run():
    @numpy_function(deep=True)
    def f(x):
        lower, upper = scipy.linalg.bandwidth(np.outer(x, x) - np.diag(x**2))
        return lower * np.sum(x**2) + upper

    fast = prepare(gradient, f, AutoJax(), X)
    for x in (X, np.array([3.0, 1.0, 0.0])):
        np.testing.assert_allclose(fast(x)[0], gradient(f, AutoTorch(), x)[0])


def test_a_truth_value_picks_all_or_nothing():
    @numpy_function(deep=True)
    def f(x):
        far = np.abs(1 - x.sum()) > 0.5
        y = x.copy()
        y[far, -1] = (1 - x[:-1].sum())[far]
        return np.sum(y**2)

    fast = prepare(gradient, f, AutoJax(), X)
    for x in (X, np.array([0.25, 0.5, 0.25])):
        np.testing.assert_allclose(fast(x)[0], gradient(f, AutoTorch(), x)[0])


def test_a_branch_that_takes_nothing_has_no_slope():
    """Nothing of it is asked for, and where it would be computed all the same it may be nan."""

    @numpy_function(deep=True)
    def f(x):
        return np.sum(scipy.stats.crystalball.logsf(x, 2.0, 3.0))

    found = prepare(gradient, f, AutoJax(), X)(X)[0]
    np.testing.assert_allclose(found, gradient(f, AutoTorch(), X)[0], rtol=1e-9)


@pytest.mark.parametrize("method", ["ppf", "isf"])
def test_an_infinite_end_of_a_support_has_no_slope(method):
    """It is a number times the scale where none of the points lies there: infinity times zero is nan."""

    @numpy_function(deep=True)
    def f(q, shape, scale):
        return np.sum(getattr(scipy.stats.genextreme, method)(q, shape, 0.3, scale))

    q = np.array([0.2, 0.7])
    for shape in (-0.1, Constant(-0.1), 0.1):
        found = prepare(gradient, f, AutoJax(), q, shape, 0.7)(q, shape, 0.7)
        wanted = gradient(f, AutoTorch(), q, shape, 0.7)
        assert all(np.isfinite(g).all() for g in wanted if g is not None)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_equal(one, other) if other is None else np.testing.assert_allclose(one, other, rtol=1e-9)


def test_a_branch_that_takes_nothing_is_asked_with_an_element_that_there_is():
    """Zero may be none that it takes: `scipy.stats.wilcoxon` looks its counts up."""
    from adinterface.numpy_code.deep.branches import _safely

    (found,) = _safely(np.array([[False, False]]), [np.array([[3.0, 4.0]])])
    np.testing.assert_array_equal(found, [[3.0, 3.0]])
    (found,) = _safely(np.array([[False, True]]), [np.array([[3.0, 4.0]])])
    np.testing.assert_array_equal(found, [[4.0, 4.0]])


def test_what_a_call_is_refused_for_is_said_of_a_prepared_one():
    """Not that a number is unknown while it is compiled, which is what it meets first."""

    @numpy_function(deep=True)
    def f(x):
        x[np.nonzero(x < 0)] = 0
        return np.sum(x)

    fast = prepare(gradient, f, AutoJax(), X)
    for _ in range(2):
        with pytest.raises(NumpyCodeError, match=r"writes into an argument of f"):
            fast(X)


@pytest.mark.sweep  # seconds of compiling, for the branches of one distribution
def test_distributions_of_no_points():
    @numpy_function(deep=True)
    def f(x, skew):
        return np.sum(scipy.stats.pearson3.logcdf(x, skew))

    found = prepare(gradient, f, AutoJax(), X, 0.3)(X, 0.3)
    np.testing.assert_allclose(found[0], gradient(f, AutoTorch(), X, 0.3)[0], rtol=1e-8)


def test_a_number_at_an_edge_counts_as_it_is():
    """A compiled form whose numbers are others than those of the run is not used."""
    calls = []

    def compute(x):
        from adinterface.numpy_code.decisions import active

        asked = active()
        known = asked.numbers(x > (0 if asked.recording else 5), _Jax())
        calls.append(bool(known))
        return (x * 2,)

    decided = Decided(compute)
    assert decided(np.array(1.0)) == (2.0,)
    assert not decided._forms


class _Jax:
    """What decisions ask of a library."""

    traced = staticmethod(lambda x: isinstance(x, jax.core.Tracer))
    value_under_trace = staticmethod(lambda x: None)
    to_numpy = staticmethod(np.asarray)
    stopped = staticmethod(jax.lax.stop_gradient)


def test_what_is_not_known_uncompiled_either_is_the_first_error():
    @numpy_function(deep=True)
    def f(x):
        return jax.vmap(lambda y: y if bool(y > 1) else 2 * y)(x._array).sum()

    with pytest.raises(jax.errors.TracerBoolConversionError):
        prepare(gradient, f, AutoJax(), X)(X)

    @numpy_function(deep=True)
    def g(x):
        raise KeyError("of f itself")

    with pytest.raises(KeyError, match="of f itself"):
        prepare(gradient, g, AutoJax(), X)(X)


def test_inside_compiled_code_of_the_user():
    fast = prepare(gradient, branching, AutoJax(), X)
    fast(X)
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(lambda x: fast(x)[0])(jnp.asarray(X))


def test_without_deep_a_branch_is_the_engine_s_error():
    @numpy_function
    def f(x):
        return np.sum(x) if x[0] > 1 else np.sum(x**2)

    with pytest.raises(jax.errors.TracerBoolConversionError):
        prepare(gradient, f, AutoJax(), X)(X)


def test_threads_share_the_forms():
    fast = prepare(gradient, branching, AutoJax(), X)
    wanted = {n: _as_torch(gradient, np.array(way))[0] for n, way in enumerate(WAYS)}
    wrong = []

    def run(first):
        for n in range(first, first + 10):
            if not np.allclose(fast(np.array(WAYS[n % 5]))[0], wanted[n % 5]):
                wrong.append(n)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
