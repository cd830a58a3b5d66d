"""The functions of scipy.special that JAX has.

Functions listed by name are right. `adinterface.scipy.special.table` corrects those in PARTS, or
composes other functions of them. Left out, because SciPy's function with the derivatives of the
table is better: JAX's exponential integrals take seconds to compile, have no second derivative, are
wrong at zero and do not terminate for some arguments. Its hyp2f1(31.2, 31.2, 1, -2) is wrong by 70
orders of magnitude, and its hyp1f1(0.3, -7.3, -33.3) is 149,871 instead of 0.84.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax.scipy import special

from . import namespace
from .repairs import special as repaired
from .repairs.special import around, inexact

PARTS: dict[str, Callable[..., Any]] = {
    "erfc": special.erfc,
    "psi": special.digamma,
    "gammaln": special.gammaln,
    "polygamma": repaired.polygamma,
    "i0e": repaired.scaled0,
    "i1e": repaired.scaled1,
    # The derivatives of JAX are nan outside of the domain, also where they are multiplied by zero.
    "erfinv": special.erfinv,
    "logit": special.logit,
    "ndtri": special.ndtri,
}
# JAX has them from 0.10.1 and 0.10.2 on. Before, they are SciPy's.
if hasattr(special, "erfcx"):
    PARTS["erfcx"] = repaired.erfcx
if hasattr(special, "dawsn"):
    PARTS["dawsn"] = special.dawsn

erf, erfc, expit, entr = special.erf, special.erfc, special.expit, special.entr
gamma, gammaln = special.gamma, special.gammaln
i0, i1, ndtr = around(repaired.bessel0), around(repaired.bessel1), around(special.ndtr)
spence = around(repaired.spence)


def _incomplete(
    name: str, native: Callable[..., Any], *arguments: Any, least: float, most: float
) -> Any:
    """JAX's function. Many of its derivatives by the parameters do not converge, or are missing.

    It is right where the dtype is precise enough for logarithms of the size of the parameters.
    """
    arguments = tuple(jnp.broadcast_arrays(*inexact(*arguments)))
    parameters, narrow = arguments[:-1], arguments[0].dtype == jnp.float32
    total = sum(parameters)
    valid = jnp.isnan(total) | (functools.reduce(jnp.minimum, parameters) >= least)
    if narrow:
        valid &= ~(total > most)
    names = " and ".join("ab"[: len(parameters)])
    domain = [f"{names} from {least:g} on"] * (least > 0) + [
        f"{' + '.join('ab'[: len(parameters)])} up to {most:g}"
    ] * narrow
    from adinterface.scipy.for_engines import require, with_partials  # here, because it needs SciPy

    result = with_partials(name, native)(*arguments)
    if not domain:
        return result
    remedy = (
        "In float32, that is: pass float64 arguments, for which there is no bound above. Or: "
        * narrow
    )
    return require(namespace, valid, result, arguments, name, " and ".join(domain), remedy)


def gammainc(a: Any, x: Any) -> Any:
    return _incomplete("gammainc", repaired.gammainc, a, x, least=-jnp.inf, most=100)


def gammaincc(a: Any, x: Any) -> Any:
    return _incomplete("gammaincc", _gammaincc, a, x, least=-jnp.inf, most=100)


def _gammaincc(a: Any, x: Any) -> Any:
    """For a small a and an x below 1, JAX takes a number near 1 from 1."""
    from adinterface.scipy.for_engines import small_shape_complement  # here, because it needs SciPy

    small = (a < 1e-3) & (x < 1) & (x > 0) & (a >= 0)
    series = small_shape_complement(namespace, jnp.where(small, a, 0), jnp.where(small, x, 0.5))
    at_zero = jnp.where(x == 0, jnp.nan, 0)
    other = special.gammaincc(jnp.where(small | (a == 0), 1, a), x)
    return jnp.where(small, series, jnp.where(a == 0, other * at_zero, other))


def betainc(a: Any, b: Any, x: Any) -> Any:
    """For smaller parameters JAX's is the difference of numbers near 1."""
    return _incomplete("betainc", special.betainc, a, b, x, least=1e-4, most=300)


def __getattr__(name: str) -> Any:
    """Those that not every version of JAX has."""
    if name in ("fresnel", "gammasgn", "owens_t", "wofz"):
        return getattr(special, name)
    if name == "sici" and hasattr(special, name):
        return around(repaired.sici)
    raise AttributeError(name)
