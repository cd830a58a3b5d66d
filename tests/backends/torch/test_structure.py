"""The structure of a module: what it tells apart, its parameters, and the copies that are built from it."""

import copy
import gc
import re
import threading
import types
import warnings
import weakref
from collections import OrderedDict, UserDict

import pytest
import torch
from adinterface_torch.copying import NoHooks
from adinterface_torch.copying import gradient_of as of_gradients
from adinterface_torch.modules import names_of, read
from torch import nn

from adinterface import AutoTorch, ConversionError, gradient, hvp, jacobian, prepare, pushforward, tree, value_and_gradient
from adinterface.core.tree import Signature


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


def _shared():
    inner = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    return nn.Sequential(nn.Sequential(nn.ReLU(), inner), inner, nn.Linear(2, 2))


def _tied():
    module = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Linear(2, 2)})
    module["b"].weight = module["a"].weight
    return module


def _in_a_circle():
    module = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    module[1].above = module
    return module


def _old_weight_norm():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return nn.Sequential(nn.utils.weight_norm(nn.Linear(2, 2)))


def _hooked():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    module[0].register_forward_hook(_hook)
    module[1].register_forward_pre_hook(types.MethodType(lambda self, *_: None, module[1]))
    return module


def _hook(*_):
    return None


def _encoder():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)


MODULES = {
    "linear": lambda: nn.Linear(3, 1),
    "no parameters": nn.ReLU,
    "sequential": lambda: nn.Sequential(*[nn.Linear(2, 2) for _ in range(5)]),
    "conv": lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Dropout(), nn.Flatten()),
    "mixed": Mixed,
    "shared": _shared,
    "tied": _tied,
    "in a circle": _in_a_circle,
    "parameters": lambda: nn.ParameterDict({"a": nn.Parameter(torch.ones(2)), "b": nn.Parameter(torch.ones(1))}),
    "LSTM": lambda: nn.LSTM(2, 3),
    "attention": lambda: nn.MultiheadAttention(4, 2),
    "encoder": _encoder,
    "weight norm": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(2, 2)),
    "orthogonal": lambda: nn.utils.parametrizations.orthogonal(nn.Linear(2, 2)),
    "old weight norm": _old_weight_norm,
    "hooked": _hooked,
}


def gradient_of(module, gradients):
    return of_gradients(module, read(module)[1], gradients)


each_module = pytest.mark.parametrize("name", MODULES)


def _zeros(module):
    return [torch.zeros_like(p, requires_grad=False) for p in module.parameters()]


_SHARED = (NoHooks,)
NO_HOOKS_OF = [name for name in vars(nn.Module()) if name.endswith("hooks")]


_REGISTERS = ("_parameters", "_buffers", "_modules")


def _mutable(module):
    """What two gradients may not both hold, by path, but for the shared register of hooks."""
    found = {}
    for name, inner in module.named_modules():
        found |= {f"{name}.{key}": vars(inner)[key] for key in _REGISTERS if vars(inner)[key]} | {name: inner}
        found |= {f"{name}.{key}": value for key, value in inner._buffers.items() if value is not None}
    return found


# Reading --------------------------------------------------------------------------------------------------------------


@each_module
def test_reading_gives_each_parameter_once_in_the_order_of_named_parameters(name):
    module = MODULES[name]()
    structure, parameters = read(module)
    named = list(module.named_parameters())
    assert names_of(structure) == [key for key, _ in named]
    assert [*map(id, parameters)] == [id(p) for _, p in named]


@pytest.mark.parametrize("name", [name for name in MODULES if name not in ("weight norm", "orthogonal")])
def test_modules_of_one_structure_have_equal_ones(name):
    one, other = MODULES[name](), MODULES[name]()
    assert read(one)[0] == read(other)[0]


def test_different_structures_differ():
    structures = {name: read(make())[0] for name, make in MODULES.items()}
    assert len({*structures.values()}) == len(MODULES)
    assert structures["linear"] != "a structure"


def _replace(path, value):
    def change(module):
        *above, name = path.split(".")
        setattr(module.get_submodule(".".join(above)), name, value() if callable(value) else value)

    return change


def _freeze(module):
    module.first.bias.requires_grad_(False)


def _tie(module):
    module.second.bias = module.first.bias = nn.Parameter(torch.ones(3))


def _compile(module):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit.script")
        module.first = torch.jit.script(module.first)


CHANGES = {
    "new parameter": lambda m: m.register_parameter("extra", nn.Parameter(torch.ones(1))),
    "new parameter below": lambda m: m.first.register_parameter("extra", nn.Parameter(torch.ones(1))),
    "removed parameter": lambda m: delattr(m, "scale"),
    "removed bias": _replace("first.bias", None),
    "filled parameter": _replace("missing", lambda: nn.Parameter(torch.ones(1))),
    "re-tied": _tie,
    "new submodule": lambda m: m.add_module("extra", nn.ReLU()),
    "filled submodule": lambda m: m.add_module("none", nn.ReLU()),
    "removed submodule": lambda m: delattr(m, "second"),
    "submodule of another class": _replace("first", lambda: nn.Bilinear(2, 2, 3)),
    "submodule without bias": _replace("first", lambda: nn.Linear(2, 3, bias=False)),
    "submodule twice": lambda m: setattr(m, "second", m.first),
    "parametrized": lambda m: nn.utils.parametrizations.weight_norm(m.first),
    "scripted": _compile,
    "class changed": lambda m: setattr(m.first, "__class__", type("Mine", (nn.Linear,), {})),
    "another order": lambda m: m._modules.update(first=m._modules.pop("first")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_structure_is_seen(change):
    module = Mixed()
    before, _ = read(module)
    CHANGES[change](module)
    if change == "scripted":
        with pytest.raises(ConversionError, match="a ScriptModule keeps its parameters in C"):
            gradient(lambda m: m.second.weight.sum(), AutoTorch(), module)
    else:
        after, parameters = read(module)
        assert after != before
        assert [*map(id, parameters)] == [*map(id, module.parameters())]


#: What is no structure of a module: its leaves tell the signature of a call.
LEAVES = {
    "frozen": _freeze,
    "unfrozen": lambda m: m.scale.requires_grad_(),
    "moved dtype": lambda m: m.double(),
    "another shape": _replace("first.weight", lambda: nn.Parameter(torch.ones(4, 2))),
}


@pytest.mark.parametrize("change", LEAVES)
def test_a_change_of_leaves_is_seen_by_the_signature_alone(change):
    module = Mixed()
    structure, before = read(module)[0], Signature((module,), {}).key
    assert Signature((module,), {}).key == before
    LEAVES[change](module)
    assert read(module)[0] == structure
    assert Signature((module,), {}).key != before


def test_a_buffer_is_no_structure_and_a_tie_that_is_loosened_is():
    module = _tied()
    structure, _ = read(module)
    module["a"].register_buffer("extra", torch.ones(1))
    assert read(module)[0] == structure
    module["b"].weight = nn.Parameter(torch.ones(2, 2))
    assert read(module)[0] != structure
    module = _shared()
    structure, _ = read(module)
    module[1] = copy.deepcopy(module[1])
    assert read(module)[0] != structure
    plain = nn.Sequential(nn.ReLU(), nn.ReLU())
    structure, _ = read(plain)
    plain[1] = plain[0]
    assert read(plain)[0] != structure


def test_weight_norm_of_the_old_style_is_seen():
    module = nn.Sequential(nn.Linear(2, 2))
    structure, _ = read(module)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        nn.utils.weight_norm(module[0])
    assert read(module)[0] != structure
    nn.utils.remove_weight_norm(module[0])
    assert [*map(id, read(module)[1])] == [*map(id, module.parameters())]


def test_what_is_replaced_by_its_like_is_read_anew():
    module = Mixed()
    structure, before = read(module)
    module.first, module.second.weight = nn.Linear(2, 3), nn.Parameter(torch.ones(2, 3))
    module.arrays, module.act = "another", torch.sin
    module.eval()
    after, found = read(module)
    assert after == structure
    assert [*map(id, found)] == [*map(id, module.parameters())]
    assert sum(any(p is q for q in before) for p in found) == 2  # scale and the bias of the second


# Building -------------------------------------------------------------------------------------------------------------


@each_module
def test_gradient_modules_share_no_leaf_and_no_register_with_one_another(name):
    module = MODULES[name]()
    first, second = (_mutable(gradient_of(module, _zeros(module))) for _ in range(2))
    for path, value in first.items():
        assert value is not second[path], path
        if isinstance(value, torch.Tensor):
            assert value.data_ptr() != second[path].data_ptr()


def test_gradients_are_parameters_that_require_none_and_none_is_zero():
    module = nn.Linear(2, 2)
    weight = torch.ones(2, 2)
    built = gradient_of(module, [weight, None])
    assert type(built.weight) is type(built.bias) is nn.Parameter
    assert not built.weight.requires_grad
    assert not built.bias.requires_grad
    assert built.weight.data_ptr() == weight.data_ptr()
    assert torch.equal(built.bias, torch.zeros(2))
    live = torch.ones(2, requires_grad=True) * 2
    assert gradient_of(module, [weight, live]).bias is live


def test_rows_of_a_hessian_stand_where_the_parameters_stood():
    module = nn.Linear(2, 2)
    rows = [nn.Linear(2, 2), nn.Linear(2, 2)]
    built = gradient_of(module, rows)
    assert (built.weight, built.bias) == tuple(rows)
    assert list(built.children()) == rows


def test_a_change_of_what_is_no_structure_counts_in_what_is_built():
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Conv1d(1, 1, 1))
    values = _zeros(module)
    build = lambda: gradient_of(module, values)
    assert build().training
    module.eval()
    assert not build().training
    module[1].running_mean += 1
    assert torch.equal(build()[1].running_mean, torch.ones(2))
    module[1].running_mean = torch.full((2,), 3.0)
    assert torch.equal(build()[1].running_mean, torch.full((2,), 3.0))
    module[0].register_buffer("late", torch.ones(1), persistent=False)
    assert build()[0].late is not module[0].late
    assert build()[0]._non_persistent_buffers_set == {"late"}
    handle = module[0].register_state_dict_post_hook(_hook)
    assert build()[0]._state_dict_hooks == OrderedDict()
    handle.remove()
    for value in ((torch.ones(1),), [1], [1, torch.ones(1)], [module[0]], object()):
        module[2].padding_mode = value
        assert build()[2].padding_mode is value
    del module[2].padding_mode
    assert not hasattr(build()[2], "padding_mode")


def test_a_register_may_be_no_dict():
    module = nn.Linear(2, 1)
    vars(module)["_parameters"] = UserDict(module._parameters)
    (found,) = gradient(lambda m: m(torch.ones(2)).sum(), AutoTorch(), module)
    assert torch.equal(found.weight, torch.ones(1, 2))


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
    with pytest.raises(TypeError, match=r"The modules of a gradient share .* or on copy\.deepcopy\(gradient\), which has"):
        found[0].register_forward_hook(_hook)
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
    (second,) = gradient(lambda m: sum(p.sum() for p in m.parameters()), AutoTorch(), found.requires_grad_())
    for other in (copy.deepcopy(found), saved, tree.map(torch.clone, found)):
        assert not any(type(value) in _SHARED for inner in other.modules() for value in vars(inner).values())
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


def test_a_buffer_in_a_graph_is_detached():
    module = nn.Sequential(nn.Linear(1, 1))
    module[0].register_buffer("state", module[0].weight * 2)
    built = gradient_of(module, _zeros(module))
    assert not built[0].state.requires_grad
    assert torch.equal(built[0].state, module[0].state)


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
@pytest.mark.parametrize(("operator", "each"), [("gradient", 4.0), ("pushforward", 4.0), ("hvp", 2.0)])
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


def test_f_may_add_a_submodule_but_no_parameter():
    module = nn.Sequential(nn.Linear(1, 1))

    def grow(m):
        m.add_module("late", nn.ReLU())
        return m(torch.ones(1)).sum()

    (found,) = gradient(grow, AutoTorch(), module)
    assert type(found.late) is nn.ReLU
    _, parameters = read(module)
    module.add_module("more", nn.Linear(1, 1))
    message = (
        "Sequential has other parameters than before: f added or replaced some, so their gradients have no place. "
        "Let the module have all its parameters before it is differentiated."
    )
    with pytest.raises(ConversionError, match=f"^{re.escape(message)}$"):
        of_gradients(module, parameters, [torch.ones(1, 1), torch.ones(1)])


def test_a_module_in_a_circle_keeps_it():
    module = _in_a_circle()
    built = gradient_of(module, _zeros(module))
    assert built[1].above is built


def test_a_lazy_module_is_refused_until_its_first_call():
    module = nn.Sequential(nn.LazyLinear(2))
    message = (
        "A lazy module has parameters without a shape, which get one in its first call. Call it once with an example "
        "before differentiating."
    )
    f = lambda m: m(torch.ones(1, 3)).sum()
    with pytest.raises(ConversionError, match=f"^{re.escape(message)}$"):
        gradient(f, AutoTorch(), module)
    f(module)
    (found,) = gradient(f, AutoTorch(), module)
    assert torch.equal(found[0].weight, torch.ones(2, 3))


# Life -----------------------------------------------------------------------------------------------------------------


@each_module
def test_a_structure_keeps_no_module_and_no_tensor(name):
    gc.freeze()  # only what is made from here on is looked through, which takes a second less
    module = MODULES[name]()
    references = [weakref.ref(m) for m in module.modules()]
    references += [weakref.ref(t) for t in [*module.parameters(), *module.buffers()]]
    structure, _ = read(module)
    built = gradient_of(module, _zeros(module))
    references += [weakref.ref(m) for m in built.modules()]
    del module, built, _
    gc.collect()
    assert structure is not None
    assert [reference() for reference in references] == [None] * len(references)


def test_threads_may_share_a_structure_while_attributes_change():
    modules = [nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)) for _ in range(4)]
    for n, module in enumerate(modules):
        module[0].mine = [3, [1], (torch.ones(1),), {"a": 1}][n]
    failed = []

    def work(n):
        module = modules[n]
        for _ in range(50):
            found = gradient_of(module, _zeros(module))
            if found[0].mine is not module[0].mine:
                failed.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


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
    """Gradients become parameters of a module, but not the objects that a hook saw or that a rule had kept."""
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
    call = prepare(gradient, f, AutoTorch(), module) if prepared else lambda m: gradient(f, AutoTorch(), m)
    (result,) = call(module)
    assert type(kept) is type(seen[-1]) is torch.Tensor
    assert [type(p) for p in result.parameters()] == [nn.Parameter] * 2
    assert torch.equal(result.weight, kept)
