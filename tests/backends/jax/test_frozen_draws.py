"""Random numbers that f draws outside of JAX, in calls that JAX compiles: never frozen without a word."""

import random
import threading
import warnings

import jax.numpy as jnp
import numpy as np
import optax
import pytest

from adinterface import (
    AutoJax,
    Constant,
    FrozenDrawsWarning,
    gradient,
    hessian,
    numpy_function,
    prepare,
    pullback,
    value_and_gradient,
)
from adinterface.fit import Training, from_optax
from adinterface.rules import rule

X = np.ones(3)
DRAWING = {
    "NumPy": lambda x: (x**2 * np.random.rand(3)).sum(),  # noqa: NPY002
    "Python": lambda x: x.sum() ** 2 * random.random(),
    "NumPy code": numpy_function(lambda x: np.sum(x**2) * np.random.rand()),  # noqa: NPY002
}


@pytest.mark.parametrize("f", DRAWING.values(), ids=DRAWING.keys())
@pytest.mark.parametrize("operator", [gradient, value_and_gradient, hessian, pullback])
def test_a_prepared_call_warns_that_draws_are_frozen(operator, f):
    fast = prepare(operator, f, AutoJax(), X)
    with pytest.warns(FrozenDrawsWarning) as warned:
        fast(X)
    assert str(warned[0].message) == (
        "f draws from the generator of NumPy or Python while JAX compiles it: each call computes with the numbers of the "
        "first. Draw with jax.random from a key that is an argument, pass the numbers as an argument, or leave the call "
        "uncompiled with AutoJax(jit=False)."
    )
    assert warned[0].filename == __file__
    fast(X)  # it warns once
    prepare(operator, f, AutoJax(jit=False), X)(X)
    operator(f, AutoJax(), X)


def test_python_numbers_that_are_computed_apart_do_not_hide_draws():
    fast = prepare(
        gradient, lambda x, c: (x * (c * 2.0)).sum() * random.random(), AutoJax(), np.ones(3, "float32"), Constant(2.0)
    )
    with pytest.warns(FrozenDrawsWarning):
        fast(np.ones(3, "float32"), Constant(2.0))


def test_a_training_warns_that_draws_are_frozen():
    def loss(model, x):
        return jnp.sum(model["w"] * x) ** 2 * np.random.rand()  # noqa: NPY002

    train = Training(loss, AutoJax(), from_optax(optax.sgd(0.1)), {"w": jnp.ones(3)})
    with pytest.warns(FrozenDrawsWarning):
        train(jnp.ones(3))


def test_code_that_runs_in_each_call_draws_in_each_call():
    """A host function, whose trial run leaves the generators alone, and a path that depends on numbers."""

    @rule(host=True)
    def noisy(x):
        return np.sum(x) * np.random.rand()  # noqa: NPY002

    noisy.pullback(lambda c, value, x: (c * jnp.ones_like(x),))

    @numpy_function(deep=True)
    def branching(x):
        return np.sum(x) * (random.random() if x[0] > 0.5 else 1.0)

    for f in (lambda x: noisy(x) * 2.0, branching):
        fast = prepare(value_and_gradient, f, AutoJax(), X)
        assert len({float(fast(X).value) for _ in range(4)}) == 4


def test_the_draws_of_another_thread_do_not_warn():
    drawn = threading.Event()

    def f(x):
        if not drawn.is_set():
            thread = threading.Thread(target=random.random)
            thread.start()
            thread.join()
            drawn.set()
        return x.sum()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepare(gradient, f, AutoJax(), X)(X)
