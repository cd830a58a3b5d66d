"""`ignore_derivatives` and `non_differentiable`: constants on every engine."""

import numpy as np
import pytest
from backends_table import assert_told, assert_tree, each_backend, rtol_of

from adinterface import (
    AutoFiniteDifferences,
    AutoJax,
    AutoTorch,
    Constant,
    RuleError,
    array_namespace,
    gradient,
)
from adinterface.rules import ignore_derivatives, non_differentiable

X = np.array([0.3, 1.2])


def test_differences_inside_differences_hold_what_each_point_ignores():
    backend = AutoFiniteDifferences()

    def slope(t):
        """The inner derivative is t^2 + 2 t.

        Of it t^2 is held inside alone: the outer one is that of 2 t + t^2.
        """
        (inner,) = gradient(lambda s: s * ignore_derivatives(s * s) + s**2, backend, t)
        return inner

    exact = gradient(lambda t: ignore_derivatives(t * t) + 2 * t, AutoJax(), 0.7)[0]
    assert gradient(slope, backend, 0.7)[0] == pytest.approx(exact, abs=1e-5)
    ignored_outside = gradient(lambda t: slope(t) * ignore_derivatives(t), backend, 0.7)[0]
    assert ignored_outside == pytest.approx(2 * 0.7, abs=1e-5)


@each_backend
def test_trees_functions_and_numbers_that_are_ignored(backend):
    def loss(p, x):
        fixed = ignore_derivatives({"a": p["a"], "n": (x, "name", 3)})
        assert fixed["n"][1:] == ("name", 3)
        return array_namespace(p["a"]).sum(fixed["a"] * p["a"]) * fixed["n"][0] * x

    found = gradient(loss, backend, {"a": X}, 2.0)
    assert_tree(found, ({"a": 4 * X}, float(2 * X @ X)), 100 * rtol_of(backend))


@each_backend
def test_a_non_differentiable_function(backend):
    @non_differentiable
    def scale(x, *, by):
        """Two of them."""
        return by * x

    assert scale.__doc__ == "Two of them."
    assert gradient(lambda x: scale(x, by=2.0) * x, backend, 3.0)[0] == pytest.approx(6.0, rel=1e-7)


def test_what_is_ignored_on_some_paths_only_is_an_error():
    def f(x):
        return (ignore_derivatives(x) if x > 3.0 else x) * x

    words = (
        "...ignore_derivatives: f calls it another number of times near the point than at the..."
    )
    assert_told(lambda: gradient(f, AutoFiniteDifferences(), 3.0), RuleError, words)


def test_a_number_that_is_ignored_has_a_gradient_of_zero():
    assert gradient(lambda x, y: ignore_derivatives(x) * y, AutoTorch(), 2.0, 3.0) == (0.0, 2.0)
    assert ignore_derivatives(Constant(3.0)) == 3.0
