"""`prepare`: the same results as plain calls, specialised by signature, safe to share and bounded
in memory.
"""

import copy
import functools
import gc
import pickle
import threading
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import BACKENDS, assert_tree, call_of, each_backend, rtol_of
from example_calls import examples

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    array_namespace,
    gradient,
    hvp,
    prepare,
    register_node,
    value_and_gradient,
)
from adinterface.core.contract.registry import REGISTRY

X = np.linspace(0.5, 1.5, 4)
Y = np.linspace(-1.0, 2.0, 4)


def cubes(x):
    return array_namespace(x).sum(x**3)


class Bag:
    def __init__(self, x, notes):
        self.x, self.notes = x, notes


register_node(
    Bag, lambda bag: ((bag.x,), bag.notes), lambda notes, children: Bag(children[0], notes)
)


@each_backend
def test_what_cannot_be_compared_is_taken_apart_each_time(backend):
    fast = prepare(
        gradient,
        lambda bag: array_namespace(bag.x).sum(bag.x) * bag.notes[0],
        backend,
        Bag(X, [2.0]),
    )
    for factor in (2.0, 3.0):
        assert_tree(fast(Bag(X, [factor]))[0].x, factor * np.ones(4), rtol_of(backend))


def test_what_f_captures_is_fixed_by_a_compiler_and_by_no_other_engine():
    factor = [2.0]
    for backend in BACKENDS.values():
        factor[0] = 2.0
        fast = prepare(gradient, lambda x: factor[0] * x, backend, 1.0)
        assert fast(1.0) == (pytest.approx(2.0),)
        factor[0] = 3.0
        assert fast(1.0) == (pytest.approx(2.0 if isinstance(backend, AutoJax) else 3.0),)


# Sharing and memory
# --------------------------------------------------------------------------------------------------


def test_specializations_are_bounded():
    fast = prepare(gradient, cubes, AutoAutograd(), np.ones(1))
    fast.max_specializations = 3
    for n in range(1, 9):
        fast(np.ones(n))
    assert fast.specializations == 8
    assert repr(fast) == "<gradient of cubes prepared on AutoAutograd(): 3 specializations>"
    assert repr(prepare(gradient, cubes, AutoAutograd(), X)).endswith("1 specialization>")
    nameless = functools.partial(cubes)
    assert f" of {nameless} " in repr(prepare(gradient, nameless, AutoAutograd(), X))


def test_a_pickle_finds_the_operator_again():
    for operator, row in REGISTRY.operators.items():
        assert pickle.loads(pickle.dumps(row)) is row, operator
    again = pickle.loads(pickle.dumps(prepare(gradient, cubes, AutoAutograd(), X)))
    np.testing.assert_array_equal(again(X)[0], gradient(cubes, AutoAutograd(), X)[0])


def test_what_was_used_longest_ago_goes_first():
    fast = prepare(gradient, cubes, AutoAutograd(), np.ones(1))
    fast.max_specializations = 2
    for n, count in ((1, 1), (2, 2), (1, 2), (1, 2), (3, 3), (1, 3), (3, 3), (2, 4)):
        fast(np.ones(n))
        assert fast.specializations == count


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_a_copy_is_the_call_itself(duplicate):
    fast = prepare(gradient, cubes, AutoJax(), X)
    assert duplicate(fast) is fast


@each_backend
def test_prepared_calls_from_eight_threads(backend):
    fast = prepare(gradient, cubes, backend, X)
    tolerance = max(rtol_of(backend), 1e-12)
    wrong = []

    def work(n, calls):
        for i in range(calls):
            x = np.full(3 + (i + n) % 3, 1.0 + n)
            (found,) = fast(x)
            if found.shape != x.shape or abs(found - 3 * x**2).max() > 1e2 * tolerance:
                wrong.append(x)

    calls = 60 if isinstance(backend, AutoFiniteDifferences) else 300
    threads = [threading.Thread(target=work, args=(n, calls)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert fast.specializations == 3


def left_for_the_collector(call):
    """What a call leaves in cycles of references, of the library's own objects and functions."""
    for _ in range(3):
        call()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        call()
        gc.collect()
        where = [
            x.__module__ if isinstance(x, (types.FunctionType, type)) else type(x).__module__
            for x in gc.garbage
        ]
        return [x for x, module in zip(gc.garbage, where) if str(module).startswith("adinterface")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("prepared", [False, True])
@each_backend
def test_calls_leave_nothing_to_the_garbage_collector(backend, prepared):
    """Such cycles hold the memory of arrays until they are found, and to look for them takes
    time.
    """
    gc.freeze()
    for operator, f, args in examples().values():
        call = call_of(prepared, operator, f, backend, *args)
        assert left_for_the_collector(functools.partial(call, *args)) == []


# torch.compile
# ------------------------------------------------------------------------------------------------

quiet_compiler = pytest.mark.filterwarnings("ignore:`torch.jit.script")


def mixed(p, x):
    return torch.tanh(x @ p["w"] + p["b"]).square().mean()


@quiet_compiler
def test_torch_compiles_f_with_its_backward_pass(monkeypatch):
    # The half minute in which C++ is compiled is another project's to test; the benchmark does it.
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="aot_eager"))
    p = {"w": np.linspace(-1.0, 1.0, 6).reshape(3, 2), "b": np.array([0.1, -0.2])}
    x = np.linspace(0.0, 1.0, 12).reshape(4, 3)
    expected = value_and_gradient(mixed, AutoTorch(), p, Constant(x))
    fast = prepare(value_and_gradient, mixed, AutoTorch(compile=True), p, Constant(x))
    for _ in range(2):
        assert_tree(fast(p, Constant(x)), expected, 1e-10)
    assert repr(fast).startswith("<value_and_gradient of mixed prepared on AutoTorch(compile=True")


@pytest.mark.parametrize(
    ("operator", "args", "options"),
    [
        (hvp, (X, Y), {}),
        (gradient, (X,), {"mode": "forward"}),
        (gradient, (X,), {"create_graph": True}),
    ],
)
def test_what_cannot_be_compiled_is_not(operator, args, options, monkeypatch):
    def refuse(f):
        raise AssertionError

    monkeypatch.setattr(torch, "compile", refuse)
    backend = AutoTorch(compile=True, **options)
    found = prepare(operator, cubes, backend, *args)(*args)
    found = torch.as_tensor(found[0] if operator is gradient else found).detach()
    np.testing.assert_allclose(found, 3 * X**2 if operator is gradient else 6 * X * Y)
    assert_tree(gradient(cubes, AutoTorch(compile=True), X), gradient(cubes, AutoTorch(), X), 0.0)


def test_a_compiler_that_fails_names_the_remedy(monkeypatch):
    failure = type("BackendCompilerFailed", (RuntimeError,), {"__module__": "torch._dynamo.exc"})

    def failing(f):
        def compiled(*args):
            raise failure("no compiler")

        return compiled

    monkeypatch.setattr(torch, "compile", failing)
    with pytest.raises(RuntimeError, match="no compiler") as caught:
        prepare(gradient, cubes, AutoTorch(compile=True), X)(X)
    assert caught.value.__notes__ == [
        "torch.compile could not compile f, for AutoTorch(compile=True). AutoTorch() runs it as"
        " it is."
    ]


# Results that compiled code finishes
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "operator", [gradient, value_and_gradient], ids=lambda operator: operator.__name__
)
def test_numbers_beside_arrays_of_jax(operator, dtype):
    """The arrays stay JAX's, and numbers stay Python's, from the first call on."""
    with jax.enable_x64(dtype == "float64"):
        tree = {"w": jnp.arange(3, dtype=dtype), "b": 0.1, "steps": 3, "kept": Constant(2.0)}

        def f(tree):
            assert str(tree["b"].dtype) == dtype
            loss = (tree["w"] ** 2).sum() * tree["b"] * tree["steps"] + tree["b"] ** 2 * tree[
                "kept"
            ]
            return (
                (loss, {"loss": loss, "w": tree["w"] * tree["b"]})
                if operator is value_and_gradient
                else loss
            )

        fast = prepare(operator, f, AutoJax(), tree)
        for b in (0.1, 0.1, 0.7):
            arguments = tree | {"b": b}
            found, wanted = fast(arguments), operator(f, AutoJax(), arguments)
            assert_tree(found, wanted, 1e-6)
            (gradients,) = found.gradient if operator is value_and_gradient else found
            assert type(gradients["b"]) is float
            assert isinstance(gradients["w"], jax.Array)


def test_numbers_beside_arrays_of_jax_inside_a_trace():
    fast = prepare(gradient, lambda x, b: (x**2).sum() * b, AutoJax(), jnp.arange(3.0), 0.5)
    fast(jnp.arange(3.0), 0.5)
    slope = jax.jit(lambda x: fast(x, 0.5)[1])(jnp.arange(3.0))
    assert isinstance(slope, jax.Array)
    assert float(slope) == 5.0
