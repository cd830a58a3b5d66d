"""The functions of scipy.special that autograd has, and a few with simpler derivatives here.

Functions listed by name are right. Who uses those in PARTS corrects them, or composes other functions of them. Source of the
derivatives: NIST Digital Library of Mathematical Functions, 7.10 and 10.29.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import autograd.scipy.special
import numpy as np
import scipy.special
from autograd.extend import defvjp, primitive
from autograd.scipy.special import erf, erfc, expit, gamma, gammaln, i0, i1, psi  # noqa: F401  (by name, as in SciPy)

from . import given
from .functions import astype, broadcast_arrays, broadcast_to, is_box, shape_of, value

Function = Callable[..., Any]


def around(function: Function) -> Function:
    """A function of arrays of one dtype and shape, as one of any values: it is rounded once, as by SciPy."""

    def call(*values: Any) -> Any:
        dtype = np.result_type(*[value(x) for x in values])  # of numbers too, before SciPy makes them arrays of float64
        inside = np.dtype(float) if dtype.kind == "f" and dtype.itemsize < 8 else dtype
        arrays = [astype(x, inside) if is_box(x) else np.asarray(x, dtype=inside) for x in values]
        result = function(*(broadcast_arrays(*arrays) if len(arrays) > 1 else arrays))
        return result if inside == dtype else astype(result, dtype)

    return call


def _of_order(function: Any) -> tuple[Function, Function]:
    """A function of (order, x), with its derivatives; autograd's rule is silent about the order, forgets that orders are
    broadcast, and divides by x."""
    name, of_one_shape = function.__name__, primitive(function)

    def call(v: Any, z: Any) -> Any:
        if is_box(v):
            return given.by_order(name, function)(v, z)
        if function is scipy.special.ive and is_box(z) and np.iscomplexobj(value(z)):
            given.of_complex(name, value(z))
        shape = np.broadcast_shapes(np.shape(v), shape_of(z))
        return of_one_shape(v, z if shape_of(z) == shape else broadcast_to(z, shape))

    return call, of_one_shape


iv, _iv = _of_order(scipy.special.iv)
ive, _ive = _of_order(scipy.special.ive)

defvjp(_iv, None, lambda ans, v, z: lambda g: g * _mean_of_neighbours(_iv, v, z))
defvjp(_ive, None, lambda ans, v, z: lambda g: g * (_mean_of_neighbours(_ive, v, z) - anp.sign(z) * ans))


def _mean_of_neighbours(function: Any, v: Any, z: Any) -> Any:
    return (function(v - 1, z) + function(v + 1, z)) / 2


_ROOT_TWO_PI = np.sqrt(2 * np.pi)

_erfcx = primitive(scipy.special.erfcx)  # autograd has none of these four
ndtr = primitive(scipy.special.ndtr)
_i0e = primitive(scipy.special.i0e)
_i1e = primitive(scipy.special.i1e)

defvjp(_erfcx, lambda ans, x: lambda g: g * (2 * x * ans - 2 / np.sqrt(np.pi)))
defvjp(ndtr, lambda ans, x: lambda g: g * anp.exp(-x * x / 2) / _ROOT_TWO_PI)
defvjp(_i0e, lambda ans, x: lambda g: g * (_i1e(x) - anp.sign(x) * ans))
defvjp(_i1e, lambda ans, x: lambda g: g * ((_i0e(x) + ive(2, x)) / 2 - anp.sign(x) * ans))


def _polygamma(n: int, x: Any) -> Any:
    if not n:
        return psi(x)
    return astype(autograd.scipy.special.polygamma(n, x), value(x).dtype)  # SciPy gives float64


PARTS: dict[str, Function] = {
    "erfc": erfc, "erfcx": _erfcx, "gammaln": gammaln, "polygamma": _polygamma, "i0e": _i0e, "i1e": _i1e,
    "logit": scipy.special.logit,
}  # fmt: skip
