"""Behaviour: f is called as often as it must be, arguments are not written to, and no global state differs afterwards."""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import autograd
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from adinterface_autograd.backend import AutogradBackend
from autograd.tracer import trace_stack
from backends_table import ENGINES, assert_tree, each_backend, each_engine, global_state, rtol_of

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    array_namespace,
    gradient,
    hessian,
    prepare,
    pullback,
    value_and_gradient,
)

OPERATORS = {"gradient": gradient, "value_and_gradient": value_and_gradient}
each_operator = pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS.keys())


class Boom(Exception):
    """Raised by f."""


def total(x):
    return array_namespace(x).sum(x)


def cubes(*leaves):
    """The sum of |x|^2 + Re(x)^3 over all leaves."""
    result = 0.0
    for x in leaves:
        xp = array_namespace(x)
        result = result + xp.sum(xp.abs(x) ** 2 + xp.real(x) ** 3)
    return result


class Counted:
    """f, and how many times it was called."""

    def __init__(self, f):
        self.f, self.calls = f, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.f(*args, **kwargs)


ARGUMENTS = [
    pytest.param((1.5,), 1, 0, id="a float"),
    pytest.param((np.ones(3), 2.0, Constant(np.ones(7))), 4, 0, id="an array, a float, a Constant"),
    pytest.param((np.ones((2, 3)), np.ones(2) * 1j), 6, 2, id="real and complex"),
    pytest.param((np.ones(0), 1.0), 1, 0, id="an empty array"),
    pytest.param((torch.ones(2), jnp.ones(2)), 4, 0, id="torch and jax"),
]


@each_operator
@pytest.mark.parametrize(("args", "reals", "complexes"), ARGUMENTS)
def test_differences_call_f_once_and_two_or_four_times_for_each_number(args, reals, complexes, operator):
    f = Counted(cubes if not isinstance(args[0], torch.Tensor) else lambda *a: np.float32(sum(float(cubes(x)) for x in a)))
    operator(f, AutoFiniteDifferences(method="central"), *args)
    # A gradient alone needs no value at the point itself.
    assert f.calls == (operator is not gradient) + 2 * reals + 4 * complexes


# Arguments -----------------------------------------------------------------------------------------------------------


@each_backend
@each_operator
@pytest.mark.parametrize("f", [cubes, lambda *leaves: 1 / 0], ids=["f returns", "f raises"])
def test_arguments_are_not_written_to(f, operator, backend):
    tree = {"a": np.linspace(0, 1, 4), "b": [torch.linspace(0, 1, 4, dtype=torch.float64)]}
    leaves = (tree["a"], tree["b"][0])
    constant, keyword = np.ones(2), np.ones(2)
    copies = [leaf.copy() if isinstance(leaf, np.ndarray) else leaf.clone() for leaf in (*leaves, constant, keyword)]

    def whole(t, c, k):
        if isinstance(backend, AutoFiniteDifferences):
            return np.float64(f(t["a"])) + float(f(t["b"][0]))
        return f(t["a"], t["b"][0]) + total(c) + total(k)

    with contextlib.suppress(ZeroDivisionError):
        operator(whole, backend, tree, Constant(constant), k=keyword)
    for leaf, copy in zip((*leaves, constant, keyword), copies):
        assert_tree(leaf, copy, 0)
    assert tree["a"] is leaves[0]
    assert tree["b"][0] is leaves[1]
    assert leaves[1].grad is None
    assert not leaves[1].requires_grad


def test_a_tensor_that_requires_grad_keeps_its_grad():
    x = torch.ones(3, requires_grad=True)
    (2 * x).sum().backward()
    gradient(lambda x: total(x * x), AutoTorch(), x)
    assert_tree(x.grad, torch.full((3,), 2.0))
    assert x.requires_grad
    assert x.is_leaf


# Global state --------------------------------------------------------------------------------------------------------


def raising(*args):
    raise Boom


def raising_after_work(x):
    total(x * x)
    raise Boom


def raising_between(backend):
    """f that raises inside a call inside f, and after another that was well."""

    def f(x):
        gradient(cubes, backend, x)
        return total(x) + gradient(raising_after_work, backend, x)[0]

    return f


FAILING = {
    "at once": lambda backend: raising,
    "after some work": lambda backend: raising_after_work,
    "inside a nested call": raising_between,
    "by its result": lambda backend: lambda x: "no scalar",
}


@each_backend
@each_operator
@pytest.mark.parametrize("failing", FAILING.values(), ids=FAILING.keys())
def test_state_is_restored_when_f_raises(failing, operator, backend):
    x = np.linspace(0.5, 1.5, 3)
    before = global_state(random=True)
    with pytest.raises((Boom, TypeError)):
        operator(failing(backend), backend, x)
    assert global_state(random=True) == before
    assert_tree(gradient(cubes, backend, x), (2 * x + 3 * x**2,), rtol_of(backend))


@each_backend
def test_unusual_state_of_the_caller_is_kept(backend):
    x = np.linspace(0.5, 1.5, 3)
    generator = torch.get_rng_state()
    with np.errstate(all="raise"), torch.no_grad(), jax.enable_x64(True):
        torch.set_default_dtype(torch.float64)
        try:
            before = global_state(random=True)
            assert_tree(gradient(cubes, backend, x), (2 * x + 3 * x**2,), rtol_of(backend))
            with pytest.raises(Boom):
                gradient(raising_after_work, backend, x)
            assert global_state(random=True) == before
        finally:
            torch.set_default_dtype(torch.float32)
    assert torch.equal(generator, torch.get_rng_state())


@each_backend
def test_f_sees_the_callers_numpy_error_state(backend):
    seen = []

    def f(x):
        seen.append(np.geterr())
        return total(x)

    with np.errstate(all="raise"):
        gradient(f, backend, np.ones(2))
        assert all(state == np.geterr() for state in seen)


def test_an_own_exception_of_f_is_the_same_object():
    error = Boom("mine")

    def f(x):
        raise error

    for backend in (*ENGINES.values(), AutoFiniteDifferences()):
        with pytest.raises(Boom) as info:
            gradient(f, backend, 1.0)
        assert info.value is error


# Threads -------------------------------------------------------------------------------------------------------------


def in_threads(work, count=8):
    """Run `work(i, meet)` in threads that start together; `meet()` makes them wait for each other."""
    barrier = threading.Barrier(count)

    def run(i):
        barrier.wait(timeout=60)
        return work(i, barrier.wait)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


@each_backend
def test_eight_threads_with_nested_calls_get_right_gradients(backend):
    before = global_state()

    def work(i, meet):
        x = np.linspace(0.5, 1.5, 3) + i
        state = global_state()
        for turn in range(10):

            def second(x):
                (inner,) = gradient(lambda y: total(y**3), backend, x)
                return total(inner * x)

            if (i + turn) % 4 == 0:
                with pytest.raises(Boom):
                    gradient(raising_between(backend), backend, x)
            if not isinstance(backend, AutoFiniteDifferences):
                assert_tree(gradient(second, backend, x), (9 * x**2,))
            assert_tree(gradient(cubes, backend, x), (2 * x + 3 * x**2,), rtol_of(backend))
        assert {k: v for k, v in global_state().items() if k != "autograd trace depth"} == {
            k: v for k, v in state.items() if k != "autograd trace depth"
        }

    in_threads(work)
    assert global_state() == before


@each_engine
def test_calls_that_overlap_in_time_do_not_meet(backend):
    """All threads are inside f, between two of its lines, at the same time; each leaves in another order."""

    def work(i, meet):
        x = np.linspace(0.5, 1.5, 3) + i

        def f(y):
            meet(timeout=60)
            (inner,) = gradient(lambda z: total(z**2 * y), backend, y)
            meet(timeout=60)
            return total(inner * y)

        assert_tree(gradient(f, backend, x), (6 * x**2,))

    in_threads(work, 4)
    assert trace_stack.top == -1


def test_autograds_own_calls_work_after_and_inside_ours():
    def f(x):
        inner = autograd.grad(lambda y: total(y**3))(x)
        return total(inner * x)

    x = np.linspace(0.5, 1.5, 3)
    assert_tree(gradient(f, ENGINES["autograd"], x), (9 * x**2,))
    with pytest.raises(Boom):
        gradient(raising_after_work, ENGINES["autograd"], x)
    assert_tree(autograd.grad(lambda x: total(gradient(cubes, ENGINES["autograd"], x)[0]))(x), 2 + 6 * x)


def test_one_thread_in_float64_leaves_the_others_precision_alone():
    inside, done = threading.Event(), threading.Event()

    def slow(x):
        inside.set()
        assert done.wait(60)
        return total(x * x)

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(gradient, slow, AutoJax(), np.ones(2))
        assert inside.wait(60)
        try:
            assert not jax.config.jax_enable_x64
            assert jnp.ones(2).dtype == "float32"
            assert gradient(cubes, AutoJax(), np.ones(2, dtype="float32"))[0].dtype == "float32"
        finally:
            done.set()
        assert result.result()[0].dtype == "float64"


# Results apart from what f captured ----------------------------------------------------------------------------------

CAPTURED = {
    "numpy": lambda: np.ones(2),
    "a view": lambda: np.ones((2, 2))[0],
    "torch": lambda: torch.ones(2),
    "a parameter": lambda: torch.ones(2, requires_grad=True),
}
MODES = {f"{name}-{mode}": type(backend)(mode=mode) for name, backend in ENGINES.items() for mode in ("forward", "reverse")} | {
    "finite": AutoFiniteDifferences(),
    "native": AutoFiniteDifferences(native=AutoTorch()),
}


@pytest.mark.parametrize("backend", MODES.values(), ids=MODES.keys())
@pytest.mark.parametrize("make", CAPTURED.values(), ids=CAPTURED.keys())
@pytest.mark.parametrize("x", [np.array([1.0, 2.0]), torch.tensor([1.0, 2.0])], ids=["numpy", "torch"])
@pytest.mark.parametrize("prepared", [False, True], ids=["one-shot", "prepared"])
def test_an_auxiliary_result_that_f_captured_is_a_copy(prepared, x, make, backend):
    """Writing into a result changes nothing of the user's."""
    captured = make()

    def f(x):
        return total(x * x), {"captured": captured}

    call = prepare(value_and_gradient, f, backend, x) if prepared else (lambda x: value_and_gradient(f, backend, x))
    found = call(x).value[1]["captured"]
    assert type(found) is type(x)
    np.testing.assert_array_equal(np.asarray(found), 1.0)
    found[:] = 7.0
    np.testing.assert_array_equal(captured.detach() if isinstance(captured, torch.Tensor) else captured, 1.0)


# A context of the backend ---------------------------------------------------------------------------------------------


class AutoScoped(AutoAutograd):
    """autograd with a context around each call."""


def test_a_call_is_evaluated_in_the_context_of_the_backend_and_leaves_it(monkeypatch):
    depth, seen = [0], []

    @contextlib.contextmanager
    def entered():
        depth[0] += 1
        try:
            yield
        finally:
            depth[0] -= 1

    def f(x):
        seen.append(depth[0])
        return (x * x).sum()

    def failing(x):
        raise Boom

    monkeypatch.setattr(AutogradBackend, "scope", lambda self: entered)
    backend, x = AutoScoped(), np.ones(2)
    assert_tree(gradient(f, backend, x)[0], 2 * x)
    assert_tree(prepare(gradient, f, backend, x)(x)[0], 2 * x)
    assert_tree(hessian(f, backend, x), 2 * np.eye(2))
    assert_tree(pullback(f, backend, x).back(1.0)[0], 2 * x)
    assert set(seen) == {1}
    with pytest.raises(Boom):
        gradient(failing, backend, x)
    assert depth == [0]
