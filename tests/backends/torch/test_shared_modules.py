"""Modules that share parameters with a Constant or keyword: the derivative of the call does not pass through these."""

import copy
import functools
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from backends_table import assert_numbers
from torch import nn

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    Constant,
    SecondOrder,
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
from adinterface.fit import Training, from_torch_optim

X = torch.tensor([[1.0, 2.0]], dtype=torch.float64)
DATA = torch.tensor([[1.0, -2.0], [0.5, 3.0], [2.0, 0.25]], dtype=torch.float64)


def linear():
    """A module with the value 5.5 at X."""
    module = nn.Linear(2, 1).double()
    with torch.no_grad():
        module.weight.copy_(X)
        module.bias.fill_(0.5)
    return module


def product(m, target):
    return (m(X) * target(X)).sum()


class Holds:
    def __init__(self, module):
        self.nets = {"main": [module]}

    def __call__(self, x):
        return self.nets["main"][0](x)


class Slotted:
    __slots__ = ("net",)

    def __init__(self, module):
        self.net = module

    def __call__(self, x):
        return self.net(x)


def tied(module):
    other = nn.Linear(2, 1).double()
    other.weight, other.bias = module.weight, module.bias
    return other


def view(module):
    weight = module.weight[:, :]
    return lambda x: x @ weight.T + module.bias.detach()


def scripted(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch has deprecated it
        return torch.jit.script(module)


SHARING = {
    "itself": lambda m: m,
    "tied": tied,
    "inside": lambda m: nn.Sequential(m, nn.Identity()),
    "object": Holds,
    "slots": Slotted,
    "method": lambda m: m.forward,
    "partial": lambda m: functools.partial(m.forward),
    "closure": lambda m: lambda x: m(x),
    "view": view,
    "scripted": scripted,
}
BACKENDS = {
    "torch": AutoTorch(),
    "reverse": AutoTorch(mode="reverse"),
    "forward": AutoTorch(mode="forward"),
    "kept": AutoTorch(create_graph=True),
    "finite": AutoFiniteDifferences(),
}
each_backend = pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)


@pytest.mark.parametrize("share", SHARING.values(), ids=SHARING)
@each_backend
def test_a_constant_is_constant_whatever_it_shares_with_a_module(backend, share):
    module = linear()
    for found in (
        gradient(product, backend, module, Constant(share(module)))[0],
        gradient(product, backend, module, target=share(module))[0],
        prepare(gradient, product, backend, module, Constant(share(module)))(module, Constant(share(module)))[0],
        value_and_gradient(product, backend, module, Constant(share(module))).gradient[0],
        gradient(lambda p, t: product(p["m"], t[0]), backend, {"m": module}, [Constant(share(module))])[0]["m"],
    ):
        assert_numbers(found.weight, 5.5 * X, 1e-6)


@each_backend
def test_parameters_and_what_is_computed_from_them_as_constants(backend):
    module = linear()
    weight = gradient(lambda m, w: (m(X) * w).sum(), backend, module, Constant(module.weight))[0].weight
    assert_numbers(weight, 3 * X, 1e-6)
    target = module(X)
    for _ in range(2):  # the graph of the target is still there
        weight = gradient(lambda m, t: (m(X) * t).sum(), backend, module, Constant(target))[0].weight
        assert_numbers(weight, 5.5 * X, 1e-6)
    if isinstance(backend, AutoTorch):  # as arguments they are variables of their own
        first, second = gradient(lambda m, t: (m(X) * t).sum(), backend, module, target)
        assert_numbers(first.weight, 5.5 * X)
        assert_numbers(second, [[5.5]])
        first, second = gradient(lambda m, other: product(m, other) + other(X).sum(), backend, module, module)
        assert_numbers(first.weight, 5.5 * X)
        assert_numbers(second.weight, 6.5 * X)


@each_backend
def test_every_operator_takes_a_constant_that_shares(backend):
    module, direction = linear(), linear()
    slope = direction(X).detach()  # the derivative of module(X) along direction
    outer = X.T * X

    def value(m, target):
        return m(X) * target(X)

    assert_numbers(jacobian(value, backend, module, Constant(module))[0].weight, (5.5 * X)[None, None], 1e-6)
    given = (module, Constant(module))
    assert_numbers(pushforward(value, backend, given, (direction, None)).tangent, 5.5 * slope, 1e-6)
    assert_numbers(linearize(value, backend, *given).push(direction, None), 5.5 * slope, 1e-6)
    assert_numbers(pullback(value, backend, *given).back(np.ones((1, 1)))[0].weight, 5.5 * X, 1e-6)
    pair = backend if backend != AutoTorch(mode="forward") else SecondOrder(AutoTorch(mode="forward"), AutoTorch())

    def square(m, target):
        return (value(m, target) ** 2).sum()

    assert_numbers(hvp(square, pair, module, direction, Constant(module)).weight, 2 * 5.5**2 * slope * X, 1e-4)
    assert_numbers(hessian(square, pair, module, Constant(module)).weight.weight[0, :, 0, :], 2 * 5.5**2 * outer, 1e-4)


def test_outer_derivatives_reach_the_module_and_the_constant():
    module = linear()  # the inner gradient is target(x) x; its square is 5 target(x)^2

    def outer(m):
        inner = gradient(product, AutoTorch(), m, Constant(m))[0]
        return (inner.weight**2).sum()

    assert_numbers(gradient(outer, AutoTorch(), module)[0].weight, 55 * X)
    kept = gradient(lambda m, t: (m(X) ** 2 * t(X)).sum(), AutoTorch(create_graph=True), module, Constant(module))[0]
    kept.weight.sum().backward()  # 2 m(x) t(x) x, of which both factors depend on the module
    assert_numbers(module.weight.grad, 2 * 2 * 5.5 * 3 * X)


class Counted(nn.Module):
    """A BatchNorm, and a buffer that f replaces."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(2).double()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls = self.calls + 1
        return self.norm(x)


@pytest.mark.parametrize("operator", [gradient, value_and_gradient, pullback, linearize, hvp])
def test_buffers_change_as_in_torch(operator):
    module, expected = Counted(), Counted()
    direction = (copy.deepcopy(module),) if operator is hvp else ()
    operator(lambda m, t: (m(DATA) * t(2 * DATA)).sum(), AutoTorch(), module, *direction, Constant(module))
    expected(DATA), expected(2 * DATA)
    for found, wanted in zip(module.buffers(), expected.buffers(), strict=True):
        assert_numbers(found, wanted)


def test_a_module_with_frozen_parameters_is_not_copied_by_pullback():
    module = nn.BatchNorm1d(2).double()
    module.bias.requires_grad_(False)
    seen = []
    pullback(lambda m: (seen.append(m), m(DATA))[1], AutoTorch(), module)
    assert seen == [module]
    assert module.num_batches_tracked == 1


def test_a_constant_that_shares_nothing_leaves_the_module_in_place():
    module, seen = linear(), []
    teacher, used = linear(), linear()
    used.last = used(X)  # a graph of its own
    for constant in (teacher, used, Holds(teacher), X, teacher.forward, [1, "a", None], list(range(100_000))):
        gradient(lambda m, c: (seen.append(m), m(X).sum())[1], AutoTorch(), module, Constant(constant))
    assert all(m is module for m in seen)
    many = Holds(teacher)
    many.rest = [[[]] for _ in range(20_000)]  # too much to look through
    found = gradient(lambda m, c: (seen.append(m), product(m, c))[1], AutoTorch(), module, Constant(many))
    assert seen[-1] is not module
    assert_numbers(found[0].weight, 5.5 * X)


@pytest.mark.parametrize("backend", [AutoTorch(), AutoTorch(mode="forward"), AutoFiniteDifferences()])
def test_training_with_the_model_as_its_own_target(backend):
    module = linear()
    training = Training(product, backend, from_torch_optim(torch.optim.SGD, module, lr=0.01))
    assert float(training(module)) == pytest.approx(5.5**2)
    assert_numbers(module.weight, X - 0.01 * 5.5 * X, 1e-6)


def test_training_differentiates_derivatives_inside_the_loss():
    def loss(m, x):
        return (gradient(lambda x: (m(x) ** 2).sum(), AutoTorch(), x)[0] ** 2).sum()

    models = [linear(), linear()]
    for backend, module in zip((AutoTorch(), AutoFiniteDifferences()), models):
        training = Training(loss, backend, from_torch_optim(torch.optim.SGD, module, lr=1e-4))
        for _ in range(3):
            training(X)
    assert not torch.equal(models[0].weight, X)
    assert_numbers(models[0].weight, models[1].weight, 1e-6)


@pytest.mark.parametrize("captured", [True, False])
def test_a_call_in_a_thread_that_f_starts_reaches_the_module(captured):
    def penalty(m):
        if captured:
            slope = gradient(lambda x: (m(x) ** 2).sum(), AutoTorch(), X)[0]
        else:
            slope = gradient(lambda x, m: (m(x) ** 2).sum(), AutoTorch(), X, Constant(m))[0]
        return (slope**2).sum()

    def elsewhere(m):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(penalty, m).result()

    module = linear()
    assert_numbers(gradient(elsewhere, AutoTorch(), module)[0].weight, gradient(penalty, AutoTorch(), module)[0].weight)


@pytest.mark.parametrize("inner", ["forward", "reverse"])
@pytest.mark.parametrize("outer", ["forward", "reverse"])
def test_a_gradient_of_a_captured_module_is_differentiated_in_every_mode(outer, inner):
    # The gradient of (w x)^2 by w is 2 (w x) x.
    module, x = linear(), torch.tensor([0.7, -0.4], dtype=torch.float64)

    def slope(x):
        return gradient(lambda m: (m(x) ** 2).sum(), AutoTorch(mode=inner), module)[0].weight

    def by_hand(x):
        return 2 * module(x)[:, None] * x

    for found, expected in zip(
        [
            *jacobian(slope, AutoTorch(mode=outer), x),
            pushforward(slope, AutoTorch(mode=outer), (x,), (x,)).tangent,
            hessian(lambda x: slope(x).sum(), AutoTorch(mode=outer), x),
        ],
        [
            *jacobian(by_hand, AutoTorch(), x),
            pushforward(by_hand, AutoTorch(), (x,), (x,)).tangent,
            hessian(lambda x: by_hand(x).sum(), AutoTorch(), x),
        ],
    ):
        assert found.any()
        assert_numbers(found, expected)


@pytest.mark.parametrize("hold", [lambda y: y, lambda y: {"y": [y]}], ids=["tensor", "dict"])
def test_what_an_earlier_call_computed_from_a_module_is_constant_in_the_next_one(hold):
    """Inside another call its graph reaches the parameters."""
    module = linear()

    def slope(x):
        held = hold(x)

        def loss(m):
            return (m(held["y"][0] if isinstance(held, dict) else held) ** 2).sum()

        return gradient(loss, AutoTorch(), module)[0].weight

    def twice(x):
        return slope(slope(x))

    expected = twice(X)
    assert_numbers(pullback(twice, AutoTorch(), X).value, expected)
    assert_numbers(value_and_gradient(lambda x: twice(x).sum(), AutoTorch(), X).value, expected.sum())
    ahead, behind = (twice(X + torch.tensor([[h, 0.0]])) for h in (1e-6, -1e-6))
    for backend in (AutoTorch(), AutoTorch(mode="reverse"), AutoTorch(mode="forward")):
        assert_numbers(jacobian(twice, backend, X)[0][0, :, 0, 0], (ahead - behind)[0] / 2e-6, 1e-6)
