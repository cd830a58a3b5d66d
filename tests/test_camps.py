"""What JAX's camps keep in their modules: Equinox's hyperparameters, the state of Flax's NNX."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    Constant,
    gradient,
    prepare,
)


class Scaled(eqx.Module):
    """Numbers that are set once, beside what is trained."""

    w: jax.Array
    rate: float
    many: list
    turn: complex = 2j

    def __call__(self):
        assert [type(n) for n in (self.rate, self.many[0], self.many[1]["a"], self.turn)] == [float, float, float, complex]
        power = 2 if self.rate == 0.5 else 1  # a branch that only a Python number allows under jit
        return jnp.sum(self.w**power) * self.many[0] * abs(self.turn)


def scaled(rate=0.5):
    return Scaled(jnp.arange(1.0, 3.0), rate, [3.0, {"a": 4.0}])


@pytest.mark.parametrize("prepared", [False, True])
def test_python_numbers_inside_an_equinox_module_are_hyperparameters(prepared):
    call = (
        prepare(gradient, Scaled.__call__, AutoJax(), scaled())
        if prepared
        else lambda m: gradient(Scaled.__call__, AutoJax(), m)
    )
    for rate in (0.5, 1.5, 0.5):
        (found,), expected = call(scaled(rate)), eqx.filter_grad(Scaled.__call__)(scaled(rate))
        assert eqx.tree_equal(found, expected)
        assert (found.rate, found.many, found.turn) == (None, [None, {"a": None}], None)


def test_python_numbers_around_an_equinox_module_are_leaves():
    (found,) = gradient(lambda p: p["rate"] * p["model"](), AutoJax(), {"rate": 2.0, "model": scaled()})
    assert found["rate"] == float(scaled()())
    assert found["model"].rate is None


def test_a_hyperparameter_is_not_moved_by_differences_either():
    (found,) = gradient(Scaled.__call__, AutoFiniteDifferences(), scaled())
    assert found.rate is None
    np.testing.assert_allclose(found.w, 12 * scaled().w, rtol=2e-3)


def test_optax_trains_an_equinox_module_with_hyperparameters():
    model, optimizer = scaled(), optax.adam(0.1)
    state = optimizer.init(eqx.filter(model, eqx.is_inexact_array))
    (grads,) = gradient(Scaled.__call__, AutoJax(), model)
    updates, _ = optimizer.update(grads, state)
    trained = eqx.apply_updates(model, updates)
    assert (trained.rate, trained.many) == (model.rate, model.many)
    np.testing.assert_allclose(trained.w, model.w - 0.1, rtol=1e-5)


def test_a_number_of_a_module_in_a_constant_is_carried_along():
    (found, none) = gradient(lambda x, m: x * m.rate, AutoJax(), 2.0, Constant(scaled()))
    assert (found, none) == (0.5, None)
