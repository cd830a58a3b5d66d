"""Jacobians and batched calls on the workers of an executor: the same to the last bit, however many there are."""

import concurrent.futures
import copy
import functools
import multiprocessing.pool
import pickle
import threading
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from adinterface_autograd.backend import AutogradBackend
from forked import forkserver

from adinterface import (
    AutoAutograd,
    AutoBackend,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    Each,
    array_namespace,
    batched,
    gradient,
    hessian,
    jacobian,
    prepare,
    pullback,
    pushforward,
    value_and_gradient,
    value_and_jacobian,
)
from adinterface.core.contract import Backend, registry

ENGINES = (AutoJax, AutoTorch, AutoAutograd)
X = np.array([0.3, 1.7, -2.2, 0.5, 0.9])
ROWS = np.arange(12.0).reshape(4, 3) / 7


def square(x):
    xp = array_namespace(x)
    return xp.sin(x)[:, None] * xp.cos(2 * x)[None, :]


def two(x):
    xp = array_namespace(x)
    return xp.stack([xp.sum(x**2), xp.sum(xp.sin(x))])


def of_tree(p, c, power=2):
    return {"a": p["w"] ** power * p["b"] * c, "n": 3, "s": array_namespace(p["w"]).sum(p["w"])}


def loss(w, x):
    xp = array_namespace(w)
    return xp.sum(xp.sin(w * x)) ** 2


CALLS = {
    "columns": lambda b: jacobian(square, b, X),
    "rows": lambda b: jacobian(two, b, X),
    "of a tree": lambda b: value_and_jacobian(of_tree, b, {"w": X, "b": 2.0}, Constant(3.0), power=3),
    "complex": lambda b: jacobian(square, b, X * (1 + 0.5j)),
    "float32": lambda b: jacobian(square, b, X.astype("float32")),
    "a number": lambda b: jacobian(lambda x: x * x, b, 3.0),
    "nothing": lambda b: jacobian(lambda x: x * x, b, X[:0]),
    "prepared": lambda b: prepare(jacobian, square, b, X)(X),
    "inside another": lambda b: gradient(lambda x: jacobian(two, b, x)[0][1, 2] * x[0], type(b)(), X),
    "batched": lambda b: batched(gradient, loss, b, X[:3], Constant(Each(ROWS))),
    "batched values": lambda b: batched(value_and_gradient, loss, b, Each(ROWS), X[:3]),
    "batched Jacobians": lambda b: batched(jacobian, square, b, Each(ROWS)),
    "batched Hessians": lambda b: batched(hessian, loss, b, Each(ROWS), Constant(X[:3])),
    "batched tangents": lambda b: batched(pushforward, square, b, (X,), (Each(np.eye(5)),)),
    "batched nothing": lambda b: batched(gradient, loss, b, X[:3], Constant(Each(ROWS[:0]))),
    "batched, prepared": lambda b: prepare(batched, gradient, loss, b, Each(ROWS), X[:3])(Each(ROWS), X[:3]),
}


def flat(result):
    if isinstance(result, (tuple, list)):
        return [array for entry in result for array in flat(entry)]
    if isinstance(result, dict):
        return [array for entry in result.values() for array in flat(entry)]
    return [] if result is None else [np.asarray(result)]


@pytest.fixture(scope="module")
def executors():
    with concurrent.futures.ThreadPoolExecutor(1) as one, concurrent.futures.ThreadPoolExecutor(3) as three:
        yield one, three


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("call", CALLS)
def test_threads_give_the_same_bits(call, engine, executors):
    compute = CALLS[call]
    plain, *spread = (flat(compute(backend)) for backend in (engine(), *[engine(executor=e) for e in executors]))
    for expected, first, second in zip(plain, *spread, strict=True):
        np.testing.assert_allclose(first, expected, rtol=1e-5 if first.dtype == np.float32 else 1e-12, atol=1e-12)
        assert first.dtype == expected.dtype
        assert first.shape == expected.shape
        assert first.flags.writeable == expected.flags.writeable
        assert first.tobytes() == second.tobytes()


@dataclass(frozen=True)
class AutoPulling(AutoBackend):
    """An engine that defines `pullback` alone."""

    executor: Any = None
    name = "pulling"


class PullingBackend(Backend):
    libraries = AutogradBackend.libraries
    node_types = AutogradBackend.node_types
    backs = 0

    def pullback(self, function, leaves, *, differentiable=False):
        pulled = AutogradBackend.pullback(self, function, leaves)

        def back(cotangents):
            PullingBackend.backs += 1
            return pulled.back(cotangents)

        return pulled._replace(back=back)


@pytest.mark.parametrize("executor", [None, map])
def test_an_engine_that_cannot_transpose_goes_by_rows(executor, monkeypatch):
    point = SimpleNamespace(name="pulling", value="here:PullingBackend", dist=None, load=lambda: PullingBackend)
    points = registry._entry_points()
    monkeypatch.setattr(registry, "_entry_points", lambda: {**points, "pulling": [point]})
    monkeypatch.setattr(PullingBackend, "backs", 0)
    matrix = np.random.default_rng(1).normal(size=(200, 10))
    (found,) = jacobian(lambda x: array_namespace(x).matmul(matrix, x), AutoPulling(executor), np.ones(10))
    np.testing.assert_array_equal(found, matrix)
    assert PullingBackend.backs == 200


@pytest.mark.parametrize("engine", ENGINES)
def test_parts_go_to_the_workers_by_chunk_size(engine):
    if engine is AutoAutograd:
        pytest.skip("it has no chunk_size: every column is a part")
    seen = []

    class Counting(concurrent.futures.ThreadPoolExecutor):
        def submit(self, *args):
            seen.append(args)
            return super().submit(*args)

    with Counting(2) as executor:
        jacobian(square, engine(executor=executor), X)
        assert len(seen) == 5
        jacobian(square, engine(executor=executor, chunk_size=2), X)
        assert len(seen) == 5 + 3
        gradient(lambda x: square(x)[0, 1], engine(executor=executor), X)
        pullback(square, engine(executor=executor), X)
        assert len(seen) == 8


def test_processes_give_the_same_bits_and_raise_what_f_raises():
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=forkserver()) as executor:
        backend, here = AutoAutograd(executor=executor), AutoAutograd(executor=map)
        for call in ("columns", "of a tree", "batched", "batched Hessians"):
            for found, expected in zip(flat(CALLS[call](backend)), flat(CALLS[call](here)), strict=True):
                assert found.tobytes() == expected.tobytes()
        with pytest.raises(ZeroDivisionError, match="f's own"):
            batched(gradient, fails, backend, Each(ROWS))


def fails(x):
    raise ZeroDivisionError("f's own")


def test_a_module_is_shared_by_threads(executors):
    torch = pytest.importorskip("torch")
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
    frozen = copy.deepcopy(module)
    frozen[0].bias.requires_grad_(False)
    x = torch.ones(3, dtype=torch.float64)
    for call in (
        lambda b: jacobian(lambda m, x: m(x), b, module, x),
        lambda b: batched(gradient, lambda m, x: m(x).sum(), b, module, Constant(Each(torch.stack([x, 2 * x, 3 * x])))),
        lambda b: batched(gradient, lambda m, x: m(x).sum(), b, frozen, Constant(Each(torch.stack([x, 2 * x, 3 * x])))),
    ):
        plain, spread = call(AutoTorch()), call(AutoTorch(executor=executors[1]))
        for expected, found in zip(plain[0].parameters(), spread[0].parameters(), strict=True):
            torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
        assert type(spread[0]) is type(module)
        assert not any(p.requires_grad for p in spread[0].parameters())


def test_a_call_beside_another_one_is_not_inside_it(executors):
    torch = pytest.importorskip("torch")
    module, x = torch.nn.Linear(3, 2).double(), torch.ones(3, dtype=torch.float64)
    both = threading.Barrier(2)

    def f(m, x):
        if threading.current_thread() is not threading.main_thread():
            both.wait(10)  # both rows are recorded at once
        return torch.sin(m(x))

    (plain,) = jacobian(lambda m: torch.sin(m(x)), AutoTorch(), module)
    with multiprocessing.pool.ThreadPool(2) as pool:
        for executor in (executors[1], functools.partial(pool.map, chunksize=1)):
            found = jacobian(f, AutoTorch(executor=executor), module, Constant(x))[0]
            for expected, row in zip(plain.parameters(), found.parameters(), strict=True):
                torch.testing.assert_close(row, expected, rtol=1e-12, atol=1e-12)
                assert not row.requires_grad

    def outer(m):
        (inner,) = jacobian(lambda x: torch.sin(m(x)), AutoTorch(executor=executors[1]), x)
        return (inner**2).sum()

    def outer_alone(m):
        return (jacobian(lambda x: torch.sin(m(x)), AutoTorch(), x)[0] ** 2).sum()

    (expected,), (found,) = (gradient(g, AutoTorch(), module) for g in (outer_alone, outer))
    torch.testing.assert_close(found.weight, expected.weight, rtol=1e-12, atol=1e-12)


def test_arrays_of_each_library_come_back(executors):
    jnp, torch = pytest.importorskip("jax.numpy"), pytest.importorskip("torch")
    for engine in ENGINES:
        for make in (jnp.asarray, torch.asarray):
            x = make(X.astype("float32"))
            backend, rows = engine(executor=executors[1]), make(ROWS.astype("float32"))
            (found,) = jacobian(square, backend, x)
            assert type(found) is type(x)
            (found,) = batched(gradient, lambda x: loss(x, x), backend, Each(rows))
            assert type(found) is type(x)


def test_workers_get_random_keys(executors):
    jax = pytest.importorskip("jax")
    key = jax.random.key(0)
    f = lambda x, key: x * jax.random.normal(key, x.shape, x.dtype)
    (found,) = jacobian(f, AutoJax(executor=executors[1]), X, Constant(key))[:1]
    np.testing.assert_array_equal(found, jacobian(f, AutoJax(), X, Constant(key))[0])


@pytest.mark.parametrize("engine", ENGINES)
def test_an_executor_belongs_to_a_backend_and_stays_at_home(engine, executors):
    one, three = executors
    backend = engine(executor=one)
    assert backend == engine(executor=one)
    assert hash(backend) == hash(engine(executor=one))
    assert backend != engine(executor=three)
    assert backend != engine()
    assert repr(backend) == repr(engine())
    assert pickle.loads(pickle.dumps(backend)) == engine()


def test_differences_hand_out_evaluations_as_before(executors):
    seen = []

    def f(x):
        seen.append(threading.current_thread() is threading.main_thread())
        return x * x

    jacobian(f, AutoFiniteDifferences(executor=executors[1]), X)
    assert len(seen) > 5 * 4
    assert not all(seen)


@pytest.mark.parametrize("cls", [AutoJax, AutoTorch, AutoAutograd])
def test_an_executor_that_nothing_can_be_handed_to_is_refused_where_it_is_chosen(cls):
    message = f"^{cls.__name__}: executor must be something that evaluations can be handed to, not 4"
    with pytest.raises(TypeError, match=message):
        cls(executor=4)
