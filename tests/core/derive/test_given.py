"""What a call is given: a Constant is constant whatever it shares.

Outer derivatives and graphs reach all of it.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

import numpy as np
import pytest
import torch
from backends_table import assert_numbers, assert_told

from adinterface import (
    AutoTorch,
    Constant,
    ConversionError,
    Each,
    batched,
    derivative,
    gradient,
    hessian,
    jacobian,
    linearize,
    pullback,
    pushforward,
    rule,
    value_and_gradient,
    value_and_jacobian,
)

X = np.array([1.0, 0.0, 3.0])
V = np.array([0.5, 2.0, -1.0])


# 1. A Constant is constant, whatever it shares
# ------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize("create_graph", [False, True])
def test_a_tensor_that_requires_grad_as_argument_and_as_constant(mode, create_graph):
    backend = AutoTorch(mode=mode, create_graph=create_graph)
    w = torch.tensor(X, requires_grad=True)
    views = (w, w[:], w * 1.0, torch.nn.Parameter(w.detach()))
    for shared in views:
        assert_numbers(
            gradient(lambda x, c: (x**2 * c).sum(), backend, w, Constant(shared))[0], 2 * X * X
        )
        assert_numbers(
            linearize(lambda x, c: x * c, backend, w, Constant(shared)).push(torch.tensor(V), None),
            X * V,
        )


# 2. Outer derivatives reach all that a call is given
# ------------------------------------------------------------------


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_back_and_push_inside_torch_func(mode):
    x = torch.tensor(X)
    _, back = pullback(lambda x: x**3, AutoTorch(), x)
    _, push = linearize(lambda x: x**3, AutoTorch(mode=mode), x)
    for f in (lambda v: (back(v)[0] * v).sum(), lambda v: (push(v) * v).sum()):
        assert_numbers(torch.func.grad(f)(torch.tensor(V)), 6 * X**2 * V)


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
@pytest.mark.parametrize("place", ["argument", "Constant", "keyword", "module"])
def test_a_result_stays_in_the_graph_of_what_is_given(mode, place):
    """In torch: with a grad_fn it is kept.

    A leaf that requires grad is kept with create_graph; else it is detached.
    """
    w = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    x = torch.tensor(X)

    def results(backend, weight):
        def f(x, c=1.0):
            return (x**2 * (c.weight if isinstance(c, torch.nn.Module) else c)).sum()

        if place == "module":
            module = torch.nn.Module()
            module._parameters["weight"] = weight
            weight = module
        args, kwargs = {
            "argument": ((weight, Constant(x**2)), {}),
            "Constant": ((x, Constant(weight)), {}),
            "keyword": ((x,), {"c": weight}),
            "module": ((x, Constant(weight)), {}),
        }[place]
        f = (lambda w, c: (w**3 * c).sum()) if place == "argument" else f
        yield gradient(f, backend, *args, **kwargs)[0]
        yield from value_and_gradient(f, backend, *args, **kwargs)[:1]
        value, back = pullback(f, backend, *args, **kwargs)
        yield from (value, back(1.0)[0])
        ones = [torch.ones_like(arg) if isinstance(arg, torch.Tensor) else None for arg in args]
        value, push = linearize(f, backend, *args, **kwargs)
        yield from (value, push(*ones))
        yield from pushforward(f, backend, args, tuple(ones), **kwargs)
        yield jacobian(f, backend, *args, **kwargs)[0]

    plain, kept = AutoTorch(mode=mode), AutoTorch(mode=mode, create_graph=True)
    for result in results(plain, w):
        assert not result.requires_grad
    slopes = []
    for backend, weight in ((plain, w * 1.0), (kept, w)):
        slopes.append(
            [
                torch.autograd.grad(result.sum(), w, retain_graph=True)[0]
                for result in results(backend, weight)
            ]
        )
    for found, other in zip(*slopes, strict=True):
        assert found != 0.0
        assert_numbers(found, other)


@pytest.mark.parametrize("mode", [None, "forward"])
def test_a_call_on_plain_arrays_inside_f_is_a_constant(mode):
    inner, v = AutoTorch(mode=mode), np.ones(3)
    cube = lambda z: (z**3).sum()
    host = rule(host=True)(lambda x: gradient(cube, inner, x)[0])
    host.pullback(lambda c, value, x: 6 * x * c)
    plain = rule(lambda x: gradient(cube, inner, x)[0])
    plain.pullback(lambda c, value, x: 6 * x * c)

    def f(x):
        results = (
            gradient(cube, inner, X)[0],
            hessian(cube, inner, X),
            *pushforward(lambda z: z**2, inner, (X,), (v,)),
            linearize(lambda z: z**2, inner, X).push(v),
            pullback(lambda z: z**2, inner, X).back(v)[0],
            batched(gradient, cube, inner, Each(X[None]))[0],
        )
        assert {*map(type, results)} == {np.ndarray}
        return (host(x) + plain(x)).sum() + gradient(lambda z: (z * x).sum(), inner, X)[0].sum()

    assert_numbers(gradient(f, AutoTorch(), X)[0], 12 * X + 1)


# Threads that f starts
# ------------------------------------------------------------------------------------------------


def in_thread(compute):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(compute).result()


@pytest.mark.parametrize("mode", [None, "forward"])
def test_a_call_in_a_thread_that_f_starts_stays_in_the_graph_of_f(mode):
    inner, x, ones = AutoTorch(mode=mode), torch.tensor(X), torch.ones(3, dtype=torch.float64)
    cube = {
        "given": lambda y: gradient(lambda z: (z**3).sum(), inner, y)[0],
        "derived": lambda y: gradient(lambda z: (z**3).sum(), inner, y * 1.0)[0],
        "Constant": lambda y: gradient(lambda z, c: (z * c**2).sum() * 3, inner, ones, Constant(y))[
            0
        ],
        "direction": lambda y: pushforward(lambda z: z * 3, inner, (ones,), (y,)).tangent * y,
        "cotangent": lambda y: pullback(lambda z: z * 3, inner, ones)[1](y)[0] * y,
        "batched": lambda y: batched(
            gradient, lambda z, y: (z * y**2).sum() * 3, inner, Each(ones[None]), Constant(y)
        )[0][0],
    }
    for name, slope in cube.items():
        found = gradient(lambda y, slope=slope: in_thread(lambda: slope(y)).sum(), AutoTorch(), x)[
            0
        ]
        assert_numbers(found, 6 * X, path=name)


def test_another_thread_that_records_does_not_change_results():
    started, done = threading.Event(), threading.Event()

    def f(x):
        started.set()
        done.wait(30)
        return (x**2).sum()

    thread = threading.Thread(target=lambda: gradient(f, AutoTorch(), torch.tensor(X)))
    thread.start()
    started.wait(30)
    try:
        module, x = torch.nn.Linear(3, 1).double(), torch.tensor(X)
        results = gradient(lambda m, x: m(x).sum(), AutoTorch(), module, x)
        assert not results[0].weight.requires_grad
        assert not results[1].requires_grad
        assert isinstance(
            gradient(lambda x, m: m(x).sum(), AutoTorch(), X, Constant(module))[0], np.ndarray
        )
    finally:
        done.set()
        thread.join()


class Watched(torch.Tensor):
    """Notes in which threads torch's functions meet it."""

    threads: ClassVar = set()

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Watched.threads.add(threading.get_ident())
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.parametrize("mode", [None, "forward"])
def test_a_call_touches_no_leaf_of_a_call_in_another_thread(mode):
    """torch holds a leaf's mutex while it looks for the leaf's node, and then the thread of the
    leaf waits for ever.
    """
    inside, done = threading.Event(), threading.Event()

    def f(x):
        Watched.threads.clear()
        inside.set()
        assert done.wait(60)
        return (x * x).sum()

    thread = threading.Thread(
        target=gradient, args=(f, AutoTorch(), torch.tensor(X).as_subclass(Watched))
    )
    thread.start()
    assert inside.wait(60)
    try:
        w, backend = torch.tensor(X, requires_grad=True), AutoTorch(mode=mode)
        g = lambda y: (y * w).sum()
        for call in (gradient, jacobian, hessian, lambda *of: pullback(*of).back(1.0)):
            call(g, backend, torch.tensor(X))
        value_and_jacobian(lambda y: (y[:1], y * w), backend, X)
        assert threading.get_ident() not in Watched.threads
    finally:
        done.set()
        thread.join()


def test_a_tensor_of_forward_mode_in_another_thread_is_refused():
    f = lambda x: in_thread(lambda: derivative(lambda y: y**3, AutoTorch(), x))
    words = (
        "A torch tensor belongs to a transformation of torch.func (forward mode, vmap) in another"
        " thread, or to one that has ended, so its derivative would be lost here. Call in the"
        " thread of the outer derivative, or take that in reverse, with AutoTorch()."
    )
    outer = AutoTorch(mode="forward")
    assert_told(lambda: derivative(f, outer, torch.tensor(2.0)), ConversionError, words)
