"""Modules that share parameters with a Constant or keyword, with f itself, or with another
thread.
"""

import copy
import threading

import numpy as np
import pytest
import torch
from backends_table import assert_numbers
from torch import nn

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    BackendError,
    Constant,
    ConversionError,
    gradient,
    hessian,
    hvp,
    jacobian,
    prepare,
    pullback,
    pushforward,
    tree,
    value_and_gradient,
)

X = torch.tensor([[1.0, 2.0]], dtype=torch.float64)


def linear():
    """A module with the value 5.5 at X."""
    module = nn.Linear(2, 1).double()
    with torch.no_grad():
        module.weight.copy_(X)
        module.bias.fill_(0.5)
    return module


def product(m, target):
    return (m(X) * target(X)).sum()


def tied(module):
    other = nn.Linear(2, 1).double()
    other.weight, other.bias = module.weight, module.bias
    return other


SHARING = {
    "itself": lambda m: m,
    "tied": tied,
    "inside": lambda m: nn.Sequential(m, nn.Identity()),
    "a parameter": lambda m: m.weight,
    "in a tree": lambda m: {"k": [m]},
}
REFUSED = (
    r"^A Constant or keyword \(\w+\) is or holds a parameter of a module that this call"
    r" differentiates, so it would not be "
    r"constant\. Pass copy\.deepcopy\(model\) in its place, or compute what f needs of it before"
    r" the call\.$"
)
BACKENDS = {
    "torch": AutoTorch(),
    "reverse": AutoTorch(mode="reverse"),
    "forward": AutoTorch(mode="forward"),
    "kept": AutoTorch(create_graph=True),
}
each_backend = pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)


@pytest.mark.parametrize("share", SHARING.values(), ids=SHARING)
@each_backend
def test_a_constant_that_shares_a_parameter_is_refused_and_the_remedy_is_right(backend, share):
    module = linear()
    constant = share(module)
    f = lambda m, *_, **__: m(X).sum()
    for call in (
        lambda: gradient(f, backend, module, Constant(constant)),
        lambda: gradient(f, backend, module, target=constant),
        lambda: prepare(gradient, f, backend, module, Constant(constant))(
            module, Constant(constant)
        ),
        lambda: value_and_gradient(f, backend, module, Constant(constant)),
        lambda: gradient(lambda p, t: f(p["m"]), backend, {"m": module}, [Constant(constant)]),
        lambda: jacobian(f, backend, module, Constant(constant)),
        lambda: pushforward(f, backend, (module, Constant(constant)), (module, None)),
        lambda: pullback(f, backend, module, Constant([linear(), module])),
        lambda: hvp(f, backend, module, linear(), Constant(constant)),
        lambda: hessian(f, backend, module, Constant(constant)),
    ):
        with pytest.raises(ConversionError, match=REFUSED):
            call()
    found = gradient(product, backend, module, Constant(copy.deepcopy(module)))[0]
    assert_numbers(found.weight, 5.5 * X)
    # which work on a copy
    found = gradient(product, AutoFiniteDifferences(), module, Constant(module))[0]
    assert_numbers(found.weight, 5.5 * X, 1e-6)


@each_backend
def test_what_is_computed_from_parameters_as_a_constant(backend):
    module = linear()
    target = module(X)
    for _ in range(2):  # the graph of the target is still there
        weight = gradient(lambda m, t: (m(X) * t).sum(), backend, module, Constant(target))[
            0
        ].weight
        assert_numbers(weight, 5.5 * X, 1e-6)
    # variables of their own
    first, second = gradient(lambda m, t: (m(X) * t).sum(), backend, module, target)
    assert_numbers(first.weight, 5.5 * X)
    assert_numbers(second, [[5.5]])
    first, second = gradient(
        lambda m, other: product(m, other) + other(X).sum(), backend, module, module
    )
    assert_numbers(first.weight, 5.5 * X)
    assert_numbers(second.weight, 6.5 * X)


def test_a_parameter_that_f_reaches_past_its_module_is_refused_in_forward_mode():
    module = linear()
    module.others = [module.weight]
    for f in (
        lambda m: (m.others[0] * X).sum() + m(X).sum(),
        lambda m: (module.others[0] * m(X)).sum(),
    ):
        with pytest.raises(
            BackendError,
            match=r"^f reaches a parameter of the module .* in another way than by the attribute",
        ):
            gradient(f, AutoTorch(mode="forward"), module)
    assert_numbers(
        gradient(lambda m: (m.others[0] * X).sum() + m(X).sum(), AutoTorch(), module)[0].weight,
        2 * X,
    )


def test_another_thread_that_meets_other_tensors_in_a_module_gets_an_error_that_names_it():
    module, inside, done = linear(), threading.Event(), threading.Event()

    def f(m):
        inside.set()
        assert done.wait(30)
        return m(X).sum()

    results = []
    thread = threading.Thread(
        target=lambda: results.extend(gradient(f, AutoTorch(mode="forward"), module))
    )
    thread.start()
    assert inside.wait(30)
    try:
        with pytest.raises(
            ConversionError,
            match=r"^A call in another thread differentiates this Linear and has put tensors",
        ):
            gradient(lambda m: m(X).sum(), AutoTorch(), module)
    finally:
        done.set()
        thread.join()
    assert_numbers(results[0].weight, X)
    assert_numbers(gradient(lambda m: m(X).sum(), AutoTorch(), module)[0].weight, X)


@pytest.mark.parametrize(
    "inner", [AutoTorch(), AutoTorch(mode="forward")], ids=["plain", "forward"]
)
@pytest.mark.parametrize(
    "outer", [AutoTorch(mode="forward"), AutoFiniteDifferences()], ids=["forward", "differences"]
)
@pytest.mark.parametrize("beside", [(), (X,)], ids=["alone", "beside a tensor"])
def test_a_gradient_of_the_module_is_differentiated_by_that_module(outer, inner, beside):
    model = linear()
    model.bias.requires_grad_(False)

    def penalty(module):
        slope, *_ = gradient(lambda m, x=X: (m(x) ** 2).sum(), inner, module, *beside)
        return (slope.weight**2).sum()

    # d/dw |2 y x|^2 = 8 |x|^2 y x with y = 5.5
    (found,) = gradient(penalty, outer, model)
    np.testing.assert_allclose(found.weight.detach().numpy(), 220 * X.numpy(), rtol=1e-6)
    assert not found.bias.any()


@pytest.mark.parametrize(
    "backend",
    [AutoTorch(), AutoTorch(create_graph=True), AutoTorch(mode="forward"), AutoFiniteDifferences()],
    ids=["plain", "create_graph", "forward", "differences"],
)
def test_steps_by_tree_functions_inside_f_are_differentiated(backend):
    def step(module):
        (slope,) = gradient(lambda m: (m(X) ** 2).sum(), AutoTorch(), module)
        return tree.axpy(-0.1, slope, module)

    # y' = (1 - 0.2 (1 + |x|^2)) y = -0.2 y in each step; y = 5.5
    (found,) = gradient(lambda m: step(step(m))(X).sum() + m(X).sum(), backend, linear())
    np.testing.assert_allclose(found.weight.detach().numpy(), 1.04 * X.numpy(), rtol=1e-6)
