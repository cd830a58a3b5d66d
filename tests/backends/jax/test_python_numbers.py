"""Python numbers in Constants and keywords of prepared calls on `AutoJax` beside a float32 model: none is narrowed."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from adinterface import (
    AutoJax,
    Constant,
    Each,
    UnrolledWarning,
    batched,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    numpy_function,
    prepare,
    pullback,
    pushforward,
    value_and_gradient,
)

X = jnp.array([1.0, 2.0])
EARLY, LATE = 1764000000.0, 1764000001.0  # one number in float32


def branching(x, a, b):
    return np.sum(x) * (b - a) if np.sum(x) > 0 and b - a > 0.9 else np.sum(x)


#: What f makes of an array and of two numbers, before they meet.
FUNCTIONS = {
    "difference": lambda x, a, b: x.sum() * (b - a),
    "literals": lambda x, a, b: x.sum() * (b - 1764000000.5) * (1 - 0.1 * a / b),
    "integers": lambda x, a, b: x.sum() * (b - 1763999999),
    "powers": lambda x, a, b: x.sum() * ((b**2 - a**2) / a + b**0.5 - a**0.5),
    "comparison": lambda x, a, b: jnp.where(b > a, x.sum() * (b > a), x.sum() * 3),
    "remainder": lambda x, a, b: x.sum() * (b % 10 + b // 3 - a // 3),
    "absolute": lambda x, a, b: x.sum() * -abs(a - b),
    "complex": lambda x, a, b: x.sum() * ((b + 1j) - (a + 2j)).real,
    "scan": lambda x, a, b: jax.lax.scan(lambda c, s: (c + s * (b - a), None), 0 * x.sum(), x)[0],
    "cond": lambda x, a, b: jax.lax.cond(x.sum() > 0, lambda x: x.sum() * (b - a), jnp.sum, x),
    "jit": lambda x, a, b: jax.jit(lambda x: x.sum() * (b - a))(x),
    "vmap": lambda x, a, b: jax.vmap(lambda x: x * (b - a))(x).sum(),
    "checkpoint": lambda x, a, b: jax.checkpoint(lambda x: x.sum() * (b - a))(x),
    "custom rule": lambda x, a, b: jax.nn.relu(x * (b - a)).sum(),
    "draws": lambda x, a, b: (x * jax.random.normal(jax.random.key(0), (2,)) + jnp.zeros(())).sum() * (b - a),
    "NumPy code": numpy_function(lambda x, a, b: np.sum(x) * (b - a)),
    "a branch": numpy_function(branching, deep=True),
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_prepared_call_has_the_numbers_of_a_plain_one(f, dtype):
    x = X.astype(dtype)
    fast = prepare(gradient, f, AutoJax(), x, Constant(0.25), b=0.75)
    for a, b in ((0.25, 0.75), (EARLY, LATE), (EARLY, LATE), (0.1, 0.1 + 1e-12), (0.25, 0.75)):
        (expected, _), (found, _) = gradient(f, AutoJax(), x, Constant(a), b=b), fast(x, Constant(a), b=b)
        assert found.dtype == expected.dtype == dtype
        np.testing.assert_allclose(np.asarray(found, "float64"), np.asarray(expected, "float64"), rtol=1e-5)
    assert fast.specializations == 1


def product(x, a, b):
    return (x**2).sum() * (b - a)


OPERATORS = {
    "jacobian": (jacobian, (X,), lambda r: r),
    "hvp": (hvp, (X, X), lambda r: r),
    "hessian": (hessian, (X,), lambda r: r),
    "pullback": (pullback, (X,), lambda r: (r[0], r[1](1.0), r[1].stacked(np.ones(3, "float32")))),
    "linearize": (linearize, (X,), lambda r: (r[0], r[1](X), r[1].stacked(jnp.ones((4, 2))))),
    "pushforward": (pushforward, ((X,), (X,)), tuple),
    "batched": (lambda f, backend, x, **words: batched(gradient, f, backend, Each(x[:, None]), **words), (X,), lambda r: r),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_on_each_operator(name):
    operator, args, use = OPERATORS[name]
    expected = use(operator(product, AutoJax(), *args, a=EARLY, b=LATE))
    if name == "batched":
        args, fast = (Each(X[:, None]),), prepare(batched, gradient, product, AutoJax(), Each(X[:, None]), a=1.0, b=2.0)
    else:
        fast = prepare(operator, product, AutoJax(), *args, a=1.0, b=2.0)
    found = use(fast(*args, a=EARLY, b=LATE))
    assert jax.tree.all(jax.tree.map(lambda one, other: np.allclose(one, other, rtol=1e-6), expected, found))


def test_numbers_that_f_returns():
    f = lambda x, t: (x.sum() * t, {"t": t, "difference": t - 1764000000.0})
    value, _ = prepare(value_and_gradient, f, AutoJax(), X, Constant(1.0))(X, Constant(1764000000.5))
    assert (float(value[1]["t"]), float(value[1]["difference"])) == (1764000000.5, 0.5)


def test_infinities_are_those_of_an_array():
    """Without a warning, which would be an error here; where Python itself would raise, too."""
    for f, expected in ((lambda x, a, b: x.sum() * (a - b), -np.inf), (lambda x, a, b: x.sum() * (b / (a - a)), np.inf)):
        fast = prepare(gradient, f, AutoJax(), X, Constant(1e60), Constant(2e60))
        np.testing.assert_array_equal(fast(X, Constant(1e60), Constant(2e60))[0], [expected] * 2)


def test_numbers_that_change_compile_nothing():
    traces = []

    def f(x, rate, progress):
        traces.append(rate)
        return x.sum() * rate * 0.5 * (1 - progress)

    fast = prepare(gradient, f, AutoJax(), X, Constant(0.1), progress=0.0)
    fast(X, Constant(0.1), progress=0.0)
    count = len(traces)
    for n in range(1, 6):
        found = fast(X, Constant(0.1 / n), progress=n / 10)[0]
        np.testing.assert_allclose(found, np.full(2, 0.05 / n * (1 - n / 10)), rtol=1e-6)
    assert len(traces) == count


def test_the_ambient_precision_and_transformations_hold():
    fast = prepare(gradient, product, AutoJax(), X, a=EARLY, b=LATE)
    call = lambda x: fast(x, a=EARLY, b=LATE)[0]
    for _ in range(2):
        np.testing.assert_array_equal(call(X), 2 * X)
        np.testing.assert_array_equal(jax.jit(call)(X), 2 * X)
        np.testing.assert_array_equal(jax.vmap(call)(jnp.stack([X, X])), jnp.stack([2 * X, 2 * X]))
        np.testing.assert_array_equal(jax.jacfwd(call)(X), 2 * jnp.eye(2))
        with jax.enable_x64(True):
            np.testing.assert_array_equal(call(X), 2 * X)
        with jax.disable_jit():
            np.testing.assert_array_equal(call(X), 2 * X)


def test_numbers_that_are_compiled_in_warn_when_they_are_many():
    f = FUNCTIONS["cond"]
    fast = prepare(gradient, f, AutoJax(), X, Constant(0.0), b=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in range(7):
            np.testing.assert_allclose(fast(X, Constant(0.0), b=n + 1.0)[0], [n + 1.0] * 2)
    with pytest.warns(UnrolledWarning, match="compiled in, now for 8 different values. Pass a number that changes as an array"):
        fast(X, Constant(0.0), b=8.0)
