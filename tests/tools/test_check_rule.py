"""`check_rule` passes what is right, and finds each kind of mistake."""

import numpy as np
import pytest
import scipy.special
from backends_table import each_engine

from adinterface import (
    AutoAutograd,
    AutoTorch,
    array_namespace,
    rule,
)
from adinterface.rules import differentiate_with, ignore_derivatives, scalar_rule
from adinterface.tools import check_rule

X, Y = np.array([0.3, 1.2]), np.array([2.0, 0.5])


def product(x, y):
    return array_namespace(x).sin(x) * y


def product_back(c, value, x, y):
    return c * y * array_namespace(x).cos(x), c * array_namespace(x).sin(x)


def product_push(t, value, x, y):
    return t[0] * y * array_namespace(x).cos(x) + t[1] * array_namespace(x).sin(x)


def ruled(back=product_back, push=None, f=product):
    made = rule(f)
    if back is not None:
        made.pullback(back)
    if push is not None:
        made.pushforward(push)
    return made


@each_engine
@pytest.mark.parametrize(
    "f", [ruled(), ruled(None, product_push), ruled(product_back, product_push)], ids=repr
)
def test_a_right_rule_passes_on_every_engine(f, backend):
    found = check_rule(f, X, Y, backend=backend)
    assert found.ok, str(found)
    found.raise_if_failed()
    assert str(found) == f"check_rule(product) on {backend!r}: right"


def test_trees_constants_complex_numbers_and_crossings_pass():
    @rule
    def f(p, n, x=1.0, *, scale=2.0):
        return {"y": p["a"] * x * n * scale, "n": n}

    @f.pullback
    def _(c, value, p, n, x, *, scale):
        xp = array_namespace(p["a"])
        return {"a": c["y"] * x * n * scale}, None, xp.sum(c["y"] * p["a"]) * n * scale

    assert check_rule(f, {"a": X, "b": "name"}, 3, 2.0, backend=AutoTorch())
    square = scalar_rule(lambda z: z * z, lambda value, z: 2 * z)
    assert check_rule(square, X + 1j * Y, backend=AutoAutograd())
    assert check_rule(square, 3.0, backend=AutoTorch())
    erf = scalar_rule(
        scipy.special.erf, lambda value, x: array_namespace(x).exp(-x * x) * (2 / np.pi**0.5)
    )
    assert check_rule(erf, X, backend=AutoTorch())
    assert check_rule(differentiate_with(product, AutoAutograd()), X, Y, backend=AutoTorch())


WRONG = {
    "a factor": (
        ruled(lambda c, v, x, y: (2 * product_back(c, v, x, y)[0], product_back(c, v, x, y)[1])),
        r"pullback, x: along a random direction it gives .*, differences ",
    ),
    "None where the value depends": (
        ruled(lambda c, v, x, y: (product_back(c, v, x, y)[0], None)),
        r"pullback, y: its cotangent is zero, or None, but the value depends on it\.",
    ),
    "too few": (ruled(lambda c, v, x, y: (c,)), r"pullback: product: its pullback returned 1 cotangent for 2 arguments\."),
    "a wrong shape": (
        ruled(lambda c, v, x, y: (c[0], c)), r"pullback: product: its pullback gave an array of shape \(\) for x, which has",
    ),
    "a wrong tangent": (
        ruled(product_back, lambda t, v, x, y: 3 * product_push(t, v, x, y)),
        r"pushforward, value: along a random direction it gives .*, differences ",
    ),
    "not linear": (
        ruled(lambda c, v, x, y: (c * abs(c) * y, c)), r"linear: the pullback is not linear in the cotangent\.",
    ),
    "a tangent that is not linear": (
        ruled(product_back, lambda t, v, x, y: product_push(t, v, x, y) + 1), r"linear: the pushforward is not linear in the",
    ),
    "a pullback that counts": (
        ruled(lambda c, v, x, y, seen=[]: (seen.append(1) or c * len(seen), c)),
        r"again: the pullback gives something else when it is called a second time\.",
    ),
    "double precision from single": (
        ruled(lambda c, v, x, y: (c * y * array_namespace(x).cos(x), _wide(c * array_namespace(x).sin(x)))),
        r"float32: product: its pullback gave an array of dtype float64 for y, which has dtype float32\.",
    ),
    "a second derivative that is cut off": (
        ruled(lambda c, v, x, y: product_back(c, v, ignore_derivatives(x), y)),
        r"second order, x: along a random direction the derivative of its derivative's code gives .*, differences ",
    ),
}  # fmt: skip


def _wide(x):
    return x * array_namespace(x).ones(x.shape, dtype=array_namespace(x).float64)


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG.keys())
def test_each_mistake_is_found(case):
    f, message = case
    found = check_rule(f, X, Y, backend=AutoTorch())
    assert not found
    with pytest.raises(AssertionError, match=message):
        found.raise_if_failed()


def test_a_rule_that_writes_into_its_argument_is_found():
    @rule
    def f(x):
        return x * 2.0

    @f.pullback
    def _(c, value, x):
        x += 1.0
        return 2.0 * c

    assert "the rule wrote into its own argument" in str(
        check_rule(f, X.copy(), backend=AutoAutograd())
    )


def test_a_second_derivative_that_fails_is_told():
    @rule
    def f(x):
        return x * x

    @f.pullback
    def _(c, value, x):
        return c * 2 * float(x)

    assert "second order: " in str(check_rule(f, np.array(3.0), backend=AutoAutograd()))
