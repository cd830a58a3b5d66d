"""`check_gradient`: right gradients pass, wrong ones are named, kinks are no failure."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backends_table import each_backend, each_engine

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    array_namespace,
    check_gradient,
    gradient,
    prepare,
    value_and_gradient,
)
from adinterface.tools import GradientCheck

RANDOM = np.random.default_rng(0)
MODEL = {"w": RANDOM.normal(size=(3, 3)), "b": RANDOM.normal(size=3), "s": 1.5, "name": "model"}


def loss(model, z):
    xp = array_namespace(model["w"])
    hidden = xp.tanh(model["w"] @ (model["w"] @ model["b"]))
    return xp.sum(hidden**2) * model["s"] + xp.real(z * xp.conj(z) * z)


def corrupted(change, forward=jnp.square):
    """A function whose reverse rule in JAX is changed: `change(right gradient)`."""
    f = jax.custom_vjp(forward)
    f.defvjp(lambda x: (forward(x), x), lambda x, g: (change(jax.vjp(forward, x)[1](g)[0]),))
    return f


@each_backend
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_right_gradient_passes_in_few_evaluations(backend, dtype):
    model = {**MODEL, "w": MODEL["w"].astype(dtype), "b": MODEL["b"].astype(dtype)}
    z = np.asarray(1 + 2j, "complex64" if dtype == "float32" else "complex128")
    check = check_gradient(loss, backend, model, z)
    assert check, check
    assert check.ok
    assert not check.findings
    assert [leaf.path for leaf in check.leaves] == [
        "args[0]['w']",
        "args[0]['b']",
        "args[0]['s']",
        "args[1]",
    ]
    if not isinstance(backend, AutoFiniteDifferences):
        assert check.evaluations <= 60


CORRUPTIONS = {
    "one number": lambda g: g.at[0].add(0.3),
    "shifted": lambda g: jnp.roll(g, 1),
    "reversed": lambda g: g[::-1],
    "not a number": lambda g: g * jnp.nan,
}


@pytest.mark.parametrize("corruption", CORRUPTIONS.values(), ids=CORRUPTIONS.keys())
def test_a_wrong_leaf_is_named(corruption):
    bad = corrupted(corruption)
    tree = {"good": np.array([1.0, 2.0, 3.0]), "bad": np.array([1.0, -2.0, 4.0])}
    check = check_gradient(
        lambda t: jnp.sin(t["good"]).sum() + bad(t["bad"]).sum(), AutoJax(), tree
    )
    assert not check
    assert [leaf.path for leaf in check.wrong] == ["args[0]['bad']"]


@each_backend
@pytest.mark.parametrize("operator", [gradient, value_and_gradient])
def test_a_prepared_call_is_checked_in_place_of_the_gradient(backend, operator):
    z, square = np.asarray(1 + 2j), Constant(np.array([1.0, 2.0]))

    def f(model, z, square, power=2):
        xp = array_namespace(square)
        return loss(model, z) * xp.sum(square**power)

    fast = prepare(operator, f, backend, MODEL, z, square, power=2)
    assert check_gradient(f, backend, MODEL, z, square, power=2, gradient=fast)
    other = prepare(
        operator,
        lambda *args, power: f(*args, power=power) + 0.1 * args[0]["s"],
        backend,
        MODEL,
        z,
        square,
        power=2,
    )
    check = check_gradient(f, backend, MODEL, z, square, power=2, gradient=other)
    assert [leaf.path for leaf in check.wrong] == ["args[0]['s']"]


def test_any_function_may_give_the_gradient():
    def f(x, y):
        return jnp.sum(x**3) * y

    x, y = np.array([1.0, 2.0]), 3.0
    assert check_gradient(f, AutoJax(), x, y, gradient=jax.grad(f, argnums=(0, 1)))
    assert (
        check_gradient(
            f, AutoJax(), x, y, gradient=lambda x, y: (2 * x**2 * y, np.sum(x**3))
        ).verdict
        == "wrong"
    )
    assert (
        check_gradient(f, AutoJax(), x, y, gradient=lambda x, y: (None, np.sum(x**3))).wrong[0].path
        == "args[0]"
    )


def test_the_report_says_what_is_wrong_with_both_numbers():
    bad = corrupted(lambda g: -g)
    check = check_gradient(lambda x, y: bad(x) + y * y, AutoJax(), 3.0, 1.0)
    assert (
        str(check).splitlines()[0]
        == "check_gradient(AutoJax()): FAILED, args[0] is wrong: slope -6 by the gradient, 6 by"
        " differences (tolerance 2e-09)"
    )
    assert repr(check) == str(check)
    good = check_gradient(lambda x: x * x, AutoFiniteDifferences(), 3.0)
    assert (
        str(good)
        == f"check_gradient({AutoFiniteDifferences()!r}): right, to 12 digits\n  1 numbers in 1"
        " leaves; 3 directions of all leaves, 0 of one leaf; 19 evaluations of f; seed 0"
    )


@each_engine
def test_a_kink_is_no_failure(backend):
    point = {"x": np.zeros(1), "y": np.ones(2)}
    check = check_gradient(lambda t: abs(t["x"]).sum() + (t["y"] ** 2).sum(), backend, point)
    assert check, check
    assert not check.wrong


def test_a_kink_is_reported():
    # JAX answers 1 in forward and reverse
    check = check_gradient(lambda x: jnp.abs(x), AutoJax(), 0.0)
    assert check
    (kink,) = check.kinks
    assert (kink.path, kink.behind, kink.ahead) == ("args[0]", pytest.approx(-1), pytest.approx(1))
    assert str(check).splitlines()[:2] == [
        "check_gradient(AutoJax()): right, but for kinks",
        "  args[0] is at a kink: slope -1 behind, 1 ahead, 1 by the gradient",
    ]


def test_a_wrong_gradient_at_a_kink_is_wrong():
    bad = corrupted(lambda g: 0 * g + 3, jnp.abs)
    check = check_gradient(lambda x: bad(x), AutoJax(), 0.0)
    assert not check
    assert "is wrong: slope 3 by the gradient, 0 by differences" in str(check)
    assert "f has a kink here, with slopes -1 behind and 1 ahead)" in str(check)


def test_what_cannot_be_told_is_undecided_and_no_success():
    draws = iter(range(100))
    check = check_gradient(
        lambda x: x * (1.0 + next(draws)), AutoFiniteDifferences(method="central"), 1.0
    )
    assert not check
    first = str(check).splitlines()[0]
    assert (
        "UNDECIDED, the value of f is undecided: f gives 3 and then 4 at the same point." in first
    )
    assert first.endswith(
        " Fix its random numbers (a seed or a key as an argument), or switch dropout off."
    )
    nowhere = check_gradient(lambda x: jnp.log(x), AutoJax(), -1.0)
    assert (
        "the value of f is undecided: f is nan at this point. Choose a point where it is finite."
        in str(nowhere)
    )
    border = check_gradient(lambda x: jnp.sqrt(x), AutoJax(), 0.0)
    assert "args[0] is undecided: f is not finite at the points around it." in str(border)


def test_options():
    assert len(check_gradient(lambda x: x * x, AutoJax(), 1.0, directions=5).whole) == 5
    assert isinstance(check_gradient(lambda x, *, c: c * x, AutoJax(), 1.0, c=2.0), GradientCheck)
    bad = corrupted(lambda g: 1.01 * g)
    assert not check_gradient(lambda x: bad(x).sum(), AutoJax(), np.ones(3))
    assert check_gradient(lambda x: bad(x).sum(), AutoJax(), np.ones(3), rtol=0.05)


# In a test
# ------------------------------------------------------------------------------------------------


def _halved(x):
    return (x * x.detach()).sum() if hasattr(x, "detach") else (x * x).sum()


def test_a_failed_check_raises_its_whole_report():
    check = check_gradient(_halved, AutoTorch(), np.array([1.0, 2.0]))
    with pytest.raises(AssertionError) as caught:
        check.raise_if_failed()
    assert str(caught.value) == str(check)
    assert "evaluations of f; seed 0" in str(caught.value)
    check_gradient(_halved, AutoFiniteDifferences(), np.array([1.0, 2.0])).raise_if_failed()
