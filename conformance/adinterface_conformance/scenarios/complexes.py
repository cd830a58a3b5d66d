"""Complex numbers: real functions of them, holomorphic functions, and complex values of real
numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adinterface import (
    array_namespace,
    derivative,
    gradient,
    jacobian,
    linearize,
    pullback,
    pushforward,
    second_derivative,
    value_and_derivative,
    value_and_gradient,
    value_and_jacobian,
)

from ..scenario import Scenario
from .building import Operator, complex_some, scenario, signed, some


def squared_modulus(z: Any) -> Any:
    xp = array_namespace(z)
    return xp.sum(xp.real(z) ** 2 + xp.imag(z) ** 2)


def real_of_cube(z: Any) -> Any:
    xp = array_namespace(z)
    return xp.sum(xp.real(z**3))


def product_with_conjugate(z: Any, w: Any) -> Any:
    xp = array_namespace(z, w)
    return xp.sum(xp.real(z * xp.conj(w)))


def square_and_exponential(z: Any) -> Any:
    xp = array_namespace(z)
    return xp.stack([xp.sum(z**2), xp.exp(z[0] * z[1])])


def turning(x: Any) -> Any:
    return array_namespace(x).exp(2j * x)


def square(z: Any) -> Any:
    return z**2


def real_and_complex(x: Any, z: Any) -> Any:
    xp = array_namespace(x, z)
    return {"y": x**2 * z, "r": x * (xp.real(z) ** 2 + xp.imag(z) ** 2)}


def length_after_a_layer(layer: Any, z: Any) -> Any:
    return squared_modulus(layer["weight"] @ z)


_Z, _N, _X, _T = complex_some(3), 1.5 - 0.5j, some(3), 0.7
_V, _W, _W3 = complex_some(3, seed=3), complex_some(2, seed=5), complex_some(3, seed=6)
_E = np.exp(_Z[0] * _Z[1])
_HOLOMORPHIC = np.array([2 * _Z, [_Z[1] * _E, _Z[0] * _E, 0]])
_VALUE = np.array([np.sum(_Z**2), _E])
_TURN = 2j * np.exp(2j * _X)
_MATRIX = signed(2, 3, seed=7) + 1j * signed(2, 3, seed=8)
_LAYER = _MATRIX @ _Z

_SQUARES = np.asarray(np.sum(np.abs(_Z) ** 2))
_BOTH_SLOPES = {"y": (2 * _T * _N, complex(_T**2)), "r": (abs(_N) ** 2, 2 * _T * _N)}

_ROWS: list[tuple[str, Operator, Any, tuple[Any, ...], Any, dict[str, Any]]] = [
    # The gradient of a real function is dL/dRe + i dL/dIm.
    ("squared-modulus-of-a-number", gradient, squared_modulus, (_N,), (2 * _N,), {}),
    ("squared-modulus-of-a-zero-d-array", gradient, squared_modulus, (np.asarray(_N),),
        (np.asarray(2 * _N),), {}),
    ("squared-modulus", gradient, squared_modulus, (_Z,), (2 * _Z,), {}),
    ("squared-modulus-and-its-value", value_and_gradient, squared_modulus, (_Z,),
        (_SQUARES, (2 * _Z,)), {}),
    ("squared-modulus-by-jacobian", jacobian, squared_modulus, (_Z,), (2 * _Z,), {}),
    ("real-of-cube", gradient, real_of_cube, (_Z,), (3 * np.conj(_Z) ** 2,), {}),
    ("product-with-conjugate", gradient, product_with_conjugate, (_Z, _V), (_V, _Z), {}),
    ("length-after-a-layer", gradient, length_after_a_layer, ({"weight": _MATRIX}, _Z),
        ({"weight": 2 * np.outer(_LAYER, np.conj(_Z))}, 2 * np.conj(_MATRIX).T @ _LAYER), {}),
    # A complex function of complex numbers has its holomorphic Jacobian.
    ("holomorphic-by-jacobian", jacobian, square_and_exponential, (_Z,), (_HOLOMORPHIC,), {}),
    ("holomorphic-by-value-and-jacobian", value_and_jacobian, square_and_exponential, (_Z,),
        (_VALUE, (_HOLOMORPHIC,)), {}),
    ("holomorphic-by-pushforward", pushforward, square_and_exponential, (_Z,),
        (_VALUE, _HOLOMORPHIC @ _V), {"tangents": (_V,)}),
    ("holomorphic-by-linearize", linearize, square_and_exponential, (_Z,),
        (_VALUE, _HOLOMORPHIC @ _V), {"tangents": (_V,)}),
    ("holomorphic-by-pullback", pullback, square_and_exponential, (_Z,),
        (_VALUE, (np.conj(_HOLOMORPHIC).T @ _W,)), {"seed": _W}),
    ("back-through-a-square", pullback, square, (_N,), (_N**2, (2 * _N.conjugate(),)),
        {"seed": 1.0}),
    # A complex function of real numbers has a complex Jacobian, and a real gradient.
    ("turning-by-derivative", derivative, turning, (_T,), 2j * complex(np.exp(2j * _T)), {}),
    ("turning-by-value-and-derivative", value_and_derivative, turning, (_T,),
        (complex(np.exp(2j * _T)), 2j * complex(np.exp(2j * _T))), {}),
    ("turning-by-second-derivative", second_derivative, turning, (_T,),
        -4 * complex(np.exp(2j * _T)), {}),
    ("turning-by-jacobian", jacobian, turning, (_X,), (np.diag(_TURN),), {}),
    ("turning-by-pullback", pullback, turning, (_X,), (np.exp(2j * _X),
        (np.real(np.conj(_W3) * _TURN),)), {"seed": _W3}),
    ("turning-by-pushforward", pushforward, turning, (_X,), (np.exp(2j * _X), _TURN * _X),
        {"tangents": (_X,)}),
    ("real-and-complex", jacobian, real_and_complex, (_T, _N), _BOTH_SLOPES, {}),
]  # fmt: skip

SCENARIOS: list[Scenario] = [
    scenario(f"complex/{name}", operator, f, args, expected, tags={"complex"}, **rest)
    for name, operator, f, args, expected, rest in _ROWS
]
