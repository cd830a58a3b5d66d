"""`adinterface.integrations.pymanopt`: costs of every engine on manifolds."""

import autograd.numpy as anp
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import BACKENDS, each_backend, rtol_of

pytest.importorskip("pymanopt", reason="`make integrations` installs pymanopt")

from pymanopt.manifolds import ComplexCircle, Euclidean, Product

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    OutputError,
    TreeError,
)
from adinterface.integrations.pymanopt import function

NAMESPACES = {AutoJax(): jnp, AutoTorch(): torch, AutoAutograd(): anp, AutoFiniteDifferences(): np}


def _rng():
    return np.random.default_rng(0)


def _real(*shape):
    return _rng().normal(size=shape)


def _complex(*shape):
    rng = _rng()
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


# Gradients and Hessian-vector products
# ------------------------------------------------------------------------------------


@each_backend
def test_one_real_argument(backend):
    xp = NAMESPACES[backend]

    @function(Euclidean(4), backend)
    def cost(x):
        return xp.sin(x).sum()

    x, v, rtol = _real(4), _real(4)[::-1], rtol_of(backend)
    assert type(cost(x)) is np.float64
    np.testing.assert_allclose(cost(x), np.sin(x).sum())
    gradient, product = cost.get_gradient_operator()(x), cost.get_hessian_operator()(x, v)
    assert type(gradient) is type(product) is np.ndarray
    np.testing.assert_allclose(gradient, np.cos(x), rtol=rtol)
    np.testing.assert_allclose(product, -np.sin(x) * v, rtol=100 * rtol)


@each_backend
def test_one_complex_argument(backend):
    xp = NAMESPACES[backend]

    @function(ComplexCircle(4), backend)
    def cost(x):
        return xp.real((x**3).sum())

    x, v, rtol = _complex(4), _complex(4)[::-1], rtol_of(backend)
    np.testing.assert_allclose(cost(x), (x**3).sum().real)
    np.testing.assert_allclose(cost.get_gradient_operator()(x), 3 * x.conj() ** 2, rtol=rtol)
    np.testing.assert_allclose(
        cost.get_hessian_operator()(x, v), 6 * (x * v).conj(), rtol=100 * rtol
    )


@each_backend
def test_several_arguments_real_and_complex(backend):
    xp = NAMESPACES[backend]

    @function(Product([Euclidean(3), ComplexCircle(3)]), backend)
    def cost(*point):
        x, z = point
        return xp.real((x**2 * z * xp.conj(z)).sum())

    x, z, u, w, rtol = _real(3), _complex(3), _real(3)[::-1], _complex(3)[::-1], rtol_of(backend)
    by_x, by_z = cost.get_gradient_operator()(x, z)
    np.testing.assert_allclose(by_x, 2 * x * abs(z) ** 2, rtol=rtol)
    np.testing.assert_allclose(by_z, 2 * x**2 * z, rtol=rtol)
    along_x, along_z = cost.get_hessian_operator()(x, z, u, w)
    np.testing.assert_allclose(
        along_x, 2 * u * abs(z) ** 2 + 4 * x * (z * w.conj()).real, rtol=100 * rtol
    )
    np.testing.assert_allclose(along_z, 4 * x * u * z + 2 * x**2 * w, rtol=100 * rtol)
    assert along_x.dtype == "float64"
    assert along_z.dtype == "complex128"


# What does not fit
# ------------------------------------------------------------------------------------------------


def test_what_is_no_manifold_and_no_backend():
    with pytest.raises(
        TypeError, match=r"the first argument is AutoJax\(\), not a manifold of pymanopt"
    ):
        function(AutoJax(), Euclidean(2))
    with pytest.raises(BackendError, match="AutoJax"):
        function(Euclidean(2), "jax")


def test_a_cost_that_cannot_take_a_point():
    manifold = Product([Euclidean(2), Euclidean(2)])
    with pytest.raises(
        TypeError, match=r"f must take 2 positional arguments, .*: too many .*functools\.partial"
    ):
        function(manifold, AutoJax())(lambda x: x.sum())
    with pytest.raises(TypeError, match="f"):
        function(manifold, AutoJax())(None)


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_a_cost_that_is_no_scalar(backend):
    cost = function(Euclidean(2), backend)(lambda x: x * 2)
    for call in (
        lambda: cost.get_gradient_operator()(_real(2)),
        lambda: cost.get_hessian_operator()(_real(2), _real(2)),
    ):
        with pytest.raises(OutputError, match=r"shape \(2,\)"):
            call()


def test_a_complex_direction_at_a_real_point():
    cost = function(Euclidean(2), AutoTorch())(lambda x: (x**2).sum())
    with pytest.raises(TreeError, match=r"take `vector\.real`, or a complex point"):
        cost.get_hessian_operator()(_real(2), _complex(2))
