"""Ufuncs of scipy.special on JAX's arrays: those of `jax.scipy.special`, and a few that it lacks or differentiates roughly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special
from jax.scipy.special import *  # noqa: F403

from adinterface.numpy_code.compositions import COMPOSITIONS, far_out

from . import namespace


def _inexact(*values: Any) -> list[Any]:
    dtype = jnp.result_type(*values)
    dtype = jnp.promote_types(dtype, jnp.float32 if jnp.issubdtype(dtype, jnp.inexact) else jnp.result_type(float))
    return [jnp.asarray(x, dtype=dtype) for x in values]


def _composed(composed: Callable[..., Any], *own: Any) -> Callable[..., Any]:
    """A function that is made of JAX's own; one program, so that an eager call does not dispatch its many steps one by one."""
    compiled = functools.partial(composed, namespace, *own)
    return lambda *values: compiled(*jnp.broadcast_arrays(*_inexact(*values)))


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
    """JAX's own rules are differences of infinite numbers from 713 on, and that of i0 is 1 at zero."""

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


def _digammas(n: int, x: Any) -> Any:
    return special.polygamma(n, x) if n else special.digamma(x)


_gammas = (special.gammaln, _digammas)
# Number by number: the second derivative of JAX 0.12.0 is not for arrays (its `select` gets a threshold without axes).
_erfcx = _composed(far_out.erfcx, jnp.vectorize(special.erfcx))

loggamma = special.gammaln
digamma = psi = _composed(far_out.digamma, special.digamma)
erfcx = _erfcx
dawsn = _composed(far_out.dawsn, special.dawsn)
log_ndtr = _composed(far_out.log_ndtr, special.erfc, _erfcx)  # type: ignore[assignment]
i0, i1 = _composed(lambda xp, x: _bessel0(x)), _composed(lambda xp, x: _bessel1(x))
i0e, i1e = _composed(far_out.scaled_bessel, 0, _scaled0), _composed(far_out.scaled_bessel, 1, _scaled1)
rgamma = _composed(far_out.rgamma, special.gammaln)
beta, betaln, binom, poch = (  # type: ignore[assignment]
    _composed(composed, *_gammas) for composed in (far_out.beta, far_out.betaln, far_out.binom, far_out.poch)
)
boxcox, boxcox1p, inv_boxcox, kl_div, rel_entr, xlog1py, xlogy = (  # type: ignore[assignment]
    functools.partial(COMPOSITIONS[f"special.{name}"], namespace)
    for name in ("boxcox", "boxcox1p", "inv_boxcox", "kl_div", "rel_entr", "xlog1py", "xlogy")
)


def _spence_slope(x: Any) -> Any:
    """JAX's own is zero at one."""
    one = x == 1
    return jnp.where(one, (x - 3) / 2, jnp.log(jnp.where(one, 2, x)) / (1 - jnp.where(one, 2, x)))


spence = _composed(lambda xp, x: _with_slope(special.spence, _spence_slope, x))


@functools.cache
def _with_partials(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """JAX's own; its derivatives by the parameters do not converge for many arguments, have none themselves, or are missing."""
    from adinterface.scipy.special.own import with_partials  # here, because it needs SciPy

    return with_partials(name, own)


def _incomplete(name: str, own: Callable[..., Any], *arguments: Any, least: float, most: float) -> Any:
    """JAX's own, where the dtype leaves enough of it: logarithms on the way are of the size of the parameters."""
    arguments = tuple(jnp.broadcast_arrays(*_inexact(*arguments)))
    parameters, narrow = arguments[:-1], arguments[0].dtype == jnp.float32
    total = sum(parameters)
    valid = jnp.isnan(total) | (functools.reduce(jnp.minimum, parameters) >= least)
    if narrow:
        valid &= ~(total > most)
    names = " and ".join("ab"[: len(parameters)])
    domain = [f"{names} from {least:g} on"] * (least > 0) + [f"{' + '.join('ab'[: len(parameters)])} up to {most:g}"] * narrow
    found = _with_partials(name, own)(*arguments)
    if not domain:
        return found
    remedy = "In float32, that is: pass float64 arguments, for which there is no bound above. Or: " * narrow
    return far_out.require(namespace, valid, found, arguments, name, " and ".join(domain), remedy)


def gammainc(a: Any, x: Any) -> Any:  # type: ignore[no-redef]
    return _incomplete("gammainc", _gammainc, a, x, least=-jnp.inf, most=100)


def _gammainc(a: Any, x: Any) -> Any:
    return jnp.where((a == 0) & (x > 0), 1, special.gammainc(a, x))


def gammaincc(a: Any, x: Any) -> Any:  # type: ignore[no-redef]
    return _incomplete("gammaincc", _gammaincc, a, x, least=-jnp.inf, most=100)


def _gammaincc(a: Any, x: Any) -> Any:
    """For a small a and an x below 1, JAX takes a number near 1 from 1."""
    small = (a < 1e-3) & (x < 1) & (x > 0) & (a >= 0)
    series = far_out.small_shape_complement(namespace, jnp.where(small, a, 0), jnp.where(small, x, 0.5))
    at_zero = jnp.where(x == 0, jnp.nan, 0)
    other = special.gammaincc(jnp.where(small | (a == 0), 1, a), x)
    return jnp.where(small, series, jnp.where(a == 0, other * at_zero, other))


def betainc(a: Any, b: Any, x: Any) -> Any:  # type: ignore[no-redef]
    """For smaller parameters JAX's is the difference of numbers near 1."""
    return _incomplete("betainc", special.betainc, a, b, x, least=1e-4, most=300)


def _inverse(name: str, own: Callable[..., Any]) -> Callable[..., Any]:
    """JAX's own; its derivatives are nan outside of the domain, also where nothing is to come of them. It refuses integers."""
    return lambda x: _with_partials(name, own)(*_inexact(x))


ndtr = functools.wraps(special.ndtr)(lambda x: special.ndtr(*_inexact(x)))
erfinv = _inverse("erfinv", special.erfinv)
logit = _inverse("logit", special.logit)  # type: ignore[assignment]
ndtri = _inverse("ndtri", special.ndtri)


# SciPy's own, by rules (`adinterface.scipy`): JAX's exponential integrals take seconds to compile, have no second derivative,
# are wrong at zero and do not come to an end for some arguments; its hyp2f1(31.2, 31.2, 1, -2) is 70 orders of magnitude off,
# and its hyp1f1(0.3, -7.3, -33.3) is 149,871 for 0.84.
del exp1, expi, expn, hyp1f1, hyp2f1  # noqa: F821
