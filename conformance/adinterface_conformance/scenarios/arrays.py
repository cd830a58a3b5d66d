"""Functions of one array: to a number by every operator, and to an array for each pair of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from adinterface import (
    Constant,
    array_namespace,
    diagonal_hessian,
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
    value_gradient_and_hessian,
)

from ..scenario import Scenario
from .building import (
    Array,
    Operator,
    array_to_array,
    array_to_number,
    beside,
    scenario,
    signed,
    some,
)

# To a number, by every operator
# --------------------------------------------------------------------------------------


def powers(x: Any) -> Any:
    """The sum over i != j of x_i^4 x_j^6."""
    xp = array_namespace(x)
    x = xp.reshape(x, (-1,))
    others = beside(x, 1 - np.eye(x.shape[0]))
    return xp.sum((x[:, None] ** 4) * (x[None, :] ** 6) * others)


def _powers(x: Array) -> dict[str, Any]:
    """f = S4 S6 - S10, where Sp is the sum of the p-th powers."""
    flat = x.reshape(-1)
    s4, s6 = np.sum(flat**4), np.sum(flat**6)
    mixed = 24 * (np.outer(flat**3, flat**5) + np.outer(flat**5, flat**3))
    curve = mixed + np.diag(12 * flat**2 * s6 + 30 * flat**4 * s4 - 90 * flat**8)
    return {
        "value": s4 * s6 - np.sum(flat**10),
        "slope": 4 * x**3 * s6 + 6 * x**5 * s4 - 10 * x**9,
        "curve": curve.reshape(x.shape + x.shape),
    }


def rosenbrock(x: Any) -> Any:
    return array_namespace(x).sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def _rosenbrock(x: Array) -> dict[str, Any]:
    a, b = x[:-1], x[1:]
    slope, curve = np.zeros(x.size), np.zeros((x.size, x.size))
    slope[:-1] += -400 * a * (b - a**2) - 2 * (1 - a)
    slope[1:] += 200 * (b - a**2)
    i = np.arange(x.size - 1)
    curve[i, i] += 1200 * a**2 - 400 * b + 2
    curve[i + 1, i + 1] += 200
    curve[i, i + 1] = curve[i + 1, i] = -400 * a
    return {"value": np.sum(100 * (b - a**2) ** 2 + (1 - a) ** 2), "slope": slope, "curve": curve}


_Q = signed(4, 4, seed=4)


def quadratic_form(x: Any) -> Any:
    return x @ (beside(x, _Q) @ x)


def _quadratic_form(x: Array) -> dict[str, Any]:
    return {"value": x @ _Q @ x, "slope": (_Q + _Q.T) @ x, "curve": _Q + _Q.T}


def product_of_all(x: Any) -> Any:
    return array_namespace(x).prod(x)


def _product_of_all(x: Array) -> dict[str, Any]:
    p, inverse = np.prod(x), 1 / x
    return {
        "value": p,
        "slope": p * inverse,
        "curve": p * (np.outer(inverse, inverse) - np.diag(inverse**2)),
    }


_FIRST = (
    gradient,
    value_and_gradient,
    jacobian,
    value_and_jacobian,
    pullback,
    pushforward,
    linearize,
)
_SECOND = (hvp, gradient_and_hvp, hessian, value_gradient_and_hessian, diagonal_hessian)
_X4 = some(4)

_to_number = [
    *array_to_number("arrays/powers-of-a-vector", powers, _X4, **_powers(_X4),
        operators=_FIRST + _SECOND),
    *array_to_number("arrays/rosenbrock", rosenbrock, _X4, **_rosenbrock(_X4),
        operators=(value_and_gradient, hvp, hessian)),
    *array_to_number("arrays/quadratic-form", quadratic_form, _X4, **_quadratic_form(_X4),
        operators=(linearize, gradient_and_hvp, value_gradient_and_hessian)),
    *array_to_number("arrays/product-of-all", product_of_all, _X4, **_product_of_all(_X4),
        operators=(gradient, diagonal_hessian)),
]  # fmt: skip

# To an array, for each pair of ranks
# ---------------------------------------------------------------------------------

SHAPES: dict[int, tuple[int, ...]] = {0: (), 1: (3,), 2: (2, 3)}


def _sines(rank_x: int, rank_y: int) -> list[Scenario]:
    """y = sin(A x) with A of shape y.shape + x.shape: the Jacobian is cos(A x) A."""
    shape_x, shape_y = SHAPES[rank_x], tuple(n + 1 for n in SHAPES[rank_y])
    a, x = some(*shape_y, *shape_x, seed=1) / 2, some(*shape_x)
    matrix = np.reshape(a, (-1, x.size))

    def f(x: Any) -> Any:
        xp = array_namespace(x)
        return xp.reshape(xp.sin(beside(x, matrix) @ xp.reshape(x, (-1,))), shape_y)

    y = np.tensordot(a, x, rank_x)
    slope = np.cos(y).reshape(shape_y + (1,) * rank_x) * a
    # Each pair is asked for its Jacobian and, in turn, for one of the products with it.
    product: Operator = (pullback, pushforward, linearize)[(rank_x + rank_y) % 3]
    stem = f"arrays/rank-{rank_x}-to-rank-{rank_y}"
    return array_to_array(
        stem, f, x, value=np.sin(y), slope=slope, operators=(value_and_jacobian, product)
    )


_ranks = [each for rank_x in SHAPES for rank_y in SHAPES for each in _sines(rank_x, rank_y)]


def outer_waves(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sin(x)[:, None] * xp.cos(x)[None, :]


def squared_matrix(x: Any) -> Any:
    return x @ x


_X3, _X33, _EYE = some(3), some(3, 3), np.eye(3)
_SIN, _COS = np.sin(_X3), np.cos(_X3)

_to_array = [
    *array_to_array("arrays/outer-waves", outer_waves, _X3, value=np.outer(_SIN, _COS),
        slope=np.einsum("ik,i,j->ijk", _EYE, _COS, _COS) - np.einsum("jk,i,j->ijk", _EYE, _SIN,
        _SIN)),
    *array_to_array("arrays/squared-matrix", squared_matrix, _X33, value=_X33 @ _X33,
        slope=np.einsum("ik,lj->ijkl", _EYE, _X33) + np.einsum("ik,jl->ijkl", _X33, _EYE)),
]  # fmt: skip

# Constants and keywords
# ----------------------------------------------------------------------------------------------


def mixture(x: Any, a: Any, b: Any, p: Any, *, scale: Any) -> Any:
    return scale * (a * array_namespace(x).sin(x) + b * x**p)


def total_mixture(x: Any, a: Any, b: Any, p: Any, *, scale: Any) -> Any:
    return array_namespace(x).sum(mixture(x, a, b, p, scale=scale))


_A = some(3, seed=1)
_REST, _NONES = (Constant(_A), Constant(2.0), Constant(3)), (None, None, None)
_VALUE = 3 * (_A * np.sin(_X3) + 2 * _X3**3)
_SLOPE = 3 * (_A * np.cos(_X3) + 6 * _X3**2)
_CURVE = 3 * (-_A * np.sin(_X3) + 12 * _X3)

_CONSTANTS: list[tuple[Operator, Any, tuple[Any, ...], Any, dict[str, Any]]] = [
    (gradient, total_mixture, (_X3,), (_SLOPE, *_NONES), {}),
    (value_and_gradient, total_mixture, (_X3,), (np.asarray(np.sum(_VALUE)), (_SLOPE, *_NONES)),
        {}),
    (jacobian, mixture, (_X3,), (np.diag(_SLOPE), *_NONES), {}),
    (value_and_jacobian, mixture, (_X3,), (_VALUE, (np.diag(_SLOPE), *_NONES)), {}),
    (pullback, mixture, (_X3,), (_VALUE, (_SLOPE * _A, *_NONES)), {"seed": _A}),
    (pushforward, mixture, (_X3,), (_VALUE, _SLOPE * _A), {"tangents": (_A, *_NONES)}),
    (linearize, mixture, (_X3,), (_VALUE, _SLOPE * _A), {"tangents": (_A, *_NONES)}),
    (hvp, total_mixture, (_X3, _A), _CURVE * _A, {}),
    (gradient_and_hvp, total_mixture, (_X3, _A), (_SLOPE, _CURVE * _A), {}),
    (hessian, total_mixture, (_X3,), np.diag(_CURVE), {}),
    (value_gradient_and_hessian, total_mixture, (_X3,), (np.asarray(np.sum(_VALUE)), _SLOPE,
        np.diag(_CURVE)), {}),
    (diagonal_hessian, total_mixture, (_X3,), (_CURVE, *_NONES), {}),
]  # fmt: skip

_constants = [
    scenario(
        f"constants/mixture-by-{operator.__name__.replace('_', '-')}",
        operator,
        f,
        (*args, *_REST),
        expected,
        kwargs={"scale": 3.0},
        **rest,
    )
    for operator, f, args, expected, rest in _CONSTANTS
]

# Empty arrays
# ------------------------------------------------------------------------------------------------


def sines(x: Any) -> Any:
    return array_namespace(x).sin(x)


def total_of_sines_and_one(x: Any) -> Any:
    return array_namespace(x).sum(sines(x)) + 1.0


def beside_an_empty_one(x: Any, empty: Any) -> Any:
    xp = array_namespace(x, empty)
    return {"y": xp.sin(x) * (1.0 + xp.sum(empty)), "e": empty * 2.0}


def squares_of_no_rows(x: Any) -> Any:
    return x[:0] ** 2


_NO, _NO_SQUARE, _E03 = np.zeros((2, 0)), np.zeros((2, 0, 2, 0)), np.zeros((0, 3))

_empty = [
    *array_to_number("empty/total", total_of_sines_and_one, _NO, value=1.0, slope=_NO,
        curve=_NO_SQUARE, operators=(gradient, value_and_gradient, pullback, hvp, hessian,
        diagonal_hessian), tags={"empty"}),
    *array_to_array("empty/sines", sines, _NO, value=_NO, slope=_NO_SQUARE, tags={"empty"}),
    *array_to_array("empty/no-rows", squares_of_no_rows, _X3, value=np.zeros(0), slope=_E03,
        tags={"empty"}),
    scenario("empty/beside-a-full-one-by-jacobian", jacobian, beside_an_empty_one, (_X3, _E03),
        {"y": (np.diag(_COS), np.zeros((3, 0, 3))), "e": (np.zeros((0, 3, 3)),
        np.zeros((0, 3, 0, 3)))}, tags={"empty", "tree"}),
    scenario("empty/beside-a-full-one-by-pullback", pullback, beside_an_empty_one, (_X3, _E03),
        ({"y": _SIN, "e": _E03}, (_COS * _A, _E03 + np.sum(_A * _SIN))), seed={"y": _A, "e": _E03},
        tags={"empty", "tree"}),
]  # fmt: skip

SCENARIOS = [*_to_number, *_ranks, *_to_array, *_constants, *_empty]
