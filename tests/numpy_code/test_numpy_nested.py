"""Operators called inside a `numpy_function`: their results are arrays that NumPy's functions take,
on every engine.
"""

import dataclasses
import functools

import numpy as np
import pytest
import torch
from backends_table import ENGINES, each_engine

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    Constant,
    Each,
    OutputError,
    batched,
    derivative,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    numpy_function,
    prepare,
    pullback,
    pushforward,
    second_derivative,
    value_and_gradient,
)

X = np.array([0.5, 1.5, 2.5])


def _both(result):
    value, (found,) = result
    return np.sum(np.tanh(value)) + np.sum(np.tanh(found))


def _aux(result):
    (value, cosine), (found,) = result
    return np.exp(value / 9) + np.sum(np.exp(cosine)) + np.sum(np.tanh(found))


def _pulled(result, x):
    value, back = result
    return np.sum(np.exp(value)) + np.sum(np.exp(back(np.cos(x))[0]))


@each_engine
def test_a_value_that_is_no_scalar_is_described_as_what_it_stands_for(backend):
    f = numpy_function(lambda x: gradient(lambda y: y * y, backend, x)[0].sum())
    with pytest.raises(
        OutputError, match=r"array of dtype float64 and shape \(3,\)\. Reduce it to a scalar"
    ):
        gradient(f, backend, X)


@pytest.mark.parametrize("deep", [False, True])
def test_arrays_of_the_engine_that_f_brings_stay_arrays_of_the_engine(deep):
    own = torch.ones(2, dtype=torch.float64)

    def f(x):
        value, (slope,) = value_and_gradient(lambda y: (y**2).sum(), AutoTorch(), own)
        jacobians = jacobian(lambda y: y["own"] * 2, AutoTorch(), {"own": own})
        assert {type(part) for part in (value, slope, jacobians[0]["own"])} == {torch.Tensor}
        return np.sum(x * float(slope.detach().sum()))

    np.testing.assert_array_equal(gradient(numpy_function(f, deep=deep), AutoTorch(), X)[0], 4.0)


@each_engine
def test_results_at_an_array_that_f_makes_can_be_written_to(backend):
    def f(x):
        made = np.ones(3)
        value, _ = pullback(lambda y: y * 2.0, backend, made)
        _, tangent = pushforward(lambda y: y * 2.0, backend, (made,), (made,))
        value[0] = tangent[1] = x[0]
        return np.sum(value * tangent * x)

    (found,) = gradient(numpy_function(f), backend, X)
    np.testing.assert_allclose(found, gradient(f, AutoFiniteDifferences(), X)[0], rtol=1e-8)


# What is differentiated comes in by capture: numbers and plain arrays are the arguments
# --------------------------------

V = np.array([0.1, 0.5])


def _inner(x, w=1.0):
    return lambda y: w * np.sum(np.sin(np.sin(x) + np.sin(y)))


def _wave(g):
    return np.sum(np.sin(g))


#: `case(x, backend, decorate)` of a number x, which inner functions capture.
CAPTURING = {
    "a number": lambda x, b, d: _wave(gradient(d(_inner(x)), b, 0.3)[0]),
    "an array": lambda x, b, d: _wave(gradient(d(_inner(x)), b, V)[0]),
    "a tree": lambda x, b, d: _tree(
        gradient(d(lambda t: x * np.sum(np.sin(t["a"])) * t["b"]), b, {"a": V, "b": 0.4})[0]
    ),
    "beside x": lambda x, b, d: _tree(
        dict(zip("ab", gradient(d(lambda u, y: np.sin(u * np.sin(y))), b, x, 0.3)))
    ),
    "beside a Constant": lambda x, b, d: _wave(
        gradient(d(lambda c, y: np.sin(c * np.sin(y))), b, Constant(x), 0.3)[1]
    ),
    "value": lambda x, b, d: _both(value_and_gradient(d(_inner(x)), b, 0.3)),
    "aux": lambda x, b, d: _aux(value_and_gradient(d(lambda y: (_inner(x)(y), x * y)), b, V)),
    "jacobian": lambda x, b, d: _wave(jacobian(d(lambda y: np.sin(x) * y**2), b, V)[0]),
    "pullback": lambda x, b, d: _pulled(pullback(d(lambda y: np.sin(x) * y**2), b, V), V),
    "pushforward": lambda x, b, d: _wave(
        pushforward(d(lambda y: np.sin(x) * y**2), b, (V,), (V,)).tangent
    ),
    "linearize": lambda x, b, d: _wave(linearize(d(lambda y: np.sin(x) * y**2), b, V).push(V)),
    "derivative": lambda x, b, d: _wave(
        derivative(d(lambda y: {"wave": np.sin(x * y)}), b, 0.3)["wave"]
    ),
    "second_derivative": lambda x, b, d: _wave(
        second_derivative(d(lambda y: np.sin(x * y)), b, 0.3)
    ),
    "hvp": lambda x, b, d: _wave(hvp(d(_inner(x)), b, V, V)),
    "hessian": lambda x, b, d: _wave(hessian(d(_inner(x)), b, V)),
    "diagonal_hessian": lambda x, b, d: _wave(diagonal_hessian(d(_inner(x)), b, V)[0]),
    "batched": lambda x, b, d: _wave(batched(gradient, d(_inner(x)), b, Each(V))[0]),
    "prepared": lambda x, b, d: _wave(prepare(gradient, d(_inner(x)), b, V)(V)[0]),
    "three deep": lambda x, b, d: _wave(
        gradient(
            d(lambda y: np.sin(x * gradient(d(lambda z: np.sin(z * x * y)), b, 0.2)[0])), b, 0.3
        )[0]
    ),
}


def _tree(g):
    return np.sum(np.sin(g["a"])) * np.exp(g["b"])


@pytest.mark.parametrize("mode", [None, "forward"])
@pytest.mark.parametrize("deep", [False, True], ids=["usual", "deep"])
@pytest.mark.parametrize("name", CAPTURING)
@pytest.mark.parametrize("engine", ENGINES)
def test_results_of_what_captures_are_arrays_for_numpy(engine, name, deep, mode):
    backend = dataclasses.replace(ENGINES[engine], mode=mode)

    def decorate(f):
        return numpy_function(f, deep=deep)

    def h(x):
        return CAPTURING[name](x, backend, decorate)

    (found,) = gradient(decorate(h), backend, 0.7)
    assert type(found) is float
    assert found == pytest.approx(_captured_slope(name), rel=1e-6)


@functools.cache
def _captured_slope(name):
    return gradient(
        lambda x: CAPTURING[name](x, ENGINES["autograd"], numpy_function),
        AutoFiniteDifferences(),
        0.7,
    )[0]
