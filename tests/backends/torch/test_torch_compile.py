"""Calls in functions that `torch.compile` compiles: a graph break, and the right result."""

import numpy as np
import pytest
import torch
from backends_table import assert_numbers

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Each,
    batched,
    gradient,
    hessian,
    prepare,
    pushforward,
)
from adinterface.loops import scan

TORCH = AutoTorch()
X = torch.tensor([0.5, -1.5, 2.0], dtype=torch.float64)
FAST = prepare(gradient, lambda x: (x**3).sum(), TORCH, X)
MODULE = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh(), torch.nn.Linear(2, 1)).double()

CALLS = {
    "gradient": lambda x: gradient(lambda x: (x**3).sum(), TORCH, x)[0],
    "prepared": lambda x: FAST(x)[0],
    "hessian": lambda x: hessian(lambda x: (x**3).sum(), TORCH, x),
    "pushforward": lambda x: pushforward(torch.sin, TORCH, (x,), (x,)).tangent,
    "nested": lambda x: gradient(
        lambda x: (gradient(lambda x: (x**3).sum(), TORCH, x)[0] ** 2).sum(), TORCH, x
    )[0],
    "module": lambda x: gradient(lambda m: m(x).sum(), TORCH, MODULE)[0][0].weight,
    "batched": lambda x: batched(
        gradient, lambda x: (x**3).sum(), TORCH, Each(torch.stack([x, 2 * x]))
    )[0],
    "differences": lambda x: gradient(lambda x: (x**3).sum(), AutoFiniteDifferences(), x)[0],
    "another engine": lambda x: x * float(gradient(lambda x: x**3, AutoJax(), 2.0)[0]),
    "loop": lambda x: scan(lambda c, _: (c * x, None), x, length=3)[0],
    "NumPy": lambda x: torch.as_tensor(gradient(lambda x: (x**3).sum(), TORCH, np.ones(3))[0]) * x,
}


@pytest.fixture(autouse=True)
def _fresh():
    torch.compiler.reset()
    yield
    torch.compiler.reset()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_call_runs_as_without_the_compiler(call):
    around = lambda x: call(x * 2.0) + 1.0
    compiled = torch.compile(around, backend="eager")
    for x in (X, X + 1.0, X[:3] * 2):
        assert_numbers(compiled(x), around(x), 1e-15)
    with torch.no_grad():
        assert_numbers(compiled(X), around(X), 1e-15)


# Dynamo asks for it
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_an_outer_gradient_passes_through_a_compiled_function():
    compiled = torch.compile(CALLS["gradient"], backend="eager")
    assert_numbers(gradient(lambda x: compiled(x * 1.0).sum(), TORCH, X)[0], 6 * X)
    leaf = X.clone().requires_grad_()
    compiled(leaf * 1.0).sum().backward()
    assert_numbers(leaf.grad, 6 * X)


def test_a_whole_graph_is_refused_by_torch():
    compiled = torch.compile(CALLS["gradient"], backend="eager", fullgraph=True)
    with pytest.raises(torch._dynamo.exc.Unsupported):
        compiled(X)
