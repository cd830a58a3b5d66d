"""`scan`, `fori_loop`, `while_loop`, `cond` and `switch`, held against sums and products in closed
form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adinterface import (
    array_namespace,
    derivative,
    gradient,
    hessian,
    hvp,
    jacobian,
    second_derivative,
    value_and_gradient,
)
from adinterface.loops import cond, fori_loop, scan, switch, while_loop

from .building import Operator, scalar, scenario, signed, some


def product(x: Any) -> Any:
    """Of all elements, one step each."""
    return scan(lambda c, element: (c * element, None), 1.0, x)[0]


def running_products(x: Any) -> Any:
    return scan(lambda c, element: (c * element, c * element), 1.0, x)[1]


def products_from_behind(x: Any) -> Any:
    return scan(lambda c, element: (c * element, c * element), 1.0, x, reverse=True)[1]


def recurrence(x: Any, checkpoint: int | None = None) -> Any:
    """A nonlinear one that closes over what is differentiated."""
    xp = array_namespace(x)
    last, squares = scan(
        lambda c, element: (xp.sin(c + element * x[0]), c**2), x[1], x, checkpoint=checkpoint
    )
    return last + xp.sum(squares)


def checkpointed(x: Any) -> Any:
    """The same, computed again in segments of two steps."""
    return recurrence(x, checkpoint=2)


def _recurrence_slopes(x: Any) -> Any:
    """By the chain rule, from step to step."""
    c, slopes = x[1], np.eye(5)[1]
    total = np.zeros(5)
    for element, own in zip(x, np.eye(5)):
        total += 2 * c * slopes
        slopes = np.cos(c + element * x[0]) * (slopes + own * x[0] + element * np.eye(5)[0])
        c = np.sin(c + element * x[0])
    return total + slopes


def horner(coefficients: Any, x: Any) -> Any:
    return fori_loop(
        0, coefficients.shape[0], lambda n, total: total * x + coefficients[n], 0.0 * x
    )


def compound(model: Any, rates: Any) -> Any:
    """The carry is a tree: the balance of an account, its interest, and its age in years."""

    def year(account: Any, rate: Any) -> tuple[Any, Any]:
        interest = account["held"] * rate
        return {
            "held": account["held"] + interest,
            "paid": account["paid"] + interest,
            "years": account["years"] + 1,
        }, interest

    last, interests = scan(year, {"held": model["start"], "paid": 0.0, "years": 0}, rates)
    return last["held"] + last["paid"] * last["years"] + array_namespace(rates).sum(interests)


def nested(x: Any) -> Any:
    """x^(2^3) by two loops, one in the other: three times the square, which is the product of
    two.
    """

    def square(c: Any) -> Any:
        return fori_loop(0, 2, lambda n, total: total * c, 0.0 * x + 1.0)

    return scan(lambda c, _: (square(c), None), x, length=3)[0]


def above_or_below(x: Any) -> Any:
    return cond(x > 0, lambda x: x**2, lambda x: -3 * x, x)


def one_of_three(x: Any) -> Any:
    return switch(1, [lambda x: x, lambda x: x**3, lambda x: x**5], x)


def until_it_is_large(x: Any) -> Any:
    return while_loop(lambda c: c < 100, lambda c: c * c, x)


def _compound_slopes(start: float, rates: Any) -> tuple[float, Any]:
    """With P = prod(1 + r): start (P + (P - 1) (n + 1))."""
    n, whole = len(rates), float(np.prod(1 + rates))
    return whole + (whole - 1) * (n + 1), start * (n + 2) * whole / (1 + rates)


_X, _RATES = some(5), 0.1 * some(4, seed=1)
_RUNNING = np.cumprod(_X)
_BEHIND = np.cumprod(_X[::-1])[::-1]
_C = signed(4, seed=2)
_POLYNOMIAL = np.poly1d(_C)
_HORNER = (
    scalar(_POLYNOMIAL(1.3)),
    (np.array([1.3**3, 1.3**2, 1.3, 1]), float(_POLYNOMIAL.deriv()(1.3))),
)
_SLOPES = _compound_slopes(2.0, _RATES)
_PRODUCT_HESSIAN = np.prod(_X) / np.outer(_X, _X) * (1 - np.eye(5))

_ROWS: list[tuple[str, Operator, Callable[..., Any], tuple[Any, ...], Any, set[str]]] = [
    ("product", gradient, product, (_X,), (np.prod(_X) / _X,), set()),
    ("product-and-value", value_and_gradient, product, (_X,),
        (scalar(float(np.prod(_X))), (np.prod(_X) / _X,)), set()),
    ("product-by-hessian", hessian, product, (_X,), _PRODUCT_HESSIAN, set()),
    ("product-by-hvp", hvp, product, (_X, _X), _PRODUCT_HESSIAN @ _X, set()),
    ("running-products", jacobian, running_products, (_X,), (np.tril(np.outer(_RUNNING, 1 / _X)),),
        set()),
    ("products-from-behind", jacobian, products_from_behind, (_X,),
        (np.triu(np.outer(_BEHIND, 1 / _X)),), set()),
    ("recurrence", gradient, recurrence, (_X,), (_recurrence_slopes(_X),), set()),
    ("checkpointed", gradient, checkpointed, (_X,), (_recurrence_slopes(_X),), set()),
    ("checkpointed-by-hvp", hvp, checkpointed, (_X, _X), None, set()),
    ("horner", value_and_gradient, horner, (_C, 1.3), _HORNER, set()),
    ("tree-in-the-carry", gradient, compound, ({"start": 2.0}, _RATES),
        ({"start": _SLOPES[0]}, _SLOPES[1]), {"tree"}),
    ("loop-in-a-loop", derivative, nested, (1.1,), 8 * 1.1**7, set()),
    ("loop-in-a-loop-by-second-derivative", second_derivative, nested, (1.1,), 56 * 1.1**6, set()),
    ("cond-above", derivative, above_or_below, (1.5,), 3.0, set()),
    ("cond-below", derivative, above_or_below, (-1.5,), -3.0, set()),
    ("switch", derivative, one_of_three, (1.5,), 3 * 1.5**2, set()),
    ("while-loop", derivative, until_it_is_large, (2.0,), 8 * 2.0**7, set()),
]  # fmt: skip

SCENARIOS = [
    scenario(f"loops/{name}", operator, f, args, expected, tags={"loop", *tags})
    for name, operator, f, args, expected, tags in _ROWS
]
