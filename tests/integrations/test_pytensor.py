"""`adinterface.integrations.pytensor`, by PyTensor's own checks, and under PyMC's samplers."""

import warnings

import autograd.numpy as anp
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import each_backend

pytest.importorskip("pytensor", reason="`make integrations` installs PyTensor")

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import Rop, verify_grad

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    OutputError,
    numpy_function,
)
from adinterface.integrations.pytensor import as_op

NAMESPACES = {AutoJax(): jnp, AutoTorch(): torch, AutoAutograd(): anp, AutoFiniteDifferences(): np}


def _rng():
    return np.random.default_rng(0)


def _scalar(xp):
    def f(x, y):
        return (xp.sin(x) * y).sum() + (x[0] * y) ** 2

    return f


def _vector(xp):
    def f(a, x):
        return xp.tanh(a @ x)

    return f


# PyTensor's own check
# ------------------------------------------------------------------------------------------------


@each_backend
def test_verify_grad_of_a_scalar(backend):
    op = as_op(_scalar(NAMESPACES[backend]), backend)
    verify_grad(op, [_rng().normal(size=3), np.array(0.7)], rng=_rng())


# Against closed forms
# --------------------------------------------------------------------------------------------------


@each_backend
@pytest.mark.parametrize("by_the_op", [False, True], ids=["two pullbacks", "R_op"])
def test_the_r_operator(backend, by_the_op):
    op = as_op(_vector(NAMESPACES[backend]), backend, pt.dvector)
    a, x, u, v = pt.dmatrix(), pt.dvector(), pt.dmatrix(), pt.dvector()
    values = [_rng().normal(size=shape) for shape in ((2, 3), 3, (2, 3), 3)]
    pushed = pytensor.function(
        [a, x, u, v], Rop(op(a, x), [a, x], [u, v], use_op_rop_implementation=by_the_op)
    )(*values)
    at, x_, du, dv = values
    expected = (1 - np.tanh(at @ x_) ** 2) * (du @ x_ + at @ dv)
    np.testing.assert_allclose(
        pushed, expected, rtol=1e-6 if backend == AutoFiniteDifferences() else 1e-12
    )


@pytest.mark.parametrize(
    "power", [1, 2], ids=["the cotangent is constant", "the cotangent has the value in it"]
)
def test_a_value_and_its_gradient_are_one_evaluation(power):
    counts = {"calls": 0}

    def f(x):
        counts["calls"] += 1
        return (x**2).sum()

    op, x = as_op(f, AutoAutograd()), pt.dvector()
    cost = op(x) ** power
    mode = pytensor.compile.mode.Mode(linker="py", optimizer="fast_run")
    both = pytensor.function([x], [cost, pt.grad(cost, x)], mode=mode)
    both(np.ones(3))
    counts["calls"] = 0
    value, gradient = both(np.arange(3.0))
    assert counts["calls"] == 1
    np.testing.assert_allclose(value, 5.0**power)
    np.testing.assert_allclose(gradient, 2 * np.arange(3.0) * (1 if power == 1 else 10))


# What does not fit
# ------------------------------------------------------------------------------------------------


def test_what_is_no_function_and_no_backend():
    with pytest.raises(TypeError, match="as_op"):
        as_op(None, AutoJax())
    with pytest.raises(BackendError, match="AutoJax"):
        as_op(lambda x: x, "jax")


@pytest.mark.parametrize("outputs", [pt.lscalar, [pt.dscalar, "float64"], [pt.zscalar]])
def test_outputs_are_floating_types(outputs):
    with pytest.raises(
        TypeError,
        match=r"is no floating type of PyTensor\. Pass outputs=pt\.dvector, or a list of types\.",
    ):
        as_op(lambda x: x, AutoJax(), outputs)


def test_a_complex_variable():
    with pytest.raises(TypeError, match=r"a variable is complex\. .* pass `x\.real` and `x\.imag`"):
        as_op(lambda x: x, AutoJax())(pt.zvector())


def test_another_number_of_variables():
    with pytest.raises(
        TypeError,
        match=(
            r"f must take 2 positional arguments, one for each array: too many .*functools\.partial"
        ),
    ):
        as_op(lambda x: x, AutoJax())(pt.dvector(), pt.dvector())


@pytest.mark.parametrize(
    ("f", "outputs", "message"),
    [
        (
            lambda x: x,
            None,
            (
                r"output 0 is .*\(3,\).* and Scalar\(float64, shape=\(\)\) was"
                r" .*pt\.TensorType\(dtype, "
            ),
        ),
        (
            lambda x: x,
            pt.dmatrix,
            r"output 0 is .*\(3,\).* and Matrix\(float64, shape=\(\?, \?\)\) was expected",
        ),
        (
            lambda x: x,
            pt.TensorType("float64", shape=(2,)),
            r"Vector\(float64, shape=\(2,\)\) was expected",
        ),
        (lambda x: (x, x), pt.dvector, r"output 0 is "),
        (lambda x: x, [pt.dvector, pt.dvector], r"must return a tuple of 2 arrays, not "),
        (lambda x: (x,), [pt.dvector, pt.dvector], r"must return a tuple of 2 arrays, not "),
        (lambda x: x * 1j, pt.dvector, r"output 0 is .*complex128"),
    ],
)
def test_a_value_of_another_type(f, outputs, message):
    op, x = as_op(f, AutoAutograd(), outputs), pt.dvector()
    value = op(x)[0] if isinstance(outputs, list) else op(x)
    with pytest.raises(OutputError, match=message):
        pytensor.function([x], value)(np.ones(3))


# PyMC
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pymc():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ArviZ tells of its next release
        return pytest.importorskip("pymc", reason="`make integrations` installs PyMC")


X = np.random.default_rng(1).normal(size=(20, 3))
Y = X @ np.array([1.0, -2.0, 0.5]) + 0.3 * np.random.default_rng(2).normal(size=20)


def _likelihood(xp):
    def loglike(weights, sigma, x, y):
        residual = (y - x @ weights) / sigma
        return -0.5 * (residual**2).sum() - 20 * xp.log(sigma)

    return loglike


LIKELIHOODS = {
    "jax": (_likelihood(jnp), AutoJax()),
    "torch": (_likelihood(torch), AutoTorch()),
    "autograd": (_likelihood(anp), AutoAutograd()),
    "numpy on jax": (numpy_function(_likelihood(np)), AutoJax()),
    "numpy on torch": (numpy_function(_likelihood(np)), AutoTorch()),
    "differences": (_likelihood(np), AutoFiniteDifferences()),
}


def _model(pymc, op):
    with pymc.Model() as model:
        weights = pymc.Normal("weights", 0, 3, shape=3)
        sigma = pymc.HalfNormal("sigma", 1)
        if op is None:
            pymc.Normal("y", X @ np.eye(3) @ weights, sigma, observed=Y)
        else:
            pymc.Potential("likelihood", op(weights, sigma, X, Y))
    return model


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_a_model_has_the_gradient_and_the_hessian_of_pymcs_own(pymc, name):
    ours, own = _model(pymc, as_op(*LIKELIHOODS[name])), _model(pymc, None)
    point = own.initial_point()
    point["weights"] = np.array([0.5, -1.0, 0.2])
    rtol = 1e-7 if name == "differences" else 1e-10
    np.testing.assert_allclose(ours.compile_dlogp()(point), own.compile_dlogp()(point), rtol=rtol)
    if name != "differences":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(
                ours.compile_d2logp()(point), own.compile_d2logp()(point), rtol=1e-10
            )
