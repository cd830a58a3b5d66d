"""Makes scenarios from a function and its closed forms, one for each operator that applies.

`expected` is the whole result. For an operator that returns a function, it contains the result of
that function: `(value, back(seed))` for `pullback`, `(value, push(*tangents))` for `linearize`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from adinterface import (
    array_namespace,
    derivative,
    diagonal_hessian,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    pullback,
    pushforward,
    second_derivative,
    value_and_derivative,
    value_and_gradient,
    value_and_jacobian,
    value_derivative_and_second_derivative,
    value_gradient_and_hessian,
)
from adinterface.core.contract.registry import REGISTRY
from adinterface.tools.facts import gives_map

from ..scenario import Scenario

Array = np.ndarray[Any, Any]
Operator = Callable[..., Any]


def some(*shape: int, seed: int = 0) -> Array:
    """Positive numbers of moderate size: no kink, no pole, and logarithms and roots exist."""
    return np.asarray(np.random.default_rng(seed).uniform(0.3, 1.4, size=shape))


def signed(*shape: int, seed: int = 0) -> Array:
    return np.asarray(np.random.default_rng(seed).uniform(-1.0, 1.0, size=shape))


def complex_some(*shape: int, seed: int = 0) -> Array:
    return np.asarray(some(*shape, seed=seed) + 1j * some(*shape, seed=seed + 1))


def scalar(number: float) -> Array:
    """A number as the 0-d array that a value is when an argument is an array."""
    return np.asarray(number, dtype="float64")


def array(*numbers: Any) -> Array:
    return np.array(numbers, dtype="float64")


def beside(x: Any, array: Array) -> Any:
    """A NumPy array as an array of x's package, with the dtype and on the device of x."""
    device = getattr(x, "device", None)  # a tracer of JAX has none
    return array_namespace(x).asarray(
        array, dtype=x.dtype, **({} if device is None else {"device": device})
    )


def scenario(
    name: str,
    operator: Operator,
    f: Operator,
    args: tuple[Any, ...],
    expected: Any = None,
    *,
    tags: Iterable[str] = (),
    **rest: Any,
) -> Scenario:
    """A Scenario, tagged if second-order.

    A plain tuple may replace the named one of the operator.
    """
    row = REGISTRY.operators[operator]
    if row.result is not None and not gives_map(row) and type(expected) is tuple:
        expected = row.result._make(expected)
    order = {"second-order"} if row.order == 2 else set()
    return Scenario(name, operator, f, args, expected, tags=frozenset(tags) | order, **rest)


def named(stem: str, operator: Operator) -> str:
    return f"{stem}-by-{operator.__name__.replace('_', '-')}"


def array_to_number(
    stem: str,
    f: Operator,
    x: Any,
    *,
    value: Any,
    slope: Any,
    curve: Any = None,
    operators: tuple[Operator, ...],
    tags: Iterable[str] = (),
    rtol: float = 1e-9,
) -> list[Scenario]:
    """f of one real array, with its gradient and, for the second order, its Hessian of shape
    `x.shape + x.shape`.
    """
    v = signed(*x.shape, seed=9).astype(x.dtype)
    value, along = np.asarray(value), np.asarray(np.sum(slope * v))
    product = diagonal = None
    if curve is not None:
        product = np.asarray(np.tensordot(curve, v, x.ndim))
        diagonal = np.diagonal(np.reshape(curve, (x.size, x.size))).reshape(x.shape).copy()
    first: dict[Operator, dict[str, Any]] = {
        gradient: {"expected": (slope,)},
        value_and_gradient: {"expected": (value, (slope,))},
        jacobian: {"expected": (slope,)},
        value_and_jacobian: {"expected": (value, (slope,))},
        pullback: {"expected": (value, (2 * slope,)), "seed": np.asarray(2.0, dtype=x.dtype)},
        pushforward: {"expected": (value, along), "tangents": (v,)},
        linearize: {"expected": (value, along), "tangents": (v,)},
    }
    second: dict[Operator, dict[str, Any]] = {
        hvp: {"args": (x, v), "expected": product},
        gradient_and_hvp: {"args": (x, v), "expected": (slope, product)},
        hessian: {"expected": curve},
        value_gradient_and_hessian: {"expected": (value, slope, curve)},
        diagonal_hessian: {"expected": (diagonal,)},
    }
    known = first if curve is None else first | second
    rows = ((operator, {"args": (x,)} | known[operator]) for operator in operators)
    return [
        scenario(named(stem, operator), operator, f, **row, tags=tags, rtol=rtol)
        for operator, row in rows
    ]


def array_to_array(
    stem: str,
    f: Operator,
    x: Any,
    *,
    value: Any,
    slope: Any,
    operators: tuple[Operator, ...] = (value_and_jacobian, pullback, pushforward, linearize),
    tags: Iterable[str] = (),
    rtol: float = 1e-9,
) -> list[Scenario]:
    """f of one real array, with its Jacobian of shape `y.shape + x.shape`."""
    value, slope = np.asarray(value), np.asarray(slope)
    v, w = signed(*x.shape, seed=9).astype(x.dtype), signed(*value.shape, seed=8).astype(x.dtype)
    pushed = np.asarray(np.tensordot(slope, v, x.ndim))
    known: dict[Operator, dict[str, Any]] = {
        jacobian: {"expected": (slope,)},
        value_and_jacobian: {"expected": (value, (slope,))},
        pullback: {
            "expected": (value, (np.asarray(np.tensordot(w, slope, value.ndim)),)),
            "seed": w,
        },
        pushforward: {"expected": (value, pushed), "tangents": (v,)},
        linearize: {"expected": (value, pushed), "tangents": (v,)},
    }
    rows = ((operator, known[operator]) for operator in operators)
    return [
        scenario(named(stem, operator), operator, f, (x,), **row, tags=tags, rtol=rtol)
        for operator, row in rows
    ]


def of_a_number(
    stem: str,
    f: Operator,
    x: Any,
    *,
    value: Any,
    slope: Any,
    curve: Any,
    operators: tuple[Operator, ...] = (
        derivative,
        value_and_derivative,
        second_derivative,
        value_derivative_and_second_derivative,
    ),
    tags: Iterable[str] = (),
    rtol: float = 1e-9,
) -> list[Scenario]:
    """f of one number with any tree as its value; slope and curve are trees like it."""
    known: dict[Operator, Any] = {
        derivative: slope,
        value_and_derivative: (value, slope),
        second_derivative: curve,
        value_derivative_and_second_derivative: (value, slope, curve),
    }
    rows = ((operator, known[operator]) for operator in operators)
    return [
        scenario(named(stem, operator), operator, f, (x,), row, tags=tags, rtol=rtol)
        for operator, row in rows
    ]
