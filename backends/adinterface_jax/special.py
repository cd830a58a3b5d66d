"""Ufuncs of scipy.special on JAX's arrays: those of `jax.scipy.special`, and a few that it lacks or differentiates roughly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy import special
from jax.scipy.special import *  # noqa: F403

psi = special.digamma
loggamma = special.gammaln


@jax.custom_jvp
def _betaln(a: Any, b: Any) -> Any:
    return special.betaln(a, b)


@_betaln.defjvp
def _betaln_jvp(primals: Any, tangents: Any) -> Any:
    """JAX 0.10 differentiates its series for large arguments, which loses eight digits."""
    (a, b), (da, db) = primals, tangents
    both = special.digamma(a + b)
    return _betaln(a, b), (special.digamma(a) - both) * da + (special.digamma(b) - both) * db


def betaln(a: Any, b: Any) -> Any:  # type: ignore[no-redef]
    return _betaln(*jnp.broadcast_arrays(*_inexact(a, b)))


def _inexact(*values: Any) -> list[Any]:
    dtype = jnp.result_type(*values)
    dtype = jnp.promote_types(dtype, jnp.float32 if jnp.issubdtype(dtype, jnp.inexact) else jnp.result_type(float))
    return [jnp.asarray(x, dtype=dtype) for x in values]


def rgamma(x: Any) -> Any:
    return 1 / special.gamma(x)


def binom(n: Any, k: Any) -> Any:
    n, k = _inexact(n, k)
    return special.gamma(n + 1) / special.gamma(k + 1) / special.gamma(n - k + 1)


def _of_integers_too(function: Callable[..., Any]) -> Callable[..., Any]:
    """JAX refuses integers and booleans in some functions; the rules of others fail where one of several arguments is such."""

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        return function(*_inexact(*args))

    return call


hyp1f1, hyp2f1, log_ndtr, ndtr, ndtri, poch, spence, xlog1py, xlogy = (  # type: ignore[assignment]
    _of_integers_too(function)
    for function in (
        special.hyp1f1, special.hyp2f1, special.log_ndtr, special.ndtr, special.ndtri, special.poch, special.spence,
        special.xlog1py, special.xlogy,
    )
)  # fmt: skip
