"""Ufuncs of scipy.special on JAX's arrays: those of `jax.scipy.special`, and a few that it lacks."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax.scipy import special
from jax.scipy.special import *  # noqa: F403

psi = special.digamma
loggamma = special.gammaln


def rgamma(x: Any) -> Any:
    return 1 / special.gamma(x)


def binom(n: Any, k: Any) -> Any:
    n, k = jnp.asarray(n), jnp.asarray(k)
    return special.gamma(n + 1) / special.gamma(k + 1) / special.gamma(n - k + 1)
