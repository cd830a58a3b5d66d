"""The structure of a module: what it tells apart, its parameters, and the copies that are built
from it.
"""

import copy
from collections import OrderedDict

import pytest
import torch
from adinterface_torch.copying import NoHooks
from backends_table import assert_told, call_of
from torch import nn

from adinterface import (
    AutoTorch,
    ConversionError,
    gradient,
    hvp,
    jacobian,
    prepare,
    pushforward,
    tree,
    value_and_gradient,
)


class Mixed(nn.Module):
    """All that a module may hold, some of it twice."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.nothing = nn.Linear(2, 3), nn.Linear(3, 2), None
        self.register_parameter("missing", None)
        self.register_buffer("table", torch.arange(3.0), persistent=False)
        self.register_buffer("absent", None)
        self.register_module("none", None)
        self.scale = nn.Parameter(torch.tensor(2.0), requires_grad=False)
        self.arrays = [torch.ones(2), {"k": torch.zeros(1)}]
        self.sizes, self.names, self.options, self.chosen = (1, 2), ["a", "b"], {"x": 1}, {3}
        self.seen = self.record = []
        self.again = [self.first.weight, self.second]
        self.act = torch.tanh


class Own(nn.Linear):
    """A class of its own."""


def _hook(*_):
    return None


# Reading
# ------------------------------------------------------------------------------------------------


def _replace(path, value):
    def change(module):
        *above, name = path.split(".")
        setattr(module.get_submodule(".".join(above)), name, value() if callable(value) else value)

    return change


def _freeze(module):
    module.first.bias.requires_grad_(False)


def _tie(module):
    module.second.bias = module.first.bias = nn.Parameter(torch.ones(3))


CHANGES = {
    "new parameter": lambda m: m.register_parameter("extra", nn.Parameter(torch.ones(1))),
    "removed parameter": lambda m: delattr(m, "scale"),
    "renamed parameter": lambda m: m.register_parameter("other", m._parameters.pop("scale")),
    "renamed submodule": lambda m: m.add_module("third", m._modules.pop("second")),
    "submodule of a subclass": _replace("first", lambda: Own(2, 3)),
    "re-tied": _tie,
    "new submodule": lambda m: m.add_module("extra", nn.ReLU()),
    "removed submodule": lambda m: delattr(m, "second"),
    "submodule of another class": _replace("first", lambda: nn.Bilinear(2, 2, 3)),
    "submodule twice": lambda m: setattr(m, "second", m.first),
    "frozen": _freeze,
    "unfrozen": lambda m: m.scale.requires_grad_(),
    "moved dtype": lambda m: m.double(),
    "another shape": _replace("first.weight", lambda: nn.Parameter(torch.ones(4, 2))),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_module_is_specialized_anew(change):
    module = Mixed()
    f = lambda m: sum((p**2).sum() for p in m.parameters())
    fast = prepare(gradient, f, AutoTorch(), module)
    for count in (1, 2):
        (found,) = fast(module)
        assert fast.specializations == count
        names = [[name for name, _ in m.named_parameters()] for m in (found, module)]
        assert names[0] == names[1]
        for g, p in zip(found.parameters(), module.parameters(), strict=True):
            torch.testing.assert_close(g.data, 2 * p.detach() * p.requires_grad)
        if count == 1:
            change(module)


# Building
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deep", [False, True], ids=["by state", "by deepcopy"])
def test_a_gradient_takes_no_hooks_and_says_where_to_register_one(deep):
    class Copied(nn.Linear):
        def __deepcopy__(self, memo):
            made = Copied(1, 1)
            vars(made).update(copy.deepcopy(vars(self), memo))
            return made

    module = nn.Sequential(Copied(1, 1) if deep else nn.Linear(1, 1))
    calls = []
    module[0].register_forward_hook(lambda *_: calls.append(1))
    (found,) = gradient(lambda m: m(torch.ones(1)).sum(), AutoTorch(), module)
    assert calls == [1]
    assert type(found[0]) is type(module[0])
    found(torch.ones(1))
    assert calls == [1]
    words = "...The modules of a gradient share ... or on copy.deepcopy(gradient), which has..."
    assert_told(lambda: found[0].register_forward_hook(_hook), TypeError, words)
    own = copy.deepcopy(found)
    handle = own[0].register_forward_hook(_hook)
    assert list(own[0]._forward_hooks.values()) == [_hook]
    handle.remove()
    module[0].register_forward_hook(_hook)
    assert len(module[0]._forward_hooks) == 2


def test_what_gradients_share_is_copied_and_saved_as_what_it_stands_for(tmp_path):
    module = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1))
    (found,) = gradient(lambda m: m(torch.ones(2, 1)).sum(), AutoTorch(), module)
    torch.save(found, tmp_path / "gradient.pt")
    saved = torch.load(tmp_path / "gradient.pt", weights_only=False)
    (second,) = gradient(
        lambda m: sum(p.sum() for p in m.parameters()), AutoTorch(), found.requires_grad_()
    )
    for other in (copy.deepcopy(found), saved, tree.map(torch.clone, found)):
        assert not any(
            type(value) is NoHooks for inner in other.modules() for value in vars(inner).values()
        )
    assert type(second[0]._forward_hooks) is NoHooks
    assert type(found[0]._forward_hooks.copy()) is OrderedDict
    found.register_buffer("late", torch.ones(1), persistent=False)
    assert not second._non_persistent_buffers_set
    assert not module._non_persistent_buffers_set
    hooks = found[0]._forward_hooks
    for write in (lambda: hooks.update({1: _hook}), lambda: hooks.setdefault(1, _hook)):
        with pytest.raises(TypeError, match="share their registers of hooks"):
            write()
    assert not hooks


class Scaled(nn.Module):
    """One that holds an array of somebody else's, as a buffer or as it is."""

    def __init__(self, scale, registered):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 2.0))
        if registered:
            self.register_buffer("scale", scale)
            self.register_buffer("other", torch.ones(2))
        else:
            self.scale = scale

    def forward(self):
        return (self.weight**2 * self.scale).sum()


def _of_scale(operator, registered):
    def g(scale):
        module = Scaled(scale, registered)
        v = Scaled(torch.ones(3), registered)
        v.weight.data.fill_(1.0)
        if operator == "gradient":
            return gradient(Scaled.__call__, AutoTorch(), module)[0].weight.sum()
        if operator == "hvp":
            return hvp(Scaled.__call__, AutoTorch(), module, v).weight.sum()
        return pushforward(Scaled.__call__, AutoTorch(), (module,), (v,)).tangent

    return g


@pytest.mark.parametrize("registered", [True, False], ids=["buffer", "attribute"])
@pytest.mark.parametrize(
    ("operator", "each"), [("gradient", 4.0), ("pushforward", 4.0), ("hvp", 2.0)]
)
def test_an_outer_derivative_goes_through_what_a_copy_holds(operator, each, registered):
    g, x = _of_scale(operator, registered), torch.arange(3.0)
    ways = {
        "grad": lambda: torch.func.grad(g)(x),
        "gradient": lambda: gradient(g, AutoTorch(), x)[0],
        "jvp": lambda: torch.stack([torch.func.jvp(g, (x,), (v,))[1] for v in torch.eye(3)]),
        "forward": lambda: jacobian(lambda x: g(x)[None], AutoTorch(mode="forward"), x)[0][0],
    }
    for name, way in ways.items():
        assert torch.equal(way(), torch.full((3,), each)), name


def test_f_may_add_a_submodule():
    module = nn.Sequential(nn.Linear(1, 1))

    def grow(m):
        m.add_module("late", nn.ReLU())
        return m(torch.ones(1)).sum()

    (found,) = gradient(grow, AutoTorch(), module)
    assert type(found.late) is nn.ReLU


def test_f_may_add_no_parameter():
    def grow(m):
        m.add_module("late", nn.Linear(1, 1))
        return m(torch.ones(1)).sum()

    message = (
        "Sequential has other parameters than before: f added or replaced some, so their gradients"
        " have no place. Let the module have all its parameters before it is differentiated."
    )
    module = nn.Sequential(nn.Linear(1, 1))
    assert_told(lambda: gradient(grow, AutoTorch(), module), ConversionError, message)


def test_a_module_in_a_circle_keeps_it():
    module = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    module[1].above = module
    (built,) = gradient(lambda m: m[0].weight.sum(), AutoTorch(), module)
    assert built[1].above is built is not module


# Life
# ------------------------------------------------------------------------------------------------


def test_changes_are_seen_by_the_operator_from_call_to_call():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    f = lambda m: m(torch.ones(2)).sum()
    assert value_and_gradient(f, AutoTorch(), module).gradient[0][0].weight.abs().sum() > 0
    module[0].weight.requires_grad_(False)
    (found,) = gradient(f, AutoTorch(), module)
    assert not found[0].weight.any()
    assert found[0].bias.any()
    module[0] = nn.Identity()
    (found,) = gradient(f, AutoTorch(), module)
    assert type(found[0]) is nn.Identity
    module.double()
    (found,) = gradient(lambda m: m(torch.ones(2, dtype=torch.float64)).sum(), AutoTorch(), module)
    assert found[1].weight.dtype == torch.float64


@pytest.mark.parametrize("prepared", [False, True])
def test_a_tensor_that_others_hold_stays_what_it_is(prepared):
    """Gradients become parameters of a module, but not the objects that a hook saw or that a rule
    had kept.
    """
    kept, seen = torch.full((1, 3), 5.0), []

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x * kept).sum()

        @staticmethod
        def backward(ctx, cotangent):
            return kept

    module = nn.Linear(3, 1)
    module.bias.register_hook(seen.append)
    f = lambda m: Scaled.apply(m.weight) + (m.bias**2).sum()
    (result,) = call_of(prepared, gradient, f, AutoTorch(), module)(module)
    assert type(kept) is type(seen[-1]) is torch.Tensor
    assert [type(p) for p in result.parameters()] == [nn.Parameter] * 2
    assert torch.equal(result.weight, kept)
