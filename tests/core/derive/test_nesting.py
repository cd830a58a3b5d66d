"""Operators inside operators, on one engine and across, and torch's own modes, transformations and
graphs.
"""

import numpy as np
import pytest
import torch
from backends_table import as_wide, assert_numbers, assert_tree, each_backend, each_engine
from torch.autograd import forward_ad

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    BackendError,
    Constant,
    SecondOrder,
    array_namespace,
    derivative,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    second_derivative,
    value_and_gradient,
)

X = np.linspace(0.5, 1.5, 3)


def total(x):
    return array_namespace(x).sum(x)


def slope(f, backend, x, *constants):
    """df/dx of a scalar function of one argument."""
    return gradient(f, backend, x, *constants)[0]


# Higher derivatives by nesting
# ---------------------------------------------------------------------------------------


def wave(x):
    xp = array_namespace(x)
    return total(xp.sin(x) * xp.exp(x))


#: The derivatives of sin(x) e^x.
WAVE = [
    lambda x: np.sin(x) * np.exp(x),
    lambda x: (np.sin(x) + np.cos(x)) * np.exp(x),
    lambda x: 2 * np.cos(x) * np.exp(x),
    lambda x: 2 * (np.cos(x) - np.sin(x)) * np.exp(x),
    lambda x: -4 * np.sin(x) * np.exp(x),
]


def derivative_of_order(n, f, backend):
    """f summed over its elements, differentiated n times by nesting calls."""
    if n == 0:
        return f
    return lambda x: total(slope(derivative_of_order(n - 1, f, backend), backend, x))


@each_engine
@pytest.mark.parametrize("order", [2, 3, 4])
@pytest.mark.parametrize("x", [1.2, X], ids=["float", "array"])
def test_nested_calls_give_higher_derivatives(x, order, backend):
    result = slope(derivative_of_order(order - 1, wave, backend), backend, x)
    expected = WAVE[order](x)
    assert_tree(result, float(expected) if isinstance(x, float) else expected)


# Perturbation confusion
# ----------------------------------------------------------------------------------------------

# d/dx sum(x * d/dy g(x, y) at y = 1), where an engine that mixes up the two perturbations gives
# another number. With y an array like x, the inner derivative is taken element by element; with y a
# number, it is the sum over the elements of x.
CONFUSION = [
    pytest.param(
        lambda x, y: x + y, lambda x: np.ones_like(x), lambda x: np.full_like(x, x.size), id="x + y"
    ),
    pytest.param(
        lambda x, y: x * y, lambda x: 2 * x, lambda x: np.full_like(x, 2 * x.sum()), id="x y"
    ),
    pytest.param(
        lambda x, y: x**2 * y**2,
        lambda x: 6 * x**2,
        lambda x: 2 * np.sum(x**2) + 4 * x * np.sum(x),
        id="(x y)^2",
    ),
]


@each_backend
@pytest.mark.parametrize(("g", "by_element", "by_number"), CONFUSION)
@pytest.mark.parametrize("y", ["array", "float"])
@pytest.mark.parametrize("x", [3.0, X, np.array(3.0)], ids=["float", "array", "0-d array"])
def test_perturbations_are_not_confused(x, y, g, by_element, by_number, backend):
    def f(x):
        one = 1.0 if y == "float" else array_namespace(x).ones_like(x)
        return total(x * slope(lambda y: total(g(x, y)), backend, one))

    reference = (by_element if y == "array" else by_number)(np.asarray(x))
    rtol = 1e-4 if isinstance(backend, AutoFiniteDifferences) else 1e-10
    assert_tree(
        slope(f, backend, x),
        float(reference) if isinstance(x, float) else np.asarray(reference),
        rtol,
    )


# torch: modes
# ------------------------------------------------------------------------------------------------

T = torch.from_numpy(X.copy())
MODES = {
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "enable_grad": torch.enable_grad,
}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES.keys())
@pytest.mark.parametrize("x", [1.2, X, T], ids=["float", "numpy", "torch"])
def test_torch_differentiates_in_every_grad_mode(x, mode):
    with mode():
        first = slope(wave, AutoTorch(), x)
        second = slope(derivative_of_order(1, wave, AutoTorch()), AutoTorch(), x)
        inside = slope(wave, AutoTorch(), x * 1)  # an inference tensor in inference mode
    for result, reference in ((first, WAVE[1]), (second, WAVE[2]), (inside, WAVE[1])):
        assert type(result) is type(x)
        assert_numbers(result, reference(as_wide(x)))


# torch: its own transformations
# --------------------------------------------------------------------------------------

TORCH_LEVELS = {
    "grad": (lambda f: torch.func.grad(lambda x: f(x).sum()), lambda x: WAVE[2](x)),
    "grad of grad": (
        lambda f: torch.func.grad(lambda y: torch.func.grad(lambda x: f(x).sum())(y).sum()),
        lambda x: WAVE[3](x),
    ),
    "vmap": (torch.func.vmap, lambda x: WAVE[1](x)),
    "jacrev": (torch.func.jacrev, lambda x: np.diag(WAVE[2](x))),
    "jacfwd": (torch.func.jacfwd, lambda x: np.diag(WAVE[2](x))),
    "vmap of grad": (
        lambda f: torch.func.vmap(torch.func.grad(lambda x: f(x).sum())),
        lambda x: WAVE[2](x),
    ),
}


@pytest.mark.filterwarnings("ignore:`torch.jit.script")  # torch's own, at first use
@pytest.mark.parametrize(("transform", "expected"), TORCH_LEVELS.values(), ids=TORCH_LEVELS.keys())
def test_torch_works_inside_functorch_transformations(transform, expected):
    result = transform(lambda x: slope(wave, AutoTorch(), x))(T)
    assert_tree(result, torch.from_numpy(np.array(expected(X))))
    assert not torch._C._functorch.is_functorch_wrapped_tensor(result)


MODES_OF_TORCH = {
    "default": AutoTorch(),
    "forward": AutoTorch(mode="forward"),
    "reverse": AutoTorch(mode="reverse"),
    "one by one": AutoTorch(mode="forward", chunk_size=1),
    "forward over reverse": SecondOrder(AutoTorch(mode="forward"), AutoTorch(mode="reverse")),
    "reverse over forward": SecondOrder(AutoTorch(mode="reverse"), AutoTorch(mode="forward")),
}
each_mode_of_torch = pytest.mark.parametrize(
    "backend", MODES_OF_TORCH.values(), ids=MODES_OF_TORCH.keys()
)


@each_mode_of_torch
def test_torch_works_inside_a_batch_in_every_mode(backend):
    """Also where forward mode makes a batch of its own, of the basis vectors."""
    cube = lambda x: (x**3).sum()
    rows = torch.arange(6.0).reshape(3, 2)
    for operator, expected in [
        (lambda x: gradient(cube, backend, x)[0], 3 * rows**2),
        (lambda x: value_and_gradient(lambda x: (cube(x), x * 2), backend, x).value[1], 2 * rows),
        (lambda x: jacobian(lambda x: x**3, backend, x)[0], torch.diag_embed(3 * rows**2)),
        (lambda x: pushforward(cube, backend, (x,), (x,)).tangent, (3 * rows**3).sum(1)),
        (lambda x: hessian(cube, backend, x), torch.diag_embed(6 * rows)),
        (lambda x: hvp(cube, backend, x, x), 6 * rows**2),
        (lambda x: diagonal_hessian(cube, backend, x)[0], 6 * rows),
    ]:
        assert_tree(torch.func.vmap(operator)(rows), expected, 1e-6)


# torch: graphs
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [None, "forward"])
@pytest.mark.parametrize("kind", ["NumPy", "tensor", "tensor made before"])
def test_constants_in_inference_mode_are_those_of_no_grad(kind, mode):
    auto, f = AutoTorch(mode=mode), lambda x, c: (c * x * x).sum()
    fast = prepare(gradient, f, auto, T, Constant(T))
    with torch.inference_mode():
        c = Constant(X if kind == "NumPy" else T * 1)
        value, back = pullback(f, auto, T, c)
        found = {
            "gradient": gradient(f, auto, T, c)[0],
            "keyword": gradient(f, auto, T, c=c.value)[0],
            "prepared": fast(T, c)[0],
            "back": back(value * 0 + 1)[0],
            "hvp": hvp(f, auto, T, T, c),
        }
        assert torch.is_inference_mode_enabled()
    if kind == "tensor made before":
        found = {"gradient": gradient(f, auto, T, c)[0], "prepared": fast(T, c)[0]}
    assert_numbers(pushforward(f, auto, (T, c), (T, None)).tangent, 2 * (X**3).sum())
    for result in found.values():
        assert_numbers(result, 2 * X**2)


def test_a_gradient_penalty_reaches_captured_parameters_with_create_graph():
    weight = torch.linspace(-1, 1, 6, dtype=torch.float64).reshape(2, 3).requires_grad_()

    def energy(x):
        return torch.tanh(weight @ x).sum()

    x = T.clone().requires_grad_()
    (reference,) = torch.autograd.grad(energy(x), x, create_graph=True)
    (expected,) = torch.autograd.grad((reference**2).sum(), weight)

    for leaf in (T, X):
        result = slope(energy, AutoTorch(create_graph=True), leaf)
        assert isinstance(result, torch.Tensor)
        (penalty,) = torch.autograd.grad((result**2).sum(), weight)
        assert_tree(penalty, expected)
    assert not slope(energy, AutoTorch(), T).requires_grad


# torch: forward mode in forward mode
# ---------------------------------------------------------------------------------

FORWARD = AutoTorch(mode="forward")


class Cube(torch.autograd.Function):
    """x ** 3, with the rules of both modes."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x**3

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)
        ctx.save_for_forward(*inputs)

    @staticmethod
    def backward(ctx, cotangent):
        return 3 * ctx.saved_tensors[0] ** 2 * cotangent

    @staticmethod
    def jvp(ctx, tangent):
        return 3 * ctx.saved_tensors[0] ** 2 * tangent


def second_orders(f, backend, x):
    """Each way to the second derivative of f at a number, without its arguments."""
    return {
        "second_derivative": lambda: second_derivative(f, backend, x),
        "hessian": lambda: hessian(f, backend, x),
        "hvp": lambda: hvp(f, backend, x, 1.0),
        "diagonal_hessian": lambda: diagonal_hessian(f, backend, x)[0],
        "nested": lambda: derivative(lambda x: derivative(f, backend, x), backend, x),
        "prepared": lambda: prepare(hessian, f, backend, x)(x),
    }


WAYS = list(second_orders(None, FORWARD, 2.0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "mode", ["default", "reverse", "forward over reverse", "reverse over forward"]
)
def test_a_custom_function_is_differentiated_in_all_modes_but_forward_over_forward(mode, way):
    backend = MODES_OF_TORCH[mode]
    if way == "nested" and mode == "reverse over forward":  # which takes the inner one twice
        backend = AutoTorch()
    assert second_orders(Cube.apply, backend, 2.0)[way]() == pytest.approx(12.0)


# torch: its dual numbers
# ---------------------------------------------------------------------------------------------


@each_mode_of_torch
def test_a_tangent_of_a_dual_level_is_refused_rather_than_lost(backend):
    f = lambda x: (x**3).sum()
    with forward_ad.dual_level():
        x = forward_ad.make_dual(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
        other = torch.ones(2)
        for call in [
            lambda: gradient(f, backend, x),
            lambda: value_and_gradient(lambda y: (y.sum(), x), backend, other),
            lambda: gradient(lambda y: (x * y).sum(), backend, other),
            lambda: gradient(lambda y, x: (x * y).sum(), backend, other, Constant(x)),
            lambda: jacobian(lambda x: x**3, backend, x),
            lambda: pushforward(f, backend, (x,), (other,)),
            lambda: pullback(f, backend, x)[1](torch.ones(())),
            lambda: linearize(f, backend, x)[1](other),
            lambda: hessian(f, backend, x),
            lambda: hvp(f, backend, x, other),
            lambda: prepare(gradient, f, backend, x)(x),
        ]:
            with pytest.raises(BackendError, match=r"torch\.func\.jvp"):
                call()
