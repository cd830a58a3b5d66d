"""The zoo's examples of training: by plain steps, by buffers, by other people's optimisers, on each engine of derivatives."""

import copy

import numpy as np
import optax
import pytest
import torch
from adinterface_conformance.scenarios.building import array
from adinterface_studies.scenarios import zoo as judged
from adinterface_studies.scenarios import zoo_functions as zoo
from backends_table import assert_tree

from adinterface import AutoAutograd, AutoJax, AutoTorch, Constant, Duplicated, gradient, tree, value_and_gradient
from adinterface.fit import Training, from_optax, from_torch_optim, update

pytestmark = pytest.mark.sweep  # test_fit.py runs with every change

engines = pytest.mark.parametrize("backend", [AutoJax(), AutoTorch(), AutoAutograd()], ids=["jax", "torch", "autograd"])


def dense_model():
    """One layer, whose weight is 3, on the input 1."""
    return zoo.Chain((zoo.Dense(array([3.0]), array(0.0)),))


def squared(model, x):
    return (model(x) ** 2).sum()


@engines
def test_descent_moves_a_copy(backend):
    model = zoo.embedding_model()
    moved = update(model, gradient(zoo.squared_norm_of_first, backend, model), 1 / 3)
    assert_tree(moved.layers[0].weight, zoo.WEIGHT_AFTER_ONE_STEP)
    assert moved.layers[1] is model.layers[1]
    assert_tree(model, zoo.embedding_model(), 0)


@engines
@pytest.mark.parametrize("way", ["a number", "Optax", "torch.optim", "Duplicated"])
def test_two_steps(way, backend):
    model, loss = copy.deepcopy(zoo.embedding_model()), zoo.squared_norm_of_first
    if way == "Duplicated":
        buffers = Duplicated(model)
        for _ in range(2):
            (slope,) = gradient(loss, backend, buffers)
            assert slope is buffers.gradient
            buffers.value = update(buffers.value, slope, 1 / 3)
        model = buffers.value
    else:
        step = {"a number": 1 / 3, "Optax": from_optax(optax.sgd(1 / 3))}.get(way)
        optimiser = step or from_torch_optim(torch.optim.SGD, model, lr=1 / 3)
        training = Training(loss, backend, optimiser, *([model] if step else []))
        values = [float(training()) for _ in range(2)]
        assert values[0] == pytest.approx(zoo.MODEL_VALUE)
        model = training.model
    assert_tree(model.layers[0].weight, zoo.WEIGHT_AFTER_TWO_STEPS)
    value, (slope,) = value_and_gradient(loss, backend, Duplicated(model))
    assert value == pytest.approx(zoo.VALUE_AFTER_TWO_STEPS)
    column = zoo.SLOPE_AFTER_TWO_STEPS
    assert_tree(slope.layers[0].weight, array([-column, 0, 0], [column, 0, 0]))


@engines
def test_a_step_of_one_array(backend):
    inputs = array(1.0, 2.0, 3.0)
    found = gradient(lambda w, x, b: (w @ x + b).sum(), backend, zoo.NET_WEIGHT, Constant(inputs), Constant(zoo.NET_BIAS))
    assert_tree(update(zoo.NET_WEIGHT, found[0], 0.01), zoo.NET_WEIGHT - 0.01 * np.array([[1.0, 2, 3], [1, 2, 3]]))


@engines
def test_a_dense_layer_with_and_without_buffers(backend):
    plain, by_input = gradient(squared, backend, dense_model(), array(1.0))
    assert_tree((plain.layers[0].weight, plain.layers[0].bias), (array([6.0]), array(6.0)))
    assert_tree(by_input, array(18.0))
    buffers = Duplicated(dense_model(), accumulate=True)
    for times in (1.0, 2.0):  # the second call adds
        stored, nothing = gradient(squared, backend, buffers, Constant(array(1.0)))
        assert stored is buffers.gradient
        assert nothing is None
        assert_tree((stored.layers[0].weight, stored.layers[0].bias), (array([6 * times]), array(6 * times)))
        assert float(tree.norm(stored)) == pytest.approx(8.48528137423857 * times)
    assert "norm of the gradient 16.9706" in repr(buffers)


@engines
def test_buffers_are_written_over_unless_told(backend):
    """In any place beside Constants; and a step from them is the step from the gradient."""
    buffers = Duplicated(dense_model())
    for scale in (1.0, 2.0):
        places = Constant(array(1.0)), buffers, Constant(scale)
        nothing, stored, _ = gradient(lambda x, m, s: s * squared(m, x), backend, *places)
        assert nothing is None
        assert stored is buffers.gradient
        assert_tree(stored.layers[0].weight, array([6.0 * scale]))
    (plain, _) = gradient(lambda m, x: 2 * squared(m, x), backend, dense_model(), Constant(array(1.0)))
    assert_tree(update(buffers.value, buffers.gradient, 0.1), update(dense_model(), plain, 0.1), 0)
    optimiser = from_optax(optax.adam(0.1))
    states = [optimiser.step(slope, optimiser.init(m), m) for slope, m in ((stored, buffers.value), (plain, dense_model()))]
    assert_tree(states[0][0], states[1][0], 0)


@engines
def test_an_embedding_a_layer_and_a_function(backend):
    (row,) = [row for row in judged.SCENARIOS if row.name == "zoo/value-of-embedding-and-dense"]
    value, (slope,) = row.expected
    found = value_and_gradient(row.f, backend, Duplicated(*row.args))
    assert_tree(found.value, value)
    assert_tree(found.gradient[0], slope)
