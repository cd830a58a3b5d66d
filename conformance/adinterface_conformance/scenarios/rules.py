"""Functions with user-defined derivatives, ignored values, and functions that another backend
differentiates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adinterface import (
    AutoFiniteDifferences,
    Constant,
    array_namespace,
    gradient,
    hessian,
    hvp,
    jacobian,
    pullback,
    pushforward,
    rule,
    second_derivative,
    value_and_gradient,
)
from adinterface.rules import (
    differentiate_with,
    gradient_hook,
    ignore_derivatives,
    linear_solve,
    root,
    scalar_rule,
)

from .building import Array, complex_some, scalar, scenario, signed, some


@rule
def layer(p: Any, x: Any, *, power: int = 1) -> Any:
    """Trees, a keyword, several values."""
    y = p["weight"] @ x + p["bias"]
    return {"y": y**power, "sum": array_namespace(y).sum(y)}


@layer.pullback
def _(cotangent: Any, value: Any, p: Any, x: Any, *, power: int) -> Any:
    xp = array_namespace(x, cotangent["y"])
    y = p["weight"] @ x + p["bias"]
    seed = power * y ** (power - 1) * cotangent["y"] + cotangent["sum"]
    return {"weight": xp.reshape(seed, (-1, 1)) * x, "bias": seed}, p["weight"].T @ seed


@rule
def sine(x: Any) -> Any:
    return array_namespace(x).sin(x)


@sine.pushforward
def _(tangents: Any, value: Any, x: Any) -> Any:
    return tangents[0] * array_namespace(x).cos(x)


quotient = scalar_rule(lambda x, y: x / y, lambda value, x, y: (1 / y, -value / y))
#: A function of NumPy's that no engine has.
host_sinc = scalar_rule(
    lambda x: np.sinc(x),
    lambda value, x: (array_namespace(x).cos(np.pi * x) - value) / x,
    host=True,
)


def layer_loss(p: Any, x: Any) -> Any:
    out = layer(p, x, power=2)
    return array_namespace(x).sum(out["y"]) + out["sum"] ** 2


def partly(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum(x * ignore_derivatives(xp.sin(x)) + x**2)


def newton(g: Any, x: Any) -> Any:
    for _ in range(60):
        step = 1e-7
        x = x - g(x) * step / (g(x + step) - g(x))
    return x


def cube_root(a: Any) -> Any:
    return root(lambda x, a: x**3 - a, 1.0, a, solver=newton)


def by_elimination(product: Any, b: Any) -> Any:
    return np.linalg.solve(
        np.stack([product(unit) for unit in np.eye(len(b), dtype=b.dtype)], axis=1), b
    )


def solved(a: Any, b: Any) -> Any:
    return linear_solve(lambda x, a: a @ x, b, a, solver=by_elimination)


def square_root(a: Any) -> Any:
    return root(lambda x, a: x * x - a, 1.0 + 0.5j, a, solver=newton)


crossed = differentiate_with(lambda x, y: np.sin(x) * np.sum(y**2), AutoFiniteDifferences())


def crossed_sum(x: Any, y: Any) -> Any:
    return array_namespace(x).sum(crossed(x, y) ** 2)


_X, _Y = some(3), some(3, seed=1)
_P = {"weight": signed(2, 3, seed=2), "bias": signed(2, seed=3)}
_ROUND = np.array([0.3, 1.7, -2.2])
_A, _B = signed(3, 3, seed=4) + 3 * np.eye(3), signed(3, seed=5)


def _layer_slopes() -> tuple[Any, Any]:
    y = _P["weight"] @ _X + _P["bias"]
    seed = 2 * y + 2 * np.sum(y)
    return {"weight": np.outer(seed, _X), "bias": seed}, _P["weight"].T @ seed


def _sinc_slope(x: Array) -> Array:
    return (np.cos(np.pi * x) - np.sinc(x)) / x


_S, _S2 = float(np.sum(_Y**2)), float(np.sum(_Y[:2] ** 2))
_SOLUTION = np.linalg.solve(_A, _B)
_N, _Z, _W = 1.5 - 0.5j, complex_some(3), complex_some(3, seed=6)
_C = _A + 1j * signed(3, 3, seed=7)
_COMPLEX, _ADJOINT = np.linalg.solve(_C, _Z), np.linalg.solve(np.conj(_C).T, _W)

SCENARIOS = [
    scenario("rules/layer", gradient, layer_loss, (_P, _X), _layer_slopes(), tags={"tree"}),
    scenario("rules/layer-in-single-precision", jacobian, lambda x: sine(x) * x, (_X.astype("float32"),),
             (np.diag(np.cos(_X) * _X + np.sin(_X)).astype("float32"),), tags={"float32"}, rtol=1e-4),
    scenario("rules/sine-by-hessian", hessian, lambda x: array_namespace(x).sum(sine(x)), (_X,), np.diag(-np.sin(_X))),
    scenario("rules/sine-by-pushforward", pushforward, sine, (_X,), (np.sin(_X), np.cos(_X) * _Y), tangents=(_Y,)),
    scenario("rules/sine-by-second-derivative", second_derivative, lambda t: sine(t) * t, (0.7,),
             float(2 * np.cos(0.7) - 0.7 * np.sin(0.7))),
    scenario("rules/quotient", value_and_gradient, quotient, (3.0, 4.0), (0.75, (0.25, -0.1875))),
    scenario("rules/quotient-that-broadcasts", pullback, quotient, (_X, 2.0), (_X / 2, (_Y / 2, float(-np.sum(_Y * _X) / 4))),
             seed=_Y),
    scenario("rules/host-code", gradient, lambda x: array_namespace(x).sum(host_sinc(x)), (_X,), (_sinc_slope(_X),)),
    scenario("rules/ignored-value", gradient, partly, (_X,), (np.sin(_X) + 2 * _X,),
             tags={"ignored"}),
    scenario("rules/ignored-value-by-hvp", hvp, partly, (_X, _Y), 2 * _Y, tags={"ignored"}),
    scenario("rules/ignored-argument", gradient, lambda x, w: ignore_derivatives(x) * w, (2.0, 3.0), (0.0, 2.0),
             tags={"ignored"}),
    scenario("rules/straight-through", gradient,
             lambda x: array_namespace(x).sum((x + ignore_derivatives(array_namespace(x).round(x) - x)) ** 2), (_ROUND,),
             (2 * np.round(_ROUND),), tags={"ignored"}),
    scenario("rules/hook-that-looks", gradient, lambda x: gradient_hook(x, lambda cotangent: None) ** 2, (3.0,), (6.0,)),
    scenario("rules/root", value_and_gradient, cube_root, (8.0,), (2.0, (1 / 12,)), rtol=1e-8),
    scenario("rules/linear-system", gradient, lambda a, b: array_namespace(b).sum(solved(a, b)), (_A, _B),
             (-np.outer(np.linalg.solve(_A.T, np.ones(3)), _SOLUTION), np.linalg.solve(_A.T, np.ones(3)))),
    scenario("rules/linear-system-of-a-constant", jacobian, lambda b, a: solved(a, b), (_B, Constant(_A)),
             (np.linalg.inv(_A), None)),
    scenario("complex/root", pullback, square_root, (_N,), (_N**0.5, (0.5 / _N.conjugate() ** 0.5,)), seed=1.0,
             tags={"complex"}, rtol=1e-8),
    scenario("complex/linear-system", pullback, solved, (_C, _Z),
             (_COMPLEX, (-np.outer(_ADJOINT, np.conj(_COMPLEX)), _ADJOINT)), seed=_W, tags={"complex"}),
    scenario("crossings/differences-inside", value_and_gradient, crossed_sum, (_X, _Y),
             (scalar(np.sum(np.sin(_X) ** 2) * _S**2),
              (2 * np.sin(_X) * np.cos(_X) * _S**2, 4 * np.sum(np.sin(_X) ** 2) * _S * _Y)), rtol=1e-6),
    # Two numbers: differences of differences of differences are taken.
    scenario("crossings/differences-inside-by-pushforward", pushforward, crossed, (_X[:2], _Y[:2]),
             (np.sin(_X[:2]) * _S2, np.cos(_X[:2]) * _S2 * _Y[:2] + np.sin(_X[:2]) * 2 * np.sum(_Y[:2] * _X[:2])),
             tangents=(_Y[:2], _X[:2]), rtol=1e-6),
]  # fmt: skip
