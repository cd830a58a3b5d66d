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
from autograd.scipy.special import beta as beta
from autograd.scipy.special import betaln as betaln
from autograd.scipy.special import erf as erf
from autograd.scipy.special import erfc as erfc
from autograd.scipy.special import erfcinv as erfcinv
from autograd.scipy.special import erfinv as erfinv
from autograd.scipy.special import expit as expit
from autograd.scipy.special import gamma as gamma
from autograd.scipy.special import gammainc as gammainc
from autograd.scipy.special import gammaincc as gammaincc
from autograd.scipy.special import gammaln as gammaln
from autograd.scipy.special import i0 as i0
from autograd.scipy.special import i1 as i1
from autograd.scipy.special import j0 as j0
from autograd.scipy.special import j1 as j1
from autograd.scipy.special import logit as logit
from autograd.scipy.special import psi as psi
from autograd.scipy.special import rgamma as rgamma
from autograd.scipy.special import y0 as y0
from autograd.scipy.special import y1 as y1

from adinterface.contract.errors import NumpyCodeError

from .rules import broadcast_to, is_box, shape_of, value


def _of_order(function: Callable[..., Any]) -> Callable[..., Any]:
    """autograd's rule is silent about the order, and forgets that orders are broadcast."""
    name = function.__name__

    def call(v: Any, z: Any) -> Any:
        if is_box(v):
            raise NumpyCodeError(
                f"numpy_function: autograd has no derivative of scipy.special.{name} with respect to its order. Pass the order "
                f"in Constant(...), or use AutoFiniteDifferences()."
            )
        shape = np.broadcast_shapes(np.shape(v), shape_of(z))
        return function(v, z if shape_of(z) == shape else broadcast_to(z, shape))

    return call


iv, ive = _of_order(autograd.scipy.special.iv), _of_order(autograd.scipy.special.ive)

digamma = psi
loggamma = gammaln

_ROOT_TWO_PI = np.sqrt(2 * np.pi)

erfcx = primitive(scipy.special.erfcx)
ndtr = primitive(scipy.special.ndtr)
log_ndtr = primitive(scipy.special.log_ndtr)
ndtri = primitive(scipy.special.ndtri)
i0e = primitive(scipy.special.i0e)
i1e = primitive(scipy.special.i1e)

defvjp(erfcx, lambda ans, x: lambda g: g * (2 * x * ans - 2 / np.sqrt(np.pi)))
defvjp(ndtr, lambda ans, x: lambda g: g * anp.exp(-x * x / 2) / _ROOT_TWO_PI)
defvjp(log_ndtr, lambda ans, x: lambda g: g * anp.exp(-x * x / 2 - ans) / _ROOT_TWO_PI)
defvjp(ndtri, lambda ans, x: lambda g: g * anp.exp(ans * ans / 2) * _ROOT_TWO_PI)
defvjp(i0e, lambda ans, x: lambda g: g * (i1e(x) - anp.sign(x) * ans))
defvjp(i1e, lambda ans, x: lambda g: g * ((i0e(x) + ive(2, x)) / 2 - anp.sign(x) * ans))


def binom(n: Any, k: Any) -> Any:
    dtype = np.result_type(value(n), value(k))  # of numbers too, before SciPy makes them arrays of float64
    n, k = [x if is_box(x) else np.asarray(x, dtype=dtype) for x in (n, k)]
    return gamma(n + 1) / gamma(k + 1) / gamma(n - k + 1)
