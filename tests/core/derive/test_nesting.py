"""Operators inside operators, on one engine and across, and torch's own modes, transformations and
graphs.
"""

import numpy as np
import pytest
import torch
from backends_table import as_wide, assert_numbers, assert_tree, each_backend
from torch.autograd import forward_ad

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    BackendError,
    Constant,
    SecondOrder,
    array_namespace,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
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


# Perturbation confusion
# ----------------------------------------------------------------------------------------------

# d/dx sum(x * d/dy g(x, y) at y = 1), where an engine that mixes up the two perturbations gives
# another number: g, and the result for x of three elements.
CONFUSION = {
    "x + y": (lambda x, y: x + y, np.ones(3)),
    "x y": (lambda x, y: x * y, 2 * X),
    "(x y)^2": (lambda x, y: x**2 * y**2, 6 * X**2),
}


@each_backend
@pytest.mark.parametrize("name", CONFUSION)
def test_perturbations_are_not_confused(name, backend):
    g, expected = CONFUSION[name]

    def f(x):
        one = array_namespace(x).ones_like(x)
        return total(x * slope(lambda y: total(g(x, y)), backend, one))

    rtol = 1e-4 if isinstance(backend, AutoFiniteDifferences) else 1e-10
    assert_tree(slope(f, backend, X), expected, rtol)
    of_number = lambda t: f(t * array_namespace(t).asarray(X))
    assert_tree(slope(of_number, backend, 1.0), float(X @ expected), rtol)


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


# torch: its dual numbers
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", [AutoTorch(), AutoTorch(mode="forward")], ids=repr)
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
