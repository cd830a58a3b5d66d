"""What libraries of JAX models keep in their modules: Equinox's hyperparameters, the state of
Flax's NNX.
"""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from backends_table import call_of
from flax import nnx

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    Constant,
    ConversionError,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    tree,
    value_and_gradient,
)
from adinterface.fit import Training, update


class Scaled(eqx.Module):
    """Numbers that are set once, beside what is trained."""

    w: jax.Array
    rate: float
    many: list
    turn: complex = 2j

    def __call__(self):
        assert [type(n) for n in (self.rate, self.many[0], self.many[1]["a"], self.turn)] == [
            float,
            float,
            float,
            complex,
        ]
        power = 2 if self.rate == 0.5 else 1  # a branch that only a Python number allows under jit
        return jnp.sum(self.w**power) * self.many[0] * abs(self.turn)


def scaled(rate=0.5):
    return Scaled(jnp.arange(1.0, 3.0), rate, [3.0, {"a": 4.0}])


@pytest.mark.parametrize("prepared", [False, True])
def test_python_numbers_inside_an_equinox_module_are_hyperparameters(prepared):
    call = call_of(prepared, gradient, Scaled.__call__, AutoJax(), scaled())
    for rate in (0.5, 1.5, 0.5):
        (found,), expected = call(scaled(rate)), eqx.filter_grad(Scaled.__call__)(scaled(rate))
        assert eqx.tree_equal(found, expected)
        assert (found.rate, found.many, found.turn) == (None, [None, {"a": None}], None)


def test_python_numbers_around_an_equinox_module_are_leaves():
    (found,) = gradient(
        lambda p: p["rate"] * p["model"](), AutoJax(), {"rate": 2.0, "model": scaled()}
    )
    assert found["rate"] == float(scaled()())
    assert found["model"].rate is None


# NNX
# ------------------------------------------------------------------------------------------------

DATA = jnp.arange(8.0).reshape(4, 2)


class Network(nnx.Module):
    """All kinds of state: random keys and their counters, statistics, a number of one's own, a tree
    in a variable.
    """

    def __init__(self, seed=0):
        rngs = nnx.Rngs(seed)
        self.linear, self.norm, self.dropout = (
            nnx.Linear(2, 3, rngs=rngs),
            nnx.BatchNorm(3, rngs=rngs),
            nnx.Dropout(0.5, rngs=rngs),
        )
        self.seen = nnx.Variable(jnp.zeros((), dtype="int32"))
        self.last = nnx.Variable({"first": None, "mean": jnp.zeros(3)})

    def __call__(self, x):
        self.seen[...] += x.shape[0]
        y = self.dropout(self.norm(self.linear(x)))
        self.last.set_value({"first": None, "mean": jnp.mean(y, axis=0)})
        return y


def network_loss(model, x):
    return jnp.sum((model(x) - 1) ** 2)


def state_of(model):
    return jax.tree.leaves(nnx.state(model, nnx.Not(nnx.RngKey)))


def assert_close(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def _calls():
    def one_shot(operator, f):
        return lambda *args: operator(f, AutoJax(), *args)

    def prepared(operator, f):
        return prepare(operator, f, AutoJax(), Network(5), Constant(DATA))

    def eager(operator, f):
        return prepare(operator, f, AutoJax(jit=False), Network(5), Constant(DATA))

    return {"one-shot": one_shot, "prepared": prepared, "prepared without jit": eager}


each_call = pytest.mark.parametrize("make", _calls().values(), ids=_calls().keys())


@each_call
def test_nnx_state_is_updated_once_in_each_call_as_by_nnx_grad(make):
    model, theirs = Network(), Network()
    call = make(gradient, network_loss)
    for n in range(1, 4):
        (found, none), expected = call(model, Constant(DATA)), nnx.grad(network_loss)(theirs, DATA)
        assert none is None
        assert type(found) is Network
        assert_close(jax.tree.leaves(nnx.state(found, nnx.Param)), jax.tree.leaves(expected))
        assert_close(state_of(model), state_of(theirs))
        assert model.seen[...] == 4 * n
        assert model.dropout.rngs.count[...] == n
        assert model.seen.get_raw_value().dtype == "int32"
    assert getattr(call, "specializations", 1) == 1


@each_call
def test_value_and_gradient_gives_all_that_f_returned_and_updates_too(make):
    model, theirs = Network(), Network()

    def f(m, x):
        y = m(x)
        return jnp.sum(y**2), {"output": y, "name": "network"}

    (value, aux), (found, _) = make(value_and_gradient, f)(model, Constant(DATA))
    (expected, theirs_aux), grads = nnx.value_and_grad(
        lambda m, x: (f(m, x)[0], m.last.get_value()), has_aux=True
    )(theirs, DATA)
    assert value == pytest.approx(float(expected), rel=1e-5)
    assert aux["name"] == "network"
    np.testing.assert_allclose(jnp.mean(aux["output"], axis=0), theirs_aux["mean"], rtol=1e-5)
    assert_close(jax.tree.leaves(nnx.state(found, nnx.Param)), jax.tree.leaves(grads))
    assert_close(state_of(model), state_of(theirs))


def test_what_is_no_param_has_no_gradient_and_nnx_optimizers_take_the_rest():
    model, theirs = Network(), Network()
    for network, differentiate in (
        (model, lambda m: gradient(network_loss, AutoJax(), m, Constant(DATA))[0]),
        (theirs, lambda m: nnx.grad(network_loss)(m, DATA)),
    ):
        optimizer = nnx.Optimizer(network, optax.adam(0.1), wrt=nnx.Param)
        for _ in range(3):
            grads = differentiate(network)
            optimizer.update(network, nnx.state(grads, nnx.Param) if network is model else grads)
    assert_close(state_of(model), state_of(theirs))
    found, _ = gradient(network_loss, AutoJax(), model, Constant(DATA))
    assert found.norm.mean.get_raw_value() is None
    assert found.dropout.rngs.key.get_raw_value() is None


def test_a_model_in_a_constant_or_a_keyword_is_updated_too():
    constant, keyword, theirs = Network(), Network(), Network()
    for differentiate in (
        lambda: gradient(lambda x, m: network_loss(m, x), AutoJax(), DATA, Constant(constant)),
        lambda: gradient(lambda x, m: network_loss(m, x), AutoJax(), np.asarray(DATA), m=keyword),
        lambda: nnx.grad(network_loss, argnums=0)(theirs, DATA),
    ):
        differentiate()
        differentiate()
    assert_close(state_of(constant), state_of(theirs))
    assert_close(state_of(keyword), state_of(theirs))
    assert {type(x) for x in state_of(keyword)} == {type(DATA)}


@pytest.mark.filterwarnings("ignore::adinterface.PrecisionWarning")  # of float32, beside kinks
def test_differences_update_the_state_once():
    model, theirs = Network(), Network()
    gradient(network_loss, AutoFiniteDifferences(method="central"), model, Constant(DATA))
    theirs(DATA)
    assert_close(state_of(model), state_of(theirs))


def test_state_is_updated_inside_nnx_jit():
    model, theirs = Network(), Network()
    step = nnx.jit(lambda m, x: gradient(network_loss, AutoJax(), m, Constant(x))[0])
    for _ in range(2):
        step(model, DATA)
        theirs(DATA)
    assert_close(state_of(model), state_of(theirs))


OTHERS = {
    "jacobian": lambda f, m: jacobian(f, AutoJax(), m, Constant(DATA)),
    "pullback": lambda f, m: pullback(f, AutoJax(), m, Constant(DATA)),
    "linearize": lambda f, m: linearize(f, AutoJax(), m, Constant(DATA)),
    "pushforward": lambda f, m: pushforward(f, AutoJax(), (m, Constant(DATA)), (m, None)),
    "hvp": lambda f, m: hvp(f, AutoJax(), m, m, Constant(DATA)),
    "hessian": lambda f, m: hessian(f, AutoJax(), m, Constant(DATA)),
    "diagonal_hessian": lambda f, m: diagonal_hessian(f, AutoJax(), m, Constant(DATA)),
    "prepared": lambda f, m: prepare(hessian, f, AutoJax(), m, Constant(DATA))(m, Constant(DATA)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_operators_refuse_what_changes_the_model_and_take_what_does_not(name):
    model = Network()
    before = state_of(model)
    with pytest.raises(
        ConversionError,
        match=r": f changes args\[0\]\.\S+, which would be lost\. Only gradient and value_and_grad",
    ):
        OTHERS[name](network_loss, model)
    assert all(a is b for a, b in zip(before, state_of(model), strict=True))
    quiet = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    OTHERS[name](lambda m, x: jnp.sum(m(x) ** 2), quiet)


class Shared(nnx.Module):
    def __init__(self):
        self.one = nnx.Variable(jnp.zeros(()))
        self.other, self.w = self.one, nnx.Param(jnp.ones(2))
        self.calls, self.raw = 0, nnx.data(jnp.zeros(()))


def _grow(m):
    m.more = nnx.Variable(jnp.zeros(()))


REFUSED = {
    "shared variable": (lambda m: m.one.set_value(m.one + 1), ".one, which is one object with another place"),
    "Python attribute": (lambda m: setattr(m, "calls", m.calls + 1), ", its attributes or its variables"),
    "new variable": (_grow, ", its attributes or its variables"),
    "bare array": (lambda m: setattr(m, "raw", m.raw + 1), ".raw, which is kept without a variable"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("operator", [gradient, value_and_gradient, jacobian])
def test_a_change_that_cannot_be_handed_on_is_refused(operator, name):
    change, words = REFUSED[name]

    def f(m):
        change(m)
        return jnp.sum(m.w[...] ** 2)

    model = Shared()
    words = "" if operator is jacobian else rf".*args\[0\]{re.escape(words)}"
    with pytest.raises(ConversionError, match=f"f changes{words}"):
        operator(f, AutoJax(), model)
    assert (model.one[...], model.calls, model.raw) == (0, 0, 0)


def tied_loss(m):
    return jnp.sum(m.w[...] * 2 * m.part.v[...])


def trained(m):
    train = Training(tied_loss, AutoJax(), 0.1, m)
    train()
    train()
    return train.model


CHANGES = {
    "map": lambda m: tree.map(lambda x: 2 * x, m),
    "add": lambda m: tree.add(m, m),
    "ravel": lambda m: (lambda vector, restored: restored(vector))(*tree.ravel(m)),
    "update": lambda m: update(m, gradient(tied_loss, AutoJax(), m), 0.1),
    "training": trained,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_one_object_of_a_model_is_one_object_of_the_result(change):
    """Two Variables would be tied no longer, once `nnx.Optimizer` moves each."""
    model = Shared()
    model.part = Shared()
    model.part.v, model.again = model.w, model.part
    found = change(model)
    assert found.part.v is found.w is not model.w
    assert found.again is found.part is not model.part
    assert found.part.w is not found.w


@pytest.mark.parametrize("prepared", [False, True])
def test_shared_params_are_one_variable_of_a_split_model_which_nnx_optimizers_take(prepared):
    model = Shared()
    model.v = model.w
    graph, state = nnx.split(model)

    def loss(s):
        m = nnx.merge(graph, s)
        assert m.v is m.w
        return jnp.sum(m.w[...] * 2 + m.v[...] * 3)

    call = call_of(prepared, gradient, loss, AutoJax(), state)
    before = model.w[...]
    nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param).update(model, call(state)[0])
    np.testing.assert_allclose(model.w[...], before - 0.5, rtol=1e-6)
    assert model.v is model.w
