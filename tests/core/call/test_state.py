"""Behaviour: f is called as often as it must be, arguments are not written to, and no global state
differs afterwards.
"""

import contextlib
import threading
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from adinterface_autograd.backend import AutogradBackend
from adinterface_conformance.state import changes, global_state
from autograd.tracer import trace_stack
from backends_table import (
    ENGINES,
    assert_numbers,
    assert_tree,
    each_backend,
    each_engine,
    rtol_of,
)

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    SecondOrder,
    array_namespace,
    gradient,
    hessian,
    prepare,
    pullback,
    value_and_gradient,
)


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


# Global state
# ------------------------------------------------------------------------------------------------


def raising_after_work(x):
    total(x * x)
    raise Boom


@each_backend
def test_unusual_state_of_the_caller_is_kept(backend):
    x = np.linspace(0.5, 1.5, 3)
    with np.errstate(all="raise"), torch.no_grad(), jax.enable_x64(True):
        torch.set_default_dtype(torch.float64)
        try:
            before = global_state(backend)
            assert_tree(gradient(cubes, backend, x), (2 * x + 3 * x**2,), rtol_of(backend))
            with pytest.raises(Boom):
                gradient(raising_after_work, backend, x)
            assert not changes(before, global_state(backend))
        finally:
            torch.set_default_dtype(torch.float32)


# Threads
# ------------------------------------------------------------------------------------------------


def in_threads(work, count=8):
    """Run `work(i, meet)` in threads that start together.

    `meet()` makes them wait for each other.
    """
    barrier = threading.Barrier(count)

    def run(i):
        barrier.wait(timeout=60)
        return work(i, barrier.wait)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


@each_engine
def test_calls_that_overlap_in_time_do_not_meet(backend):
    """All threads are inside f, between two of its lines, at the same time.

    Each leaves in another order.
    """

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


# Results apart from what f captured
# ----------------------------------------------------------------------------------

MODES = [type(each)(mode=mode) for each in ENGINES.values() for mode in ("forward", "reverse")]
MODES += [AutoFiniteDifferences(), AutoFiniteDifferences(native=AutoTorch())]


@pytest.mark.parametrize("backend", MODES, ids=repr)
@pytest.mark.parametrize(
    "captured",
    [np.ones((2, 2))[0], torch.ones(2), torch.ones(2, requires_grad=True)],
    ids=["a view", "torch", "a parameter"],
)
@pytest.mark.parametrize("x", [np.ones(2), torch.ones(2)], ids=["numpy", "torch"])
def test_an_auxiliary_result_that_f_captured_is_a_copy(x, captured, backend):
    """Writing into a result changes nothing of the user's."""
    f = lambda x: (total(x * x), {"captured": captured})
    fast = prepare(value_and_gradient, f, backend, x)
    for result in (value_and_gradient(f, backend, x), fast(x)):
        found = result.value[1]["captured"]
        assert type(found) is type(x)
        assert_numbers(found, np.ones(2))
        found[:] = 7.0
        assert_numbers(captured, np.ones(2))


# A context of the backend
# ---------------------------------------------------------------------------------------------


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
    modes = []

    @contextlib.contextmanager
    def entering(mode):
        modes.append(mode)
        yield

    monkeypatch.setattr(AutogradBackend, "scope", lambda self: lambda: entering(self.auto.mode))
    pair = SecondOrder(AutoScoped(mode="forward"), AutoScoped(mode="reverse"))
    for call in (lambda: hessian(f, pair, x), lambda: prepare(hessian, f, pair, x)(x)):
        modes.clear()
        call()
        assert set(modes) == {"forward", "reverse"}
    modes.clear()
    gradient(f, pair, x)
    assert modes == ["reverse"]
