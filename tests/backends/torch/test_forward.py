"""Forward mode of torch: what is constant in reverse mode is constant here, and leaves need no memory of their own."""

import numpy as np
import pytest
import torch
from backends_table import assert_numbers

from adinterface import (
    AutoTorch,
    BackendError,
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
each_inner = pytest.mark.parametrize("inner", [REVERSE, FORWARD], ids=["inner-reverse", "inner-forward"])


def weighted(x):
    """x^3, the square of which is constant."""
    with torch.no_grad():
        weight = x**2
    return weight * x


def reweighted(x):
    """x^3 with one factor that is not constant in a block of its own."""
    with torch.no_grad():
        weight = x * 1
        with torch.enable_grad():
            live = x * 1
        again = x * 1
    with torch.inference_mode():
        pass
    return weight.detach() * live * again


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@each_backend
def test_no_grad_means_constant(backend, dtype):
    x = X.to(dtype)
    for f in (weighted, reweighted):
        assert_numbers(jacobian(f, backend, x)[0], torch.diag(x**2), 1e-6)
        assert_numbers(prepare(jacobian, f, backend, x)(x)[0], torch.diag(x**2), 1e-6)
        assert_numbers(pushforward(f, backend, (x,), (x,)).tangent, x**3, 1e-6)
        assert_numbers(linearize(f, backend, x).push(x), x**3, 1e-6)
        assert_numbers(pullback(f, backend, x).back(x)[0], x**3, 1e-6)
        assert_numbers(batched(pushforward, f, backend, (Each(x[None]),), (Each(x[None]),)).tangent[0], x**3, 1e-6)
    assert_numbers(jacobian(torch.no_grad()(torch.sin), backend, x)[0], torch.zeros(3, 3), 0)
    assert pushforward(weighted, backend, (x,), (x,)).tangent.dtype is dtype


@each_backend
def test_a_caller_in_no_grad_gets_the_derivative(backend):
    with torch.no_grad():
        assert_numbers(jacobian(weighted, backend, X)[0], torch.diag(X**2), 1e-15)
        assert_numbers(gradient(lambda x: (x**3).sum(), backend, X)[0], 3 * X**2, 1e-15)
    assert torch.is_grad_enabled()
    assert torch._C._is_fwd_grad_enabled()


@each_backend
def test_an_error_in_no_grad_leaves_no_trace(backend):
    def fails(x):
        with torch.no_grad():
            raise ZeroDivisionError

    def forgets(x):
        torch.set_grad_enabled(False)
        return x * 1

    with pytest.raises(ZeroDivisionError):
        pushforward(fails, backend, (X,), (X,))
    enabled = torch.is_grad_enabled()
    try:
        jacobian(forgets, FORWARD, X)
    finally:
        torch.set_grad_enabled(enabled)
    assert torch._C._is_fwd_grad_enabled()
    assert_numbers(jacobian(weighted, backend, X)[0], torch.diag(X**2), 1e-15)


@pytest.mark.parametrize("outer", [REVERSE, FORWARD], ids=["outer-reverse", "outer-forward"])
@each_inner
def test_no_grad_in_nested_derivatives(outer, inner):
    assert_numbers(hessian(lambda x: weighted(x).sum(), SecondOrder(outer, inner), X), torch.zeros(3, 3), 0)
    pair = SecondOrder(outer, inner)
    assert_numbers(hessian(lambda x: (weighted(x) * x).sum(), pair, X), torch.diag(2 * X**2), 1e-14)
    assert_numbers(hvp(lambda x: (weighted(x) * x).sum(), pair, X, X), 2 * X**3, 1e-14)
    nested = gradient(lambda x: gradient(lambda y: (weighted(y) * y).sum(), inner, x)[0].sum(), outer, X)[0]
    assert_numbers(nested, 2 * X**2, 1e-14)


@pytest.mark.parametrize("outer", [REVERSE, FORWARD], ids=["outer-reverse", "outer-forward"])
@each_inner
@pytest.mark.parametrize(
    ("inner_call", "expected"),
    [
        (lambda x, inner: gradient(lambda z: (z**3).sum(), inner, x)[0], 3 * X**2),
        (lambda x, inner: pushforward(lambda z: z**3, inner, (x,), (x,)).tangent, 3 * X**3),
        (lambda x, inner: pushforward(lambda z: z**3, inner, (x,), (x,)).value, X**3),
        (lambda x, inner: pullback(lambda z: z**3, inner, x).value, X**3),
        (lambda x, inner: pullback(lambda z: z**3, inner, x).back(x)[0], 3 * X**3),
        (lambda x, inner: hessian(lambda z: (z**3).sum(), inner, x) @ torch.ones_like(X), 6 * X),
    ],
)
def test_a_call_inside_no_grad_is_constant_for_the_outer_one(outer, inner, inner_call, expected):
    def f(x):
        with torch.no_grad():
            weight = inner_call(x, inner)
        return (weight * x).sum()

    assert_numbers(gradient(f, outer, X)[0], expected, 1e-14)
    assert_numbers(prepare(gradient, f, outer, X)(X)[0], expected, 1e-14)


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
SOLVING = {
    "det": torch.linalg.det,
    "slogdet": lambda a: torch.slogdet(a)[1],
    "logdet": lambda a: torch.logdet(a @ a.mT),
    "solve": lambda a: (torch.linalg.solve(a, RIGHT) ** 2).sum(),
    "solve_ex": lambda a: (torch.linalg.solve_ex(a, RIGHT)[0] ** 2).sum(),
    "tensorsolve": lambda a: (torch.linalg.tensorsolve(a, RIGHT) ** 2).sum(),
    "one matrix for all": lambda a: (torch.linalg.solve(MATRICES[0], a) ** 2).sum(),
}


@pytest.mark.parametrize("f", SOLVING.values(), ids=SOLVING.keys())
def test_what_solves_in_two_batches_is_refused(f):
    rows = torch.stack([gradient(f, REVERSE, a)[0] for a in MATRICES])
    assert_numbers(batched(gradient, f, REVERSE, Each(MATRICES))[0], rows)
    assert_numbers(batched(gradient, f, AutoTorch(mode="forward", chunk_size=1), Each(MATRICES))[0], rows)
    tangents = batched(pushforward, f, FORWARD, (Each(MATRICES),), (Each(torch.ones_like(MATRICES)),)).tangent
    assert_numbers(tangents, rows.sum((1, 2)))
    refused = r"f calls \w+ of torch for a batch of tangents inside another batch, .* Take the derivative in reverse, with"
    with pytest.raises(BackendError, match=refused):
        batched(gradient, f, FORWARD, Each(MATRICES))
    for backend in (SecondOrder(FORWARD, REVERSE), SecondOrder(REVERSE, FORWARD)):
        with pytest.raises(BackendError, match=r"f calls \w+ of torch"):
            batched(hessian, f, backend, Each(MATRICES))


# torch.linalg.lu_solve stretches factors over the wrong entries: (4, 1, n, n) for (4, 3, n, m).


def by_factors(a, b=RIGHT[:, None]):
    return torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b)


def of_many_sides(a):
    return (by_factors(a, torch.arange(6.0, dtype=torch.float64).reshape(3, 2, 1)) ** 3).sum()


SIDES = torch.tensor([[[1.0], [2.0]], [[0.5], [-1.0]], [[2.0], [0.3]]], dtype=torch.float64)


def test_each_entry_is_solved_with_its_own_factors_one_after_another():
    backend = AutoTorch(chunk_size=1)
    rows = [jacobian(by_factors, backend, a, b) for a, b in zip(MATRICES, SIDES)]
    for result, entries in zip(batched(jacobian, by_factors, backend, Each(MATRICES), Each(SIDES)), zip(*rows)):
        assert_numbers(result, torch.stack(entries))
    push = batched(linearize, by_factors, backend, Each(MATRICES), Each(SIDES)).push
    assert_numbers(push(Each(0 * MATRICES), Each(SIDES)), torch.linalg.solve(MATRICES, SIDES))

    def f(b, a):
        return (by_factors(a, b) ** 3).sum()

    curves = torch.stack([hessian(f, AutoTorch(), b, Constant(a)) for a, b in zip(MATRICES, SIDES)])
    assert_numbers(batched(hessian, f, backend, Each(SIDES), Constant(Each(MATRICES))), curves)


@pytest.mark.parametrize("f", [of_many_sides, lambda a: (by_factors(a) ** 3).sum()])
def test_factors_in_a_batch_are_refused(f):
    for backend in (AutoTorch(), FORWARD):
        rows = torch.stack([gradient(f, AutoTorch(), a)[0] for a in MATRICES])
        with pytest.raises(BackendError) as raised:
            batched(gradient, f, backend, Each(MATRICES))
        assert str(raised.value).startswith(
            "f calls linalg.lu_solve of torch in a batch, where torch may take the factors of other entries. Write "
            "torch.linalg.solve(A, B), or take one entry after another, with AutoTorch(chunk_size=1)."
        )
        alone = AutoTorch(mode=backend.mode, chunk_size=1)
        assert_numbers(batched(gradient, f, alone, Each(MATRICES))[0], rows)


# Functions that write into their own second argument -------------------------------------------------------------------------


def by_operator(y):
    y *= y


def of_views(y):
    y[:1] *= y[:1]
    y[1:].mul_(other=y[1:])


def of_overlapping_views(y):
    y.mul_(y.view(3))


def of_three(y):
    y.addcmul_(y, y - 1.0).sub_(y * 0.0)
    y.lerp_(y, 0.5)


WRITING = {
    "by operator": by_operator,
    "views": of_views,
    "overlapping views": of_overlapping_views,
    "three": of_three,
    "by name": lambda y: y.mul_(y),
}


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("write", WRITING.values(), ids=WRITING.keys())
def test_a_tensor_that_is_multiplied_by_itself_in_place(write):
    def f(x):
        y = x * 1.0
        write(y)
        return y

    def energy(x):
        return (f(x) * x).sum()

    assert_numbers(f(X), X**2)
    expected = torch.diag(2 * X)
    assert_numbers(jacobian(f, FORWARD, X)[0], expected)
    assert_numbers(prepare(jacobian, f, FORWARD, X)(X)[0], expected)
    assert_numbers(pushforward(f, FORWARD, (X,), (X,)).tangent, 2 * X**2)
    assert_numbers(linearize(f, FORWARD, X).push(X), 2 * X**2)
    assert_numbers(batched(jacobian, f, FORWARD, Each(X[None]))[0][0], expected)
    assert_numbers(hessian(lambda x: energy(x), AutoTorch(mode="forward", chunk_size=1), X), torch.diag(6 * X))


def test_the_derivative_of_a_forward_derivative_is_refused_in_a_batch_too():
    def pushed(a):
        return pushforward(torch.linalg.det, FORWARD, (a,), (torch.ones_like(a),)).tangent

    with pytest.raises(BackendError, match="f calls linalg_det of torch inside a derivative of a forward derivative"):
        batched(gradient, pushed, REVERSE, Each(MATRICES))


# NumPy on constants -----------------------------------------------------------------------------------------------------------


@each_backend
def test_the_code_of_a_rule_may_call_numpy_on_its_tensors(backend):
    sine = rule(lambda y: torch.from_numpy(np.sin((2 * y).numpy())) + torch.as_tensor(np.cos(np.asarray(y))))
    sine.pullback(lambda c, value, y: c * (2 * torch.cos(2 * y) - torch.sin(y)))
    slopes = 2 * torch.cos(2 * X) - torch.sin(X)
    assert_numbers(jacobian(sine, backend, X)[0], torch.diag(slopes), 1e-12)
    assert_numbers(pushforward(sine, backend, (X,), (X,)).tangent, slopes * X, 1e-12)
    assert_numbers(gradient(lambda x: (x * torch.from_numpy(x.detach().numpy())).sum(), backend, X)[0], X, 1e-12)
    assert_numbers(torch.func.grad(lambda x: sine(x).sum())(X), slopes, 1e-12)
