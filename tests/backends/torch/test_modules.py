"""Models of the engines' own libraries: torch's modules, Equinox's modules, Optax."""

import copy
import dataclasses
import warnings
from collections import OrderedDict
from typing import Any

import adinterface_torch.distributed
import numpy as np
import pytest
import torch
from backends_table import assert_numbers, assert_tree, call_of, rtol_of
from torch import nn

from adinterface import (
    AutoFiniteDifferences,
    AutoTorch,
    Constant,
    ConversionError,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    tree,
    value_and_gradient,
)

each_torch_backend = pytest.mark.parametrize(
    "backend", [AutoTorch(), AutoFiniteDifferences()], ids=["torch", "finite"]
)

DATA = torch.tensor([[1.0, -2.0], [0.5, 3.0], [2.0, 0.25]], dtype=torch.float64)
WEIGHTS = torch.tensor([[1.0, -0.5], [2.0, 1.5], [-1.0, 0.75]], dtype=torch.float64)


class Tied(nn.Module):
    """An autoencoder whose decoder is the encoder's weight, seen under two names."""

    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(2, 2), nn.Linear(2, 2)
        self.decoder.weight = self.encoder.weight

    def forward(self, x):
        return self.decoder(torch.tanh(self.encoder(x)))


class WithExtras(nn.Module):
    """A parameter of its own, one that is not used, a buffer, and attributes that are not
    tensors.
    """

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.5))
        self.unused = nn.Parameter(torch.ones(3))
        self.register_buffer("offset", torch.tensor([0.5, -0.5]))
        self.activation, self.name, self.blocks = (
            torch.tanh,
            "extras",
            nn.ModuleList([nn.Linear(2, 2)]),
        )
        self.table = nn.ParameterDict({"k": nn.Parameter(torch.ones(2))})

    def forward(self, x):
        return self.scale * self.activation(self.blocks[0](x) + self.offset) * self.table["k"]


def _frozen():
    module = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2))
    module[2].requires_grad_(False)
    module[0].bias.requires_grad_(False)
    return module


def _old_weight_norm():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return nn.utils.weight_norm(nn.Linear(2, 2))


#: name: makes a module that maps (3, 2) to (3, 2)
MODULES = {
    "linear": lambda: nn.Linear(2, 2),
    "sequential": lambda: nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 2)),
    "frozen": _frozen,
    "tied": Tied,
    "extras": WithExtras,
    "batch norm": lambda: nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)),
    "layer norm": lambda: nn.Sequential(nn.Linear(2, 2), nn.LayerNorm(2)),
    "LSTM": lambda: nn.LSTM(2, 2),
    "two-layer GRU": lambda: nn.GRU(2, 2, num_layers=2),
    "attention": lambda: nn.MultiheadAttention(2, 1),
    "weight norm": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)),
    "orthogonal": lambda: nn.utils.parametrizations.orthogonal(nn.Linear(2, 2)),
    "old weight norm": _old_weight_norm,
}


def _make(name):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return MODULES[name]().double()


def _loss(module, data=DATA):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        result = (
            module(data, data, data) if isinstance(module, nn.MultiheadAttention) else module(data)
        )
    result = result[0] if isinstance(result, tuple) else result
    return (WEIGHTS * result).sum() + (result**2).sum()


def _backward(module):
    """The gradients that torch itself finds, by name.

    On a copy, so that the module stays as it is.
    """
    fresh = _loss_on_copy(module)
    return {
        name: torch.zeros_like(p) if p.grad is None else p.grad
        for name, p in fresh.named_parameters()
    }


def _loss_on_copy(module):
    memo = {
        id(v): v.detach().clone()
        for m in module.modules()
        for v in vars(m).values()
        if torch.is_tensor(v)
    }
    fresh = copy.deepcopy(module, memo)
    fresh.zero_grad()
    _loss(fresh).backward()
    return fresh


def _state(module):
    return {name: value.detach().clone() for name, value in module.state_dict().items()}


# nn.Module
# ------------------------------------------------------------------------------------------------


@each_torch_backend
@pytest.mark.parametrize("name", MODULES)
def test_the_gradient_of_a_module_is_a_module_of_its_class_with_gradients_for_parameters(
    name, backend
):
    module = _make(name)
    if _is_not_copied(name, backend):
        with pytest.raises(RuntimeError, match="deepcopy"):
            gradient(_loss, backend, module)
        return
    before, parameters = _state(module), [(p, p.requires_grad) for p in module.parameters()]
    (found,) = gradient(_loss, backend, module)
    assert type(found) is type(module)
    assert found is not module
    assert all(
        p is q and p.requires_grad == flag and p.grad is None
        for p, (q, flag) in zip(module.parameters(), parameters)
    )
    kept = {name for name in before if "running" not in name and "tracked" not in name}
    assert all(
        torch.equal(value, before[name]) for name, value in _state(module).items() if name in kept
    )
    expected = _backward(module)
    assert (
        [n for n, _ in found.named_parameters()]
        == [n for n, _ in module.named_parameters()]
        == list(expected)
    )
    for parameter, mine in zip(found.parameters(), module.parameters()):
        assert type(parameter) is nn.Parameter
        assert not parameter.requires_grad
        assert parameter.grad_fn is None
        assert parameter.dtype == mine.dtype
        assert parameter.untyped_storage().data_ptr() != mine.untyped_storage().data_ptr()
    # A bias in front of a BatchNorm has gradient zero, so the measure is the largest number of all.
    assert_numbers(_flat(found.parameters()), _flat(expected.values()), 10 * rtol_of(backend))


def _is_not_copied(name, backend):
    """torch refuses to copy a module that holds a computed tensor, and differences work on a
    copy.
    """
    return name == "old weight norm" and isinstance(backend, AutoFiniteDifferences)


def _flat(tensors):
    return torch.cat([tensor.detach().flatten() for tensor in tensors])


class Counting(nn.Module):
    """Of its two buffers it replaces one and writes to the other."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, dtype=torch.float64))
        self.register_buffer("mean", torch.zeros((), dtype=torch.float64))
        self.register_buffer("count", torch.zeros(()))

    def replaced(self, x):
        y = x * self.weight
        self.mean = 0.9 * self.mean + 0.1 * y.mean().detach()
        return y

    def forward(self, x):
        y = self.replaced(x)
        with torch.no_grad():
            self.count += 1
        return y


_FORWARD, _REVERSE = AutoTorch(mode="forward"), AutoTorch(mode="reverse")
UPDATING = {
    "gradient": lambda f, auto, m: gradient(f, auto, m),
    "value_and_gradient": lambda f, auto, m: value_and_gradient(f, auto, m),
    "jacobian": lambda f, auto, m: jacobian(f, auto, m),
    "pushforward": lambda f, auto, m: pushforward(f, auto, (m,), (m,)),
    "push": lambda f, auto, m: [push(m) for push in [linearize(f, auto, m)[1]] for _ in range(2)],
    "back": lambda f, auto, m: [
        back(torch.ones((), dtype=torch.float64)) for back in [pullback(f, auto, m)[1]] * 2
    ],
    "hvp": lambda f, auto, m: hvp(f, auto, m, m),
    "hessian": lambda f, auto, m: hessian(f, auto, m),
    "diagonal_hessian": lambda f, auto, m: diagonal_hessian(f, auto, m),
    "prepared": lambda f, auto, m: prepare(gradient, f, auto, m)(m),
}


@pytest.mark.parametrize(
    "make", [lambda: nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).double(), Counting]
)
@pytest.mark.parametrize("name", UPDATING)
@pytest.mark.parametrize("backend", [AutoTorch(), _REVERSE], ids=["default", "reverse"])
def test_what_f_counts_in_buffers_arrives_once_in_the_users_module_in_reverse_mode(
    backend, name, make
):
    torch.manual_seed(0)
    module = make()
    reference = copy.deepcopy(module)
    reference(DATA)
    before = list(module.buffers())
    UPDATING[name](lambda m: (m(DATA) ** 3).sum(), backend, module)
    for found, expected, old in zip(module.buffers(), reference.buffers(), before):
        assert not found.requires_grad
        torch.testing.assert_close(found, expected)
        assert found is old or type(module) is Counting


@pytest.mark.parametrize("name", UPDATING)
def test_forward_mode_leaves_a_module_as_it_was_and_says_that_a_batch_norm_cannot_count_there(name):
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)).double()
    before, parameters = copy.deepcopy(module.state_dict()), [*module.parameters()]
    with pytest.raises(RuntimeError, match=r"captured Tensor|in-place|inplace") as caught:
        UPDATING[name](lambda m: (m(DATA) ** 3).sum(), _FORWARD, module)
    assert any("module.eval()" in note for note in caught.value.__notes__)
    assert all(p is q for p, q in zip(module.parameters(), parameters, strict=True))
    torch.testing.assert_close(
        [*module.parameters()], [before[key] for key, _ in module.named_parameters()]
    )
    counting = Counting()
    UPDATING[name](lambda m: (m.replaced(DATA) ** 3).sum(), _FORWARD, counting)
    assert type(counting.weight) is nn.Parameter
    assert not any(map(torch._C._functorch.is_functorch_wrapped_tensor, counting.buffers()))


def test_f_receives_the_users_own_module_under_reverse_mode():
    module, seen = _make("extras"), []
    gradient(
        lambda m, d: seen.extend([m, d["k"]]) or _loss(m) + _loss(d["k"]),
        AutoTorch(),
        module,
        {"k": module},
    )
    assert seen[0] is module
    assert type(seen[1]) is type(module)
    assert seen[1] is not module  # another place is another variable


@each_torch_backend
@pytest.mark.parametrize("place", ["argument", "tree"])
def test_a_constant_module_is_used_but_has_no_gradient(place, backend):
    module, seen = _make("linear"), []
    wrapped = Constant(module) if place == "argument" else [Constant(module)]

    def f(m, x):
        m = m if place == "argument" else m[0]
        seen.append(m)
        return _loss(m, x)

    none, data = gradient(f, backend, wrapped, DATA)
    assert none is None if place == "argument" else none == [None]
    assert all(m is module for m in seen)
    inputs = DATA.clone().requires_grad_()
    _loss(module, inputs).backward()
    assert_tree(data, inputs.grad, 10 * rtol_of(backend))


# Engines and wrappers that cannot take a module
# -----------------------------------------------------------------------


@pytest.mark.parametrize("auto", [AutoTorch(), AutoTorch(mode="forward"), AutoFiniteDifferences()])
@pytest.mark.parametrize("kind", [dict, list])
def test_the_hessian_of_a_container_that_holds_a_module_is_its_tree_of_its_trees(kind, auto):
    module = nn.Linear(2, 1).double()
    model = {"m": module, "x": DATA[0]} if kind is dict else [module, DATA[0]]
    m, x = model if kind is dict else range(2)

    def f(model):
        return (model[m](model[x]) ** 2).sum()

    found = prepare(hessian, f, auto, model)(model) if kind is dict else hessian(f, auto, model)
    flat = torch.func.hessian(lambda w, b, x: ((w @ x + b) ** 2).sum(), argnums=(0, 1, 2))(
        *module.parameters(), DATA[0]
    )
    rows = [found[m].weight, found[m].bias, found[x]]
    for row, expected in zip(rows, flat, strict=True):
        assert type(row) is kind
        for block, other in zip((row[m].weight, row[m].bias, row[x]), expected, strict=True):
            torch.testing.assert_close(block.data, other.detach(), rtol=1e-5, atol=1e-6)
    message = (
        r"Linear\.bias is the row of a Hessian of a container, which is no part of a module\. Pass"
        r" the row itself\."
    )
    with pytest.raises(ConversionError, match=message):
        tree.norm(found)
    tree.norm(rows[0])


def compiled(module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.compile(module, backend="eager")


COMPILED_CALLS = {
    "one-shot": lambda backend, m: gradient(_loss, backend, m)[0],
    "prepared": lambda backend, m: prepare(gradient, _loss, backend, m)(m)[0],
    "in a tree": lambda backend, m: gradient(lambda d: _loss(d["net"]), backend, {"net": m})[0][
        "net"
    ],
    "by a pullback": lambda backend, m: pullback(_loss, backend, m).back(1.0)[0],
    "a product with the Hessian": lambda backend, m: hvp(_loss, backend, m, m),
}


@pytest.mark.parametrize(
    "backend",
    [AutoTorch(), AutoTorch(mode="forward"), AutoFiniteDifferences()],
    ids=["reverse", "forward", "finite"],
)
@pytest.mark.parametrize("call", COMPILED_CALLS.values(), ids=COMPILED_CALLS)
def test_what_torch_compile_made_of_a_module_is_one_too(call, backend):
    plain = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)).double()
    model = compiled(copy.deepcopy(plain))
    found, expected = call(backend, model), call(backend, plain)
    assert type(found) is type(model)
    assert [name for name, _ in found.named_parameters()] == [
        f"_orig_mod.{name}" for name, _ in plain.named_parameters()
    ]
    for ours, theirs in zip(found.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-6, atol=1e-7)
        assert not ours.requires_grad
        assert not theirs.requires_grad
    assert torch.equal(model(DATA), plain(DATA))


class ModelOutput(OrderedDict):
    """As Hugging Face's: a dict of the fields that are not None, which cannot be made without its
    `__init__`.
    """

    def __post_init__(self):
        for field in dataclasses.fields(self):
            if getattr(self, field.name) is not None:
                self[field.name] = getattr(self, field.name)

    def __setitem__(self, name, value):
        super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __setattr__(self, name, value):
        if name in self.keys() and value is not None:
            super().__setitem__(name, value)
        super().__setattr__(name, value)

    def __getitem__(self, place):
        return dict(self.items())[place] if isinstance(place, str) else tuple(self.values())[place]


@dataclasses.dataclass
class LossAndLogits(ModelOutput):
    loss: Any = None
    logits: Any = None
    hidden: Any = None


@each_torch_backend
@pytest.mark.parametrize("prepared", [False, True], ids=["one-shot", "prepared"])
def test_what_hugging_faces_models_return_is_a_value_an_aux_and_an_argument(prepared, backend):
    def call(operator, f, *args):
        return call_of(prepared, operator, f, backend, *args)(*args)

    def check(found, **expected):
        assert type(found) is LossAndLogits
        assert list(found) == list(expected)
        for name, number in expected.items():
            assert found[name] is getattr(found, name)
            torch.testing.assert_close(found[name], number, rtol=1e-6, atol=0)

    x = torch.tensor([1.0, 2.0], dtype=torch.float64)
    value, (slope,) = call(
        value_and_gradient, lambda x: LossAndLogits((x * x).sum(), logits=x * 2), x
    )
    check(value, loss=torch.tensor(5.0, dtype=torch.float64), logits=2 * x)
    torch.testing.assert_close(slope, 2 * x, rtol=1e-6, atol=0)
    value, _ = call(
        value_and_gradient,
        lambda x: ((x * x).sum(), LossAndLogits(logits=x * 2, hidden=(x, x + 1))),
        x,
    )
    check(value[1], logits=2 * x, hidden=(x, x + 1))
    rows = call(jacobian, lambda x: LossAndLogits(logits=x * 2), x)
    check(rows, logits=(2 * torch.eye(2, dtype=torch.float64),))
    (found,) = call(
        gradient, lambda out: (out.logits * out["logits"]).sum(), LossAndLogits(logits=x)
    )
    check(found, logits=2 * x)


@pytest.fixture
def one_process(tmp_path):
    """A process group of this process alone."""
    import torch.distributed.tensor  # slow to import, and not loaded with torch

    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path / 'store'}", rank=0, world_size=1
    )
    yield torch.distributed.init_device_mesh("cpu", (1,))
    torch.distributed.destroy_process_group()


every_torch_backend = pytest.mark.parametrize(
    "backend",
    [
        AutoTorch(),
        AutoTorch(mode="forward"),
        AutoFiniteDifferences(),
        AutoFiniteDifferences(native=AutoTorch()),
    ],
    ids=["torch", "forward", "finite", "native"],
)


@every_torch_backend
def test_such_modules_may_be_constants_as_the_message_says(backend, one_process):
    wrapped = nn.parallel.DistributedDataParallel(nn.Linear(2, 2))
    modules = [wrapped]
    # With it, the jvp of PyTorch 2.7 raises an error of its own.
    if adinterface_torch.distributed.DTENSORS_ARE_RIGHT or backend != AutoTorch(mode="forward"):
        modules.append(torch.distributed.fsdp.fully_shard(nn.Linear(2, 2)))
    x = torch.ones(1, 2)
    for module in modules:
        result, none = gradient(lambda x, m: m(x).sum(), backend, x, Constant(module))
        assert none is None
        weight = next(module.parameters())
        weight = weight.full_tensor() if hasattr(weight, "full_tensor") else weight
        torch.testing.assert_close(result, weight.detach().sum(0)[None], rtol=1e-2, atol=1e-3)


def test_derivatives_by_a_dtensor_are_refused_where_torchs_own_are_wrong(one_process, monkeypatch):
    monkeypatch.setattr(adinterface_torch.distributed, "DTENSORS_ARE_RIGHT", False)
    spread = torch.distributed.tensor.distribute_tensor(
        torch.ones(4), one_process, [torch.distributed.tensor.Shard(0)]
    )
    model = nn.Linear(4, 1)
    model.weight = nn.Parameter(
        torch.distributed.tensor.distribute_tensor(model.weight.detach(), one_process)
    )
    for f, x in (
        (lambda x: (x * x).sum(), spread),
        (lambda m: m.weight.sum(), model),
        (lambda t: t["x"].sum(), {"x": spread}),
    ):
        for operator in (gradient, jacobian, pullback):
            with pytest.raises(ConversionError) as caught:
                operator(f, AutoTorch(), x)
            assert (
                str(caught.value)
                == f"Some derivatives of DTensors are wrong in PyTorch {torch.__version__}, so they"
                " are differentiated from PyTorch 2.12 on. Install a newer one; or gather them"
                " first, x.full_tensor(), or wrap the model with DistributedDataParallel."
            )


# sum_shared
# ------------------------------------------------------------------------------------------------


@each_torch_backend
def test_sum_shared_adds_a_parameter_that_stands_in_a_module_and_outside_it(backend):
    module = _make("tied")
    model = {"net": module, "weight": module.encoder.weight}
    (found,) = gradient(lambda m: _loss(m["net"]) + 3 * (m["weight"] ** 2).sum(), backend, model)
    summed = tree.sum_shared(model, found)
    expected = _backward(module)["encoder.weight"] + 6 * module.encoder.weight.detach()
    assert type(summed["net"]) is Tied
    assert summed["net"].encoder.weight is summed["net"].decoder.weight
    for place in (summed["net"].encoder.weight, summed["weight"]):
        assert_numbers(place, expected, 10 * rtol_of(backend))
    assert_numbers(summed["net"].encoder.bias, found["net"].encoder.bias)


# Equinox and Optax
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "backend",
    [AutoTorch(), AutoTorch(mode="forward"), AutoFiniteDifferences()],
    ids=["torch", "forward", "finite"],
)
def test_one_module_in_two_places_is_two_variables(backend):
    linear, along = nn.Linear(1, 1, bias=False).double(), nn.Linear(1, 1, bias=False).double()
    along.weight.data.fill_(1.0)
    one = torch.ones(1, dtype=torch.float64)
    f = lambda model: (model["encoder"](one) + 3 * model["decoder"](one)).sum()
    model = {"encoder": linear, "decoder": linear}
    for _ in range(2):
        (found,) = gradient(f, backend, model)
        np.testing.assert_allclose(
            [found["encoder"].weight.item(), found["decoder"].weight.item()], [1.0, 3.0], rtol=1e-7
        )
        np.testing.assert_allclose(
            tree.sum_shared(model, found)["encoder"].weight.item(), 4.0, rtol=1e-7
        )
        first, second = gradient(
            lambda a, b: f({"encoder": a, "decoder": b}), backend, linear, linear
        )
        np.testing.assert_allclose(
            [first.weight.item(), second.weight.item()], [1.0, 3.0], rtol=1e-7
        )
    pushed = pushforward(f, backend, (model,), ({"encoder": along, "decoder": None},))
    np.testing.assert_allclose(pushed.tangent.item(), 1.0, rtol=1e-7)
    assert linear.weight.grad is None
