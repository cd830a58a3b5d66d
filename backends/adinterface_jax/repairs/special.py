"""Functions of jax.scipy.special whose derivatives JAX lacks or gets wrong."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special

Function = Callable[..., Any]


def inexact(*values: Any) -> list[Any]:
    dtype = jnp.result_type(*values)
    dtype = jnp.promote_types(
        dtype, jnp.float32 if jnp.issubdtype(dtype, jnp.inexact) else jnp.result_type(float)
    )
    return [jnp.asarray(x, dtype=dtype) for x in values]


def around(function: Function) -> Function:
    """A function of arrays of one inexact dtype and shape, as one of any values."""
    return lambda *values: function(*jnp.broadcast_arrays(*inexact(*values)))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _with_slope(value: Callable[[Any], Any], slope: Callable[[Any], Any], x: Any) -> Any:
    """value(x), with the derivative slope(x)."""
    return value(x)


@_with_slope.defjvp
def _slope_rule(
    value: Callable[[Any], Any], slope: Callable[[Any], Any], primals: Any, tangents: Any
) -> Any:
    (x,), (dx,) = primals, tangents
    return _with_slope(value, slope, x), slope(x) * dx


def bessel0(x: Any) -> Any:
    return _with_slope(special.i0, bessel1, x)


def bessel1(x: Any) -> Any:
    """JAX's rules subtract infinite numbers from 713 on, and its derivative of i0 is 1 at zero."""
    return _with_slope(special.i1, lambda x: bessel0(x) - _quotient(bessel1, 1, x), x)


def _quotient(scaled: Function, scale: Any, x: Any) -> Any:
    """scaled(x) / x for scaled = scale * I1: near zero a series, as derivatives would cancel."""
    small = jnp.abs(x) < 0.1
    y = jnp.where(small, x * x / 4, 0)
    series = (1 + y / 2 * (1 + y / 6 * (1 + y / 12 * (1 + y / 20)))) / 2
    return jnp.where(small, scale * series, scaled(x) / jnp.where(small, 1, x))


def scaled0(x: Any) -> Any:
    return _with_slope(special.i0e, lambda x: scaled1(x) - jnp.sign(x) * scaled0(x), x)


def scaled1(x: Any) -> Any:
    def slope(x: Any) -> Any:
        return (
            scaled0(x) - _quotient(scaled1, jnp.exp(-jnp.sign(x) * x), x) - jnp.sign(x) * scaled1(x)
        )

    return _with_slope(special.i1e, slope, x)


def polygamma(n: int, x: Any) -> Any:
    return special.polygamma(n, x) if n else special.digamma(x)


#: Number by number: the second derivative of JAX 0.12.0 is not for arrays (its `select` gets a
#: threshold without axes). JAX has it from 0.10.1 on.
erfcx: Any = jnp.vectorize(special.erfcx) if hasattr(special, "erfcx") else None


def _spence_slope(x: Any) -> Any:
    """JAX's derivative is zero at one."""
    one = x == 1
    return jnp.where(one, (x - 3) / 2, jnp.log(jnp.where(one, 2, x)) / (1 - jnp.where(one, 2, x)))


def spence(x: Any) -> Any:
    return _with_slope(special.spence, _spence_slope, x)


def gammainc(a: Any, x: Any) -> Any:
    """JAX has NaN where a is zero and x below one."""
    return jnp.where((a == 0) & (x > 0), 1, special.gammainc(a, x))


def _sinc(x: Any) -> Any:
    """sin(x) / x. The second derivative of JAX's is infinite near zero."""
    small = jnp.abs(x) < 1
    y = jnp.where(small, x * x, 0)
    series: Any = 1.0
    for n in range(9, 0, -1):
        series = 1 - y / (2 * n * (2 * n + 1)) * series
    away = jnp.where(small, 1, x)
    return jnp.where(small, series, jnp.sin(away) / away)


def sici(x: Any) -> Any:
    return _with_slope(lambda x: special.sici(x)[0], _sinc, x), _with_slope(
        lambda x: special.sici(x)[1], lambda x: jnp.cos(x) / x, x
    )
