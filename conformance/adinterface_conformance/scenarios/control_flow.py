"""Python's own loops and branches; `value-dependent` where a compiler cannot follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adinterface import (
    Constant,
    array_namespace,
    derivative,
    gradient,
    hvp,
    jacobian,
    second_derivative,
    value_and_gradient,
)

from .building import Operator, scalar, scenario, signed, some

_DEPENDS = {"control-flow", "value-dependent"}


def branch(x: Any) -> Any:
    return x**2 if x > 0 else -3 * x


def branch_of_a_sum(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum(x**3) if xp.sum(x) > 0 else xp.sum(x)


def until_it_is_large(x: Any) -> Any:
    while x < 100:
        x = x * x
    return x


def newton_root(a: Any) -> Any:
    """The square root by Newton's method, until it settles."""
    x, before = a, a + 1
    while abs(x - before) > 1e-12:
        x, before = 0.5 * (x + a / x), x
    return x


def babylonian_root(a: Any) -> Any:
    x = a
    for _ in range(8):
        x = 0.5 * (x + a / x)
    return x


def horner(coefficients: Any, x: Any) -> Any:
    total = 0.0
    for n in range(coefficients.shape[0]):
        total = total * x + coefficients[n]
    return total


def power(x: Any, n: Any) -> Any:
    """By squaring, with a recursion on a static integer."""
    if n == 0:
        return 1.0
    return power(x * x, n // 2) * (x if n % 2 else 1.0)


def chain(x: Any) -> Any:
    xp = array_namespace(x)
    for f in (xp.sin, xp.exp, xp.tanh):
        x = f(x)
    return x


def by_its_rank(x: Any) -> Any:
    """A branch on the shape, which every engine knows."""
    xp = array_namespace(x)
    return xp.sum(x) if x.ndim == 1 else xp.sum(x**2)


def by_mode(x: Any, mode: Any) -> Any:
    xp = array_namespace(x)
    return {"sum": xp.sum, "mean": xp.mean}[mode](x**2)


def first_large(x: Any) -> Any:
    for n in range(x.shape[0]):
        if x[n] > 0.5:
            return x[n] ** 2
    return 0 * x[0]


def in_place(x: Any) -> Any:
    """A list of results, filled by a loop, joined at the end."""
    kept = [x[0]]
    for n in range(1, x.shape[0]):
        kept.append(kept[-1] * x[n])
    return array_namespace(x).stack(kept)


def _sine_chain(x: float) -> float:
    inner = np.exp(np.sin(x))
    return float((1 - np.tanh(inner) ** 2) * inner * np.cos(x))


_X, _C = some(3), signed(4, seed=1)
_MIXED = np.array([0.2, 0.7, 0.9])
_RUNNING = np.cumprod(_X)
_HORNER = np.array([1.3**3, 1.3**2, 1.3, 1])
_POLYNOMIAL = np.poly1d(_C)
_HORNER_VALUE = scalar(_POLYNOMIAL(1.3))
_HORNER_SLOPES = (_HORNER, float(_POLYNOMIAL.deriv()(1.3)))

_ROWS: list[tuple[str, Operator, Callable[..., Any], tuple[Any, ...], Any, set[str]]] = [
    ("branch-above", derivative, branch, (1.5,), 3.0, _DEPENDS),
    ("branch-below", derivative, branch, (-1.5,), -3.0, _DEPENDS),
    ("branch-above-by-second-derivative", second_derivative, branch, (1.5,), 2.0, _DEPENDS),
    ("branch-of-a-sum", gradient, branch_of_a_sum, (_X,), (3 * _X**2,), _DEPENDS),
    ("branch-of-a-sum-below", gradient, branch_of_a_sum, (-_X,), (np.ones(3),), _DEPENDS),
    ("branch-of-a-sum-by-hvp", hvp, branch_of_a_sum, (_X, _X), 6 * _X**2, _DEPENDS),
    ("until-it-is-large", value_and_gradient, until_it_is_large, (2.0,), (256.0, (8 * 2.0**7,)),
        _DEPENDS),
    ("newton-root", derivative, newton_root, (2.0,), 0.5 * 2**-0.5, _DEPENDS),
    ("first-large", gradient, first_large, (_MIXED,), (np.array([0, 1.4, 0]),), _DEPENDS),
    ("babylonian-root", derivative, babylonian_root, (2.0,), 0.5 * 2**-0.5, {"control-flow"}),
    ("babylonian-root-by-second-derivative", second_derivative, babylonian_root, (2.0,),
        -0.25 * 2**-1.5, {"control-flow"}),
    ("horner", gradient, horner, (_C, 1.3), _HORNER_SLOPES, {"control-flow"}),
    ("horner-and-value", value_and_gradient, horner, (_C, 1.3), (_HORNER_VALUE, _HORNER_SLOPES),
        {"control-flow"}),
    ("power-by-squaring", derivative, power, (1.2, Constant(7)), 7 * 1.2**6, {"control-flow"}),
    ("power-by-squaring-by-second-derivative", second_derivative, power, (1.2, Constant(7)),
        42 * 1.2**5, {"control-flow"}),
    ("chain", derivative, chain, (0.7,), _sine_chain(0.7), {"control-flow"}),
    ("by-rank-of-a-vector", gradient, by_its_rank, (_X,), (np.ones(3),), {"control-flow"}),
    ("by-rank-of-a-matrix", gradient, by_its_rank, (_X[None],), (2 * _X[None],), {"control-flow"}),
    ("by-a-string-constant", gradient, by_mode, (_X, Constant("mean")), (2 * _X / 3, None),
        {"control-flow"}),
    ("by-a-string", gradient, by_mode, (_X, "sum"), (2 * _X, None), {"control-flow"}),
    ("list-of-running-products", jacobian, in_place, (_X,), (np.tril(np.outer(_RUNNING, 1 / _X)),),
        {"control-flow"}),
]  # fmt: skip

SCENARIOS = [
    scenario(f"control-flow/{name}", operator, f, args, expected, tags=tags)
    for name, operator, f, args, expected, tags in _ROWS
]
