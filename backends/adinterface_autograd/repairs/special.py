"""The functions of scipy.special that autograd has, and a few with simpler derivatives here.

Functions listed by name are right. Who uses those in PARTS corrects them, or composes other
functions of them. Source of the derivatives: NIST Digital Library of Mathematical Functions, 7.10
and 10.29.
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

from .functions import astype, broadcast_arrays, is_box, value

Function = Callable[..., Any]


def around(function: Function) -> Function:
    """A function of arrays of one dtype and shape, as one of any values, rounded once."""

    def call(*values: Any) -> Any:
        # of numbers too, before SciPy makes them arrays of float64
        dtype = np.result_type(*[value(x) for x in values])
        inside = np.dtype(float) if dtype.kind == "f" and dtype.itemsize < 8 else dtype
        arrays = [astype(x, inside) if is_box(x) else np.asarray(x, dtype=inside) for x in values]
        result = function(*(broadcast_arrays(*arrays) if len(arrays) > 1 else arrays))
        return result if inside == dtype else astype(result, dtype)

    return call


_i0e = primitive(scipy.special.i0e)
_i1e = primitive(scipy.special.i1e)
_ive = primitive(scipy.special.ive)  # of integers as orders

defvjp(_i0e, lambda ans, x: lambda g: g * (_i1e(x) - anp.sign(x) * ans))
defvjp(_i1e, lambda ans, x: lambda g: g * ((_i0e(x) + _ive(2, x)) / 2 - anp.sign(x) * ans))
defvjp(
    _ive,
    None,
    lambda ans, n, x: lambda g: g * ((_ive(n - 1, x) + _ive(n + 1, x)) / 2 - anp.sign(x) * ans),
)


def _polygamma(n: int, x: Any) -> Any:
    if not n:
        return psi(x)
    return astype(autograd.scipy.special.polygamma(n, x), value(x).dtype)  # SciPy gives float64


PARTS: dict[str, Function] = {
    "erfc": erfc, "gammaln": gammaln, "polygamma": _polygamma, "i0e": _i0e, "i1e": _i1e,
    "logit": scipy.special.logit,
}  # fmt: skip
