"""Loops and branches mean what they do in `jax.lax`, on every engine, over trees."""

import functools
import tracemalloc
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from backends_table import (
    assert_numbers,
    assert_told,
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
    BackendError,
    Constant,
    Each,
    OutputError,
    TreeError,
    array_namespace,
    batched,
    derivative,
    gradient,
    hessian,
    numpy_function,
    prepare,
    value_and_gradient,
)
from adinterface.loops import cond, fori_loop, scan, switch, while_loop
from adinterface.rules.loops.home import known

#: Arrays of each library, to run a loop outside any operator.
MAKERS = {
    "numpy": np.asarray,
    "jax": lambda x, **how: jnp.asarray(x, **how),
    "torch": lambda x, **how: torch.asarray(np.asarray(x, **how)),
}
each_library = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
THETA = np.array([0.7, 0.4])
XS = np.linspace(0.1, 0.9, 7)


def recurrence(theta, **how):
    """A nonlinear recurrence that closes over what is differentiated."""
    xp = array_namespace(theta)

    def step(c, x):
        c = xp.sin(c * theta[0] + x * theta[1])
        return c, c * theta[1]

    c, ys = scan(step, 1.0, xp.asarray(XS) * theta[0], **how)
    return xp.sum(ys**2) + c


def recurrence_by_hand(theta, *, reverse=False, **ignored):
    xp = array_namespace(theta)
    c, total = 1.0, 0.0
    for n in range(len(XS))[:: -1 if reverse else 1]:
        c = xp.sin(c * theta[0] + theta[0] * float(XS[n]) * theta[1])
        total = total + (c * theta[1]) ** 2
    return total + c


# Every operator
# ------------------------------------------------------------------------------------------------


@functools.cache
def _expected(operator, reverse):
    return operator(functools.partial(recurrence_by_hand, reverse=reverse), AutoAutograd(), THETA)


def assert_numbers_of_tree(found, expected, rtol):
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            assert_numbers_of_tree(one, other, rtol)
    else:
        assert_numbers(found, expected, rtol)


@pytest.mark.parametrize(
    "backend",
    [AutoJax(mode="forward"), AutoTorch(mode="forward"), AutoAutograd(mode="forward")],
    ids=str,
)
def test_forward_mode_goes_through_a_checkpointed_scan(backend):
    f = functools.partial(recurrence, checkpoint=True)
    assert_numbers(gradient(f, backend, THETA)[0], _expected(gradient, False)[0], 1e-9)
    assert_numbers(hessian(f, backend, THETA), _expected(hessian, False), 1e-9)


# Trees
# ------------------------------------------------------------------------------------------------


@dataclass
class State:
    h: Any
    count: Any = 0
    note: str = "kept"
    nothing: None = None


@each_backend
def test_carries_slices_and_results_are_trees(backend):
    def f(p):
        xp = array_namespace(p["a"])

        def step(state, slices):
            x, (weight, label) = slices["x"], slices["both"]
            assert label == "label"
            assert state.note == "kept"
            h = xp.tanh(p["a"] * state.h + x * weight)
            # In another order than it came: a dict is a dict.
            return State(h, state.count + 1), {"sum": xp.sum(h), "none": None}

        xs = {"x": xp.asarray(np.reshape(XS[:6], (3, 2))), "both": (p["w"], "label")}
        last, ys = scan(step, State(p["b"]), xs)
        assert ys["none"] is None
        assert (last.note, last.nothing) == ("kept", None)
        return xp.sum(last.h) + xp.sum(ys["sum"]) * last.count

    def by_hand(p):
        xp = array_namespace(p["a"])
        h, total = p["b"], 0.0
        for n in range(3):
            h = xp.tanh(p["a"] * h + XS[2 * n : 2 * n + 2] * p["w"][n])
            total = total + xp.sum(h)
        return xp.sum(h) + 3 * total

    p = {"a": np.array([0.3, 0.5]), "b": np.array([0.1, 0.2]), "w": np.array([1.0, 2.0, 3.0])}
    assert_tree(gradient(f, backend, p), gradient(by_hand, AutoAutograd(), p), rtol_of(backend))


@each_library
def test_a_number_takes_the_dtype_that_f_gives_back_for_it(make):
    calls = []

    def step(c, x):
        calls.append(1)
        return c + x, c

    last, ys = scan(step, 0, make(np.array([0.5, 1.0]), dtype="float32"))
    assert str(last.dtype).endswith("float32")
    assert float(last) == 1.5
    assert np.asarray(ys).tolist() == [0.0, 0.5]
    assert str(ys.dtype).endswith("float32")


@each_library
@pytest.mark.parametrize("reverse", [False, True])
def test_results_are_those_of_lax(make, reverse):
    def step(c, x):
        return c * 0.5 + x["a"], (c, x["b"] * 2)

    xs = {"a": np.arange(5.0, dtype="float32"), "b": np.arange(10).reshape(5, 2).astype("int32")}
    expected = jax.lax.scan(step, np.float32(1.0), xs, reverse=reverse)
    for checkpoint in (None, 2, 5, 9, True):
        found = scan(
            step,
            make(1.0, dtype="float32"),
            {k: make(x) for k, x in xs.items()},
            reverse=reverse,
            checkpoint=checkpoint,
        )
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            assert np.asarray(one).dtype == other.dtype
            np.testing.assert_allclose(np.asarray(one), other, rtol=1e-6)


@each_library
@pytest.mark.parametrize("checkpoint", [None, 2])
def test_a_loop_of_no_steps_gives_what_it_starts_with(make, checkpoint):
    last, ys = scan(
        lambda c, x: (c + x.sum(), x * 2),
        make(1.0, dtype="float32"),
        make(np.ones((0, 3)), dtype="float32"),
        checkpoint=checkpoint,
    )
    assert float(last) == 1.0
    assert tuple(ys.shape) == (0, 3)
    assert str(ys.dtype).endswith("float32")
    assert float(fori_loop(3, 3, lambda i, c: c + 1, make(1.0))) == 1.0
    assert float(fori_loop(5, 3, lambda i, c: c + 1, make(1.0))) == 1.0
    assert float(while_loop(lambda c: c < 0, lambda c: c + 1, make(1.0))) == 1.0


@each_library
def test_switch_takes_the_nearest_branch(make):
    branches = [lambda x: x, lambda x: 2 * x, lambda x: 3 * x]
    assert [float(switch(make(n), branches, make(5.0))) for n in (-3, 0, 1, 2, 7)] == [
        5.0,
        5.0,
        10.0,
        15.0,
        15.0,
    ]


# Where the arrays come from
# --------------------------------------------------------------------------------------------------


@each_engine
def test_what_f_closes_over_makes_the_loop_the_engines(backend):
    def f(theta):
        xp = array_namespace(theta)
        # Neither init nor xs holds an array of the engine's.
        return scan(lambda c, x: (xp.tanh(c * theta[0] + x), None), np.zeros(()), XS)[0]

    def through_a_helper(theta):
        scaled = lambda c: c * theta[0]
        xp = array_namespace(theta)
        return scan(lambda c, x: (xp.tanh(scaled(c) + x), None), 0.0, XS)[0]

    expected = gradient(f, AutoFiniteDifferences(), THETA)
    assert_tree(gradient(f, backend, THETA), expected, 1e-6)
    assert_tree(gradient(through_a_helper, backend, THETA), expected, 1e-6)
    assert_tree(prepare(gradient, f, backend, THETA)(THETA), expected, 1e-6)


HELD = {}


@each_engine
def test_what_f_reaches_otherwise_makes_the_loop_the_engines_after_one_step(backend):
    def f(theta):
        HELD["theta"] = theta
        last, ys = scan(lambda c, x: (c * 0.5 + HELD["theta"][0], c), 0.0, np.ones(4))
        return last + array_namespace(theta).sum(ys)

    try:
        assert_tree(gradient(f, backend, THETA), gradient(f, AutoFiniteDifferences(), THETA), 1e-6)
    finally:
        HELD.clear()


def test_jax_traces_a_step_once_however_many_there_are():
    calls = []

    def f(x):
        def step(c, _):
            calls.append(1)
            return c * x, None

        return scan(step, 1.0, length=500)[0]

    prepare(derivative, f, AutoJax(), 1.0)(1.0)
    assert len(calls) <= 2


@each_backend
def test_numpy_code_may_loop(backend):
    if backend == AutoJax():
        backend = AutoJax(mode="forward")

    @numpy_function
    def f(theta):
        def step(c, x):
            assert np.ndim(x) == 0
            c = np.sin(c * theta[0] + x * theta[1])
            return c, {"a": np.multiply(c, theta[1])}

        c, ys = scan(step, 1.0, np.asarray(XS) * theta[0], checkpoint=3)
        plain, _ = scan(lambda c, x: (np.sin(c * theta[0] + x), None), np.zeros(2), XS)
        grown = while_loop(lambda c: c < 10.0, lambda c: c * np.exp(theta[0]), np.sum(theta))
        chosen = cond(theta[0] > 0, lambda v: np.sum(v**2), np.sum, theta)
        summed = fori_loop(0, 3, lambda i, c: c + theta[i % 2], 0.0)
        return np.sum(ys["a"] ** 2) + c + np.sum(plain) + grown + chosen + summed

    assert_tree(gradient(f, backend, THETA), gradient(f, AutoFiniteDifferences(), THETA), 1e-6)


# Inside an engine's own transformations
# --------------------------------------------------------------------------------------


def test_inside_jaxs_transformations(monkeypatch):
    # Once code compiled with 64 bits has captured an array of NumPy's, JAX 0.10.2 takes that very
    # array for 64 bits ever after.
    monkeypatch.setitem(globals(), "XS", XS.copy())
    f = functools.partial(recurrence, checkpoint=2)
    theta = jnp.asarray(THETA, dtype="float32")
    expected = np.asarray(gradient(recurrence_by_hand, AutoAutograd(), THETA)[0], dtype="float32")
    assert_numbers(jax.jit(jax.grad(f))(theta), expected, 1e-5)
    assert_numbers(jax.vmap(jax.grad(f))(jnp.stack([theta, theta]))[1], expected, 1e-5)
    assert_numbers(jax.jacfwd(f)(theta), expected, 1e-5)
    with jax.checking_leaks():
        jax.jit(f)(theta)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_inside_torchs_transformations():
    f = functools.partial(recurrence, checkpoint=2)
    theta = torch.asarray(THETA)
    expected = gradient(recurrence_by_hand, AutoAutograd(), THETA)[0]
    assert_numbers(torch.func.grad(f)(theta), expected, 1e-9)
    assert_numbers(
        torch.func.vmap(torch.func.grad(f))(torch.stack([theta, theta]))[1], expected, 1e-9
    )
    assert_numbers(torch.func.jacfwd(f)(theta), expected, 1e-9)


@pytest.mark.parametrize("traced", ["lower", "upper"])
def test_bounds_that_jax_traces_make_a_while_loop(traced):
    def f(x, lower, upper):
        return fori_loop(lower, upper, lambda i, c: c * x + i * 1.0, {"c": 1.0, "n": x}["c"])

    bounds = (jnp.asarray(1), 4) if traced == "lower" else (1, jnp.asarray(4))
    jitted = jax.jit(f) if traced == "lower" else jax.jit(f, static_argnums=1)
    if traced == "lower":
        jitted = jax.jit(f, static_argnums=2)
    assert float(jitted(2.0, *bounds)) == 8.0 + 4.0 + 4.0 + 3.0


WHILE = {
    "while_loop": lambda x: while_loop(lambda c: c < 100, lambda c: c * x, x),
    "fori_loop": lambda x: fori_loop(0, jnp.asarray(x, dtype="int32") + 2, lambda i, c: c * x, x),
}


@pytest.mark.parametrize("f", WHILE.values(), ids=WHILE.keys())
def test_jax_refuses_to_go_back_through_a_loop_of_unknown_length(f):
    with pytest.raises(
        BackendError, match=r"^JAX cannot go back through a while_loop, or .* Use scan"
    ) as caught:
        prepare(gradient, f, AutoJax(), 2.0)(2.0)
    assert 'AutoJax(mode="forward")' in str(caught.value)
    if f is WHILE["while_loop"]:
        with pytest.raises(BackendError, match=r"^JAX cannot go back through a while_loop"):
            gradient(f, AutoJax(), 2.0)
    else:  # bounds that are known by then
        assert_tree(gradient(f, AutoJax(), 2.0), (80.0,))


# Writes in place
# ------------------------------------------------------------------------------------------------


def doubled_in_place(c, x):
    c *= x
    return c, (c[0], c)


def doubled(c, x):
    c = c * x
    return c, (c[0], c)


def items_in_place(c, x):
    c[0] = 2 * c[1] + x[0]
    return c, (c[0], c)


def items(c, x):
    c = np.stack([2 * c[1] + x[0], c[1]])
    return c, (c[0], c)


IN_PLACE = {
    "in place": (doubled_in_place, doubled, False),
    "NumPy code": (items_in_place, items, True),
}
FIVE = [AutoTorch(), AutoTorch(mode="forward"), AutoAutograd(), AutoFiniteDifferences(), AutoJax()]


@pytest.mark.parametrize("backend", FIVE, ids=str)
@pytest.mark.parametrize("how", [{}, {"checkpoint": 2}, {"reverse": True}], ids=str)
@pytest.mark.parametrize(("in_place", "pure", "of_numpy"), IN_PLACE.values(), ids=IN_PLACE.keys())
def test_a_step_may_write_into_its_carry(in_place, pure, of_numpy, how, backend):
    """The start, which is used again, and what is stacked stay as they are."""

    def loss(step, x):
        start = x[0]
        last, (firsts, all_of_them) = scan(step, start, x, **how)
        total = (all_of_them * x).sum() + (firsts * firsts * x[:, 1]).sum()
        return (
            total
            + (last * start).sum()
            + (fori_loop(0, 2, lambda i, c: step(c, x[1])[0], start) * start).sum()
        )

    rows = np.array([[1.0, 2.0], [3.0, 4.0], [0.5, 1.0]])
    found, expected = (
        value_and_gradient(numpy_function(f) if of_numpy else f, backend, rows)
        for f in (functools.partial(loss, in_place), functools.partial(loss, pure))
    )
    assert_numbers(found.value, expected.value, 1e-12)
    assert_numbers(
        found.gradient[0],
        expected.gradient[0],
        1e-6 if backend == AutoFiniteDifferences() else 1e-12,
    )


# Checkpoints
# ------------------------------------------------------------------------------------------------


def test_torch_computes_again_with_the_same_random_numbers():
    def f(theta, checkpoint):
        def step(c, x):
            return c * theta[0], torch.dropout(c * theta.sum() * torch.ones(3), 0.5, True)

        return (scan(step, theta[1], torch.asarray(XS), checkpoint=checkpoint)[1] ** 2).sum()

    for operator in (gradient, hessian):
        found = []
        for checkpoint in (None, 3):
            torch.manual_seed(0)
            found.append(operator(f, AutoTorch(), THETA, checkpoint=checkpoint) if operator is gradient
                         else operator(functools.partial(f, checkpoint=checkpoint), AutoTorch(), THETA))  # fmt: skip
            state = torch.get_rng_state()
        assert_numbers_of_tree(found[1], found[0], 1e-12)
        assert state.shape


def test_torch_finds_what_a_step_closes_over_wherever_it_stands():
    layer = torch.nn.Linear(2, 2, dtype=torch.float64)

    def f(theta, checkpoint):
        doubled = theta * 2  # a tensor that is no leaf, next to the leaf it is made of

        def step(c, x):
            inner, _ = scan(
                lambda d, y: (torch.sin(d * y + c * theta[1]), None),
                c,
                x * torch.ones(4),
                checkpoint=checkpoint,
            )
            return layer(inner * doubled), torch.stack([doubled[0], theta[1]])

        last, ys = scan(
            step, torch.ones(2, dtype=torch.float64), torch.asarray(XS), checkpoint=checkpoint
        )
        unchanged, _ = scan(
            lambda c, x: (doubled, None),
            torch.ones(2, dtype=torch.float64),
            length=4,
            checkpoint=checkpoint,
        )
        return last.sum() + ys.sum() + (unchanged**2).sum()

    plain = gradient(f, AutoTorch(), THETA, checkpoint=None)
    assert_numbers_of_tree(gradient(f, AutoTorch(), THETA, checkpoint=3), plain, 1e-12)

    def trained(checkpoint):
        layer.zero_grad()
        f(torch.asarray(THETA), checkpoint).backward()
        return [p.grad.clone() for p in layer.parameters()]

    for one, other in zip(trained(3), trained(None)):
        assert_numbers(one, other, 1e-12)


def kept_by_torch(f, x):
    """How many numbers torch keeps for the backward pass."""
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda x: saved.append(x.numel()) or x, lambda x: x
    ):
        f(torch.asarray(x, requires_grad=True))
    return sum(saved)


def kept_by_jax(f, x):
    """The bytes that the compiled gradient needs beside what goes in and comes out."""
    return jax.jit(jax.grad(f)).lower(jnp.asarray(x)).compile().memory_analysis().temp_size_in_bytes


def kept_by_autograd(f, x):
    """The bytes that NumPy's arrays take at most while a gradient is taken."""
    tracemalloc.start()
    try:
        gradient(f, AutoAutograd(), x)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


KEPT = {
    "jax": kept_by_jax,
    "torch": kept_by_torch,
    "autograd": kept_by_autograd,
}


@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT.keys())
def test_what_is_kept_grows_as_the_square_root_of_the_steps(kept):
    x = np.linspace(0.1, 0.9, 500)

    def chain(x, length, checkpoint):
        xp = array_namespace(x)
        return xp.sum(
            scan(lambda c, _: (xp.sin(c * x), None), x, length=length, checkpoint=checkpoint)[0]
        )

    plain, few, many = (
        kept(functools.partial(chain, length=length, checkpoint=checkpoint), x)
        for length, checkpoint in ((900, None), (100, True), (900, True))
    )
    assert many < 4 * few  # nine times the steps
    assert many < plain / 4


# Errors
# ------------------------------------------------------------------------------------------------

CARRY = (
    "carry keeps its structure, shapes and dtypes: convert what f returns there, or start with what"
    " f returns."
)
WAS = r"carry\['a'\] is float32 of shape \(2,\) before a step, and "
CHANGES = {
    "dtype": (lambda c, x: ({"a": half(c["a"])}, None), WAS + r"float16 of shape \(2,\) after"),
    "shape": (lambda c, x: ({"a": c["a"][:1]}, None), WAS + r"float32 of shape \(1,\) after"),
    "keys": (lambda c, x: ({"b": c["a"]}, None), r"carry is a dict with \['a'\] before a step, and a dict with \['b'\] after"),
    "type": (lambda c, x: ([c["a"]], None), r"carry is a dict before a step, and a list after"),
    "none": (lambda c, x: ({"a": None}, None), WAS + "None after"),
    "number": (lambda c, x: ({"a": 1.0}, None), WAS + "a Python float after"),
}  # fmt: skip


def half(x):
    xp = array_namespace(x)
    return xp.astype(x, xp.float16)


@each_library
@pytest.mark.parametrize(("step", "message"), CHANGES.values(), ids=CHANGES.keys())
def test_a_carry_that_changes_is_refused_in_the_same_words_everywhere(step, message, make):
    init = {"a": make(np.ones(2), dtype="float32")}
    with pytest.raises(TreeError, match=f"^scan: f changes its carry: {message}") as caught:
        scan(step, init, length=3)
    assert str(caught.value).endswith(CARRY)
    with pytest.raises(TreeError, match=f"^fori_loop: f changes its carry: {message}"):
        fori_loop(0, 3, lambda i, c: step(c, i)[0], init)
    with pytest.raises(TreeError, match=f"^while_loop: f changes its carry: {message}"):
        while_loop(lambda c: (c["a"] > 0).all(), lambda c: step(c, None)[0], init)


def given(*results):
    """A step whose results these are, in turn."""
    results = iter(results)
    return lambda c, x: (c, next(results))


def longer(c, x):
    return (c[0], c[1] + "!"), None


_DIFFER = "scan: what f gives to be stacked differs from step to step: y is float64 of shape (2,) in the first step, and"
_CHECKPOINT = "...checkpoint is the number of steps after which the carry is kept..."
STEP, PAIR = (lambda c, x: (c, None)), np.ones(2)
#: A call with arrays of a library that is refused: the class of the error, and its words.
WRONG = {
    "static value": (lambda make: scan(longer, (make(1.0), "a"), length=2), TreeError,
     "...carry[1] is a str that is no array before a step, and another one after it..."),
    "static Constant": (lambda make: scan(longer, (make(1.0), Constant("a")), length=2), TreeError,
     "...carry[1] is a str that a Constant holds fixed before a step, and another one..."),
    **{
        f"later {name}": (lambda make, later=later: scan(given(PAIR, later), 0.0, length=2), TreeError, f"{_DIFFER} {words} in a later one...")
        for name, later, words in (
            ("shape", np.ones(3), "float64 of shape (3,)"), ("dtype", np.ones(2, "float32"), "float32 of shape (2,)"),
            ("list", [PAIR], "a list"), ("None", None, "None"),
        )
    },
    "two lengths": (lambda make: scan(STEP, 0.0, {"a": make(np.ones(3)), "b": make(np.ones(4))}), TreeError,
     "...differ in length along their first axis: xs['a'] has 3, xs['b'] has 4..."),
    "length": (lambda make: scan(STEP, 0.0, make(np.ones(3)), length=5), TreeError,
     "scan: length is 5, but xs has 3 slices. Leave length out, or slice xs...."),
    "no axis": (lambda make: scan(STEP, 0.0, make(1.0)), TreeError, "scan: xs is float... of shape (), which has no first axis to go along..."),
    "a number": (lambda make: scan(STEP, 0.0, (1.0, make(np.ones(3)))), TreeError,
     "scan: xs[0] is a Python float, which has no first axis ... Constant..."),
    "no length": (lambda make: scan(STEP, make(0.0)), TypeError,
     "scan: there is no array in xs, so the number of steps is not known. Pass length=..."),
    "a broken length": (lambda make: scan(STEP, make(0.0), length=3.0), TypeError, "scan: length must be an integer, not a Python float..."),
    "a negative length": (lambda make: scan(STEP, make(0.0), length=-1), ValueError, "scan: length must not be negative, and is -1..."),
    **{
        f"checkpoint {wrong}": (lambda make, wrong=wrong: scan(STEP, 0.0, length=3, checkpoint=wrong), ValueError, _CHECKPOINT)
        for wrong in (0, 1.5, "sqrt")
    },
    "no pair": (lambda make: scan(lambda c, x: c, make(PAIR), length=3), OutputError,
     "scan: f must return a pair, ... and returned float... of shape (2,)..."),
    "step": (lambda make: scan(1.0, 2.0, np.ones(3)), TypeError, "scan: the function of a step must be callable, not a Python float..."),
    "body": (lambda make: while_loop(lambda c: True, None, 1.0), TypeError, "while_loop: body must be callable, not None..."),
    "branch": (lambda make: cond(True, 1.0, 2.0), TypeError, "cond: a branch must be callable..."),
    "no branch": (lambda make: switch(0, []), ValueError, "switch: there is no branch..."),
    **{
        f"{name} {n}": (lambda make, call=call, wrong=wrong: call(wrong(make)), cls, words)
        for name, call, cls, words, wrongs in (
            ("condition", lambda wrong: while_loop(lambda c: wrong, lambda c: c, 1.0), OutputError,
             "while_loop: the condition must give one truth value, and gave...", "truths"),
            ("pred", lambda wrong: cond(wrong, lambda: 1.0, lambda: 2.0), TypeError, "cond: pred must be one truth value, not...", "truths"),
            ("index", lambda wrong: switch(wrong, [lambda: 1.0]), TypeError, "switch: index must be one integer, not...", "integers"),
            ("upper", lambda wrong: fori_loop(0, wrong, lambda i, c: c, 1.0), TypeError, "fori_loop: upper must be an integer, not...",
             "integers"),
        )
        for n, wrong in enumerate({
            "truths": (lambda make: make(PAIR) > 0, lambda make: make(1.0), lambda make: 1, lambda make: None),
            "integers": (lambda make: make(1.0), lambda make: 1.0, lambda make: True, lambda make: make(np.arange(2))),
        }[wrongs])
    },
    "two engines": (lambda make: scan(STEP, jnp.ones(2), torch.ones(3)), TypeError,
     "...A loop meets arrays of jax and of torch, which do not mix..."),
}  # fmt: skip


@each_library
@pytest.mark.parametrize("name", WRONG)
def test_what_is_refused_is_told(name, make):
    call, cls, words = WRONG[name]
    assert_told(lambda: call(make), cls, words)


def test_branches_that_differ_are_refused_where_jax_chooses():
    def f(other):
        return jax.jit(lambda x: cond(x[0] > 0, lambda x: {"a": x}, other, x))(
            jnp.ones(2, dtype="float32")
        )

    def of_index(n, x):
        return switch(n, [lambda x: x, half], x)

    differ = "...give different things: result"
    for call, words in (
        (lambda: f(lambda x: {"a": x[:1]}), f"cond: {differ}['a'] is float32 of shape (...,) from the one..."),
        (lambda: f(lambda x: x), f"cond: {differ} is ... from the one, and ..."),
        (lambda: jax.jit(of_index)(0, jnp.ones(2, dtype="float32")), f"switch: branch 0 and branch 1 {differ[3:]} is float32... and float16..."),
    ):  # fmt: skip
        assert_told(call, TreeError, words)
    assert (
        float(jax.jit(lambda x: cond(x > 0, lambda x: 0.0, lambda x: x, x))(jnp.float32(-2.0)))
        == -2.0
    )


@pytest.mark.parametrize("backend", [AutoTorch(), AutoTorch(mode="forward")], ids=str)
def test_a_number_of_each_entry_of_a_batch_decides_nothing_in_torch(backend):
    def f(x):
        return cond(x[0] > 0, lambda x: (x**2).sum(), lambda x: x.sum(), x)

    rows = np.array([[1.0, 2.0], [-1.0, 3.0]])
    words = (
        "...cond: torch does not know a number that cond decides by, as it compiles f or takes a"
        " batch at once. Make the call without prepare, or batched with chunk_size=1 in the"
        " backend..."
    )
    assert_told(lambda: batched(gradient, f, backend, Each(rows)), BackendError, words)
    assert_numbers(
        batched(gradient, f, replace(backend, chunk_size=1), Each(rows))[0],
        [[2.0, 4.0], [1.0, 1.0]],
    )


@each_engine
def test_an_array_of_another_engine_in_the_carry_is_refused(backend):
    other = torch.ones(()) if backend != AutoTorch() else jnp.ones(())
    changed = lambda x: scan(lambda c, _: (other, None), x, length=2)[0]
    words = "...f changes its carry: carry is float64 of shape ... and an array of ... after it..."
    assert_told(lambda: derivative(changed, backend, 1.0), TreeError, words)


def test_a_loop_that_the_compiler_cannot_decide_names_the_hook():
    """As of an engine that traces f while it compiles, and has no `Library.loops`."""

    def unknown(x):
        raise TypeError("a symbolic value has no truth")

    library = SimpleNamespace(
        name="compiling", traced=lambda x: True, value_under_trace=lambda x: None
    )
    message = (
        "while_loop: compiling does not know a number that while_loop decides by, as it compiles f"
        " or takes a batch at once. Make the call without prepare, or batched with chunk_size=1 in"
        " the backend; or let the backend of the engine compile loops and branches"
        " (`Library.loops`)."
    )
    assert_told(lambda: known("while_loop", library, object(), unknown), BackendError, message)
