"""Each evaluation of f starts from the arguments of the call, also where f writes into them."""

import numpy as np
import pytest
import torch

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoTorch,
    Constant,
    array_namespace,
    gradient,
    hessian,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
)

X = np.arange(1.0, 9.0)
CHUNKS = [AutoTorch(mode="forward", chunk_size=size) for size in (None, 1, 3)]


def doubling(x):
    x *= 2
    return x**2


@pytest.mark.parametrize(
    "backend", [*CHUNKS, AutoAutograd(mode="forward"), AutoFiniteDifferences()], ids=repr
)
@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_each_evaluation_starts_from_the_argument_which_stays_as_it_is(backend, make):
    x, v = make(X), make(X)
    for call in (
        lambda: jacobian(doubling, backend, x),
        lambda: prepare(jacobian, doubling, backend, x)(x),
    ):
        np.testing.assert_allclose(call()[0], np.diag(8 * X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        pushforward(doubling, backend, (x,), (v,)).tangent, 8 * X**2, rtol=1e-9
    )
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


REPEATING = [
    AutoAutograd(mode="forward"),
    AutoFiniteDifferences(),
    AutoFiniteDifferences(method="central"),
]


@pytest.mark.parametrize("backend", REPEATING, ids=repr)
def test_an_f_that_writes_into_a_constant_is_told_where_it_is_evaluated_again(backend):
    """Else each evaluation doubles it once more."""
    constant = np.array([1.0, 2.0, 3.0])

    def f(x, c):
        c *= 2
        return (x * c).sum()

    x, calls = X[:3], {
        "gradient": lambda: gradient(f, backend, x, Constant(constant)),
        "keyword": lambda: gradient(lambda x, *, c: f(x, c), backend, x, c=constant),
        "inside": lambda: gradient(lambda m: f(m["x"], m["c"]), backend, {"x": x, "c": Constant(constant)}),
        "jacobian": lambda: jacobian(f, backend, x, Constant(constant)),
        "linearize": lambda: linearize(f, backend, x, Constant(constant)),
        "hessian": lambda: hessian(f, backend, x, Constant(constant)),
        "prepared": lambda: prepare(gradient, f, backend, x, Constant(constant))(x, Constant(constant)),
    }  # fmt: skip
    for call in calls.values():
        with pytest.raises(ValueError, match="read-only") as caught:
            call()
        assert any(
            "NumPy arrays in Constants and keywords are read-only" in note
            for note in caught.value.__notes__
        )
    np.testing.assert_array_equal(constant, [1.0, 2.0, 3.0])
    assert constant.flags.writeable


def test_an_f_that_is_evaluated_once_may_write_into_a_constant():
    constant = np.array([1.0, 2.0])
    found, _ = gradient(
        lambda x, c: (x * np.multiply(c, 2, out=c)).sum(), AutoAutograd(), X[:2], Constant(constant)
    )
    np.testing.assert_array_equal(found, [2.0, 4.0])
