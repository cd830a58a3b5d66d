"""asdex, sparse Jacobians and Hessians for JAX: the yardstick of ours on JAX."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import asdex
import jax
import jax.numpy as jnp


def _wide(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call with JAX's 64-bit numbers, as our own call of float64 arrays has them."""

    @functools.wraps(call)
    def wide(*args: Any) -> Any:
        with jax.enable_x64(True):
            return call(*args)

    return wide


@_wide
def detected(f: Callable[..., Any], x: Any, scalar: bool) -> Any:
    """The pattern."""
    operator = asdex.hessian_sparsity if scalar else asdex.jacobian_sparsity
    return operator(f, jnp.asarray(x))


@_wide
def coloured(pattern: Any, scalar: bool) -> Any:
    """The pattern with its colours."""
    operator = asdex.hessian_coloring_from_sparsity if scalar else asdex.jacobian_coloring_from_sparsity
    return operator(pattern)


def prepared(f: Callable[..., Any], x: Any, colouring: Any, scalar: bool) -> Callable[[], Any]:
    """The compiled derivative at x, from an array of JAX's to a matrix of JAX's."""
    operator = asdex.hessian_from_coloring if scalar else asdex.jacobian_from_coloring
    compiled = jax.jit(operator(f, colouring))
    with jax.enable_x64(True):
        x = jnp.asarray(x)
    return _wide(lambda: wait(compiled(x)))


def native(x: Any) -> Any:
    with jax.enable_x64(True):
        return jnp.asarray(x)


def wait(matrix: Any) -> Any:
    return matrix.data.block_until_ready()
