"""Single precision: results keep it, and are as accurate as it allows."""

from __future__ import annotations

from typing import Any

import numpy as np
from adinterface_conformance.scenarios.building import (
    array_to_array,
    array_to_number,
    scenario,
    some,
)

from adinterface import (
    Constant,
    array_namespace,
    derivative,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    pullback,
    pushforward,
    value_and_gradient,
    value_and_jacobian,
)


def cubes(x: Any) -> Any:
    return array_namespace(x).sum(x**3)


def waves(x: Any) -> Any:
    return array_namespace(x).sin(2 * x)


def weighted(weights: Any, factor: Any) -> Any:
    return array_namespace(weights).sum(weights * weights) * factor


_X = some(3).astype("float32")
_SUM = np.sum(_X * _X)

SCENARIOS = [
    *array_to_number("precision/cubes", cubes, _X, value=np.sum(_X**3), slope=3 * _X**2,
        curve=np.diag(6 * _X), operators=(gradient, value_and_gradient, hvp, gradient_and_hvp,
        hessian), tags={"float32"}, rtol=1e-5),
    *array_to_array("precision/waves", waves, _X, value=np.sin(2 * _X),
        slope=np.diag(2 * np.cos(2 * _X)), operators=(jacobian, value_and_jacobian, pullback,
        pushforward, linearize), tags={"float32"}, rtol=1e-5),
    scenario("precision/number-beside-an-array", value_and_gradient, weighted, (_X, 1.5),
        (np.asarray(1.5 * _SUM, dtype="float32"), (3 * _X, float(_SUM))), tags={"float32"},
        rtol=1e-5),
    scenario("precision/constant-beside-an-array", gradient, weighted,
        (_X, Constant(np.asarray(1.5, dtype="float32"))), (3 * _X, None), tags={"float32"},
        rtol=1e-5),
    scenario("precision/zero-d-array", derivative, waves, (np.asarray(0.7, dtype="float32"),),
        np.asarray(2 * np.cos(1.4), dtype="float32"), tags={"float32"}, rtol=1e-5),
    scenario("precision/tree", gradient, lambda t: weighted(t["w"], t["f"]),
        ({"w": _X, "f": np.asarray(0.5, dtype="float32")},), ({"w": _X, "f": np.asarray(_SUM)},),
        tags={"float32", "tree"}, rtol=1e-5),
]  # fmt: skip
