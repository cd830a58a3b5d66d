"""Nodes of torch's graph whose backward pass is wrong without a word: another way, or a refusal."""

import pytest
import torch
from backends_table import assert_numbers, assert_told
from torch import nn

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    Constant,
    Each,
    NotRecordedError,
    SecondOrder,
    batched,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pushforward,
    second_derivative,
)

# vmap of weight_norm is a loop
pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop")

TORCH, DIFFERENCES = AutoTorch(), AutoFiniteDifferences()
DIFFERENCED = SecondOrder(DIFFERENCES, TORCH)


def numbers(*shape):
    return torch.randn(
        *shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape))
    )


# One entry after another.
# -----------------------------------------------------------------------------------------------

X, XS, CENTRES = numbers(2, 3), numbers(4, 2, 3), numbers(1, 3)


# Refused where the pass is recorded.
# -------------------------------------------------------------------------------------

V, DIRECTION, LENGTHS, INPUTS = numbers(3, 4), numbers(4, 3), numbers(3, 1), numbers(4, 2)


def output(v, x):
    return (torch._weight_norm(v, LENGTHS, 0) @ x).sin()


def loss(v, x=INPUTS):
    return (output(v, x) ** 3).sum()


def _slope(v, backend=TORCH):
    return (gradient(loss, backend, v)[0] ** 2).sum()


def _in_graph(v):
    q = v.clone().requires_grad_() * 1
    return torch.autograd.grad((gradient(loss, TORCH, q)[0] ** 2).sum(), q)


def _batch_in_graph(v):
    q = v.clone().requires_grad_() * 1
    return torch.autograd.grad((batched(gradient, loss, TORCH, Each(q[None]))[0] ** 2).sum(), q)


AGAIN = {
    "hessian": lambda v: hessian(loss, TORCH, v),
    "diagonal_hessian": lambda v: diagonal_hessian(loss, TORCH, v),
    "nested": lambda v: gradient(_slope, TORCH, v),
    "around a batch": lambda v: gradient(
        lambda v: batched(gradient, loss, TORCH, Each(v[None]))[0].sum(), TORCH, v
    ),
    "in a graph": _in_graph,
    "batch in a graph": _batch_in_graph,
    "create_graph": lambda v: gradient(loss, AutoTorch(create_graph=True), v),
    "captured in torch.func": lambda v: torch.func.grad(
        lambda x: gradient(loss, TORCH, v, x)[0].sum()
    )(INPUTS),
}


@pytest.mark.parametrize("way", AGAIN.values(), ids=AGAIN)
def test_second_derivatives_of_weight_norm_are_refused(way):
    words = "...f calls weight_norm of torch...differences: SecondOrder(Auto..."
    assert_told(lambda: way(V), NotRecordedError, words)
    assert_numbers(hvp(loss, DIFFERENCED, V, V), hvp(loss, DIFFERENCES, V, V), 1e-4)


FIRST = {
    "gradient": lambda backend: gradient(loss, backend, V)[0],
    "jacobian": lambda backend: jacobian(output, backend, V, Constant(INPUTS))[0],
    "tall": lambda backend: jacobian(lambda s: output(V + s, INPUTS), backend, V[:, :1])[0],
    "pushforward": lambda backend: pushforward(
        lambda v: output(v, INPUTS), backend, (V,), (V + 1,)
    )[1],
    "Hessian of the inputs": lambda backend: hessian(lambda x: loss(V, x), backend, INPUTS),
    "penalty": lambda backend: gradient(
        lambda v: (gradient(lambda x: loss(v, x), TORCH, INPUTS)[0] ** 2).sum(), backend, V
    )[0],
}


@pytest.mark.parametrize("way", FIRST.values(), ids=FIRST)
def test_first_derivatives_of_weight_norm(way):
    assert_numbers(way(TORCH), way(DIFFERENCES), 1e-4)


# Without a second derivative.
# --------------------------------------------------------------------------------------------


def tall(s):
    return torch.cdist(s[0] * XS[0] + s[1], XS[1])


COLUMNS = {
    "jacobian": lambda backend: jacobian(tall, backend, X[0, :2])[0],
    "prepared": lambda backend: prepare(jacobian, tall, backend, X[0, :2])(X[0, :2])[0],
    "pushforward": lambda backend: pushforward(tall, backend, (X[0, :2],), (X[1, :2],))[1],
    "linearize": lambda backend: linearize(tall, backend, X[0, :2])[1](X[1, :2]),
    "of a batch": lambda backend: batched(jacobian, tall, backend, Each(X[:, :2]))[0],
    "pushforward of a batch": lambda backend: batched(
        pushforward, tall, backend, (Each(X[:, :2]),), (Each(X[:, :2]),)
    )[1],
}


@pytest.mark.parametrize("way", COLUMNS.values(), ids=COLUMNS)
def test_tall_jacobians_of_what_has_no_second_derivative(way):
    assert_numbers(way(TORCH), way(DIFFERENCES), 1e-6)


# Wrong at third order, where a forward derivative of a derivative takes three passes.
# ----------------------------------------

NORMS = {
    "layer_norm": lambda x: nn.functional.layer_norm(x, (4,)),
    "batch_norm": lambda x: nn.functional.batch_norm(x, None, None, training=True),
    "instance_norm": lambda x: nn.functional.instance_norm(x[None])[0],
    "batch_norm, evaluated": lambda x: nn.functional.batch_norm(x, V[0], V[1] ** 2 + 1),
    "group_norm": lambda x: nn.functional.group_norm(x, 2),
}


@pytest.mark.parametrize("name", NORMS)
def test_second_derivatives_along_a_line(name):
    def f(t):
        return (NORMS[name](V + t * (V + 1) ** 2) * V).sin().sum()

    assert_numbers(second_derivative(f, TORCH, 0.3), second_derivative(f, DIFFERENCES, 0.3), 1e-5)
    assert_numbers(
        pushforward(lambda t: gradient(f, TORCH, t)[0], TORCH, (0.3,), (1.0,))[1],
        second_derivative(f, DIFFERENCES, 0.3),
        1e-5,
    )


@pytest.mark.skipif(not hasattr(nn, "LinearCrossEntropyOptions"), reason="torch from 2.13 on")
def test_second_derivatives_of_linear_cross_entropy_in_chunks():
    target = torch.tensor([0, 1, 2])
    options = nn.LinearCrossEntropyOptions(
        batch_chunk_size=2, chunking_method="auto", allow_retain_graph=True
    )

    def f(w):
        return nn.functional.linear_cross_entropy(V, w, target, options=options)

    assert_numbers(gradient(f, TORCH, V + 1)[0], gradient(f, DIFFERENCES, V + 1)[0], 1e-5)
    with pytest.raises(NotRecordedError, match="f calls linear_cross_entropy of torch in chunks"):
        hvp(f, TORCH, V + 1, V)


@pytest.mark.parametrize("operator", [hvp, hessian], ids=lambda o: o.__name__)
@pytest.mark.parametrize("outer", [TORCH, AutoTorch(mode="reverse")], ids=repr)
def test_second_derivatives_of_logcumsumexp(operator, outer):
    def f(x):
        return (torch.logcumsumexp(x, 0)[1:] ** 2).sum()

    directions = (V[1],) if operator is hvp else ()
    found = operator(f, SecondOrder(outer, TORCH), V[0], *directions)
    assert_numbers(found, operator(f, DIFFERENCED, V[0], *directions), 1e-5)
