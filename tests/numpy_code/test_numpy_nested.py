"""Operators called inside a `numpy_function`: their results are arrays that NumPy's functions take, on every engine."""

import dataclasses
import functools

import numpy as np
import pytest
from backends_table import ENGINES, each_engine

from adinterface import (
    AutoFiniteDifferences,
    Constant,
    Each,
    OutputError,
    TreeError,
    array_namespace,
    batched,
    derivative,
    diagonal_hessian,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    numpy_function,
    prepare,
    pullback,
    pushforward,
    second_derivative,
    value_and_derivative,
    value_and_gradient,
    value_and_jacobian,
    value_derivative_and_second_derivative,
    value_gradient_and_hessian,
)
from adinterface.core.contract.ambient import now

pytestmark = pytest.mark.sweep  # test_numpy_code.py, test_numpy_function.py and test_numpy_errors.py run with every change

X = np.array([0.5, 1.5, 2.5])


def energy(y):
    return np.sum(np.sin(y) * y)


def pair(y):
    return {"sin": np.sin(y), "all": np.cumsum(y**2)}


def scalar(t):
    return np.sin(t) * t


#: `case(x, backend, decorate)` calls an operator on NumPy code, and goes on with NumPy's functions.
CASES = {
    "gradient": lambda x, b, d: np.sum(np.exp(gradient(d(energy), b, x)[0])),
    "value_and_gradient": lambda x, b, d: _both(value_and_gradient(d(energy), b, x)),
    "value_and_gradient, aux": lambda x, b, d: _aux(value_and_gradient(d(lambda y: (energy(y), np.cos(y))), b, x)),
    "jacobian": lambda x, b, d: np.sum(np.tanh(jacobian(d(np.sin), b, x)[0])),
    "jacobian of a tree": lambda x, b, d: np.sum(np.tanh(jacobian(d(pair), b, x)["all"][0])),
    "value_and_jacobian": lambda x, b, d: _both(value_and_jacobian(d(np.sin), b, x)),
    "pullback": lambda x, b, d: _pulled(pullback(d(np.sin), b, x), x),
    "pushforward": lambda x, b, d: _sum(pushforward(d(pair), b, (x,), (x,)).tangent["all"]),
    "pushforward, plain tangent": lambda x, b, d: _sum(pushforward(d(np.sin), b, (x,), (np.ones(3),)).tangent),
    "linearize": lambda x, b, d: _sum(linearize(d(np.sin), b, x).push(np.cos(x))),
    "derivative": lambda x, b, d: np.exp(derivative(d(scalar), b, x[1])),
    "value_and_derivative": lambda x, b, d: np.exp(sum(value_and_derivative(d(scalar), b, x[1]))),
    "second_derivative": lambda x, b, d: np.exp(second_derivative(d(scalar), b, x[1])),
    "all derivatives": lambda x, b, d: np.exp(sum(value_derivative_and_second_derivative(d(scalar), b, x[1]))),
    "hvp": lambda x, b, d: _sum(hvp(d(energy), b, x, np.ones(3))),
    "gradient_and_hvp": lambda x, b, d: _sum(sum(gradient_and_hvp(d(energy), b, x, x))),
    "hessian": lambda x, b, d: np.sum(np.tanh(hessian(d(energy), b, x))),
    "value_gradient_and_hessian": lambda x, b, d: np.tanh(np.sum(value_gradient_and_hessian(d(energy), b, x).hessian)),
    "diagonal_hessian": lambda x, b, d: _sum(diagonal_hessian(d(energy), b, x)[0]),
    "Constant": lambda x, b, d: np.exp(value_and_gradient(d(lambda w, y: w * energy(y)), b, 2.0, Constant(x)).value / 9),
    "prepared": lambda x, b, d: _both(prepare(value_and_gradient, d(energy), b, x)(x)),
    "prepared pullback": lambda x, b, d: _pulled(prepare(pullback, d(np.sin), b, x)(x), x),
}


def _sum(x):
    return np.sum(np.tanh(x))


def _both(result):
    value, (found,) = result
    return np.sum(np.tanh(value)) + np.sum(np.tanh(found))


def _aux(result):
    (value, cosine), (found,) = result
    return np.exp(value / 9) + np.sum(np.exp(cosine)) + np.sum(np.tanh(found))


def _pulled(result, x):
    value, back = result
    return np.sum(np.exp(value)) + np.sum(np.exp(back(np.cos(x))[0]))


@pytest.mark.parametrize("decorated", [True, False])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("engine", ENGINES)
def test_results_are_arrays_for_numpy(engine, name, decorated):
    backend = ENGINES[engine]

    def f(x):
        return CASES[name](x, backend, numpy_function if decorated else lambda f: f)

    np.testing.assert_allclose(gradient(numpy_function(f), backend, X)[0], _slope(name), rtol=1e-6, atol=1e-7)


@functools.cache
def _slope(name):
    """By differences of derivatives by autograd, which has the most digits for them in the least time."""
    return gradient(lambda x: CASES[name](x, ENGINES["autograd"], numpy_function), AutoFiniteDifferences(), X)[0]


@each_engine
def test_a_value_that_is_no_scalar_is_described_as_what_it_stands_for(backend):
    f = numpy_function(lambda x: gradient(lambda y: y * y, backend, x)[0].sum())
    with pytest.raises(OutputError, match=r"array of dtype float64 and shape \(3,\)\. Reduce it to a scalar"):
        gradient(f, backend, X)


@each_engine
def test_a_tangent_of_another_shape_is_an_error_there_too(backend):
    f = numpy_function(lambda x: hvp(lambda y: np.sum(y**3), backend, x, np.ones(2)).sum())
    with pytest.raises(TreeError) as caught:
        gradient(f, backend, X)
    assert str(caught.value) == "v must have shape (3,), not (2,)."


@each_engine
def test_neutral_code_may_be_called_by_numpy_code(backend):
    def neutral(x, c):
        xp = array_namespace(x, c)
        return xp.sum(xp.where(c > 0.0, xp.tanh(x), c)) + xp.linalg.vector_norm(xp.concat([x, c]))

    c = np.array([1.0, -1.0, 2.0])
    wanted = gradient(neutral, backend, X, Constant(c))[0]
    for f in (neutral, lambda x, c: neutral(c, x)):
        args = (X, Constant(c)) if f is neutral else (Constant(c), X)
        found = gradient(numpy_function(f), backend, *args)
        np.testing.assert_allclose(found[0 if f is neutral else 1], wanted, rtol=1e-12)


# What is differentiated comes in by capture: numbers and plain arrays are the arguments --------------------------------

V = np.array([0.1, 0.5])


def _inner(x, w=1.0):
    return lambda y: w * np.sum(np.sin(np.sin(x) + np.sin(y)))


def _wave(g):
    return np.sum(np.sin(g))


#: `case(x, backend, decorate)` of a number x, which inner functions capture.
CAPTURING = {
    "a number": lambda x, b, d: _wave(gradient(d(_inner(x)), b, 0.3)[0]),
    "an array": lambda x, b, d: _wave(gradient(d(_inner(x)), b, V)[0]),
    "a tree": lambda x, b, d: _tree(gradient(d(lambda t: x * np.sum(np.sin(t["a"])) * t["b"]), b, {"a": V, "b": 0.4})[0]),
    "beside x": lambda x, b, d: _tree(dict(zip("ab", gradient(d(lambda u, y: np.sin(u * np.sin(y))), b, x, 0.3)))),
    "beside a Constant": lambda x, b, d: _wave(gradient(d(lambda c, y: np.sin(c * np.sin(y))), b, Constant(x), 0.3)[1]),
    "value": lambda x, b, d: _both(value_and_gradient(d(_inner(x)), b, 0.3)),
    "aux": lambda x, b, d: _aux(value_and_gradient(d(lambda y: (_inner(x)(y), x * y)), b, V)),
    "jacobian": lambda x, b, d: _wave(jacobian(d(lambda y: np.sin(x) * y**2), b, V)[0]),
    "pullback": lambda x, b, d: _pulled(pullback(d(lambda y: np.sin(x) * y**2), b, V), V),
    "pushforward": lambda x, b, d: _wave(pushforward(d(lambda y: np.sin(x) * y**2), b, (V,), (V,)).tangent),
    "linearize": lambda x, b, d: _wave(linearize(d(lambda y: np.sin(x) * y**2), b, V).push(V)),
    "derivative": lambda x, b, d: _wave(derivative(d(lambda y: {"wave": np.sin(x * y)}), b, 0.3)["wave"]),
    "second_derivative": lambda x, b, d: _wave(second_derivative(d(lambda y: np.sin(x * y)), b, 0.3)),
    "hvp": lambda x, b, d: _wave(hvp(d(_inner(x)), b, V, V)),
    "hessian": lambda x, b, d: _wave(hessian(d(_inner(x)), b, V)),
    "diagonal_hessian": lambda x, b, d: _wave(diagonal_hessian(d(_inner(x)), b, V)[0]),
    "batched": lambda x, b, d: _wave(batched(gradient, d(_inner(x)), b, Each(V))[0]),
    "prepared": lambda x, b, d: _wave(prepare(gradient, d(_inner(x)), b, V)(V)[0]),
    "three deep": lambda x, b, d: _wave(
        gradient(d(lambda y: np.sin(x * gradient(d(lambda z: np.sin(z * x * y)), b, 0.2)[0])), b, 0.3)[0]
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
    return gradient(lambda x: CAPTURING[name](x, ENGINES["autograd"], numpy_function), AutoFiniteDifferences(), 0.7)[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_code_of_an_engine_inside_gets_its_own_arrays(engine):
    """Results are in the form of the code that calls: NumPy code calls code of the engine, which calls the operator."""
    backend, seen = ENGINES[engine], []

    def of_the_engine(y):
        (found,) = gradient(lambda z: array_namespace(z, y).sin(z * y), backend, 0.2)
        seen.append(type(found) is type(y))
        return found * y

    @numpy_function
    def f(x):
        return np.sin(x * gradient(of_the_engine, backend, 0.3)[0])

    wanted = gradient(f, AutoFiniteDifferences(), 0.7)[0]
    assert gradient(f, backend, 0.7)[0] == pytest.approx(wanted, rel=1e-6)
    assert all(seen)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_form_ends_with_the_code_that_takes_it(engine):
    @numpy_function
    def failing(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        gradient(failing, ENGINES[engine], 0.7)
    assert now().form is None


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("made_inside", [False, True])
def test_a_map_has_the_form_of_the_code_that_applies_it(engine, made_inside):
    """`back` made in the engine's code or in NumPy code, and applied in NumPy code to what is differentiated."""
    backend = ENGINES[engine]
    outside = pullback(lambda y: y**2, backend, X).back

    @numpy_function
    def f(x):
        back = pullback(lambda y: y**2 * x, backend, X).back if made_inside else outside
        return np.sum(np.exp(back(x)[0]))

    inner = 2 * X * (X**2 if made_inside else X)
    slope = 4 * X**2 if made_inside else 2 * X
    np.testing.assert_allclose(gradient(f, backend, X)[0], np.exp(inner) * slope)
