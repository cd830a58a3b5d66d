"""`with_argnums` and `backend_of`."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import assert_tree, each_engine

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    gradient,
    jacobian,
    value_and_gradient,
    value_and_jacobian,
)
from adinterface.tools import backend_of, with_argnums

X, Y = np.array([1.0, 2.0]), np.array([3.0, 5.0])


def energy(x, y, *, scale=1.0):
    return (x * y * y).sum() * scale


def outputs(x, y):
    return {"product": x * y, "rest": (x * x, 3, "text")}


@each_engine
@pytest.mark.parametrize("prepared", [False, True])
def test_a_gradient_with_respect_to_some_arguments(backend, prepared):
    by_last = with_argnums(gradient, energy, backend, -1, prepared=prepared)
    assert_tree(by_last(X, Y, scale=2.0), 4 * X * Y, 1e-6)
    assert_tree(by_last(X, 2 * Y, scale=2.0), 8 * X * Y, 1e-6)
    both = with_argnums(value_and_gradient, energy, backend, (1, 0), prepared=prepared)(X, Y)
    assert_tree(both.gradient, (2 * X * Y, Y * Y), 1e-6)
    assert_tree(both.value, np.array(59.0), 1e-6)
    by_index = with_argnums(gradient, energy, backend, np.int64(0), prepared=prepared)
    assert_tree(by_index(X, Constant(Y)), Y * Y, 1e-6)


@each_engine
@pytest.mark.parametrize("prepared", [False, True])
def test_a_jacobian_of_a_tree_has_the_part_at_each_leaf(backend, prepared):
    got = with_argnums(jacobian, outputs, backend, 1, prepared=prepared)(X, Y)
    assert_tree(got, {"product": np.diag(X), "rest": (np.zeros((2, 2)), None, None)}, 1e-6)
    value, parts = with_argnums(value_and_jacobian, outputs, backend, (1, 0), prepared=prepared)(
        X, Y
    )
    assert_tree(parts["product"], (np.diag(X), np.diag(Y)), 1e-6)
    assert value["rest"][1:] == (3, "text")


@pytest.mark.parametrize(
    ("args", "backend"),
    [
        ((X, {"w": 2.0}), AutoFiniteDifferences()),
        (({"w": torch.ones(2)}, 3.0), AutoTorch()),
        ((X, [Constant(torch.ones(2))]), AutoTorch()),
        ((torch.nn.Linear(2, 1),), AutoTorch()),
        ((Constant(torch.nn.Linear(2, 1)), X), AutoTorch()),
        ((jnp.ones(2), 3), AutoJax()),
    ],
    ids=lambda x: repr(x)[:20],
)
def test_the_backend_of_arguments(args, backend):
    assert backend_of(*args) == backend


def test_the_backend_of_what_is_traced_and_of_the_default():
    seen = []
    gradient(lambda x: (seen.append(backend_of(x)), x.sum())[1], AutoAutograd(), X)
    assert seen == [AutoAutograd()]
    assert backend_of(X, default=AutoAutograd()) == AutoAutograd()
