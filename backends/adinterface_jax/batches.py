"""One computation for all entries of a leading axis, in chunks that fit into memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax


def vectorized(compute: Callable[..., Any], each: tuple[bool, ...], chunk: int) -> Callable[..., Any]:
    """`compute` for each entry of the arrays that have one, of at most `chunk` entries at a time."""
    at_once = jax.vmap(compute, in_axes=tuple([0 if stacked else None for stacked in each]))

    def function(*arrays: Any) -> Any:
        stacks = [array for array, stacked in zip(arrays, each) if stacked]
        if chunk >= stacks[0].shape[0]:
            return at_once(*arrays)
        form: Any = None

        def leaves_of(parts: list[Any]) -> list[Any]:
            nonlocal form
            rest = iter(parts)
            # Each chunk is traced on its own, and JAX treats the structures of their results as different.
            leaves, form = jax.tree.flatten(compute(*[next(rest) if stacked else x for x, stacked in zip(arrays, each)]))
            return leaves

        leaves = jax.lax.map(leaves_of, stacks, batch_size=chunk)
        return jax.tree.unflatten(form, leaves)

    return function
