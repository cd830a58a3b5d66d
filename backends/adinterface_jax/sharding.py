"""How an array, or a stack of arrays, lies where another lies: on a mesh, in `shard_map`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec


def sharding_of(like: jax.Array, ndim: int) -> Any:
    """The sharding of `like` for so many axes: extra leading ones are not distributed."""
    sharding = like.sharding
    if ndim == like.ndim or not isinstance(sharding, NamedSharding):
        return sharding
    spec: Any = PartitionSpec(*[None] * (ndim - like.ndim), *sharding.spec)  # type: ignore[no-untyped-call]
    return NamedSharding(sharding.mesh, spec, memory_kind=sharding.memory_kind)


def as_traced(x: Any, like: Any) -> Any:
    """x, or a stack, with the mesh and varying axes of a tracer, as JAX's types require."""
    expected = jax.typeof(like)
    if (
        expected.sharding.mesh.empty
        or x.shape[x.ndim - like.ndim :] != like.shape
        or jax.typeof(x) == expected
    ):
        return x
    return x + jnp.zeros_like(like, dtype=x.dtype)
