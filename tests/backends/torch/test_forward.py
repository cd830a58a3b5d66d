"""Forward mode of torch: leaves need no memory of their own, and a rule may call NumPy."""

import numpy as np
import pytest
import torch
from backends_table import assert_numbers

from adinterface import (
    AutoTorch,
    Constant,
    Each,
    SecondOrder,
    batched,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    rule,
)

FORWARD, REVERSE = AutoTorch(mode="forward"), AutoTorch()
X = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
BASE = torch.arange(1.0, 7.0, dtype=torch.float64)
each_backend = pytest.mark.parametrize("backend", [REVERSE, FORWARD], ids=["reverse", "forward"])


OVERLAPPING = {
    "unfold": BASE.unfold(0, 3, 1),
    "expand": BASE[1].expand(3),
    "rows": BASE[:2, None].expand(2, 3),
    "window": np.lib.stride_tricks.sliding_window_view(np.arange(1.0, 7.0), 3),
    "step": BASE[::2],
    "transposed": BASE.reshape(2, 3).T,
    "flat": BASE[:0].expand(3, 0),
}


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("name", OVERLAPPING)
@each_backend
def test_elements_that_share_memory_are_variables_of_their_own(backend, name):
    x = OVERLAPPING[name]
    numbers = x.clone() if isinstance(x, torch.Tensor) else torch.from_numpy(x.copy())
    flat = (2 * numbers).reshape(-1)
    assert_numbers(gradient(lambda x: (x**2).sum(), backend, x)[0], 2 * numbers, 1e-15)
    found = jacobian(lambda x: x**2, backend, x)[0]
    assert_numbers(found, torch.diag(flat).reshape(*x.shape, *x.shape), 1e-15)
    found = prepare(jacobian, lambda x: x**2, backend, x)(x)[0]
    assert_numbers(found, torch.diag(flat).reshape(*x.shape, *x.shape), 1e-15)
    assert_numbers(pushforward(lambda x: x**2, backend, (x,), (x,)).tangent, 2 * numbers**2, 1e-15)
    assert_numbers(linearize(lambda x: x**2, backend, x).push(x), 2 * numbers**2, 1e-15)
    assert_numbers(pullback(lambda x: x**2, backend, x).back(x)[0], 2 * numbers**2, 1e-15)
    for pair in (backend, SecondOrder(backend, REVERSE), SecondOrder(REVERSE, backend)):
        assert_numbers(hvp(lambda x: (x**3).sum(), pair, x, x), 6 * numbers**2, 1e-14)


# Batches of tangents inside a batch ------------------------------------------------------------------------------------------

MATRICES = torch.tensor([[[2.0, 1.0], [0.5, 1.0]], [[1.0, -1.0], [2.0, 3.0]], [[4.0, 0.3], [0.2, -1.0]]], dtype=torch.float64)
RIGHT = X[:2]
# torch.linalg.lu_solve stretches factors over the wrong entries: (4, 1, n, n) for (4, 3, n, m).


def by_factors(a, b=RIGHT[:, None]):
    return torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b)


SIDES = torch.tensor([[[1.0], [2.0]], [[0.5], [-1.0]], [[2.0], [0.3]]], dtype=torch.float64)


def test_each_entry_is_solved_with_its_own_factors_one_after_another():
    backend = AutoTorch(chunk_size=1)
    rows = [jacobian(by_factors, backend, a, b) for a, b in zip(MATRICES, SIDES)]
    for result, entries in zip(batched(jacobian, by_factors, backend, Each(MATRICES), Each(SIDES)), zip(*rows)):
        assert_numbers(result, torch.stack(entries))
    push = batched(linearize, by_factors, backend, Each(MATRICES), Each(SIDES)).push
    assert_numbers(push(0 * MATRICES, SIDES), torch.linalg.solve(MATRICES, SIDES))

    def f(b, a):
        return (by_factors(a, b) ** 3).sum()

    curves = torch.stack([hessian(f, AutoTorch(), b, Constant(a)) for a, b in zip(MATRICES, SIDES)])
    assert_numbers(batched(hessian, f, backend, Each(SIDES), Constant(Each(MATRICES))), curves)


# Functions that write into their own second argument -------------------------------------------------------------------------


# NumPy on constants -----------------------------------------------------------------------------------------------------------


@each_backend
def test_the_code_of_a_rule_may_call_numpy_on_its_tensors(backend):
    sine = rule(lambda y: torch.from_numpy(np.sin((2 * y).numpy())) + torch.as_tensor(np.cos(np.asarray(y))))
    sine.pullback(lambda c, value, y: c * (2 * torch.cos(2 * y) - torch.sin(y)))
    slopes = 2 * torch.cos(2 * X) - torch.sin(X)
    assert_numbers(jacobian(sine, backend, X)[0], torch.diag(slopes), 1e-12)
    assert_numbers(pushforward(sine, backend, (X,), (X,)).tangent, slopes * X, 1e-12)
    assert_numbers(torch.func.grad(lambda x: sine(x).sum())(X), slopes, 1e-12)
