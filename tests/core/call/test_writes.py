"""Each evaluation of f starts from the arguments of the call, also where f writes into them."""

import numpy as np
import pytest
import torch

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoTorch,
    array_namespace,
    gradient,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    value_and_jacobian,
)

X = np.arange(1.0, 9.0)
CHUNKS = [AutoTorch(mode="forward", chunk_size=size) for size in (None, 1, 3)]


def doubling(x):
    x *= 2
    return x**2


@pytest.mark.parametrize("backend", [*CHUNKS, AutoAutograd(mode="forward"), AutoFiniteDifferences()], ids=repr)
@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_each_evaluation_starts_from_the_argument_which_stays_as_it_is(backend, make):
    x, v = make(X), make(X)
    for call in (lambda: jacobian(doubling, backend, x), lambda: prepare(jacobian, doubling, backend, x)(x)):
        np.testing.assert_allclose(call()[0], np.diag(8 * X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pushforward(doubling, backend, (x,), (v,)).tangent, 8 * X**2, rtol=1e-9)
    value, push = linearize(doubling, backend, x)
    for _ in range(2):
        np.testing.assert_allclose(push(v), 8 * X**2, rtol=1e-9)
    np.testing.assert_allclose(value, 4 * X**2)
    np.testing.assert_allclose(pullback(doubling, backend, x).back(v)[0], 8 * X**2, rtol=1e-9)

    def total(x):
        return array_namespace(x).sum(doubling(x))

    np.testing.assert_allclose(gradient(total, backend, x)[0], 8 * X, rtol=1e-9)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(v, X)


def test_the_value_of_a_divided_jacobian_leaves_the_argument_as_it_is():
    x = X.copy()
    value, (matrix,) = value_and_jacobian(doubling, AutoAutograd(mode="forward", executor=map), x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(value, 4 * X**2)
    np.testing.assert_allclose(matrix, np.diag(8 * X))
