# ruff: noqa: NPY002 - the generators of the process are what is tested
"""Where f is evaluated again, it starts from the same arguments and draws the same random numbers."""

import random

import numpy as np
import pytest
import torch
from torch import nn

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoTorch,
    Constant,
    Each,
    PrecisionWarning,
    SecondOrder,
    array_namespace,
    batched,
    diagonal_hessian,
    gradient,
    jacobian,
    linearize,
    prepare,
    pullback,
    pushforward,
    value_and_gradient,
    value_and_jacobian,
    value_gradient_and_hessian,
)

X = np.arange(1.0, 9.0)
CHUNKS = [AutoTorch(mode="forward", chunk_size=size) for size in (None, 1, 3)]
#: Each f is linear along X: its derivative in that direction is its value.
DRAWING = {
    "torch": (lambda x: nn.functional.dropout(x, 0.5), [*CHUNKS, AutoFiniteDifferences(native=AutoTorch())]),
    "NumPy on torch": (lambda x: x * torch.from_numpy(np.random.normal(size=3))[0], CHUNKS),
    "NumPy": (lambda x: x * np.random.normal(size=8), [AutoAutograd(mode="forward")]),
    "Python": (lambda x: x * random.random(), [*CHUNKS, AutoAutograd(mode="forward")]),
}
CASES = [(name, f, backend) for name, (f, backends) in DRAWING.items() for backend in backends]
each_draw = pytest.mark.parametrize(("f", "backend"), [case[1:] for case in CASES], ids=[f"{c[0]} {c[2]!r}" for c in CASES])


def seed():
    torch.manual_seed(1)
    np.random.seed(1)
    random.seed(1)


def next_numbers():
    """Of each generator, without moving it."""
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    numbers = torch.rand(1).item(), np.random.normal(), random.random()
    torch.set_rng_state(states[0])
    np.random.set_state(states[1])
    random.setstate(states[2])
    return numbers


@each_draw
def test_value_and_derivative_come_from_the_same_draws(f, backend):
    seed()
    f(torch.from_numpy(X) if not isinstance(backend, AutoAutograd) else X)
    once = next_numbers()
    calls = {
        "jacobian": lambda: value_and_jacobian(f, backend, X),
        "pushforward": lambda: pushforward(f, backend, (X,), (X,)),
        "linearize": lambda: linearize(f, backend, X),
        "pullback": lambda: pullback(f, backend, X),
        "prepared": lambda: prepare(value_and_jacobian, f, backend, X)(X),
    }
    maps = {}
    for name, call in calls.items():
        seed()
        value, maps[name] = call()
        assert next_numbers() == once, name
        np.testing.assert_array_equal(value, maps.setdefault("value", value))
    value = maps["value"]
    np.testing.assert_allclose(maps["pushforward"], value, rtol=1e-11)
    for name in ("jacobian", "prepared"):
        np.testing.assert_allclose(maps[name][0] @ X, value, rtol=1e-11)
    # The maps repeat the draws whenever they are called, and leave the generators alone.
    torch.rand(3), np.random.normal(), random.random()
    before = next_numbers()
    np.testing.assert_allclose(maps["linearize"](X), value, rtol=1e-11)
    np.testing.assert_allclose(maps["linearize"].stacked(np.stack([X, 2 * X])), np.stack([value, 2 * value]), rtol=1e-11)
    np.testing.assert_allclose(maps["pullback"](np.ones(8))[0] @ X, value.sum(), rtol=1e-11)
    assert next_numbers() == before


def test_a_network_with_dropout_has_one_gradient_in_every_mode():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Tanh(), nn.Linear(4, 1)).double()
    data = torch.randn(5, 3, dtype=torch.float64)
    found = []
    for backend in (AutoTorch(), *CHUNKS, AutoFiniteDifferences(), AutoFiniteDifferences(method="complex")):
        seed()
        value, (slopes, _) = value_and_gradient(lambda m, x: (m(x) ** 2).mean(), backend, net, Constant(data))
        found.append(torch.cat([value.ravel(), *[p.ravel() for p in slopes.parameters()], torch.rand(1)]))
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(
    "backend",
    [
        AutoTorch(mode="forward"),
        SecondOrder(AutoTorch(mode="forward", chunk_size=1), AutoTorch(mode="reverse")),
        SecondOrder(AutoTorch(mode="forward", chunk_size=3), AutoTorch(mode="forward", chunk_size=1)),
        AutoFiniteDifferences(native=AutoTorch()),
        SecondOrder(AutoFiniteDifferences(), AutoTorch()),
        SecondOrder(AutoTorch(), AutoFiniteDifferences()),
    ],
    ids=repr,
)
def test_second_derivatives_come_from_the_draws_of_the_value(backend):
    def f(x):
        return (nn.functional.dropout(x, 0.5) ** 3).sum()

    seed()
    value, slopes, matrix = value_gradient_and_hessian(f, backend, X)
    kept = 8 * np.diagonal(np.diag(slopes / (24 * X**2) > 0.5)) * X**3
    assert 0 < np.count_nonzero(kept) < 8
    np.testing.assert_allclose(value, kept.sum(), rtol=1e-12)
    np.testing.assert_allclose(matrix, np.diag(6 * kept / X**2), rtol=1e-6, atol=1e-4)
    seed()
    np.testing.assert_allclose(diagonal_hessian(f, backend, X)[0], 6 * kept / X**2, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("randomness", ["different", "same"])
@pytest.mark.parametrize("backend", [AutoTorch(), AutoTorch(chunk_size=2), *CHUNKS], ids=repr)
def test_the_maps_of_a_batch_repeat_the_draws_of_its_values(backend, randomness):
    if randomness == "same" and backend.chunk_size == 1:
        pytest.skip("one entry after another")
    stack = X.reshape(4, 2)
    value, back = batched(pullback, DRAWING["torch"][0], backend, Each(stack), randomness=randomness)
    np.testing.assert_allclose(back(np.ones((4, 2)))[0] * stack, value)
    value, push = batched(linearize, DRAWING["torch"][0], backend, Each(stack), randomness=randomness)
    np.testing.assert_allclose(push(Each(stack)), value)


@pytest.mark.parametrize("mode", [None, "forward"])
def test_an_f_that_draws_is_not_divided_among_workers(mode):
    value, (matrix,) = value_and_jacobian(DRAWING["torch"][0], AutoTorch(mode=mode, executor=map), X)
    np.testing.assert_allclose(matrix @ X, value)


GENERATORS = {
    "NumPy": (lambda: np.random.default_rng(0), lambda g: g.random()),
    "NumPy, legacy": (lambda: np.random.RandomState(0), lambda g: g.random()),
    "Python": (lambda: random.Random(0), lambda g: g.random()),
    "torch": (lambda: torch.Generator().manual_seed(0), lambda g: torch.rand((), generator=g).item()),
}
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kind", GENERATORS)
@pytest.mark.parametrize(
    "backend", [AutoTorch(mode="forward"), AutoAutograd(mode="forward"), AutoFiniteDifferences()], ids=repr
)
def test_generators_that_f_is_given_or_captures_repeat_their_draws(kind, backend):
    make, draw = GENERATORS[kind]
    gradient(lambda x: x * x, AutoTorch(), 1.0)  # a call has needed torch
    value, push = linearize(lambda x, *, g: draw(g) * x**2, backend, X, g=make())
    np.testing.assert_allclose(push(X), 2 * value, rtol=1e-9)
    value, push = linearize(lambda x, g: draw(g) * x**2, backend, X, Constant(make()))
    np.testing.assert_allclose(push(X, None), 2 * value, rtol=1e-9)
    captured = make()
    value, push = linearize(lambda x: draw(captured) * x**2, backend, X)
    np.testing.assert_allclose(push(X), 2 * value, rtol=1e-9)
    expected = make()
    draw(expected)
    assert draw(captured) == draw(expected)  # as after one evaluation


def test_a_generator_among_the_globals_of_f_repeats_its_draws():
    value, push = linearize(lambda x: RNG.random() * x**2, AutoTorch(mode="forward"), X)
    np.testing.assert_allclose(push(X), 2 * value)


def test_differences_do_not_repeat_the_draws_of_numpy_and_say_that_f_is_noisy():
    with pytest.warns(PrecisionWarning, match="f is noisy"):
        gradient(lambda x: (x * np.random.normal(size=8)).sum(), AutoFiniteDifferences(), X)


def test_an_error_in_f_leaves_the_generators_where_f_leaves_them():
    def f(x):
        if torch.rand(1) < 2:
            raise KeyError("wrong")

    seed()
    with pytest.raises(KeyError):
        f(None)
    once = next_numbers()
    seed()
    with pytest.raises(KeyError):
        jacobian(f, AutoTorch(mode="forward", chunk_size=1), X)
    assert next_numbers() == once


# Writes into arguments -------------------------------------------------------------------------------------------------


def doubling(x):
    x *= 2
    return x**2


@pytest.mark.parametrize("backend", [*CHUNKS, AutoAutograd(mode="forward"), AutoFiniteDifferences()], ids=repr)
@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_each_evaluation_starts_from_the_argument_which_stays_as_it_is(backend, make):
    x, v = make(X), make(X)
    for call in (lambda: jacobian(doubling, backend, x), lambda: prepare(jacobian, doubling, backend, x)(x)):
        np.testing.assert_allclose(call()[0], np.diag(8 * X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(pushforward(doubling, backend, (x,), (v,)).tangent, 8 * X**2, rtol=1e-9)
    value, push = linearize(doubling, backend, x)
    for _ in range(2):
        np.testing.assert_allclose(push(v), 8 * X**2, rtol=1e-9)
    np.testing.assert_allclose(value, 4 * X**2)
    np.testing.assert_allclose(pullback(doubling, backend, x).back(v)[0], 8 * X**2, rtol=1e-9)

    def total(x):
        return array_namespace(x).sum(doubling(x))

    np.testing.assert_allclose(gradient(total, backend, x)[0], 8 * X, rtol=1e-9)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(v, X)


def test_the_value_of_a_divided_jacobian_leaves_the_argument_as_it_is():
    x = X.copy()
    value, (matrix,) = value_and_jacobian(doubling, AutoAutograd(mode="forward", executor=map), x)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_allclose(value, 4 * X**2)
    np.testing.assert_allclose(matrix, np.diag(8 * X))
