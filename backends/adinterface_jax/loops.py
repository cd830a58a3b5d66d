"""Loops of `jax.lax`, which trace a step once and compile it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from adinterface.core.contract import Arrays, Loops, Step


class JaxLoops(Loops):
    def adopt(self, x: Any, *, dtype: str | None = None, like: Any = None) -> Any:
        # In the current precision, as JAX's functions take it.
        return jnp.asarray(x, dtype=None if dtype is None else jax.dtypes.canonicalize_dtype(dtype))

    def checkpoint(self, function: Callable[..., Arrays], arrays: Arrays) -> Arrays:
        results: Arrays = jax.checkpoint(function)(*arrays)
        return results

    def scan(
        self,
        step: Step,
        carry: Arrays,
        xs: Arrays,
        *,
        length: int,
        reverse: bool,
        checkpoint: int | None,
    ) -> tuple[Arrays, Arrays]:
        if checkpoint is None or length == 0:
            scanned: tuple[Arrays, Arrays] = lax.scan(
                step, carry, xs, length=length, reverse=reverse
            )
            return scanned

        def segment(count: int) -> Step:
            # Inside a scan JAX cannot merge recomputed values with the first ones.
            return jax.checkpoint(
                lambda carry, xs: lax.scan(step, carry, xs, length=count, reverse=reverse),
                prevent_cse=False,
            )

        whole, rest = divmod(length, checkpoint)
        # Those that come last in the order of the steps do not fill a segment.
        cut = rest if reverse else length - rest
        parts = [tuple([x[:cut] for x in xs]), tuple([x[cut:] for x in xs])]
        many, few = parts[::-1] if reverse else parts
        folded = tuple([x.reshape((whole, checkpoint, *x.shape[1:])) for x in many])
        carry, ys = lax.scan(segment(checkpoint), carry, folded, length=whole, reverse=reverse)
        ys = tuple([y.reshape((whole * checkpoint, *y.shape[2:])) for y in ys])
        if rest:
            carry, last = segment(rest)(carry, few)
            pairs = zip(last, ys) if reverse else zip(ys, last)
            ys = tuple([jnp.concatenate(pair) for pair in pairs])
        return carry, ys

    def while_loop(
        self, condition: Callable[[Arrays], Any], body: Callable[[Arrays], Arrays], carry: Arrays
    ) -> Arrays:
        last: Arrays = lax.while_loop(condition, body, carry)
        return last

    def switch(
        self, index: Any, branches: Sequence[Callable[..., Arrays]], operands: Arrays
    ) -> Arrays:
        results: Arrays = lax.switch(index.astype(jnp.int32), branches, *operands)
        return results
