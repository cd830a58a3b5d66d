"""The functions of scipy.special that JAX has.

Functions listed by name are right. `adinterface.scipy.special.table` corrects those in PARTS, or composes other functions of
them. Left out, because SciPy's function with the derivatives of the table is better: JAX's exponential integrals take seconds
to compile, have no second derivative, are wrong at zero and do not terminate for some arguments. Its hyp2f1(31.2, 31.2, 1, -2)
is wrong by 70 orders of magnitude, and its hyp1f1(0.3, -7.3, -33.3) is 149,871 instead of 0.84.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special

from . import namespace

Function = Callable[..., Any]


def _inexact(*values: Any) -> list[Any]:
    dtype = jnp.result_type(*values)
    dtype = jnp.promote_types(dtype, jnp.float32 if jnp.issubdtype(dtype, jnp.inexact) else jnp.result_type(float))
    return [jnp.asarray(x, dtype=dtype) for x in values]


def around(function: Function) -> Function:
    """A function of arrays of one inexact dtype and shape, as one of any values."""
    return lambda *values: function(*jnp.broadcast_arrays(*_inexact(*values)))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _with_slope(value: Callable[[Any], Any], slope: Callable[[Any], Any], x: Any) -> Any:
    """value(x), with the derivative slope(x)."""
    return value(x)


@_with_slope.defjvp
def _slope_rule(value: Callable[[Any], Any], slope: Callable[[Any], Any], primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    return _with_slope(value, slope, x), slope(x) * dx


def _bessel0(x: Any) -> Any:
    return _with_slope(special.i0, _bessel1, x)


def _bessel1(x: Any) -> Any:
    """JAX's rules subtract infinite numbers from 713 on, and its derivative of i0 is 1 at zero."""

    def slope(x: Any) -> Any:
        zero = x == 0
        return jnp.where(zero, 0.5, _bessel0(x) - _bessel1(x) / jnp.where(zero, 1, x))

    return _with_slope(special.i1, slope, x)


def _scaled0(x: Any) -> Any:
    return _with_slope(special.i0e, lambda x: _scaled1(x) - jnp.sign(x) * _scaled0(x), x)


def _scaled1(x: Any) -> Any:
    def slope(x: Any) -> Any:
        zero = x == 0
        return jnp.where(zero, 0.5, _scaled0(x) - _scaled1(x) / jnp.where(zero, 1, x) - jnp.sign(x) * _scaled1(x))

    return _with_slope(special.i1e, slope, x)


def _polygamma(n: int, x: Any) -> Any:
    return special.polygamma(n, x) if n else special.digamma(x)


PARTS: dict[str, Function] = {
    "erfc": special.erfc,
    # Number by number: the second derivative of JAX 0.12.0 is not for arrays (its `select` gets a threshold without axes).
    "erfcx": jnp.vectorize(special.erfcx),
    "dawsn": special.dawsn,
    "psi": special.digamma,
    "gammaln": special.gammaln,
    "polygamma": _polygamma,
    "i0e": _scaled0,
    "i1e": _scaled1,
    # The derivatives of JAX are nan outside of the domain, also where they are multiplied by zero.
    "erfinv": special.erfinv,
    "logit": special.logit,
    "ndtri": special.ndtri,
}

erf, erfc, expit, entr = special.erf, special.erfc, special.expit, special.entr
gamma, gammaln = special.gamma, special.gammaln
i0, i1 = around(_bessel0), around(_bessel1)
ndtr = around(special.ndtr)


def _spence_slope(x: Any) -> Any:
    """JAX's derivative is zero at one."""
    one = x == 1
    return jnp.where(one, (x - 3) / 2, jnp.log(jnp.where(one, 2, x)) / (1 - jnp.where(one, 2, x)))


spence = around(lambda x: _with_slope(special.spence, _spence_slope, x))


def _incomplete(name: str, native: Callable[..., Any], *arguments: Any, least: float, most: float) -> Any:
    """JAX's function. Many of its derivatives by the parameters do not converge, or are missing.

    It is right where the dtype is precise enough for logarithms of the size of the parameters.
    """
    arguments = tuple(jnp.broadcast_arrays(*_inexact(*arguments)))
    parameters, narrow = arguments[:-1], arguments[0].dtype == jnp.float32
    total = sum(parameters)
    valid = jnp.isnan(total) | (functools.reduce(jnp.minimum, parameters) >= least)
    if narrow:
        valid &= ~(total > most)
    names = " and ".join("ab"[: len(parameters)])
    domain = [f"{names} from {least:g} on"] * (least > 0) + [f"{' + '.join('ab'[: len(parameters)])} up to {most:g}"] * narrow
    from adinterface.scipy.special.for_engines import require, with_partials  # here, because it needs SciPy

    result = with_partials(name, native)(*arguments)
    if not domain:
        return result
    remedy = "In float32, that is: pass float64 arguments, for which there is no bound above. Or: " * narrow
    return require(namespace, valid, result, arguments, name, " and ".join(domain), remedy)


def gammainc(a: Any, x: Any) -> Any:
    return _incomplete("gammainc", _gammainc, a, x, least=-jnp.inf, most=100)


def _gammainc(a: Any, x: Any) -> Any:
    return jnp.where((a == 0) & (x > 0), 1, special.gammainc(a, x))


def gammaincc(a: Any, x: Any) -> Any:
    return _incomplete("gammaincc", _gammaincc, a, x, least=-jnp.inf, most=100)


def _gammaincc(a: Any, x: Any) -> Any:
    """For a small a and an x below 1, JAX takes a number near 1 from 1."""
    from adinterface.scipy.special.for_engines import small_shape_complement  # here, because it needs SciPy

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
    if name in ("fresnel", "gammasgn", "owens_t", "sici", "wofz"):
        return getattr(special, name)
    raise AttributeError(name)
