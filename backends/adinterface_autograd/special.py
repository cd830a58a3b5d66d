"""Ufuncs of scipy.special on autograd's boxes, beyond those of `autograd.scipy.special`.

Source of the derivatives: NIST Digital Library of Mathematical Functions, sections 7.10 (error functions) and 10.29
(modified Bessel functions).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import autograd.scipy.special
import numpy as np
import scipy.special
from autograd.extend import defvjp, primitive
from autograd.scipy.special import erf as erf
from autograd.scipy.special import erfc as erfc
from autograd.scipy.special import expit as expit
from autograd.scipy.special import gamma as gamma
from autograd.scipy.special import gammaln as gammaln
from autograd.scipy.special import i0 as i0
from autograd.scipy.special import i1 as i1
from autograd.scipy.special import j0 as j0
from autograd.scipy.special import j1 as j1
from autograd.scipy.special import psi as psi
from autograd.scipy.special import y0 as y0
from autograd.scipy.special import y1 as y1

from adinterface.numpy_code.compositions import far_out

from . import namespace
from .rules import broadcast_to, is_box, shape_of, value


def _of_order(function: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A function of (order, x), with its derivatives; autograd's rule is silent about the order, forgets that orders are
    broadcast, and divides by x."""
    name, own = function.__name__, primitive(function)

    def call(v: Any, z: Any) -> Any:
        if is_box(v):
            from adinterface.scipy.special.own import with_partials  # here, because it needs SciPy

            return with_partials(name, function)(v, z)
        if function is scipy.special.ive and is_box(z) and np.iscomplexobj(value(z)):
            from adinterface.scipy.special.own import along_the_line  # here, because it needs SciPy

            along_the_line("iv", "real", value(z))
        shape = np.broadcast_shapes(np.shape(v), shape_of(z))
        return own(v, z if shape_of(z) == shape else broadcast_to(z, shape))

    return call, own


def _inverse(function: Any) -> Callable[..., Any]:
    """A function whose derivative is nan outside of its domain: nothing is to come of that where it is multiplied by zero."""

    def call(x: Any) -> Any:
        if not is_box(x):
            return function(x)
        from adinterface.scipy.special.own import with_partials  # here, because it needs SciPy

        return with_partials(function.__name__, function)(x)

    return call


erfinv, erfcinv, logit, ndtri = map(
    _inverse, (scipy.special.erfinv, scipy.special.erfcinv, scipy.special.logit, scipy.special.ndtri)
)
iv, _iv = _of_order(scipy.special.iv)
ive, _ive = _of_order(scipy.special.ive)

defvjp(_iv, None, lambda ans, v, z: lambda g: g * _beside(_iv, v, z))
defvjp(_ive, None, lambda ans, v, z: lambda g: g * (_beside(_ive, v, z) - anp.sign(z) * ans))


def _beside(function: Any, v: Any, z: Any) -> Any:
    return (function(v - 1, z) + function(v + 1, z)) / 2


digamma = psi
loggamma = gammaln

_ROOT_TWO_PI = np.sqrt(2 * np.pi)

_erfcx = primitive(scipy.special.erfcx)
ndtr = primitive(scipy.special.ndtr)
_i0e = primitive(scipy.special.i0e)
_i1e = primitive(scipy.special.i1e)

defvjp(_erfcx, lambda ans, x: lambda g: g * (2 * x * ans - 2 / np.sqrt(np.pi)))
defvjp(ndtr, lambda ans, x: lambda g: g * anp.exp(-x * x / 2) / _ROOT_TWO_PI)
defvjp(_i0e, lambda ans, x: lambda g: g * (_i1e(x) - anp.sign(x) * ans))
defvjp(_i1e, lambda ans, x: lambda g: g * ((_i0e(x) + ive(2, x)) / 2 - anp.sign(x) * ans))


def _digammas(n: int, x: Any) -> Any:
    return namespace.astype(autograd.scipy.special.polygamma(n, x), value(x).dtype) if n else psi(x)  # SciPy's is float64


def _composed(composed: Callable[..., Any], *own: Any) -> Callable[..., Any]:
    """A function that is made of autograd's own."""

    def call(*values: Any) -> Any:
        dtype = np.result_type(*[value(x) for x in values])  # of numbers too, before SciPy makes them arrays of float64
        inside = np.dtype(float) if dtype.kind == "f" and dtype.itemsize < 8 else dtype  # rounded once, as by SciPy
        arrays = [namespace.astype(x, inside) if is_box(x) else np.asarray(x, dtype=inside) for x in values]
        result = composed(namespace, *own, *(namespace.broadcast_arrays(*arrays) if len(arrays) > 1 else arrays))
        return result if inside == dtype else namespace.astype(result, dtype)

    return call


erfcx = _composed(far_out.erfcx, _erfcx)
log_ndtr = _composed(far_out.log_ndtr, erfc, erfcx)
i0e = _composed(far_out.scaled_bessel, 0, _i0e)
i1e = _composed(far_out.scaled_bessel, 1, _i1e)
rgamma = _composed(far_out.rgamma, gammaln)
beta, betaln, binom, poch = (
    _composed(composed, gammaln, _digammas) for composed in (far_out.beta, far_out.betaln, far_out.binom, far_out.poch)
)
