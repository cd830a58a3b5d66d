"""Functions of one number: every elementary function, and values that are arrays or trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adinterface import (
    Constant,
    array_namespace,
    derivative,
    diagonal_hessian,
    gradient,
    hessian,
    hvp,
    jacobian,
    linearize,
    pullback,
    pushforward,
    second_derivative,
    value_and_derivative,
    value_and_gradient,
    value_derivative_and_second_derivative,
)

from .building import Operator, array, beside, of_a_number, scalar, scenario

# Elementary functions
# ------------------------------------------------------------------------------------------------


def elementary(name: str) -> Callable[[Any], Any]:
    """The namespace's function of that name."""

    def f(x: Any) -> Any:
        return getattr(array_namespace(x), name)(x)

    return f


def sech(x: float) -> float:
    return 1 / float(np.cosh(x))


#: name, where, value, slope and curve.
ELEMENTARY: list[tuple[str, float, Any, Any, Any]] = [
    ("sin", 0.7, np.sin(0.7), np.cos(0.7), -np.sin(0.7)),
    ("cos", 0.7, np.cos(0.7), -np.sin(0.7), -np.cos(0.7)),
    ("tan", 0.7, np.tan(0.7), 1 / np.cos(0.7) ** 2, 2 * np.tan(0.7) / np.cos(0.7) ** 2),
    ("asin", 0.3, np.arcsin(0.3), 0.91**-0.5, 0.3 * 0.91**-1.5),
    ("acos", 0.3, np.arccos(0.3), -(0.91**-0.5), -0.3 * 0.91**-1.5),
    ("atan", 0.7, np.arctan(0.7), 1 / 1.49, -1.4 / 1.49**2),
    ("sinh", 0.7, np.sinh(0.7), np.cosh(0.7), np.sinh(0.7)),
    ("cosh", 0.7, np.cosh(0.7), np.sinh(0.7), np.cosh(0.7)),
    ("tanh", 0.7, np.tanh(0.7), sech(0.7) ** 2, -2 * np.tanh(0.7) * sech(0.7) ** 2),
    ("asinh", 0.7, np.arcsinh(0.7), 1.49**-0.5, -0.7 * 1.49**-1.5),
    ("acosh", 1.5, np.arccosh(1.5), 1.25**-0.5, -1.5 * 1.25**-1.5),
    ("atanh", 0.3, np.arctanh(0.3), 1 / 0.91, 0.6 / 0.91**2),
    ("exp", 0.7, np.exp(0.7), np.exp(0.7), np.exp(0.7)),
    ("expm1", 0.7, np.expm1(0.7), np.exp(0.7), np.exp(0.7)),
    ("log", 0.7, np.log(0.7), 1 / 0.7, -1 / 0.49),
    ("log1p", 0.7, np.log1p(0.7), 1 / 1.7, -1 / 1.7**2),
    ("log2", 0.7, np.log2(0.7), 1 / (0.7 * np.log(2)), -1 / (0.49 * np.log(2))),
    ("log10", 0.7, np.log10(0.7), 1 / (0.7 * np.log(10)), -1 / (0.49 * np.log(10))),
    ("sqrt", 0.7, 0.7**0.5, 0.5 * 0.7**-0.5, -0.25 * 0.7**-1.5),
    ("square", 0.7, 0.49, 1.4, 2.0),
    ("abs", -0.7, 0.7, -1.0, 0.0),
]  # fmt: skip

# Each asks another pair of operators, so that the table is short and every pairing occurs.
_ASKED: list[tuple[Operator, ...]] = [
    (derivative, value_derivative_and_second_derivative),
    (value_and_derivative, second_derivative),
]  # fmt: skip

_elementary = [
    each
    for n, (name, x, value, slope, curve) in enumerate(ELEMENTARY)
    for each in of_a_number(
        f"numbers/{name}",
        elementary(name),
        x,
        value=float(value),
        slope=float(slope),
        curve=float(curve),
        operators=_ASKED[n % 2],
    )
]

# One number by every operator
# ----------------------------------------------------------------------------------------


def wave(x: Any) -> Any:
    return array_namespace(x).sin(3 * x)


_SLOPE, _CURVE = float(3 * np.cos(2.1)), float(-9 * np.sin(2.1))


def _wave(form: Callable[[float], Any], kind: str) -> list[Any]:
    """The same number as a Python number and as a 0-d array: results come in the argument's
    form.
    """
    x, slope, curve, value = form(0.7), form(_SLOPE), form(_CURVE), form(float(np.sin(2.1)))
    rows: list[tuple[Operator, tuple[Any, ...], Any, dict[str, Any]]] = [
        (derivative, (x,), slope, {}),
        (second_derivative, (x,), curve, {}),
        (gradient, (x,), (slope,), {}),
        (jacobian, (x,), (slope,), {}),
        (hessian, (x,), curve, {}),
        (hvp, (x, form(2.0)), form(2 * _CURVE), {}),
        (diagonal_hessian, (x,), (curve,), {}),
        (pullback, (x,), (value, (form(2 * _SLOPE),)), {"seed": 2.0}),
        (linearize, (x,), (value, form(0.5 * _SLOPE)), {"tangents": (0.5,)}),
    ]
    return [
        scenario(
            f"numbers/{kind}-by-{operator.__name__.replace('_', '-')}",
            operator,
            wave,
            args,
            expected,
            **rest,
        )
        for operator, args, expected, rest in rows
    ]


# Values that are arrays or trees
# -------------------------------------------------------------------------------------


def circle(t: Any) -> Any:
    xp = array_namespace(t)
    return xp.stack([xp.cos(t), xp.sin(t)])


def powers(t: Any) -> Any:
    return array_namespace(t).stack([t**n for n in range(1, 5)])


def rotation(t: Any) -> Any:
    xp = array_namespace(t)
    cos, sin = xp.cos(t), xp.sin(t)
    return xp.stack([xp.stack([cos, -sin]), xp.stack([sin, cos])])


def position_and_energy(t: Any) -> Any:
    xp = array_namespace(t)
    return {"position": xp.stack([t, t**2]), "energy": (xp.exp(-t), 3 * t)}


def nothing_at_all(t: Any) -> Any:
    return t * beside(t, np.zeros((0, 2)))


def scaled_waves(t: Any, frequencies: Any) -> Any:
    return array_namespace(t, frequencies).sin(frequencies * t)


def _rotated(t: float) -> Any:
    return np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])


_T, _E = 0.7, float(np.exp(-0.7))
_FREQUENCIES = array(1, 2, 5)

_values = [
    *of_a_number("numbers/circle", circle, _T, value=array(np.cos(_T), np.sin(_T)),
        slope=array(-np.sin(_T), np.cos(_T)), curve=array(-np.cos(_T), -np.sin(_T))),
    *of_a_number("numbers/powers", powers, scalar(2.0), value=array(2, 4, 8, 16),
        slope=array(1, 4, 12, 32), curve=array(0, 2, 12, 48),
        operators=(value_and_derivative, second_derivative)),
    *of_a_number("numbers/rotation", rotation, _T, value=_rotated(_T),
        slope=_rotated(_T + np.pi / 2), curve=-_rotated(_T),
        operators=(derivative, value_derivative_and_second_derivative)),
    *of_a_number("numbers/position-and-energy", position_and_energy, _T,
        value={"position": array(_T, _T**2), "energy": (_E, 3 * _T)},
        slope={"position": array(1, 2 * _T), "energy": (-_E, 3.0)},
        curve={"position": array(0, 2), "energy": (_E, 0.0)}, tags={"tree"}),
    *of_a_number("numbers/nothing-at-all", nothing_at_all, _T, value=np.zeros((0, 2)),
        slope=np.zeros((0, 2)), curve=np.zeros((0, 2)), operators=(derivative, second_derivative),
        tags={"empty"}),
    scenario("numbers/waves-of-constant-frequencies", derivative, scaled_waves,
        (_T, Constant(_FREQUENCIES)), _FREQUENCIES * np.cos(_FREQUENCIES * _T)),
    scenario("numbers/curves-of-constant-frequencies", second_derivative, scaled_waves,
        (_T, Constant(_FREQUENCIES)), -(_FREQUENCIES**2) * np.sin(_FREQUENCIES * _T)),
    scenario("numbers/one-direction-of-a-circle", pushforward, circle, (_T,),
        (array(np.cos(_T), np.sin(_T)), array(-2 * np.sin(_T), 2 * np.cos(_T))), tangents=(2.0,)),
    scenario("numbers/two-numbers", value_and_gradient, lambda a,
        b: a * array_namespace(a, b).exp(a * b), (0.5, 0.8),
        (float(0.5 * np.exp(0.4)), (float(1.4 * np.exp(0.4)), float(0.25 * np.exp(0.4))))),
]  # fmt: skip

SCENARIOS = [*_elementary, *_wave(float, "number"), *_wave(scalar, "zero-d-array"), *_values]
