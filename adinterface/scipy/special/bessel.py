"""Bessel functions and their relatives.

Source: NIST Digital Library of Mathematical Functions, 9.2, 10.2, 10.6, 10.25, 10.27, 10.29, 10.32,
11.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ...core.contract.errors import NumpyCodeError
from . import parameter_jets as jets
from .hypergeometric import by_parameters, limit_by
from .ufunc_rules import require_real

# Derivatives by the order, from the power series or an integral, for positive arguments.


def by_order(y: Any, v: Any, z: Any, sign: float) -> Any:
    """Of (z/2)^v / gamma(v + 1) 0F1(v + 1, sign z^2 / 4); NaN at negative integers, where gamma has
    poles.

    There J_-v = cos(pi v) J_v - sin(pi v) Y_v would help, but its next derivative needs the
    derivative of Y by the order.
    """
    require_real(z)
    power = special.gammasgn(v + 1) * np.exp(special.xlogy(v, z / 2) - special.gammaln(v + 1))
    return y * (np.log(z / 2) - special.psi(v + 1)) + power * limit_by[0](v + 1, sign * z * z / 4)


def modified_by_order(y: Any, v: Any, z: Any) -> Any:
    require_real(z)
    return _reflected(
        y, v, z, special.iv, lambda y, v: by_order(y, v, z, 1.0), special.kv, second_by_order, 0
    )


def scaled_by_order(y: Any, v: Any, z: Any) -> Any:
    require_real(z)
    square = z * z / 4

    def slope(y: Any, v: Any) -> Any:
        return y * (
            np.log(z / 2)
            - special.psi(v + 1)
            + limit_by[0](v + 1, square) / special.hyp0f1(v + 1, square)
        )

    return _reflected(y, v, z, special.ive, slope, special.kve, scaled_second_by_order, 2)


def _reflected(
    y: Any,
    v: Any,
    z: Any,
    first: Any,
    slope: Callable[[Any, Any], Any],
    second: Any,
    second_by_order: Any,
    scale: int,
) -> Any:
    """The derivative by the order, by `slope(y, v)`, but at negative integers, where the series has
    a pole, from

        I_v = I_-v - 2 / pi sin(pi v) K_v,    with the term that vanishes at integers, because its
        derivative does not.

    first, second: I and K, both scaled or not, and the derivative of K by the order.
    scale: by which power of exp(-z) the scales differ.
    """
    negative_integer = (v < 0) & (v == np.round(v))
    order, opposite = np.where(negative_integer, -v, v), np.where(negative_integer, -v, 0.0)
    by_order = slope(np.where(negative_integer, first(opposite, z), y), order)
    odd, apart = 1.0 - 2.0 * np.mod(np.round(v), 2), v - np.round(v)
    rest = second(opposite, z) - np.sin(math.pi * apart) / math.pi * second_by_order(opposite, z)
    return np.where(negative_integer, -by_order - 2 * odd * np.exp(-scale * z) * rest, by_order)


def along_the_line(name: str, part: str, z: Any) -> Any:
    """z; raises NumpyCodeError if that is complex: by |Re z| and |Im z| there are no complex
    derivatives.
    """
    if getattr(z, "dtype", np.dtype(type(z))).kind == "c":
        scale = f"np.exp(-np.abs(np.{part}(z)))"
        raise NumpyCodeError(
            f"numpy_function: scipy.special.{name}e of complex numbers has no complex derivative:"
            f" it is {name} times {scale}. Write that product: its factors have derivatives by z"
            " and by the parts of z."
        )
    return z


def second_by_order(v: Any, z: Any) -> Any:
    return np.exp(-z) * scaled_second_by_order(v, z)


def between(name: str, v: Any, z: Any, sign: int) -> Any:
    """Half the sum, or the difference, of the functions of one order less and one more."""
    function = getattr(special, name)
    return (function(v - 1, z) + sign * function(v + 1, z)) / 2


scaled_second_by_order: Callable[..., Any]
(scaled_second_by_order,) = by_parameters(
    "kve",
    jets.kve,
    1,
    lambda i, y, v, z: (
        y - (scaled_second_by_order(v - 1, z) + scaled_second_by_order(v + 1, z)) / 2
    ),
)


def power_of_struve(v: Any, x: Any) -> Any:
    """The term that the slope has besides `between`."""
    size = np.exp(special.xlogy(v, np.abs(x) / 2) - special.gammaln(v + 1.5)) / math.sqrt(math.pi)
    # below zero SciPy has them at integers alone
    odd = np.where((x < 0) & (np.mod(v, 2) != 0), -1.0, 1.0)
    return special.gammasgn(v + 1.5) * odd * size / 2
