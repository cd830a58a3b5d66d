"""`array_namespace`: one f for every engine."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import assert_tree, each_backend, each_engine, rtol_of

from adinterface import AutoAutograd, AutoFiniteDifferences, AutoJax, AutoTorch, array_namespace, gradient

n, t, j = np.ones(3), torch.ones(3), jnp.ones(3)
OUTSIDE = [
    pytest.param((n,), "array_api_compat.numpy", id="numpy"),
    pytest.param((np.float32(1),), "array_api_compat.numpy", id="numpy scalar"),
    pytest.param((t,), "adinterface_torch.namespace", id="torch"),
    pytest.param((j,), "adinterface_jax.namespace", id="jax"),
    pytest.param((1.0, 2), "array_api_compat.numpy", id="python numbers"),
    pytest.param((1.0, None, t), "adinterface_torch.namespace", id="float, None, torch"),
    pytest.param((n, j), "adinterface_jax.namespace", id="numpy, jax"),
    pytest.param((), "array_api_compat.numpy", id="nothing"),
]


@pytest.mark.parametrize(("arrays", "name"), OUTSIDE)
def test_the_arrays_decide_the_namespace(arrays, name):
    assert array_namespace(*arrays).__name__ == name


INSIDE = {
    AutoJax(): "adinterface_jax.namespace",
    AutoTorch(): "adinterface_torch.namespace",
    AutoAutograd(): "adinterface_autograd.namespace",
    AutoFiniteDifferences(): "array_api_compat.numpy",
    AutoFiniteDifferences(native=AutoTorch()): "adinterface_torch.namespace",
}


@pytest.mark.parametrize(("backend", "name"), INSIDE.items(), ids=str)
@pytest.mark.parametrize("x", [1.0, n, np.float64(2)], ids=["float", "array", "scalar"])
def test_inside_f_the_engine_decides(x, backend, name):
    seen = set()

    def f(x):
        seen.add(array_namespace(x).__name__)
        return array_namespace(x).sum(x)

    gradient(f, backend, x)
    assert seen == {name}


def test_two_libraries_that_do_not_mix_are_refused():
    with pytest.raises(TypeError, match="jax and torch arrays do not mix"):
        array_namespace(t, j)


# einsum and concat ---------------------------------------------------------------------------------------------------

A = np.linspace(0.5, 2, 6).reshape(2, 3)
B = np.linspace(-1, 1, 12).reshape(3, 4)
W = np.linspace(1, 3, 8).reshape(2, 4)


EINSUMS = [
    pytest.param("ij,jk,ik->", lambda a, b: (W @ b.T, a.T @ W), id="to a scalar"),
    pytest.param("ij,jk->ik", lambda a, b: (W @ b.T, a.T @ W), id="a matrix product"),
    pytest.param("...j,jk->...k", lambda a, b: (W @ b.T, a.T @ W), id="with an ellipsis"),
]


@each_backend
@pytest.mark.parametrize(("subscripts", "expected"), EINSUMS)
def test_every_engine_differentiates_einsum(subscripts, expected, backend):
    def f(a, b):
        xp = array_namespace(a, b)
        w = xp.asarray(W)
        return xp.einsum(subscripts, a, b, w) if subscripts.endswith("->") else xp.sum(w * xp.einsum(subscripts, a, b))

    assert_tree(gradient(f, backend, A, B), expected(A, B), rtol_of(backend))


def weighted(xp, x):
    """The sum of an array's elements, each times its number, so that no two are alike."""
    size = int(np.prod(x.shape))
    return xp.sum(x * x * xp.reshape(xp.asarray(np.arange(1.0, size + 1)), x.shape))


CONCATS = [
    pytest.param(lambda xp, a, b: xp.concat([a, b]), lambda a, b: np.concatenate([a, b]), id="axis 0"),
    pytest.param(lambda xp, a, b: xp.concat((a, b), axis=1), lambda a, b: np.concatenate([a, b], axis=1), id="axis 1"),
    pytest.param(lambda xp, a, b: xp.concat([a, b], axis=-1), lambda a, b: np.concatenate([a, b], axis=-1), id="axis -1"),
    pytest.param(lambda xp, a, b: xp.concat([a, b], axis=None), lambda a, b: np.concatenate([a, b], axis=None), id="axis None"),
    pytest.param(
        lambda xp, a, b: xp.concat([a, xp.asarray(A), b]), lambda a, b: np.concatenate([a, A, b]), id="with a NumPy array"
    ),
    pytest.param(lambda xp, a, b: xp.concat([a, a, b]), lambda a, b: np.concatenate([a, a, b]), id="one array twice"),
    pytest.param(lambda xp, a, b: xp.stack([a, b]), lambda a, b: np.stack([a, b]), id="stack"),
    pytest.param(lambda xp, a, b: xp.stack([a, b], axis=-1), lambda a, b: np.stack([a, b], axis=-1), id="stack, axis -1"),
]


@each_backend
@pytest.mark.parametrize(("join", "in_numpy"), CONCATS)
def test_every_engine_differentiates_concat(join, in_numpy, backend):
    def f(a, b):
        xp = array_namespace(a, b)
        return weighted(xp, join(xp, a, b))

    def reference(a, b):
        """The gradient of the quadratic form, from the derivative of the join, which is linear."""
        joined = in_numpy(a, b)
        slopes = 2 * joined * np.arange(1.0, joined.size + 1).reshape(joined.shape)
        units = np.eye(6).reshape(6, 2, 3)
        zero = np.zeros_like(a)
        constant = in_numpy(zero, zero)
        by_a = [np.sum(slopes * (in_numpy(unit, zero) - constant)) for unit in units]
        by_b = [np.sum(slopes * (in_numpy(zero, unit) - constant)) for unit in units]
        return np.reshape(by_a, a.shape), np.reshape(by_b, b.shape)

    assert_tree(gradient(f, backend, A, A[::-1] - 1), reference(A, A[::-1] - 1), rtol_of(backend))


# Functions of the standard that a model needs, under the standard's names ---------------------------------------------

P = np.array([[0.2, 0.9, 0.4], [0.7, 0.1, 0.6]])
FUNCTIONS = [
    pytest.param(lambda xp, x: xp.acos(x), lambda x: -1 / np.sqrt(1 - x**2), id="acos"),
    pytest.param(lambda xp, x: xp.asinh(x), lambda x: 1 / np.sqrt(1 + x**2), id="asinh"),
    pytest.param(lambda xp, x: xp.atan2(x, x * x + 1), lambda x: (1 - x**2) / (x**2 + (x**2 + 1) ** 2), id="atan2"),
    pytest.param(lambda xp, x: xp.pow(x, 3), lambda x: 3 * x**2, id="pow"),
    pytest.param(lambda xp, x: xp.permute_dims(x, (1, 0)) ** 2, lambda x: 2 * x, id="permute_dims"),
    pytest.param(lambda xp, x: xp.matrix_transpose(x) ** 2, lambda x: 2 * x, id="matrix_transpose"),
    pytest.param(lambda xp, x: xp.astype(x, xp.float64) ** 2, lambda x: 2 * x, id="astype"),
    pytest.param(lambda xp, x: xp.where(x > 0.5, x**2, x**3), lambda x: np.where(x > 0.5, 2 * x, 3 * x**2), id="where"),
    pytest.param(lambda xp, x: xp.cumulative_sum(x, axis=1), lambda x: np.tile([3.0, 2, 1], (2, 1)), id="cumulative_sum"),
    pytest.param(lambda xp, x: xp.max(x, axis=1), lambda x: (x == x.max(axis=1, keepdims=True)).astype(float), id="max"),
    pytest.param(lambda xp, x: xp.mean(x**2, axis=0), lambda x: x, id="mean"),
    pytest.param(lambda xp, x: x @ xp.permute_dims(x, (1, 0)), lambda x: 2 * np.tile(x.sum(axis=0), (2, 1)), id="matmul"),
    pytest.param(lambda xp, x: xp.expand_dims(x, axis=1) ** 2, lambda x: 2 * x, id="expand_dims"),
    pytest.param(lambda xp, x: xp.squeeze(x[:, None], axis=1) ** 2, lambda x: 2 * x, id="squeeze"),
    pytest.param(lambda xp, x: xp.log1p(xp.exp(x)), lambda x: 1 / (1 + np.exp(-x)), id="softplus"),
]


@each_backend
@pytest.mark.parametrize(("function", "derivative"), FUNCTIONS)
def test_the_standards_names_are_differentiated(function, derivative, backend):
    def f(x):
        xp = array_namespace(x)
        return xp.sum(function(xp, x))

    assert_tree(gradient(f, backend, P), (derivative(P),), rtol_of(backend))


@each_engine
def test_python_scalars_in_f_behave_as_arrays_of_the_engine(backend):
    f = lambda x: array_namespace(x).sin(x) * 2 + array_namespace(1.0).sqrt(4.0)
    assert_tree(gradient(f, backend, 0.5), (float(2 * np.cos(0.5)),), rtol_of(backend))
