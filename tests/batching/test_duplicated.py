"""`Duplicated`: the gradient is written into buffers of its own, replaced or added to."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import assert_told, assert_tree, call_of, each_backend, rtol_of
from flax import nnx
from torch import nn

from adinterface import (
    AutoJax,
    AutoTorch,
    Constant,
    ConversionError,
    Duplicated,
    NotDifferentiableError,
    TreeError,
    ValueAndGradient,
    gradient,
    hessian,
    hvp,
    jacobian,
    prepare,
    pullback,
    tree,
    value_and_gradient,
)


@dataclass
class Model:
    w: Any
    b: Any
    name: str


def model():
    return Model(np.array([1.0, -2.0, 0.5]), 0.25, "line")


def loss(model, x):
    return ((model.w * x).sum() + model.b) ** 2


X = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0], [2.0, 0.0, -1.0]])


@each_backend
@pytest.mark.parametrize("prepared", [False, True], ids=["once", "prepared"])
def test_the_gradient_is_in_the_buffers_and_returned_from_them(backend, prepared):
    duplicated = Duplicated(model())
    buffer = duplicated.gradient.w
    assert_tree(duplicated.gradient, Model(np.zeros(3), 0.0, None))
    call = call_of(prepared, gradient, loss, backend, duplicated, Constant(X[0]))
    for x in X:
        got, none = call(duplicated, Constant(x))
        assert got is duplicated.gradient
        assert got.w is buffer
        assert none is None
        assert_tree(got, gradient(loss, backend, model(), Constant(x))[0], rtol_of(backend))


@each_backend
@pytest.mark.parametrize("prepared", [False, True], ids=["once", "prepared"])
def test_micro_batches_add_up(backend, prepared):
    duplicated = Duplicated(model(), accumulate=True)
    buffer = duplicated.gradient.w
    call = call_of(prepared, value_and_gradient, loss, backend, duplicated, Constant(X[0]))
    total = tree.zeros_like(gradient(loss, backend, model(), Constant(X[0]))[0])
    for x in X:
        result = call(duplicated, Constant(x))
        total = tree.add(total, gradient(loss, backend, model(), Constant(x))[0])
        assert type(result) is ValueAndGradient
        assert_tree(result.value, value_and_gradient(loss, backend, model(), Constant(x)).value)
        assert result.gradient[0] is duplicated.gradient
    assert duplicated.gradient.w is buffer
    assert_tree(duplicated.gradient, total, rtol_of(backend))
    duplicated.zero()
    assert duplicated.gradient.w is buffer
    assert_tree(duplicated.gradient, Model(np.zeros(3), 0.0, None))


def test_modules_accumulate_in_place():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1)).double()
    net[0].bias.requires_grad_(False)

    def f(net, x):
        return net(x).square().sum()

    duplicated = Duplicated(net, accumulate=True)
    module, parameters = duplicated.gradient, list(duplicated.gradient.parameters())
    fast = prepare(gradient, f, AutoTorch(), duplicated, Constant(torch.tensor(X)))
    gradient(f, AutoTorch(), duplicated, Constant(torch.tensor(X[:1])))
    got, _ = fast(duplicated, Constant(torch.tensor(X[1:])))
    assert got is module
    assert all(a is b for a, b in zip(parameters, got.parameters()))
    whole = gradient(f, AutoTorch(), net, Constant(torch.tensor(X)))[0]
    assert all(torch.allclose(a, b) for a, b in zip(got.parameters(), whole.parameters()))
    assert all(parameter.grad is None for parameter in net.parameters())
    assert net[0].weight.requires_grad


@pytest.mark.parametrize("prepared", [False, True], ids=["once", "prepared"])
def test_on_jax_the_gradient_is_rebound(prepared):
    x = jnp.asarray([1.0, 2.0], "float32")
    duplicated = Duplicated({"x": x, "frozen": Constant(x)}, accumulate=True)

    def f(m):
        return (m["x"] * m["frozen"]).sum()

    call = call_of(prepared, gradient, f, AutoJax(), duplicated)
    before = duplicated.gradient["x"]
    call(duplicated)
    (got,) = call(duplicated)
    assert_tree(got, {"x": 2 * x, "frozen": None})
    assert got is duplicated.gradient
    assert float(before.sum()) == 0.0
    duplicated.zero()
    assert_tree(duplicated.gradient["x"], jnp.zeros(2, "float32"))


# Errors
# ------------------------------------------------------------------------------------------------


def f(x):
    return (x * x).sum()


_INSIDE = "gradient: Duplicated(...) must be an argument itself..."
_ROOM = "...has a gradient, so there is nothing to store..."
SAME = Duplicated(X)
#: A call that is refused: the class of the error, and its words.
WRONG = {
    **{
        operator.__name__: (
            lambda operator=operator: operator(f, AutoTorch(), Duplicated(X)), TypeError,
            f"{operator.__name__}: Duplicated... has room for a gradient, which gradient and...",
        )
        for operator in (jacobian, pullback, hessian)
    },
    "prepared": (lambda: prepare(jacobian, f, AutoTorch(), Duplicated(X)), TypeError, "...Pass the model itself..."),
    "hvp": (lambda: hvp(f, AutoTorch(), Duplicated(X), X), TypeError, "hvp: Duplicated..."),
    "in a dict": (lambda: gradient(lambda a: f(a["m"]), AutoTorch(), {"m": Duplicated(X)}), TypeError, _INSIDE),
    "in a Constant": (lambda: gradient(lambda a, x: f(x), AutoTorch(), Constant(Duplicated(X)), X), TypeError, _INSIDE),
    "in itself": (lambda: gradient(lambda a, x: f(x), AutoTorch(), Duplicated([Duplicated(X)]), X), TypeError, _INSIDE),
    "keyword": (lambda: gradient(lambda x, k: f(x), AutoTorch(), X, k=Duplicated(X)), TypeError, _INSIDE),
    "twice": (lambda: gradient(lambda a, b: f(a * b), AutoTorch(), SAME, SAME), TypeError,
     "...two arguments are one and the same Duplicated..."),
    "twice, prepared": (lambda: prepare(gradient, lambda a, b: f(a * b), AutoTorch(), X, X)(SAME, SAME), TypeError,
     "...two arguments are one and the same Duplicated..."),
    "an int": (lambda: Duplicated(3), NotDifferentiableError, _ROOM),
    "a list": (lambda: Duplicated([1, "text"]), NotDifferentiableError, _ROOM),
    "a Constant": (lambda: Duplicated(Constant(X)), NotDifferentiableError, _ROOM),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_is_told(name):
    call, cls, words = WRONG[name]
    assert_told(call, cls, words)


class Counting(nnx.Module):
    def __init__(self):
        self.weight, self.calls = nnx.Param(jnp.ones(3)), nnx.BatchStat(jnp.zeros(()))

    def __call__(self, x):
        self.calls[...] = self.calls[...] + 1
        return (self.weight[...] * x).sum() ** 2


class CountingTorch(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls += 1
        return (self.weight * x).sum() ** 2


@pytest.mark.parametrize("prepared", [False, True])
@pytest.mark.parametrize("operator", [gradient, value_and_gradient])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["module first", "buffers first"])
@pytest.mark.parametrize(
    ("backend", "module", "array"),
    [(AutoJax(), Counting, jnp.arange), (AutoTorch(), CountingTorch, torch.arange)],
    ids=["jax", "torch"],
)
def test_beside_a_module_that_f_writes_to(backend, module, array, order, operator, prepared):
    """What surrounds the call for the one hands the arguments on to the other."""
    module, buffers = module(), Duplicated(array(3.0))
    args = [(module, buffers)[n] for n in order]

    def f(*args):
        return args[order.index(0)](args[order.index(1)])

    call = call_of(prepared, operator, f, backend, *args)
    for count in (1, 2):
        result = call(*args)
        gradients = result if operator is gradient else result.gradient
        assert_tree(gradients[order.index(0)].weight[...], 6 * array(3.0))
        assert_tree(gradients[order.index(1)], 6 * (array(3.0) * 0 + 1))
        assert_tree(buffers.gradient, 6 * (array(3.0) * 0 + 1))
        assert float(module.calls[...]) == count


def test_a_model_that_has_changed():
    duplicated = Duplicated({"w": X.copy()})
    duplicated.value = {"w": X[:2].copy()}
    words = "...is of shape (2, 3) and dtype float64 in numpy, and its buffer of shape (3, 3)..."
    assert_told(lambda: gradient(lambda m: f(m["w"]), AutoTorch(), duplicated), TreeError, words)
    duplicated.value = {"v": X.copy()}
    words = "...has another structure than at first ...has the keys 'v'... Make a new one..."
    assert_told(lambda: gradient(lambda m: f(m["v"]), AutoTorch(), duplicated), TreeError, words)
    assert not duplicated.gradient["w"].any()


def test_no_tracer_is_stored():
    x = jnp.ones(3, "float32")
    duplicated = Duplicated(x)
    with pytest.raises(ConversionError, match="Duplicated: its gradient would be a traced array"):
        jax.jit(lambda s: gradient(lambda x: s * f(x), AutoJax(), duplicated)[0])(2.0)
    assert float(duplicated.gradient.sum()) == 0.0
    y = torch.ones(3, dtype=torch.float64)
    held = Duplicated(y)
    with pytest.raises(ConversionError, match="Inside another derivative"):
        gradient(
            lambda s: gradient(lambda x: s * f(x), AutoTorch(), held)[0].sum(),
            AutoTorch(),
            torch.tensor(2.0).double(),
        )
    assert not held.gradient.any()


def test_an_f_that_raises_leaves_the_buffers():
    duplicated = Duplicated(X.copy(), accumulate=True)
    gradient(f, AutoTorch(), duplicated)
    with pytest.raises(ZeroDivisionError):
        gradient(lambda x: f(x) * (1 / 0), AutoTorch(), duplicated)
    assert_tree(duplicated.gradient, 2 * X)
