"""The Array API namespace of tensors, where torch itself errs or stops."""

import numpy as np
import pytest
import torch
from backends_table import assert_told

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    BackendError,
    Each,
    array_namespace,
    batched,
    diagonal_hessian,
    gradient,
    hessian,
    numpy_function,
)

STACK = torch.arange(1.0, 13.0, dtype=torch.float64).reshape(3, 4)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("indices", [1, [1, -1], [[0, 1], [2, -1]]], ids=str)
def test_indices_have_any_shape(indices, axis):
    taken = array_namespace(STACK).take(STACK, torch.tensor(indices), axis=axis)
    np.testing.assert_array_equal(taken, np.take(STACK.numpy(), indices, axis=axis))


@pytest.mark.parametrize(
    "x", [[3 + 4j, 0j], [2.0, float("nan")], [-3, 0]], ids=["complex", "nan", "integer"]
)
def test_signs_are_as_in_numpy(x):
    np.testing.assert_array_equal(
        array_namespace(STACK).sign(torch.tensor(x)), np.sign(torch.tensor(x).numpy())
    )


TALL = np.array([[1.0, 2.0], [0.5, -1.0], [2.0, 0.3], [-1.0, 1.0]])
WEIGHTS = np.arange(16.0).reshape(4, 4)


def of_the_null_space(a):
    u, _, _ = np.linalg.svd(a)
    return np.sum(WEIGHTS * (u[:, 2:] @ u[:, 2:].T))


@pytest.mark.parametrize("shape", [(4, 2), (2, 4)], ids=str)
def test_the_other_vectors_have_their_derivative_beside_the_null_space(shape):
    def f(a):
        u, s, vh = np.linalg.svd(a)
        return (
            np.sum(s**3)
            + np.sum(np.abs(u[:, :2]) * WEIGHTS[: shape[0], :2])
            + np.sum(np.abs(vh[:2]) ** 3)
        )

    a = TALL.reshape(shape)
    expected = gradient(numpy_function(f), AutoFiniteDifferences(), a)[0]
    np.testing.assert_allclose(
        gradient(numpy_function(f), AutoTorch(), a)[0], expected, rtol=1e-6, atol=1e-8
    )
    stacked = batched(gradient, numpy_function(f), AutoTorch(), Each(np.stack([a, 2 * a])))[0]
    np.testing.assert_allclose(stacked[0], expected, rtol=1e-6, atol=1e-8)
    with pytest.raises(BackendError, match="full_matrices=True"):
        batched(
            gradient, numpy_function(of_the_null_space), AutoTorch(), Each(np.stack([TALL, TALL]))
        )


@pytest.mark.parametrize("operator", [gradient, hessian, diagonal_hessian])
def test_the_null_space_is_refused_in_the_same_words_in_forward_mode(operator):
    f, forward = numpy_function(of_the_null_space), AutoTorch(mode="forward")
    point = torch.tensor(TALL)
    words = "linalg.svd: with full_matrices=True the vectors of the null space..."
    for call in (
        lambda: operator(f, forward, TALL),
        lambda: batched(operator, f, forward, Each(TALL[None])),
        lambda: gradient(lambda a: array_namespace(a).linalg.svd(a).S.sum(), forward, TALL),
        lambda: torch.func.jvp(lambda a: array_namespace(a).linalg.svd(a).U, (point,), (point,)),
    ):
        assert_told(call, BackendError, words)
