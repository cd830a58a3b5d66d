"""Parts that torch cannot differentiate again: another way, or an error, never zero."""

import pytest
import torch
from backends_table import assert_numbers, call_of
from torch.autograd.function import once_differentiable

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
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
    pullback,
    pushforward,
    value_gradient_and_hessian,
)

TORCH = AutoTorch()
X = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64)
V = torch.tensor([0.5, 1.0, -1.0], dtype=torch.float64)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g


class Once(Cube):
    backward = staticmethod(once_differentiable(Cube.backward))


class Silent(Cube):
    backward = staticmethod(torch.no_grad()(Cube.backward))


class ByNumpy(Cube):
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return torch.from_numpy(3 * x.detach().numpy() ** 2 * g.detach().numpy())


class ForFunctorch(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    backward = staticmethod(once_differentiable(Cube.backward))

    @staticmethod
    def jvp(ctx, t):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * t


each_function = pytest.mark.parametrize(
    "function", [Once, Silent, ByNumpy], ids=lambda cls: cls.__name__
)
each_call = pytest.mark.parametrize("prepared", [False, True], ids=["one-shot", "prepared"])


def called(prepared, operator, f, backend, *args):
    return call_of(prepared, operator, f, backend, *args)(*args)


# First derivatives of every kind have a way.
# -------------------------------------------------------------------------------


@each_call
@each_function
def test_first_derivatives_through_a_backward_that_is_not_recorded(function, prepared):
    slopes = 3 * X**2
    assert_numbers(
        called(prepared, gradient, lambda x: function.apply(x).sum(), TORCH, X)[0], slopes, 1e-15
    )
    for mode in (None, "reverse"):
        backend = AutoTorch(mode=mode)
        assert_numbers(
            called(prepared, pushforward, function.apply, backend, (X,), (V,)).tangent,
            slopes * V,
            1e-15,
        )
        push = called(prepared, linearize, function.apply, backend, X).push
        assert_numbers(push(V), slopes * V, 1e-15)
        assert_numbers(push.stacked(torch.stack([V, X])), slopes * torch.stack([V, X]), 1e-15)
    tall = called(
        prepared, jacobian, lambda x: torch.cat([function.apply(x), x]), AutoTorch(chunk_size=1), X
    )[0]
    assert_numbers(tall, torch.cat([torch.diag(slopes), torch.eye(3)]), 1e-15)


# Second derivatives are refused by name.
# ------------------------------------------------------------------------------------


def scalar(function):
    return lambda x: (function.apply(x) * x).sum()


@each_call
@each_function
def test_second_derivatives_are_refused(function, prepared):
    f = scalar(function)
    by_hand = lambda x: gradient(f, TORCH, x)[0].sum()
    by_back = lambda x: (pullback(function.apply, TORCH, x).back(V)[0] * x).sum()
    for operator, of, args in (
        (hvp, f, (X, V)),
        (hessian, f, (X,)),
        (diagonal_hessian, f, (X,)),
        (value_gradient_and_hessian, f, (X,)),
        (gradient, by_hand, (X,)),
        (gradient, by_back, (X,)),
        (jacobian, lambda x: gradient(f, TORCH, x)[0], (X,)),
    ):
        with pytest.raises(NotRecordedError, match=function.__name__):
            called(prepared, operator, of, TORCH, *args)
    forward = SecondOrder(AutoTorch(mode="forward"), TORCH)
    # torch's own errors: there is no forward rule
    with pytest.raises((RuntimeError, NotImplementedError)):
        hvp(f, forward, X, V)
    assert_numbers(
        called(prepared, hvp, f, SecondOrder(AutoFiniteDifferences(), TORCH), X, V),
        12 * X**2 * V,
        1e-6,
    )


def test_a_forward_rule_is_taken_by_forward_mode():
    forward = AutoTorch(mode="forward")
    assert_numbers(
        pushforward(ForFunctorch.apply, forward, (X,), (V,)).tangent, 3 * X**2 * V, 1e-15
    )
    # Tangents go through once_differentiable, which switches the recording of reverse mode off.
    for pair in (SecondOrder(forward, TORCH), SecondOrder(TORCH, forward)):
        assert_numbers(hessian(scalar(ForFunctorch), pair, X), torch.diag(12 * X**2), 1e-14)


@pytest.mark.parametrize(
    "call",
    [
        lambda f: batched(hessian, f, TORCH, Each(torch.stack([X, V]))),
        lambda f: batched(hvp, f, TORCH, Each(torch.stack([X, V])), Each(torch.stack([V, V]))),
        lambda f: torch.func.grad(lambda x: gradient(f, TORCH, x)[0].sum())(X),
        lambda f: torch.func.vmap(torch.func.grad(lambda x: gradient(f, TORCH, x)[0].sum()))(
            torch.stack([X, V])
        ),
    ],
)
def test_second_derivatives_inside_functorch_are_refused(call):
    with pytest.raises(NotRecordedError, match="f applies ForFunctorch, "):
        call(scalar(ForFunctorch))
    call(lambda x: (ForFunctorch.apply(x.detach()) * x**2).sum())  # it is constant here


def test_a_result_that_would_stay_in_a_graph_is_refused():
    for backend, x in ((AutoTorch(create_graph=True), X), (TORCH, X.clone().requires_grad_() * 1)):
        with pytest.raises(NotRecordedError):
            gradient(scalar(Once), backend, x)


# No false alarms.
# ------------------------------------------------------------------------------------------------


class Round(torch.autograd.Function):
    """Zero almost everywhere."""

    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return torch.zeros_like(g)


class StraightThrough(Round):
    @staticmethod
    def backward(ctx, g):
        return g


class Nothing(Round):
    @staticmethod
    def backward(ctx, g):
        return None


class Double(Round):
    """Linear: its second derivative is zero."""

    @staticmethod
    def forward(ctx, x):
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return 2 * g


@each_call
@pytest.mark.parametrize(
    ("function", "slope", "value"),
    [(Round, 0, X), (StraightThrough, 1, X), (Nothing, 0, X), (Double, 2, 2 * X)],
)
def test_a_legitimate_zero_stays_a_zero(function, slope, value, prepared):
    linear = lambda x: function.apply(x).sum()
    assert_numbers(called(prepared, hvp, linear, TORCH, X, V), 0 * X, 0)
    assert_numbers(called(prepared, hessian, linear, TORCH, X), torch.zeros(3, 3), 0)
    product = lambda x: (function.apply(x) * x**2).sum()
    expected = 2 * value + 4 * slope * X
    assert_numbers(called(prepared, hessian, product, TORCH, X), torch.diag(expected), 1e-15)
    assert_numbers(called(prepared, hvp, product, TORCH, X, V), expected * V, 1e-15)
    assert_numbers(
        gradient(lambda x: gradient(product, TORCH, x)[0].sum(), TORCH, X)[0], expected, 1e-15
    )
    assert_numbers(
        called(prepared, pushforward, function.apply, TORCH, (X,), (V,)).tangent, slope * V, 1e-15
    )


def test_an_extremum_of_what_is_not_recorded_is_no_step():
    with pytest.raises(NotRecordedError):  # its gradient is zero here, and its Hessian is not
        hvp(lambda x: (Silent.apply(x + 1) - 3 * x).sum() + Silent.apply(x).sum(), TORCH, 0 * X, V)
    with pytest.raises(NotRecordedError):
        hvp(lambda x: Silent.apply(x).sum(), TORCH, 0 * X, V)
