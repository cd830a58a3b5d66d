"""The gradient zoo on every backend: each row gives the source's numbers, in the argument's own form."""

import copy

import jax
import numpy as np
import pytest
import zoo
from backends_table import assert_tree, each_backend, rtol_of

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    DisconnectedWarning,
    gradient,
    value_and_gradient,
)
from adinterface import ValueAndGradient as Pair
from adinterface.core import tree

OPERATORS = {"gradient": gradient, "value_and_gradient": value_and_gradient}


def each_row(rows):
    return pytest.mark.parametrize("row", rows, ids=[row.name for row in rows])


def run(row, backend, args):
    """The row's operator; a warning about a disconnected value is expected exactly where an engine can tell."""
    operator = OPERATORS[row.operator]
    if row.disconnected and not isinstance(backend, AutoFiniteDifferences):
        with pytest.warns(DisconnectedWarning, match="depends on none of its differentiated arguments"):
            return operator(row.f, backend, *args)
    return operator(row.f, backend, *args)


@each_backend
@each_row(zoo.rows(*OPERATORS))
def test_row_gives_the_documented_numbers(row, backend):
    expected = Pair(*row.expected) if row.operator == "value_and_gradient" else row.expected
    assert_tree(run(row, backend, row.args), expected, rtol_of(backend))


def as_integers(arg):
    """A bare number or array as the integers that it holds."""
    if type(arg) is float:
        return int(arg)
    return arg.astype("int64") if isinstance(arg, np.ndarray) else arg


@each_backend
@each_row([row for row in zoo.rows(*OPERATORS) if row.integers])
def test_bare_integers_give_the_same_as_floats(row, backend):
    expected = Pair(*row.expected) if row.operator == "value_and_gradient" else row.expected
    assert_tree(run(row, backend, tuple(as_integers(arg) for arg in row.args)), expected, rtol_of(backend))


@each_backend
def test_gradient_of_a_model_is_read_as_the_documents_read_it(backend):
    (grads,) = gradient(zoo.squared_norm_of_first, backend, zoo.embedding_model())
    assert_tree(grads.layers[0].weight, zoo.MODEL_GRADIENT.layers[0].weight, rtol_of(backend))
    assert grads.layers[1] is None


@each_backend
def test_descent_leaves_the_model_as_it_was_and_moves_its_copy(backend):
    model = zoo.embedding_model()
    (grads,) = gradient(zoo.squared_norm_of_first, backend, model)
    moved = jax.tree.map(lambda w, g: w - g / 3, model.layers[0].weight, grads.layers[0].weight)
    assert_tree(moved, zoo.WEIGHT_AFTER_ONE_STEP, rtol_of(backend))
    assert_tree(model, zoo.embedding_model(), 0)


@each_backend
def test_two_steps_of_descent_give_the_documented_model(backend):
    model = copy.deepcopy(zoo.embedding_model())
    for _ in range(2):
        (grads,) = gradient(zoo.squared_norm_of_first, backend, model)
        model.layers[0].weight -= grads.layers[0].weight / 3
    value, (grads,) = value_and_gradient(zoo.squared_norm_of_first, backend, model)
    slope = zoo.SLOPE_AFTER_TWO_STEPS
    assert_tree(model.layers[0].weight, zoo.WEIGHT_AFTER_TWO_STEPS, rtol_of(backend))
    assert_tree(value, zoo.scalar(zoo.VALUE_AFTER_TWO_STEPS), rtol_of(backend))
    assert_tree(grads.layers[0].weight, zoo.array([-slope, 0, 0], [slope, 0, 0]), rtol_of(backend))


def shared(a, b, c):
    return {"a": a, "b": b, "c": c}


x, y, z = (zoo.array(2) for _ in range(3))


@each_backend
@pytest.mark.parametrize(
    ("model", "sums"),
    [
        (shared(x, x, x), (24 + 48 + 72,) * 3),
        (shared(x, x, z), (72, 72, 72)),  # as documented: 24 + 48 for the shared one, and 72
        (shared(x, y, x), (24 + 72, 48, 24 + 72)),
        (shared(x, y, z), (24, 48, 72)),
    ],
    ids=["all one", "a is b", "a is c", "none"],
)
def test_shared_arrays_are_separate_and_sum_shared_adds_them(model, sums, backend):
    (grads,) = gradient(zoo.weighted_triple, backend, model)
    assert_tree(grads, shared(zoo.array(24), zoo.array(48), zoo.array(72)), rtol_of(backend))
    summed = tree.sum_shared(model, grads)
    assert_tree(summed, shared(*map(zoo.array, sums)), rtol_of(backend))
    assert_tree(grads, shared(zoo.array(24), zoo.array(48), zoo.array(72)), rtol_of(backend))
    assert not np.shares_memory(summed["a"], summed["b"])


def test_every_engine_gives_the_same_gradient_of_the_model():
    first, *others = (
        gradient(zoo.squared_norm_of_first, backend, zoo.embedding_model())
        for backend in (AutoJax(), AutoTorch(), AutoAutograd(), AutoFiniteDifferences())
    )
    for other in others:
        assert_tree(other, first, 1e-7)
