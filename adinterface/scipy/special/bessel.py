"""Bessel functions and their relatives.

Source: NIST Digital Library of Mathematical Functions, 9.2, 10.2, 10.6, 10.25, 10.27, 10.29, 10.32, 11.4.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ...core.contract.errors import NumpyCodeError
from . import jets
from .hypergeometric import by_parameters, from_jet, limit_by
from .ruled import PARTIALS, enter, require_real

# Of an order. By that, from the power series, or an integral; for positive arguments.


def _by_order(y: Any, v: Any, z: Any, sign: float) -> Any:
    """Of (z/2)^v / gamma(v + 1) 0F1(v + 1, sign z^2 / 4); NaN at negative integers, where gamma has poles.

    There J_-v = cos(pi v) J_v - sin(pi v) Y_v would say it, but the next derivative of that needs Y's by its order.
    """
    require_real(z)
    power = special.gammasgn(v + 1) * np.exp(special.xlogy(v, z / 2) - special.gammaln(v + 1))
    return y * (np.log(z / 2) - special.psi(v + 1)) + power * limit_by[0](v + 1, sign * z * z / 4)


def _modified_by_order(y: Any, v: Any, z: Any) -> Any:
    require_real(z)
    return _reflected(y, v, z, special.iv, lambda y, v: _by_order(y, v, z, 1.0), special.kv, 0)


def _scaled_by_order(y: Any, v: Any, z: Any) -> Any:
    require_real(z)
    square = z * z / 4

    def slope(y: Any, v: Any) -> Any:
        return y * (np.log(z / 2) - special.psi(v + 1) + limit_by[0](v + 1, square) / special.hyp0f1(v + 1, square))

    return _reflected(y, v, z, special.ive, slope, special.kve, 2)


def _reflected(y: Any, v: Any, z: Any, own: Any, slope: Callable[[Any, Any], Any], other: Any, scale: int) -> Any:
    """The derivative by the order, by `slope(y, v)`, but at negative integers, where the series has a pole, from

        I_v = I_-v - 2 / pi sin(pi v) K_v,    also what vanishes at integers, which the next derivative does not leave out.

    own, other: I and K, both scaled or not; scale: by which power of exp(-z) the scales differ.
    """
    whole = (v < 0) & (v == np.round(v))
    order, opposite = np.where(whole, -v, v), np.where(whole, -v, 0.0)
    found = slope(np.where(whole, own(opposite, z), y), order)
    odd, apart = 1.0 - 2.0 * np.mod(np.round(v), 2), v - np.round(v)
    by_order = PARTIALS[other.__name__](other(opposite, z), opposite, z)[0]()
    rest = other(opposite, z) - np.sin(math.pi * apart) / math.pi * by_order
    return np.where(whole, -found - 2 * odd * np.exp(-scale * z) * rest, found)


enter("jv", lambda y, v, z: (lambda: _by_order(y, v, z, -1.0), lambda: (special.jv(v - 1, z) - special.jv(v + 1, z)) / 2))
enter("yv", lambda y, v, z: (special.yv(v - 1, z) - special.yv(v + 1, z)) / 2, orders=1)
enter("yn", lambda y, n, z: (special.yv(np.trunc(n) - 1.0, z) - special.yv(np.trunc(n) + 1.0, z)) / 2, orders=1)


def along_the_line(name: str, part: str, z: Any) -> Any:
    """z; raises NumpyCodeError if that is complex: by |Re z| and |Im z| there are no complex derivatives."""
    if getattr(z, "dtype", np.dtype(type(z))).kind == "c":
        scale = f"np.exp(-np.abs(np.{part}(z)))"
        raise NumpyCodeError(
            f"numpy_function: scipy.special.{name}e of complex numbers has no complex derivative: it is {name} times {scale}. "
            f"Write that product: its factors have derivatives by z and by the parts of z."
        )
    return z


def _scaled_slope(name: str) -> Callable[..., Any]:
    function = getattr(special, f"{name}e")

    def slope(y: Any, v: Any, z: Any) -> Any:
        z = along_the_line(name, "imag", z)
        return (function(v - 1, z) - function(v + 1, z)) / 2

    return slope


enter("jve", _scaled_slope("jv"), orders=1)
enter("yve", _scaled_slope("yv"), orders=1)
enter("iv", lambda y, v, z: (lambda: _modified_by_order(y, v, z), lambda: (special.iv(v - 1, z) + special.iv(v + 1, z)) / 2))
_scaled_second_by_order: Callable[..., Any]
(_scaled_second_by_order,) = by_parameters(
    "kve",
    functools.partial(from_jet, jets.kve),
    1,
    lambda i, v, z: _scaled_second_by_order(v, z) - (_scaled_second_by_order(v - 1, z) + _scaled_second_by_order(v + 1, z)) / 2,
)
enter(
    "kv",
    lambda y, v, z: (
        lambda: np.exp(-z) * _scaled_second_by_order(v, z), lambda: -(special.kv(v - 1, z) + special.kv(v + 1, z)) / 2
    ),
)  # fmt: skip
enter("kn", lambda y, n, z: -(special.kv(np.trunc(n) - 1.0, z) + special.kv(np.trunc(n) + 1.0, z)) / 2, orders=1)
enter(
    "ive",
    lambda y, v, z: (
        lambda: _scaled_by_order(y, v, z),
        lambda: (special.ive(v - 1, z) + special.ive(v + 1, z)) / 2 - np.sign(along_the_line("iv", "real", z)) * y,
    ),
)  # fmt: skip
enter(
    "kve",
    lambda y, v, z: (
        lambda: _scaled_second_by_order(v, z), lambda: y - (special.kve(v - 1, z) + special.kve(v + 1, z)) / 2
    ),
)  # fmt: skip

# Of order 0 and 1.
enter("j0", lambda y, z: -special.j1(z))
enter("j1", lambda y, z: (special.j0(z) - special.jv(2, z)) / 2)
enter("y0", lambda y, z: -special.y1(z))
enter("y1", lambda y, z: (special.y0(z) - special.yv(2, z)) / 2)
enter("k0", lambda y, z: -special.k1(z))
enter("k1", lambda y, z: -(special.k0(z) + special.kv(2, z)) / 2)
enter("k0e", lambda y, z: y - special.k1e(z))
enter("k1e", lambda y, z: y - (special.k0e(z) + special.kve(2, z)) / 2)


def _struve(sign: int, function: Any) -> Any:
    def partial(y: Any, v: Any, x: Any) -> Any:
        size = np.exp(special.xlogy(v, np.abs(x) / 2) - special.gammaln(v + 1.5)) / math.sqrt(math.pi)
        odd = np.where((x < 0) & (np.mod(v, 2) != 0), -1.0, 1.0)  # below zero SciPy has them at integers alone
        power = special.gammasgn(v + 1.5) * odd * size
        return (function(v - 1, x) + sign * function(v + 1, x) + power) / 2

    return partial


enter("struve", _struve(-1, special.struve), orders=1)
enter("modstruve", _struve(1, special.modstruve), orders=1)

enter("airy", lambda values, z: ((values[1],), (z * values[0],), (values[3],), (z * values[2],)))
