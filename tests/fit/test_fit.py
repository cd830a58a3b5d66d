"""Optimisers and solvers of other people's on nested models, with the gradients of every engine."""

import pickle
import sys
import warnings
from dataclasses import dataclass
from typing import Any

import attrs
import jax.numpy as jnp
import numpy as np
import optax
import pytest
import scipy.optimize
import torch
from backends_table import BACKENDS, assert_told, each_backend, each_engine

from adinterface import (
    AutoAutograd,
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    BackendError,
    Constant,
    MissingEngineError,
    NotDifferentiableError,
    OutputError,
    PrecisionWarning,
    TreeError,
    array_namespace,
    gradient,
    tree,
    value_and_gradient,
)
from adinterface.fit import (
    Training,
    curve_fit,
    find_root,
    flat,
    from_optax,
    from_torch_optim,
    least_squares,
    minimize,
    solve_ivp,
    update,
)


@dataclass
class Model:
    w: Any
    b: Any
    name: str = "line"
    steps: int = 3


def model():
    return Model(np.array([1.0, -2.0]), 0.5)


@dataclass
class Sizes:
    widths: list[int]
    order: Any


@dataclass
class Tied:
    w: Any
    a: Any
    n: float


X = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 1.0]])


def loss(model, x):
    return ((x @ model.w + model.b) ** 2).mean()


def bowl(m):
    return (m["a"] - 1) ** 2 + 2 * (m["b"][0] + 2) ** 2 + (m["b"][1] - m["a"]) ** 2


BOWL = {"a": 0.0, "b": np.array([1.0, 3.0]), "tag": "x"}


# Plain steps
# ------------------------------------------------------------------------------------------------


@each_backend
def test_update_keeps_types_and_what_has_no_gradient(backend):
    slope = gradient(loss, backend, model(), Constant(X))
    moved = update(model(), slope, 0.1)
    assert type(moved) is Model
    assert type(moved.b) is float
    assert (moved.name, moved.steps) == ("line", 3)
    np.testing.assert_allclose(moved.w, model().w - 0.1 * slope[0].w)
    assert update(model(), Model(None, 1.0), 0.5).b == 0.0
    np.testing.assert_array_equal(update(model(), Model(None, 1.0), 0.5).w, model().w)


# Optax
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("array", [np.asarray, jnp.asarray])
def test_the_step_of_jax_alone_is_the_prepared_step(array):
    rng = np.random.default_rng(0)
    x, y = array(rng.normal(size=(8, 3))), array(rng.normal(size=8))
    start = {"w": array(rng.normal(size=3)), "b": array(rng.normal(size=1))}
    loss = lambda m, x, y: ((x @ m["w"] + m["b"] - y) ** 2).mean()
    one, other = [Training(loss, AutoJax(), from_optax(optax.adam(0.1)), start) for _ in range(2)]
    assert one._native is not None
    other._native = None
    for _ in range(3):
        np.testing.assert_allclose(float(one(x, y)), float(other(x, y)), rtol=1e-6)
    assert [*one.model] == [*other.model] == ["w", "b"]
    for name, leaf in one.model.items():
        assert type(leaf) is type(other.model[name]) is type(start[name])
        assert leaf.dtype == other.model[name].dtype
        np.testing.assert_allclose(np.asarray(leaf), np.asarray(other.model[name]), rtol=1e-5)


NEED = {"'value', 'grad', and 'value_fn'": optax.lbfgs(), "'value'": optax.polyak_sgd()}


@each_backend
@pytest.mark.parametrize("needed", NEED)
@pytest.mark.parametrize("jit", [True, False])
def test_what_optax_needs_in_each_step_is_named(needed, jit, backend):
    optimiser = from_optax(NEED[needed], jit=jit)
    pattern = f"in each step this Optax transformation needs {needed}, which Training does not give"
    with pytest.raises(TypeError, match=pattern):
        optimiser.step(gradient(bowl, backend, BOWL), optimiser.init(BOWL), BOWL)
    with pytest.raises(TypeError, match=pattern):
        Training(bowl, backend, optimiser, BOWL)()


# torch.optim
# ------------------------------------------------------------------------------------------------


@each_engine
def test_torch_optim_keeps_the_dataclass_and_gives_torch_numbers(backend):
    optimiser, moved = from_torch_optim(torch.optim.Adam, model(), lr=0.1), model()
    for _ in range(3):
        moved = optimiser.step(gradient(loss, backend, moved, Constant(X)))
    w, b = (
        torch.tensor(model().w, requires_grad=True),
        torch.tensor(0.5, dtype=torch.float64, requires_grad=True),
    )
    own = torch.optim.Adam([w, b], lr=0.1)
    for _ in range(3):
        own.zero_grad()
        loss(Model(w, b), torch.tensor(X)).backward()
        own.step()
    np.testing.assert_allclose(moved.w, w.detach(), rtol=1e-14)
    assert moved.b == pytest.approx(b.item(), rel=1e-14)
    assert type(moved.b) is float
    other = from_torch_optim(torch.optim.Adam, moved, lr=0.1)
    other.load_state_dict(pickle.loads(pickle.dumps(optimiser.state_dict())))
    slope = gradient(loss, backend, moved, Constant(X))
    np.testing.assert_array_equal(other.step(slope).w, optimiser.step(slope).w)


def test_torch_optim_writes_into_modules_and_takes_closures():
    net, x = torch.nn.Linear(2, 1), torch.ones(3, 2)
    net.bias.requires_grad_(False)
    before = net.weight.detach().clone()
    optimiser = from_torch_optim(torch.optim.SGD, net, lr=0.1)
    slope = gradient(lambda net: net(x).sum(), AutoTorch(), net)
    assert optimiser.step(slope) is net
    torch.testing.assert_close(net.weight, before - 0.3)
    assert net.weight.grad is None
    newton = from_torch_optim(torch.optim.LBFGS, BOWL, line_search_fn="strong_wolfe")
    assert bowl(newton.step(closure=lambda m: value_and_gradient(bowl, AutoAutograd(), m))) < 1e-8


# The whole step
# ------------------------------------------------------------------------------------------------


def _optimisers():
    return [0.1, from_optax(optax.sgd(0.1)), from_torch_optim(torch.optim.SGD, model(), lr=0.1)]


@each_backend
@pytest.mark.parametrize("way", [0, 1, 2], ids=["number", "optax", "torch"])
def test_training_takes_the_steps_of_gradient_descent(backend, way):
    optimiser = _optimisers()[way]
    training = Training(loss, backend, optimiser, None if way == 2 else model())
    expected, values = model(), []
    for _ in range(2):
        values.append(float(loss(expected, X)))
        expected = update(expected, gradient(loss, AutoAutograd(), expected, Constant(X)), 0.1)
    np.testing.assert_allclose([training(X) for _ in range(2)], values, rtol=1e-7)
    np.testing.assert_allclose(training.model.w, expected.w, rtol=1e-6)
    assert type(training.model.b) is float
    assert training.model.name == "line"


MAKERS = {
    "number": lambda m: 0.1,
    "optax.adam": lambda m: from_optax(optax.adam(0.1)),
    "optax.adamw": lambda m: from_optax(optax.adamw(0.1, weight_decay=0.5)),
    "optax.clip": lambda m: from_optax(optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(0.1))),
    "torch.AdamW": lambda m: from_torch_optim(torch.optim.AdamW, m, lr=0.1, weight_decay=0.5),
}


@each_backend
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_no_optimiser_moves_the_constants_of_a_model(make, backend):
    factor, held = np.array([3.0, 4.0]), {"shift": np.array([0.5, -0.5]), "scale": 2.0}

    def with_constants(m, x):
        return _frozen(m["w"], x, m["factor"], m["held"]) + m["level"]

    def without(m, x, factor, held):
        return _frozen(m["w"], x, factor, held) + 0.25

    start = {
        "w": np.array([1.0, 2.0]),
        "factor": Constant(factor),
        "held": Constant(held),
        "level": Constant(0.25),
    }
    alone = {"w": np.array([1.0, 2.0])}
    trainings, losses = [], []
    for f, m, data in ((with_constants, start, (X,)), (without, alone, (X, factor, held))):
        for compiled in (None, False):
            optimiser = make(m)
            training = Training(
                f, backend, optimiser, None if hasattr(optimiser, "model") else m, compiled=compiled
            )
            trainings.append(training)
            losses.append([training(*data) for _ in range(3)])
    np.testing.assert_allclose(losses, [losses[-1]] * 4, rtol=1e-6)
    for training in trainings:
        np.testing.assert_allclose(training.model["w"], trainings[-1].model["w"], rtol=1e-6)
    for training in trainings[:2]:
        assert training.model["factor"].value is factor
        assert type(training.model["held"]) is Constant
        assert training.model["held"].value["scale"] == 2.0
        assert training.model["held"].value["shift"] is held["shift"]


def _frozen(w, x, factor, held):
    return (((x @ (w * factor)) * held["scale"] + held["shift"].sum()) ** 2).mean()


@each_backend
@pytest.mark.parametrize("array", [np.ones, jnp.ones], ids=["numpy", "jax"])
@pytest.mark.parametrize("cls", [dict, Tied], ids=["dict", "dataclass"])
def test_a_compiled_step_keeps_one_array_one_parameter_and_all_types(cls, array, backend):
    """Tied weights move once, dicts keep their order, Python numbers stay such."""

    def objective(m):
        get = m.__getitem__ if cls is dict else lambda name: getattr(m, name)
        return ((get("w") - 1) ** 2).sum() + ((get("a") - 3) ** 2).sum() + (get("n") - 2) ** 2

    found = []
    for compiled in (None, False):
        shared = array(2, dtype="float32")
        start = cls(w=shared, a=shared, n=0.5)
        training = Training(
            objective, backend, from_optax(optax.adam(0.1)), start, compiled=compiled
        )
        values = [float(training()) for _ in range(4)]
        moved = training.model if cls is dict else vars(training.model)
        assert [*moved] == ["w", "a", "n"]
        assert moved["w"] is moved["a"]
        assert (type(moved["n"]), type(moved["w"]), moved["w"].dtype) == (
            float,
            type(shared),
            "float32",
        )
        # another object, tied as well
        training.model = training.model if cls is dict else cls(**moved)
        values.append(float(training()))
        other = cls(w=array(2, dtype="float32"), a=array(2, dtype="float32"), n=0.5)
        free = Training(objective, backend, from_optax(optax.adam(0.1)), other, compiled=compiled)
        free()
        free.model = other  # which is not tied, and takes another program
        moved = (free(), free.model)[1]
        moved = moved if cls is dict else vars(moved)
        assert not np.array_equal(moved["w"], moved["a"])
        found.append((values, [*moved.values()]))
    for ours, apart in zip(*found):
        np.testing.assert_allclose(
            np.hstack(ours), np.hstack(apart), rtol=2e-4 if backend == BACKENDS["finite"] else 1e-5
        )


# Solvers
# ------------------------------------------------------------------------------------------------


def test_a_gradient_that_vanishes_is_no_cause_for_a_warning_and_noise_is():
    def smooth(m):  # 600 leaves a gradient of 1e-9 few digits
        return 600.0 + (m["a"] - 1.0) ** 2 + 3.0 * (m["b"] + 2.0) ** 4

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = minimize(
            smooth, AutoFiniteDifferences(), {"a": 0.0, "b": 0.0}, options={"gtol": 1e-8}
        )
    assert found.x["a"] == pytest.approx(1.0, abs=1e-7)
    noise = iter(np.random.default_rng(0).normal(size=100_000))
    with pytest.warns(PrecisionWarning, match="^value_and_gradient: ") as caught:
        minimize(
            lambda m: smooth(m) + 1e-3 * next(noise), AutoFiniteDifferences(), {"a": 0.0, "b": 0.0}
        )
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "method",
    ["Newton-CG", "trust-exact", "trust-ncg", "L-BFGS-B", "SLSQP", "Nelder-Mead", "COBYQA"],
)
def test_every_kind_of_method_gets_what_it_takes(method):
    results = []
    minimize(
        bowl,
        AutoTorch(),
        BOWL,
        method=method,
        callback=None if method == "COBYQA" else lambda m: results.append(m),
    )
    result = minimize(bowl, AutoTorch(), BOWL, method=method)
    np.testing.assert_allclose(result.vector, [1.0, -2.0, 1.0], atol=2e-3)


def test_hessian_products_and_matrices():
    result = minimize(
        bowl, AutoTorch(), BOWL, method="trust-constr", hessian="matrix", options={"maxiter": 30}
    )
    np.testing.assert_allclose(result.vector, [1.0, -2.0, 1.0], atol=1e-4)
    with pytest.raises(ValueError, match="hessian must be 'matrix', 'product' or None"):
        minimize(bowl, AutoTorch(), BOWL, hessian="dense")


def test_bounds_and_constraints_are_trees():
    bounded = minimize(
        bowl,
        AutoTorch(),
        BOWL,
        bounds=({"a": None, "b": 0.0, "tag": None}, {"a": 0.5, "b": None, "tag": None}),
    )
    np.testing.assert_allclose(bounded.vector, [0.5, 0.0, 0.5], atol=1e-5)
    pairs = minimize(bowl, AutoTorch(), BOWL, bounds=[(None, 0.5), (0, None), (0, None)])
    np.testing.assert_allclose(pairs.vector, bounded.vector, atol=1e-5)
    on_line = minimize(
        bowl,
        AutoTorch(),
        BOWL,
        constraints={"type": "eq", "fun": lambda m: {"r": m["b"][0] - m["a"]}},
    )
    assert on_line.x["b"][0] == pytest.approx(on_line.x["a"], abs=1e-6)
    limit = scipy.optimize.NonlinearConstraint(lambda m: m["b"][1], 2.0, np.inf)
    above = minimize(bowl, AutoTorch(), BOWL, constraints=limit, method="SLSQP")
    assert above.x["b"][1] == pytest.approx(2.0, abs=1e-6)


@attrs.define
class Attrs:
    rate: float


INTEGERS = [
    ({"a": 0, "b": 0.0}, "['a'] is the integer 0,", "Write 0.0, or Constant(0) to keep it."),
    ((np.int64(2), 0.0), "[0] is the integer 2,", "Write 2.0, or Constant(2)"),
    ({"w": torch.tensor([0, 1])}, "['w'] is an array of integers,", ""),
    (Attrs(1), ".rate is the integer 1,", ""),
    ({"deep": [2.0, {"c": (1.0, 3)}]}, "['deep'][1]['c'][1] is the integer 3,", ""),
    (np.array([0, 1]), " is an array of integers,", ""),
]


def _never(*args):
    pytest.fail("f was called")


@pytest.mark.parametrize(
    ("start", "seen", "remedy"), INTEGERS, ids=[seen for _, seen, _ in INTEGERS]
)
@pytest.mark.parametrize(
    "fit",
    [
        lambda start: minimize(_never, AutoJax(), start),
        lambda start: least_squares(_never, AutoTorch(), start),
        lambda start: find_root(_never, AutoAutograd(), start),
        lambda start: curve_fit(_never, AutoFiniteDifferences(), X, X, start),
        lambda start: flat(_never, AutoJax(), start),
        lambda start: flat(_never, AutoJax(), 1.0).at(start),
        lambda start: solve_ivp(_never, AutoTorch(), (0, 1), start),
        lambda start: Training(_never, AutoJax(), 0.1, start),
        lambda start: from_optax(optax.sgd(0.1)).init(start),
        lambda start: from_torch_optim(torch.optim.SGD, start, lr=0.1),
    ],
)
def test_an_integer_in_a_start_is_refused_by_name(fit, start, seen, remedy):
    with pytest.raises(NotDifferentiableError) as caught:
        fit(start)
    assert f"{seen} which has no gradient and would stay as it is." in str(caught.value)
    assert remedy in str(caught.value)


@pytest.mark.parametrize(
    "start",
    [
        {"a": 0.1, "b": 3.0},
        [0.1, 3.0],
        (0.1, 3.0),
        np.array([0.1, 3.0]),
        {"w": np.array([0.1, 3.0])},
    ],
)
def test_bounds_in_the_form_of_scipy(start):
    def away(m):
        (w,) = [np.array(tree.leaves(m)).reshape(-1)]
        return w - np.array([1.5, 1.5])

    differences = AutoFiniteDifferences()
    minimum = lambda bounds: (
        minimize(lambda m: (away(m) ** 2).sum(), differences, start, bounds=bounds).vector
    )
    pairs = (
        [(0, 1), (2, 5)],
        ((0, 1), [2, None]),
        (([0, 1]), (2, 5)),
        scipy.optimize.Bounds([0, 2], [1, 5]),
    )
    for bounds in pairs:
        np.testing.assert_allclose(minimum(bounds), [1.0, 2.0], atol=1e-6)
    for bounds in (([0, 2], [1, 5]), ((0, 2), np.array([1, 5])), (0, [1, 5])):
        least = least_squares(away, differences, start, bounds=bounds)
        np.testing.assert_allclose(least.vector, [1.0, 2.0 if bounds[0] else 1.5], atol=1e-4)
    both = ((0, 1), (2, 5)) if type(start) is tuple else ([0, 1], [2, 5])
    if type(start) in (list, tuple):  # two trees like the start, or two pairs
        with pytest.raises(
            TypeError,
            match=r"may be two pairs \(lowest, highest\).*Pass a list of pairs, \[[\[\(]0, 1",
        ):
            minimum(both)
    else:
        np.testing.assert_allclose(minimum(both), [1.0, 2.0], atol=1e-6)


def test_callback_with_the_whole_result_and_stopping():
    points: list[Any] = []

    def follow(intermediate_result):
        points.append(intermediate_result.x)
        raise StopIteration

    result = minimize(bowl, AutoTorch(), BOWL, callback=follow)
    assert set(points[0]) == {"a", "b", "tag"}
    assert not result.success


def test_complex_float32_and_shared_leaves():
    def objective(m):
        xp = array_namespace(m["x"])
        assert str(m["x"].dtype).endswith("float32")
        return xp.sum((m["x"] - m["y"] - 1) ** 2) + abs(m["z"] - (1 + 2j)) ** 2

    x = np.zeros(2, dtype=np.float32)
    result = minimize(objective, AutoTorch(), {"x": x, "y": np.ones(2, dtype=np.float32), "z": 0j})
    assert result.x["x"].dtype == np.float32
    assert result.x["z"] == pytest.approx(1 + 2j, abs=1e-3)
    shared = np.zeros(2)
    problem = flat(
        lambda m: ((m["a"] - 1) ** 2).sum() + ((m["b"] - 3) ** 2).sum(),
        AutoTorch(),
        {"a": shared, "b": shared},
    )
    np.testing.assert_allclose(problem.jac(problem.x0), [-8.0, -8.0])
    np.testing.assert_allclose(problem.hess(problem.x0), 4 * np.eye(2))
    np.testing.assert_allclose(problem.hessp(problem.x0, np.ones(2)), [4.0, 4.0])
    np.testing.assert_allclose(minimize(problem).vector, 2.0, atol=1e-6)


@each_backend
def test_least_squares_root_and_curve_fit(backend):
    def residuals(m):
        return {"u": 10 * (m["x"][1] - m["x"][0] ** 2), "v": 1 - m["x"][0], "w": m["c"] - 3}

    start = {"x": np.array([-1.2, 1.0]), "c": 0.0}
    fitted = least_squares(residuals, backend, start)
    np.testing.assert_allclose(fitted.vector, [1.0, 1.0, 3.0], atol=1e-6)
    assert fitted.jac.shape == (3, 3)
    bounded = least_squares(
        residuals,
        backend,
        start,
        bounds=(None, {"x": None, "c": 2.0}),
        x_scale={"x": 1.0, "c": 2.0},
    )
    assert bounded.x["c"] == pytest.approx(2.0, abs=1e-4)
    assert find_root(residuals, backend, start).x["c"] == pytest.approx(3.0)
    x = np.linspace(0, 1, 8)
    best, covariance = curve_fit(
        lambda m, x: m["x"][0] * x + m["c"] * x**2,
        backend,
        x,
        2 * x - x**2,
        {"c": 0.0, "x": np.ones(1)},
    )
    np.testing.assert_allclose([best["c"], best["x"][0]], [-1.0, 2.0], atol=1e-6)
    assert covariance.shape == (2, 2)


def test_value_and_gradient_come_from_one_call():
    calls = 0

    def counted(m):
        nonlocal calls
        calls += 1
        return bowl(m)

    result = minimize(counted, AutoTorch(), BOWL)
    assert calls == result.nfev
    calls = 0
    problem = flat(counted, AutoTorch(), BOWL)
    problem.jac(problem.x0)
    assert problem.fun(problem.x0) == bowl(BOWL)
    assert calls == problem.evaluations == 1
    first = minimize(problem)
    again = minimize(problem.at({"a": 5.0, "b": np.zeros(2), "tag": "x"}))
    np.testing.assert_allclose(again.vector, first.vector, atol=1e-5)
    by_user = scipy.optimize.minimize(problem.fun, problem.x0, jac=problem.jac)
    np.testing.assert_allclose(by_user.x, first.vector, atol=1e-8)


# Shapes and structures
# --------------------------------------------------------------------------------------------------

LIBRARIES = {"numpy": np.asarray, "jax": jnp.asarray, "torch": torch.as_tensor}
STEPPED = {
    "update": lambda model, gradient: update(model, gradient, 0.1),
    "optax.step": lambda model, gradient: sgd(model).step(gradient, sgd(model).init(model), model),
    "optax.update": (
        lambda model, gradient: sgd(model).update(gradient, sgd(model).init(model), model)
    ),
    "torch_optim": (
        lambda model, gradient: from_torch_optim(torch.optim.SGD, model, lr=0.1).step(gradient)
    ),
    "torch_optim, shared": (
        lambda model, gradient: from_torch_optim(torch.optim.SGD, model, share_memory=True).step(
            gradient
        )
    ),
    "flat": lambda model, gradient: flat(bowl, AutoFiniteDifferences(), model).ravel(gradient),
}


def sgd(model, jit=True):
    return from_optax(optax.sgd(0.1), jit=jit)


@pytest.mark.parametrize(("own", "other"), [((3, 1), (3,)), ((), (3,))], ids=str)
@pytest.mark.parametrize("array", LIBRARIES.values(), ids=LIBRARIES)
@pytest.mark.parametrize("name", STEPPED)
def test_a_gradient_of_another_shape_is_an_error_that_names_the_path(name, array, own, other):
    model = {"layer": [array(np.ones(own, "float32"))]}
    slope = {"layer": [array(np.ones(other, "float32"))]}
    message = (
        f"the gradient['layer'][0] has shape {other}, but the model has shape {own} there. Nothing"
        " is broadcast: pass"
    )
    for given in (slope, (slope, None)):
        with pytest.raises(TreeError) as caught:
            STEPPED[name](model, given)
        assert str(caught.value).startswith(message)


MISFITS = [
    ({"w": np.ones(2) * 1j, "b": 1.0}, "['w'] is complex, but the model has real numbers there..."),
    (
        {"w": np.ones(2), "b": np.ones(1)},
        "['b'] has shape (1,), but the model has shape () there...",
    ),
    ({"w": np.ones(2), "c": 1.0}, " has the keys 'w', 'c', but the model has 'w', 'b' there..."),
]


@pytest.mark.parametrize("name", STEPPED)
@pytest.mark.parametrize(("slope", "words"), MISFITS, ids=["complex", "shape", "keys"])
def test_a_gradient_that_is_complex_or_of_another_structure_is_an_error(slope, words, name):
    model = {"w": np.ones(2), "b": 1.0}
    assert_told(lambda: STEPPED[name](model, slope), TreeError, f"the gradient{words}")


@pytest.mark.parametrize("array", LIBRARIES.values(), ids=LIBRARIES)
def test_the_gradient_may_be_of_another_library(array):
    model = {"w": array(np.ones(2, "float32"))}
    for other in LIBRARIES.values():
        moved = update(model, {"w": other(np.float64([1.0, 2.0]))}, 0.5)
        assert (type(moved["w"]), moved["w"].dtype) == (type(model["w"]), model["w"].dtype)
        np.testing.assert_array_equal(np.asarray(moved["w"]), [0.5, 0.0])


@pytest.mark.parametrize("jit", [True, False])
def test_the_state_of_another_model_is_an_error(jit):
    optimiser, model = from_optax(optax.adam(0.1), jit=jit), {"w": np.ones((3, 1))}
    state = optimiser.init({"w": np.ones(3)})
    message = (
        r"^optax: the transformation returned shape \(3, 3\) for the parameter \['w'\] of shape"
        r" \(3, 1\)\. Pass the"
    )
    for call in (optimiser.step, optimiser.update):
        with pytest.raises(TreeError, match=message):
            call(model, state, model)


@each_backend
@pytest.mark.parametrize("method", ["RK45", "Radau"])
def test_a_differential_equation_takes_numbers_by_their_keys(backend, method):
    """Position and velocity would change places if the order decided."""
    start = {"x": 1.0, "v": 0.0}
    solution = solve_ivp(
        lambda t, y: {"v": -y["x"], "x": y["v"]},
        backend,
        (0.0, 1.0),
        start,
        method=method,
        rtol=1e-6,
    )
    assert solution.y["x"][-1] == pytest.approx(np.cos(1.0), abs=1e-4)
    listed = solve_ivp(
        lambda t, y: [y[1], -y[0]],
        backend,
        (0.0, 1.0),
        np.array([1.0, 0.0]),
        method=method,
        rtol=1e-6,
    )
    np.testing.assert_allclose(listed.y[0], solution.y["x"], rtol=1e-6)


@pytest.mark.parametrize("method", ["Newton-CG", "trust-constr"])
@each_backend
def test_methods_of_second_order_leave_alone_what_is_not_solved_for(backend, method):
    start = {
        "a": np.array([1.0, 5.0]), "b": 2.0, "n": Constant(3), "name": "x", "flag": True,
        "none": None, "fixed": Constant(np.array([4.0, 4.0])),
        "sizes": Sizes([1, 2], np.array([1, 2])),
    }  # fmt: skip
    f = lambda m: ((m["a"] - m["n"]) ** 2).sum() + (m["b"] - 4.0) ** 2 + 0.0 * m["fixed"][0]
    found = minimize(f, backend, start, method=method).x
    np.testing.assert_allclose(found["a"], [3.0, 3.0], atol=1e-4)
    np.testing.assert_allclose(found["b"], 4.0, atol=1e-4)
    assert (found["n"].value, found["name"], found["flag"], found["none"]) == (3, "x", True, None)
    assert (found["sizes"].widths, found["sizes"].order.tolist()) == ([1, 2], [1, 2])


# What is refused
# ------------------------------------------------------------------------------------------------


def newton():
    return from_torch_optim(torch.optim.LBFGS, BOWL, line_search_fn="strong_wolfe")


LINE, SIX = model(), np.arange(6.0)
COLUMN = {"w": np.ones((3, 1))}
SHIFTED = (None, {"a": 1.0, "b": np.ones(3), "tag": None})
PROBLEM = flat(bowl, AutoTorch(), BOWL)
MOVING = {"x": 1.0, "v": 0.0}
_ORDER = "curve_fit takes a function f(model, x), ...: curve_fit(f, backend, x, y, start). In SciPy's order x..."
#: A call that is refused: the class of the error, and its words.
WRONG = {
    "optax itself": (lambda: from_optax(optax.adam), TypeError,
     "...must have the methods init and update, not <function adam...Pass what Optax makes, such as..."),
    "no gradient of a parameter": (lambda: from_optax(optax.sgd(0.1)).step(Model(None, 1.0), (), LINE), TreeError,
     "The gradient has None for the model's parameter .w, ...wrap it in Constant..."),
    "gradients of all arguments": (lambda: update(LINE, (LINE, X), 0.1), TreeError,
     "The gradient is a tuple of 2 entries...Wrap the other arguments of f in Constant..."),
    "another class": (lambda: update(LINE, {}, 0.1), TreeError, "the gradient is a dict, but the model has a Model there..."),
    "shape of a step": (lambda: update(COLUMN, COLUMN, np.ones(3)), TreeError,
     "update: the step must be a number or a 0-d array, but has shape (3,)...."),
    "complex step": (lambda: update(COLUMN, COLUMN, 1j), TreeError, "update: the step is complex, but the leaf ['w'] is real...."),
    "no closure": (lambda: newton().step(), TypeError, "...takes the gradient, or closure=..."),
    "an optimiser that is made": (lambda: from_torch_optim(torch.optim.SGD([torch.ones(1)]), LINE), TypeError,
     "...must be a class such as torch.optim.Adam, not SGD..."),
    "name of an optimiser": (lambda: Training(loss, AutoTorch(), "adam", LINE), TypeError,
     "...optimiser must be one of this package's, such as from_optax(...)..."),
    "no model": (lambda: Training(loss, AutoTorch(), 0.1), TypeError, "...the model is missing..."),
    "two models": (lambda: Training(loss, AutoTorch(), from_torch_optim(torch.optim.SGD, LINE), LINE), TypeError,
     "...holds the model already..."),
    "compiled torch": (lambda: Training(loss, AutoTorch(), 0.1, LINE, compiled=True), TypeError, "...cannot compile a step..."),
    "loss of an array": (lambda: Training(lambda m, x: x @ m.w, AutoJax(), from_optax(optax.sgd(0.1)), LINE)(X), OutputError,
     "...value_and_gradient..."),
    "jac of minimize": (lambda: minimize(bowl, AutoTorch(), BOWL, jac=lambda x: x), TypeError,
     "minimize: leave jac= out. The backend gives the derivatives...flat(f, backend, start)..."),
    "args of least_squares": (lambda: least_squares(bowl, AutoTorch(), BOWL, args=(1,)), TypeError,
     "least_squares: leave args= out. Further arguments of f follow the start..."),
    "p0 of curve_fit": (lambda: curve_fit(bowl, AutoTorch(), 1.0, 1.0, BOWL, p0=[1.0]), TypeError,
     "curve_fit: leave p0= out. The start follows the data..."),
    "jac of solve_ivp": (lambda: solve_ivp(bowl, AutoTorch(), (0, 1), BOWL, jac=1), TypeError, "solve_ivp: leave jac= out..."),
    "f alone": (lambda: minimize(bowl), TypeError, "minimize takes f, a backend and a start..."),
    "a problem with a backend": (lambda: minimize(PROBLEM, AutoTorch(), BOWL), TypeError, "...minimize(problem.at(start))..."),
    "no numbers": (lambda: minimize(bowl, AutoTorch(), {"n": "one"}), NotDifferentiableError, "...nothing to solve for..."),
    "order of solve_ivp": (lambda: solve_ivp(bowl, (0, 1), BOWL, AutoTorch()), BackendError,
     "The argument `backend` must be a backend, not (0, 1)...."),
    "complex root": (lambda: find_root(lambda m: m["z"], AutoTorch(), {"z": 1j}), NotDifferentiableError,
     "find_root: the start['z'] is complex..."),
    "length of a vector": (lambda: PROBLEM.unravel([1.0, 2.0]), ValueError, "...the vector has shape (2,), but the start has 3 numbers..."),
    "shape of a bound": (lambda: minimize(bowl, AutoTorch(), BOWL, bounds=SHIFTED), TreeError,
     "...the upper bound['b'] has shape (3,), but the model has shape (2,) there..."),
    "slope of another class": (lambda: solve_ivp(lambda t, y: y["x"], AutoTorch(), (0, 1), MOVING), TreeError,
     "what f returned is a float, but y has a dict there..."),
    "slope with None": (lambda: solve_ivp(lambda t, y: {"x": None, "v": y["x"]}, AutoTorch(), (0, 1), MOVING), TreeError,
     "what f returned has None, or a Constant, where y has numbers..."),
    "length of a slope": (lambda: solve_ivp(lambda t, y: [y[0]], AutoTorch(), (0, 1), np.ones(2)), OutputError,
     "...f returned 1 numbers, but y has 2..."),
    "shape of a slope": (lambda: solve_ivp(lambda t, y: y.T, AutoAutograd(), (0.0, 1.0), np.ones((2, 3))), TreeError,
     "what f returned has shape (3, 2), but y has shape (2, 3) there...."),
    "shape of a curve": (
     lambda: curve_fit(lambda m, x: (m["k"] * x).reshape(2, 3), AutoAutograd(), SIX, SIX.reshape(3, 2), {"k": 1.5}), TreeError,
     "what f returned has shape (2, 3), but the data has shape (3, 2) there...."),
    "shape of sigma": (
     lambda: curve_fit(lambda m, x: {"a": m["k"] * x}, AutoAutograd(), SIX, {"a": SIX}, {"k": 1.5}, sigma={"a": np.ones(1)}),
     TreeError, "sigma['a'] has shape (1,), but the data has shape (6,) there...."),
    **{
        f"order of curve_fit, {n}": (lambda args=args: curve_fit(lambda m, x: m["a"] * x, *args), TypeError, _ORDER)
        for n, args in enumerate(((SIX, SIX, {"a": 1.0}), (SIX, SIX, {"a": 1.0}, AutoJax()), (SIX, SIX)))
    },
    "curve of SciPy": (lambda: curve_fit(lambda x, a, b: a * x + b, AutoJax(), SIX, SIX, {"a": 1.0}), TypeError, _ORDER),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_is_told(name):
    call, cls, words = WRONG[name]
    assert_told(call, cls, words)


def test_a_solver_names_the_extra_where_scipy_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    words = "minimize needs SciPy...pip install 'adinterface[scipy]'"
    assert_told(lambda: minimize(bowl, AutoTorch(), BOWL), MissingEngineError, words)
