"""The form of every operator's result: names, structures, libraries, dtypes.

Stacks, chunks, nesting, snapshots.
"""

import copy
import pickle
from collections import OrderedDict

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import assert_tree, each_backend, each_engine
from example_calls import example_of
from torch import nn

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    Constant,
    SecondOrder,
    array_namespace,
    compare,
    derivative,
    diagonal_hessian,
    explain,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    second_derivative,
    value_gradient_and_hessian,
)
from adinterface.tools.facts import operator_rows


def first(backend):
    return 1e-7 if isinstance(backend, AutoFiniteDifferences) else 1e-10


def second(backend):
    return 2e-6 if isinstance(backend, AutoFiniteDifferences) else 1e-10


X = np.array([0.3, 0.7, 1.1])


def cubes(x):
    return array_namespace(x).sum(x**3)


def sines(x):
    return array_namespace(x).sin(x)


# Names
# ------------------------------------------------------------------------------------------------


def test_back_and_push_say_what_they_are():
    assert (
        repr(pullback(sines, AutoFiniteDifferences(), X).back)
        == f"<back of sines on {AutoFiniteDifferences()!r}>"
    )
    assert (
        repr(linearize(sines, AutoFiniteDifferences(), X).push)
        == f"<push of sines on {AutoFiniteDifferences()!r}>"
    )


WORDS = ["x", "v", "self", "f", "backend", "args", "operator", "tangents", "kwargs", "values"]


@pytest.mark.parametrize("row", operator_rows(), ids=lambda row: row.name)
def test_fs_keywords_may_have_any_name(row):
    def scaled(x, /, **keywords):
        return array_namespace(x).sum(x * x) * sum(keywords.values())

    operator, _, args = example_of(row)
    backend, words = AutoAutograd(), dict.fromkeys(WORDS, 0.25)
    operator(scaled, backend, *args, **words)
    prepare(operator, scaled, backend, *args, **words)(*args, **words)
    explain(operator, scaled, backend, *args, **words)
    compare(operator, scaled, [backend], *args, **words)


# Libraries and dtypes
# ------------------------------------------------------------------------------------------------

LIBRARIES = {
    "numpy": lambda x, dtype: np.asarray(x, dtype=dtype),
    "torch": lambda x, dtype: torch.as_tensor(x, dtype=getattr(torch, dtype)),
    "jax": lambda x, dtype: jnp.asarray(x, dtype=dtype),
}


@each_backend
@pytest.mark.parametrize(("library", "other"), [("torch", "numpy"), ("numpy", "torch")])
def test_jacobians_are_in_the_library_of_the_first_differentiated_array(library, other, backend):
    a, b = LIBRARIES[library]([1.0, 2.0], "float64"), LIBRARIES[other]([3.0, 4.0], "float64")

    def f(number, a, b):
        if isinstance(backend, AutoFiniteDifferences):
            a, b = torch.as_tensor(a), torch.as_tensor(b)
            return number * a * b if library == "torch" else (number * a * b).numpy()
        return number * a * b

    by_number, by_a, by_b = jacobian(f, backend, 2.0, a, b)
    for result, expected in (
        (by_number, [3.0, 8.0]),
        (by_a, [[6.0, 0], [0, 8.0]]),
        (by_b, [[2.0, 0], [0, 4.0]]),
    ):
        assert_tree(result, LIBRARIES[library](expected, "float64"), first(backend))


@each_backend
def test_cotangents_and_tangents_may_be_of_another_library(backend):
    x = torch.tensor(X)
    assert_tree(pullback(sines, backend, x).back(np.ones(3)), (torch.cos(x),), first(backend))
    assert_tree(
        pushforward(sines, backend, (X,), (torch.ones(3, dtype=torch.float64),)).tangent,
        np.cos(X),
        first(backend),
    )
    assert_tree(
        linearize(sines, backend, X).push([1.0, None, 1]), np.cos(X) * [1, 0, 1], first(backend)
    )


@each_backend
def test_keys_may_come_in_any_order_and_numbers_and_narrower_arrays_take_the_dtype(backend):
    back = pullback(lambda x: {"a": x, "b": 2.0 * x}, backend, X).back
    for cotangent, factor in (
        ({"b": np.ones(3), "a": None}, 2.0),
        (OrderedDict(b=[1.0, 1, 1.0], a=np.ones(3, "float16")), 3.0),
    ):
        assert_tree(back(cotangent), (np.full(3, factor),), first(backend))
    x, v, s = {"w": X, "b": [2.0]}, {"w": np.array([0.5, -1.0, 2.0]), "b": [0.25]}, Constant(X)
    f = lambda t, s: (t["w"] ** 3).sum() * t["b"][0] + (s * t["w"]).sum() ** 2
    walked = {"b": [0.25], "w": v["w"].tolist()}  # in a form that has to be walked
    assert_tree(hvp(f, backend, x, walked, s), hvp(f, backend, x, v, s), 1e-12)


# Snapshots
# ------------------------------------------------------------------------------------------------


def aligned(x):
    """A NumPy array at an address that engines can adopt without a copy."""
    room = np.empty(x.size + 16)
    start = -room.ctypes.data % 64 // 8
    array = room[start : start + x.size].reshape(x.shape)
    array[:] = x
    return array


OVERWRITTEN = {"numpy": aligned, "torch": lambda x: torch.from_numpy(aligned(x))}
each_mutable = pytest.mark.parametrize("library", OVERWRITTEN)


@each_backend
@each_mutable
def test_back_and_push_keep_their_answer_when_the_arguments_are_overwritten(library, backend):
    make = OVERWRITTEN[library]
    x, c, k = make(X), make(2 * X), make(3 * X)

    def f(x, c, k):
        xp = array_namespace(x)
        return xp.sin(x * c) + xp.exp(x) * k

    slope = make(2 * X * np.cos(2 * X * X) + 3 * X * np.exp(X))
    _, back = pullback(f, backend, x, Constant(c), k=k)
    _, push = linearize(f, backend, x, Constant(c), k=k)
    for array in (x, c, k):
        array[:] = 0.0
    one = make(np.ones(3))
    assert_tree(back(one), (slope, None), first(backend))
    assert_tree(push(one, None), slope, first(backend))


# Stacks
# ------------------------------------------------------------------------------------------------


@each_backend
def test_an_empty_stack_gives_empty_stacks(backend):
    empty = np.zeros((0, 3))
    assert_tree(pullback(sines, backend, X).back.stacked(empty), (empty,))
    assert_tree(linearize(sines, backend, X).push.stacked(empty), empty)


# Chunks
# ------------------------------------------------------------------------------------------------


def pairs(x):
    xp = array_namespace(x)
    return {"p": x[:, None] * x[None, :], "s": xp.sum(xp.sin(x))}


@pytest.mark.parametrize("auto", [AutoJax, AutoTorch])
@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize("size", [1, 2, 100])
def test_every_chunk_size_gives_the_same(size, mode, auto):
    plain, chunked = auto(mode=mode), auto(mode=mode, chunk_size=size)
    assert_tree(jacobian(pairs, chunked, X), jacobian(pairs, plain, X), 1e-12)
    assert_tree(hessian(cubes, chunked, X), hessian(cubes, plain, X), 1e-12)
    assert_tree(diagonal_hessian(cubes, chunked, X), diagonal_hessian(cubes, plain, X), 1e-12)
    assert_tree(gradient(cubes, chunked, X), gradient(cubes, plain, X), 1e-12)


# Nesting and control flow
# --------------------------------------------------------------------------------------------


THIRD = {
    "derivative of a second derivative": lambda f, b: derivative(
        lambda x: second_derivative(f, b, x), b, 2.0
    ),
    "second derivative of a derivative": lambda f, b: second_derivative(
        lambda x: derivative(f, b, x), b, 2.0
    ),
    "hessian of a gradient": lambda f, b: hessian(lambda x: gradient(f, b, x)[0], b, 2.0),
    "derivative of an hvp": lambda f, b: derivative(lambda x: hvp(f, b, x, 1.0), b, 2.0),
    "gradient of a hessian": lambda f, b: gradient(lambda x: hessian(f, b, x), b, 2.0)[0],
    "jacobian of a diagonal": lambda f, b: jacobian(lambda x: diagonal_hessian(f, b, x)[0], b, 2.0)[
        0
    ],
    "pushforward of a pushforward of a pullback": lambda f, b: (
        pushforward(
            lambda x: (
                pushforward(lambda y: pullback(f, b, y).back(1.0)[0], b, (x,), (1.0,)).tangent
            ),
            b,
            (2.0,),
            (1.0,),
        ).tangent
    ),
    "linearize of a jacobian of a derivative": (
        lambda f, b: linearize(
            lambda x: jacobian(lambda y: derivative(f, b, y), b, x)[0], b, 2.0
        ).push(1.0)
    ),
}


@each_engine
@pytest.mark.parametrize("name", THIRD)
def test_third_derivatives_by_nesting(name, backend):
    """x^4 has the third derivative 24 x, and x^4 sin(x) that of the product rule."""
    assert_tree(THIRD[name](lambda x: x**4, backend), 48.0)
    s, c = np.sin(2.0), np.cos(2.0)
    expected = float(24 * 2 * s + 3 * 12 * 4 * c - 3 * 4 * 8 * s - 16 * c)
    assert_tree(THIRD[name](lambda x: x**4 * array_namespace(x).sin(x), backend), expected, 1e-10)


# Modules
# ------------------------------------------------------------------------------------------------

INPUTS = torch.tensor([[0.1, -0.2], [0.3, 0.4], [0.5, -0.6]], dtype=torch.float64)
W = torch.tensor([0.3, -0.7, 0.2], dtype=torch.float64)
SEED = torch.ones(3, 1, dtype=torch.float64)
MODES = {
    "torch": AutoTorch(),
    "torch forward": AutoTorch(mode="forward"),
    "torch reverse": AutoTorch(mode="reverse"),
    "forward over reverse": SecondOrder(AutoTorch(mode="forward"), AutoTorch(mode="reverse")),
    "reverse over forward": SecondOrder(AutoTorch(mode="reverse"), AutoTorch(mode="forward")),
    "finite": AutoFiniteDifferences(),
    "finite over torch": SecondOrder(AutoFiniteDifferences(), AutoTorch()),
}


def module_of(w):
    module = nn.Linear(2, 1, dtype=torch.float64)
    with torch.no_grad():
        module.weight.copy_(w[None, :2])
        module.bias.copy_(w[2:])
    return module


def vector(module):
    """The numbers of a module, or of its Jacobian: rows of (weight, bias)."""
    weight, bias = module.weight.detach(), module.bias.detach()
    rows = weight.shape[: weight.ndim - 2]
    return torch.cat([weight.reshape(*rows, -1), bias.reshape(*rows, -1)], -1)


def outputs(module):
    return torch.tanh(module(INPUTS))


def loss(module):
    return (outputs(module) ** 2).sum()


def by_vector(w):
    return torch.tanh(INPUTS @ w[:2] + w[2])


H = torch.func.hessian(lambda w: (by_vector(w) ** 2).sum())(W)
G = torch.func.grad(lambda w: (by_vector(w) ** 2).sum())(W)
J = torch.func.jacrev(by_vector)(W)


def _of_rows(hessian):
    ww, wb = hessian.weight.weight[0, :, 0], hessian.weight.bias[0]
    bw, bb = hessian.bias.weight[0], hessian.bias.bias
    return torch.cat([torch.cat([ww, wb], 1), torch.cat([bw, bb], 1)]).detach()


#: A call with a backend, a module and a direction that is a module; what is expected of it.
OF_MODULES = {
    "gradient": (lambda b, m, v: vector(gradient(loss, b, m)[0]), G),
    "hvp": (lambda b, m, v: vector(hvp(loss, b, m, v)), H @ G),
    "gradient_and_hvp": (lambda b, m, v: vector(gradient_and_hvp(loss, b, m, v).gradient), G),
    "diagonal_hessian": (lambda b, m, v: vector(diagonal_hessian(loss, b, m)[0]), H.diagonal()),
    "hessian": (lambda b, m, v: _of_rows(value_gradient_and_hessian(loss, b, m).hessian), H),
    "pullback": (lambda b, m, v: vector(pullback(outputs, b, m).back(SEED)[0]), J.sum(0)),
    "pushforward": (lambda b, m, v: pushforward(outputs, b, (m,), (v,)).tangent[:, 0], J @ G),
    "jacobian": (lambda b, m, v: vector(jacobian(outputs, b, m)[0])[:, 0], J),
}


@pytest.mark.parametrize("backend", MODES.values(), ids=MODES.keys())
def test_operators_of_a_module(backend):
    """With all its parameters, and with a bias that is frozen and takes no part."""
    close = {"rtol": 0, "atol": 1e-5 if "Finite" in repr(backend) else 1e-10}
    for name, (call, expected) in OF_MODULES.items():
        found = call(backend, module_of(W), module_of(G))
        assert not found.requires_grad
        torch.testing.assert_close(found, expected, **close, msg=name)
    module = module_of(W)
    module.bias.requires_grad_(False)
    (v,) = gradient(loss, backend, module)
    assert type(v) is nn.Linear
    assert not any(p.requires_grad for p in v.parameters())
    frozen = torch.cat([H[:2, :2] @ G[:2], torch.zeros(1)])
    torch.testing.assert_close(vector(hvp(loss, backend, module, v)), frozen, **close)
    tangent = pushforward(loss, backend, (module,), (v,)).tangent
    torch.testing.assert_close(tangent, G[:2] @ G[:2], **close)


@each_backend
@pytest.mark.parametrize("operator", [pullback, linearize])
def test_a_map_is_copied_and_is_not_pickled(operator, backend):
    found = operator(lambda p: p["x"] * p["y"], backend, {"x": np.array([1.0, 2.0]), "y": 3.0})[1]
    given = np.ones(2) if operator is pullback else {"x": np.ones(2), "y": 0.0}
    for copied in (
        copy.copy(found),
        copy.deepcopy(found),
        copy.deepcopy({"map": [found]})["map"][0],
    ):
        assert_tree(copied(given), found(given))
    kind = "back" if operator is pullback else "push"
    for pickled in (found, [found]):
        with pytest.raises(BackendError) as caught:
            pickle.dumps(pickled)
        assert (
            str(caught.value)
            == f"<{kind} of <lambda> on {backend!r}> cannot be pickled: it holds what the engine"
            " recorded in this process. Pickle f and its arguments, and call"
            f" {operator.__name__} where they are loaded."
        )
