"""`array_namespace`: one f for every engine."""

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import assert_tree, each_engine, rtol_of

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    array_namespace,
    gradient,
)

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


@each_engine
def test_python_scalars_in_f_behave_as_arrays_of_the_engine(backend):
    f = lambda x: array_namespace(x).sin(x) * 2 + array_namespace(1.0).sqrt(4.0)
    assert_tree(gradient(f, backend, 0.5), (float(2 * np.cos(0.5)),), rtol_of(backend))
