"""Nodes of torch's graph whose backward pass is wrong without a word: another way, or a refusal."""

import re

import pytest
import torch
from backends_table import assert_numbers
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
    pullback,
    pushforward,
)

pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop")  # vmap of weight_norm is a loop

TORCH, DIFFERENCES = AutoTorch(), AutoFiniteDifferences()
DIFFERENCED = SecondOrder(DIFFERENCES, TORCH)


def numbers(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(sum(shape)))


# One entry after another. -----------------------------------------------------------------------------------------------

X, XS, CENTRES = numbers(2, 3), numbers(4, 2, 3), numbers(1, 3)
ROWS = torch.eye(2, dtype=torch.float64).reshape(2, 2, 1)


def distances(x):
    return torch.cdist(x, CENTRES)


def _stacked(f, x):
    (rows,) = pullback(f, TORCH, x)[1].stacked(ROWS)
    return rows.reshape(2, 1, 2, 3)


def _stacked_of_batch(f, x):
    rows = batched(pullback, f, TORCH, Each(x[None]))[1].stacked(ROWS[:, None])[0]
    return rows.reshape(2, 1, 2, 3)


BATCHED = {
    "jacobian": lambda f, x: jacobian(f, TORCH, x)[0],
    "in reverse": lambda f, x: jacobian(f, AutoTorch(mode="reverse"), x)[0],
    "prepared": lambda f, x: prepare(jacobian, f, TORCH, x)(x)[0],
    "stacked": _stacked,
    "of a batch": lambda f, x: batched(jacobian, f, TORCH, Each(torch.stack([x, x])))[0][1],
    "stacked of a batch": _stacked_of_batch,
    "in vmap": lambda f, x: torch.vmap(lambda x: jacobian(f, TORCH, x)[0])(x[None])[0],
}


@pytest.mark.parametrize("way", BATCHED.values(), ids=BATCHED)
def test_rows_of_distances(way):
    assert_numbers(way(distances, X), jacobian(distances, DIFFERENCES, X)[0], 1e-6)


def test_gradients_of_distances_stay_in_one_batch():
    calls = []

    def f(x):
        calls.append(x)
        return (distances(x) ** 3).sum()

    (result,) = batched(gradient, f, TORCH, Each(XS))
    assert len(calls) == 1
    assert_numbers(result, torch.stack([gradient(f, TORCH, x)[0] for x in XS]))


# Refused where the pass is recorded. -------------------------------------------------------------------------------------

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
    "hvp": lambda v: hvp(loss, TORCH, v, v),
    "prepared": lambda v: prepare(hvp, loss, TORCH, v, v)(v, v),
    "batched": lambda v: batched(hessian, loss, TORCH, Each(v[None])),
    "nested": lambda v: gradient(_slope, TORCH, v),
    "nested, prepared": lambda v: prepare(gradient, _slope, TORCH, v)(v),
    "around a batch": lambda v: gradient(lambda v: batched(gradient, loss, TORCH, Each(v[None]))[0].sum(), TORCH, v),
    "in a graph": _in_graph,
    "batch in a graph": _batch_in_graph,
    "create_graph": lambda v: gradient(loss, AutoTorch(create_graph=True), v),
    "torch.func": lambda v: torch.func.grad(_slope)(v),
    "captured in torch.func": lambda v: torch.func.grad(lambda x: gradient(loss, TORCH, v, x)[0].sum())(INPUTS),
}


@pytest.mark.parametrize("way", AGAIN.values(), ids=AGAIN)
def test_second_derivatives_of_weight_norm_are_refused(way):
    with pytest.raises(NotRecordedError, match=r"f calls weight_norm of torch.*SecondOrder\(AutoFiniteDifferences"):
        way(V)
    assert_numbers(hvp(loss, DIFFERENCED, V, V), hvp(loss, DIFFERENCES, V, V), 1e-4)


def test_a_module_with_weight_norm_names_the_remedy():
    model = nn.utils.parametrizations.weight_norm(nn.Linear(4, 2)).double()
    with pytest.raises(NotRecordedError, match=re.escape("g * v / torch.linalg.vector_norm(v, dim=1, keepdim=True)")):
        diagonal_hessian(lambda m: (m(V) ** 2).sum(), TORCH, model)


FIRST = {
    "gradient": lambda backend: gradient(loss, backend, V)[0],
    "jacobian": lambda backend: jacobian(output, backend, V, Constant(INPUTS))[0],
    "tall": lambda backend: jacobian(lambda s: output(V + s, INPUTS), backend, V[:, :1])[0],
    "pushforward": lambda backend: pushforward(lambda v: output(v, INPUTS), backend, (V,), (V + 1,))[1],
    "linearize": lambda backend: linearize(lambda v: output(v, INPUTS), backend, V)[1](V + 1),
    "Hessian of the inputs": lambda backend: hessian(lambda x: loss(V, x), backend, INPUTS),
    "penalty": lambda backend: gradient(lambda v: (gradient(lambda x: loss(v, x), TORCH, INPUTS)[0] ** 2).sum(), backend, V)[0],
}


@pytest.mark.parametrize("way", FIRST.values(), ids=FIRST)
def test_first_derivatives_of_weight_norm(way):
    assert_numbers(way(TORCH), way(DIFFERENCES), 1e-4)
