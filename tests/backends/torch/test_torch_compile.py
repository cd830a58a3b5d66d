"""Calls inside a function that `torch.compile` or `torch.export` traces: traced, or left to Python, never another result."""

import dataclasses
import io
import typing
import warnings

import numpy as np
import pytest
import torch
from adinterface_torch import compiling
from backends_table import assert_tree
from torch import nn
from torch._dynamo.testing import CompileCounter

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    Constant,
    Each,
    OutputError,
    SecondOrder,
    array_namespace,
    batched,
    gradient,
    gradient_and_hvp,
    hvp,
    jacobian,
    numpy_function,
    prepare,
    pullback,
    pushforward,
    register_node,
    tree,
    value_and_gradient,
)
from adinterface.core.contract import registry, tracing
from adinterface.core.tree import HANDLERS
from adinterface.fit import Training, update
from adinterface.loops import cond, fori_loop, scan
from adinterface.rules import checkpoint, differentiate_with, ignore_derivatives
from adinterface.scipy.special import erf

pytestmark = pytest.mark.sweep  # test_modules.py runs with every change

TORCH = AutoTorch()
X = torch.linspace(0.5, 1.5, 3)
#: The compiler of PyTorch 2.7 refuses some calls before we do, for reasons of its own; 2.8 to 2.10 were not tried.
OLDER = torch.__version__ < (2, 11)


@pytest.fixture(autouse=True)
def _nothing_compiled_is_kept():
    yield
    torch._dynamo.reset()


def compiled(step, *, fullgraph=True, backend="eager"):
    return torch.compile(step, fullgraph=fullgraph, backend=backend)


def detached(result):
    return tree.map(lambda x: x.detach() if isinstance(x, torch.Tensor) else x, result)


# what is traced ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Layer:
    weight: torch.Tensor
    scale: torch.Tensor | None = None
    name: str = dataclasses.field(default="layer", metadata={"static": True})


class Pair(typing.NamedTuple):
    first: typing.Any
    second: typing.Any


def model(x):
    return {
        "layer": Layer(x, x[0] * 2),
        "pair": Pair([x + 1, 3], (x * 2, "text", None)),
        "counts": torch.arange(3),
        "frozen": Constant([x]),
    }


def energy(model, *, power=2.0):
    xp = array_namespace(model["layer"].weight)
    layer, pair = model["layer"], model["pair"]
    inner = layer.weight * layer.scale + pair.first[0] * pair.first[1] * model["frozen"][0] + model["counts"]
    return xp.sum(inner**power * pair.second[0])


def with_results(p, c):
    return {"loss": (p["a"] ** 2 * c["x"]).sum() * c["k"], "n": torch.arange(2), "more": [p["a"] + 1, 2.5, "s", None]}


def cube(x):
    return (x**3).sum()


PREPARED = prepare(value_and_gradient, lambda p: (p["a"].exp().sum(), p["a"]), TORCH, {"a": X})

TRACED = {
    "every container": lambda x: gradient(energy, TORCH, model(x), power=3.0),
    "two arguments": lambda x: gradient(lambda a, b: (a * b[0]).sum(), TORCH, x, [x]),
    "constants and auxiliary results": lambda x: value_and_gradient(
        with_results, AutoTorch(), {"a": x}, Constant({"x": x, "k": 2.0})
    ),
    "equal and unused leaves": lambda x: gradient(lambda a, b, c: (a + b).sum(), TORCH, x, x, x),
    "complex": lambda x: value_and_gradient(lambda z: (z * z.conj()).real.sum() + z.imag.sum(), TORCH, x + 1j * x),
    "hvp": lambda x: hvp(lambda p, c: (p["a"] ** 3 * c).sum(), TORCH, {"a": x, "n": 2}, {"a": x + 1, "n": None}, Constant(x)),
    "gradient_and_hvp": lambda x: gradient_and_hvp(lambda p: (p[0].exp() * p[1]).sum(), TORCH, [x, x], [x, None]),
    "prepared": lambda x: PREPARED({"a": x}),
    "nested": lambda x: gradient(lambda a: (a * gradient(lambda b: cube(b) * a.sum(), TORCH, a)[0]).sum(), TORCH, x),
    "in torch.func": lambda x: torch.func.vmap(torch.func.grad(lambda a: gradient(cube, AutoTorch(mode="reverse"), a)[0]))(x),
}


@pytest.mark.parametrize("name", TRACED)
def test_a_call_is_traced_in_one_graph(name):
    step = TRACED[name]
    # The compiler of PyTorch 2.7 and 2.8 leaves calls with dataclasses to Python; 2.9 to 2.12 were not tried.
    fullgraph = name != "every container" or torch.__version__ >= (2, 13)
    assert_tree(compiled(step, fullgraph=fullgraph)(X), step(X), 1e-6)


@pytest.mark.sweep  # seconds of C++; what is traced is the same with other compilers
def test_inductor_compiles_a_whole_training_step():
    def step(p, x):
        value, (slope, _) = value_and_gradient(lambda p, x: ((x @ p["w"] + p["b"]) ** 2).mean(), TORCH, p, Constant(x))
        return value, {name: p[name] - 0.1 * slope[name] for name in p}

    args = {"w": X, "b": torch.tensor(0.5)}, torch.ones(4, 3) * X
    assert_tree(compiled(step, backend="inductor")(*args), step(*args), 1e-5)


def test_a_step_is_compiled_once_for_all_its_numbers():
    counter = CompileCounter()
    step = compiled(lambda p: {"a": p["a"] - gradient(lambda p: cube(p["a"]), TORCH, p)[0]["a"]}, backend=counter)
    p = {"a": X}
    for _ in range(3):
        p = step(p)
    assert counter.frame_count == 1


def test_the_first_call_of_a_program_may_be_a_traced_one(monkeypatch):
    def step(x):
        return gradient(cube, AutoTorch(), x)

    expected = step(X)
    monkeypatch.delitem(vars(tracing), "torch", raising=False)
    registry._known.clear()
    for cached in (registry._entry_points, registry.backend_of):
        cached.cache_clear()
    assert_tree(compiled(step)(X), expected, 1e-6)


def test_a_namespace_is_traced_for_a_class_of_arrays_that_is_new(monkeypatch):
    monkeypatch.delitem(HANDLERS, torch.Tensor)
    summed = lambda x: gradient(lambda a: array_namespace(a, None, 2.0).sum(a**3), TORCH, x)[0]
    assert_tree(compiled(summed)(X), 3 * X**2, 1e-6)
    assert_tree(compiled(lambda x: array_namespace(x).sin(x))(X), torch.sin(X), 1e-6)
    assert torch.Tensor not in HANDLERS


@pytest.mark.parametrize("name", ["SciPy", "an identity"])
def test_a_class_of_arrays_that_is_new_is_left_to_python(name, monkeypatch):
    step = LEFT["SciPy"] if name == "SciPy" else lambda x: gradient(lambda a: ignore_derivatives(a).sum() * a.sum(), TORCH, x)
    expected = step(X)[0]
    monkeypatch.delitem(HANDLERS, torch.Tensor)
    with pytest.raises(torch._dynamo.exc.Unsupported) as error:
        compiled(step)(X)
    assert OLDER or "adinterface has not met torch.Tensor before: call it once without the compiler" in str(error.value)
    assert_tree(compiled(step, fullgraph=False)(X)[0], expected, 1e-6)


def test_traced_calls_inside_f_of_an_eager_call_give_second_derivatives():
    y = torch.ones(3)
    moved = compiled(lambda x: (x * gradient(cube, TORCH, x)[0]).sum())
    captured = compiled(lambda x: gradient(lambda a: (a**3 * x).sum(), TORCH, y)[0].sum())
    assert_tree(gradient(moved, TORCH, X), (9 * X**2,), 1e-6)
    assert_tree(gradient(captured, TORCH, X), (3 * y,), 1e-6)


def test_results_stay_in_the_graph_of_a_captured_parameter_unless_gradients_are_off():
    weight = nn.Parameter(X.clone())

    def step(x):
        return gradient(lambda a: (a * weight).sum(), TORCH, x)[0]

    assert compiled(step)(X).requires_grad
    with torch.no_grad():
        assert not compiled(step)(X).requires_grad


def test_results_overlap_neither_one_another_nor_an_argument():
    def step(x):
        one, other = gradient(lambda a, b: (a + b).sum(), TORCH, x, x)
        one += 1
        value, _ = value_and_gradient(lambda a: (a.sum(), a), TORCH, x)
        value[1].zero_()
        return one, other, x

    assert_tree(compiled(step)(X.clone()), (torch.full((3,), 2.0), torch.ones(3), X))


# what is left to Python ----------------------------------------------------------------------------------------------


class Meter:
    def __init__(self, length):
        self.length = length


register_node(Meter, fields=["length"])


def breaks(x):
    torch._dynamo.graph_break()
    return cube(x)


def branches(x):
    return cube(x) if x.sum() > 0 else -cube(x)


LINEAR = nn.Linear(3, 1)
crossing = differentiate_with(cube, AutoFiniteDifferences())
IN_JAX = prepare(gradient, lambda x: (x**2).sum(), AutoJax(), np.ones(3))


def trained(x):
    training = Training(lambda m, x: (m["a"] * x).sum(), TORCH, 0.1, {"a": x})
    return training(x), training.model


def pulled(x):
    value, back = pullback(lambda a: a**2, TORCH, x)
    return value, back(x)


def mapped(x):
    return tree.map(lambda a, b: a - b, {"a": x}, gradient(lambda p: cube(p["a"]), TORCH, {"a": x})[0])


LEFT = {
    "f breaks the graph": lambda x: gradient(breaks, TORCH, x),
    "f branches on a value": lambda x: value_and_gradient(branches, TORCH, {"a": Layer(x)}["a"].weight),
    "a module": lambda x: gradient(lambda m: m(x).sum(), TORCH, LINEAR)[0].weight,
    "a registered class": lambda x: gradient(lambda m: cube(m.length), TORCH, Meter(x))[0].length,
    "a number": lambda x: gradient(lambda a, n: (a**n).sum(), TORCH, x, 2.0),
    "an integer": lambda x: gradient(lambda a, n: (a * n).sum(), TORCH, x, torch.arange(3)),
    "NumPy": lambda x: gradient(cube, TORCH, np.ones(3)),
    "forward mode": lambda x: gradient(cube, AutoTorch(mode="forward"), x),
    "differences": lambda x: gradient(cube, AutoFiniteDifferences(), x),
    "autograd": lambda x: gradient(lambda a: (a**2).sum(), AutoAutograd(), x),
    "JAX, prepared": lambda x: IN_JAX(np.ones(3)),
    "two backends": lambda x: hvp(cube, SecondOrder(TORCH, TORCH), x, x),
    "a part of a direction": lambda x: hvp(lambda p: cube(p["a"]), TORCH, {"a": x, "b": x}, {"a": x, "b": None}),
    "jacobian": lambda x: jacobian(lambda a: a**2, TORCH, x),
    "pullback": pulled,
    "pushforward": lambda x: tuple(pushforward(lambda a: a**2, TORCH, (x,), (x,))),
    "batched": lambda x: batched(gradient, lambda a: a**2, TORCH, Each(x)),
    "prepare": lambda x: prepare(gradient, cube, TORCH, x)(x),
    "Training": trained,
    "tree.map": mapped,
    "update": lambda x: update({"a": x}, {"a": x}, 0.5),
    "loops": lambda x: gradient(
        lambda a: cond(a.sum() > 0, torch.sin, torch.cos, fori_loop(0, 2, lambda i, c: c * a, a)).sum(), TORCH, x
    ),
    "a scan, alone": lambda x: scan(lambda c, a: (c + a, a * c), x.sum(), x),
    "rules": lambda x: gradient(lambda a: checkpoint(torch.exp)(a).sum() + crossing(a) + ignore_derivatives(a).sum(), TORCH, x),
    "SciPy": lambda x: gradient(lambda a: erf(a).sum(), TORCH, x),
    "NumPy code": lambda x: gradient(numpy_function(lambda a: np.sum(a**2)), TORCH, x),
}


#: Those that leave the graph where another entry does: torch takes a third of a second for each, so `make sweeps` has them.
LIKE_ANOTHER = {
    "an integer", "autograd", "differences", "two backends", "a part of a direction", "jacobian", "pushforward", "batched",
    "update", "loops",
}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.sweep] * (name in LIKE_ANOTHER)) for name in LEFT])
def test_a_call_that_cannot_be_traced_is_left_to_python_without_a_word(name):
    step = LEFT[name]
    expected = detached(step(X))
    found = compiled(lambda x: (step(x), x + 1), fullgraph=False)(X)
    assert_tree(detached(found), (expected, X + 1), 1e-6)


def test_what_a_call_raises_is_raised():
    def failing(x):
        return gradient(lambda a: a**2, TORCH, x)

    with pytest.raises(OutputError, match="must return a real scalar"):
        compiled(failing, fullgraph=False)(X)

    def f(a):
        raise KeyError("of f")

    with pytest.raises(KeyError, match="of f"):
        compiled(lambda x: gradient(f, TORCH, x), fullgraph=False)(X)


@dataclasses.dataclass(frozen=True)
class AutoFast(AutoTorch):
    fast: bool = False


def test_an_option_that_is_not_known_to_be_traced_leaves_the_call_to_python():
    for auto, option in [
        (AutoFast(fast=True), "fast"),
        (AutoTorch(device="cpu"), "device"),
        (AutoTorch(executor=map), "executor"),
    ]:
        torch._dynamo.reset()  # what was left to Python before stays there
        step = lambda x, auto=auto: gradient(cube, auto, x)
        with pytest.raises(
            torch._dynamo.exc.Unsupported, match=f"{type(auto).__name__} with the option {option} cannot be traced"
        ):
            compiled(step)(X)
        assert_tree(compiled(step, fullgraph=False)(X), step(X), 1e-6)
    compiled(lambda x: gradient(cube, AutoFast(), x))(X)
    known = {"mode", "device", "executor", *compiling._TRACED_OPTIONS}
    assert {each.name for each in dataclasses.fields(AutoTorch)} == known, "whoever adds an option says whether it is traced"


def test_a_full_graph_says_why_a_call_is_not_traced():
    def reason(step):
        with pytest.raises(torch._dynamo.exc.Unsupported) as error:
            compiled(step)(X)
        return str(error.value)

    assert "args[0] is a torch.nn.modules.linear.Linear. Traced are calls on AutoTorch()" in reason(LEFT["a module"])
    assert "gradient on AutoFiniteDifferences cannot be traced by the compiler of torch." in reason(LEFT["differences"])
    assert "adinterface traces gradient, value_and_gradient, hvp, gradient_and_hvp, not jacobian." in reason(LEFT["jacobian"])
    assert "Training.__init__ cannot be traced." in reason(LEFT["Training"])
    assert OLDER or "numpy_function cannot be traced." in reason(LEFT["NumPy code"])


# torch.export --------------------------------------------------------------------------------------------------------


class Program(nn.Module):
    def __init__(self, forward, layer=None):
        super().__init__()
        self.layer, self._forward = layer, forward

    def forward(self, x):
        return self._forward(self, x)


def loaded(program, *args):
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own, of what it deprecates
        torch.export.save(torch.export.export(program, args, strict=False), file)
        file.seek(0)
        return torch.export.load(file).module()


EXPORTED = {
    "value_and_gradient": lambda self, x: tuple(value_and_gradient(lambda p: (p["a"].exp() * X).sum(), TORCH, {"a": x})[1]),
    "the derivative of a layer": lambda self, x: gradient(lambda a: self.layer(a).exp().sum(), TORCH, x)[0] + self.layer(x),
    "hvp, prepared": lambda self, x: (hvp(lambda a: a.exp().sum() ** 2, TORCH, x, x), PREPARED({"a": x}).gradient),
    "tree.map": lambda self, x: tree.map(lambda a, b: a - b, [x], gradient(lambda p: cube(p[0]), TORCH, [x])[0]),
    "nested": lambda self, x: gradient(
        lambda a: (a.exp() * gradient(lambda b: (b.exp() * a).sum() ** 2, TORCH, a)[0]).sum(), TORCH, x
    ),
}


@pytest.mark.parametrize("name", EXPORTED)
def test_a_call_is_exported_and_loads_again(name):
    program = Program(EXPORTED[name], nn.Linear(3, 3))
    expected = program(X)
    assert_tree(detached(loaded(program, X)(X)), detached(expected), 1e-6)


def test_an_export_says_why_a_call_is_not_traced():
    message = (
        r"torch.export cannot trace this call: args\[0\] is a torch.nn.modules.linear.Linear. Traced are calls on AutoTorch"
    )
    with pytest.raises(BackendError, match=message):
        torch.export.export(
            Program(lambda self, x: gradient(lambda m: m(x).sum(), TORCH, self.layer)[0].weight, LINEAR), (X,), strict=False
        )
    with pytest.raises(BackendError, match=r"not jacobian\. Traced are calls"):
        torch.export.export(Program(lambda self, x: jacobian(torch.sin, TORCH, x)[0]), (X,), strict=False)


@pytest.mark.skipif(torch.__version__ < (2, 8), reason="PyTorch 2.7 raises an error of its own.")
def test_a_strict_export_says_why_a_call_is_not_traced():
    with pytest.raises(torch._dynamo.exc.Unsupported, match=r"torch\.export traces derivatives with strict=False only"):
        torch.export.export(Program(lambda self, x: gradient(cube, TORCH, x)[0]), (X,), strict=True)
