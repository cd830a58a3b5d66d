"""Bessel functions and their relatives.

Source: NIST Digital Library of Mathematical Functions, 9.2, 10.6, 10.29, 11.4.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from ...core.contract.errors import NumpyCodeError
from .parameters import by_difference

#: The derivatives by the order, for positive arguments.
by_order = {
    name: by_difference(name, getattr(special, name), 0)
    for name in ("jv", "iv", "ive", "kv", "kve")
}


def along_the_line(name: str, part: str, z: Any) -> Any:
    """z.

    Raises NumpyCodeError if that is complex: by |Re z| and |Im z| there are no complex derivatives.
    """
    if getattr(z, "dtype", np.dtype(type(z))).kind == "c":
        scale = f"np.exp(-np.abs(np.{part}(z)))"
        raise NumpyCodeError(
            f"numpy_function: scipy.special.{name}e of complex numbers has no complex derivative:"
            f" it is {name} times {scale}. Write that product: its factors have derivatives by z"
            " and by the parts of z."
        )
    return z


def between(name: str, v: Any, z: Any, sign: int) -> Any:
    """Half the sum, or the difference, of the functions of one order less and one more."""
    function = getattr(special, name)
    return (function(v - 1, z) + sign * function(v + 1, z)) / 2


def power_of_struve(v: Any, x: Any) -> Any:
    """The term that the slope has besides `between`."""
    size = np.exp(special.xlogy(v, np.abs(x) / 2) - special.gammaln(v + 1.5)) / math.sqrt(math.pi)
    # below zero SciPy has them at integers alone
    odd = np.where((x < 0) & (np.mod(v, 2) != 0), -1.0, 1.0)
    return special.gammasgn(v + 1.5) * odd * size / 2
