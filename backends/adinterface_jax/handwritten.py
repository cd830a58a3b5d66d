"""What a good user writes with JAX alone for trees of NumPy arrays: the yardstick of the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def one_shot(operator: str, f: Callable[..., Any], args: tuple[Any, ...]) -> Callable[[], Any] | None:
    """A call without preparation: eager JAX, in the precision of the arguments, NumPy in and NumPy out."""
    transform = _TRANSFORMS.get(operator)
    if transform is None:
        return None
    wide = any(leaf.dtype.itemsize == 8 for leaf in jax.tree.leaves(args))

    def call() -> Any:
        with jax.enable_x64(wide):
            return jax.tree.map(np.array, transform(f, *jax.tree.map(jnp.asarray, args)))

    return call


def _jacobian(f: Callable[..., Any], x: Any) -> Any:
    inputs, outputs = _size(x), _size(jax.eval_shape(f, x))
    return (jax.jacfwd if inputs < outputs else jax.jacrev)(f)(x)


def _size(tree: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": lambda f, x: jax.grad(f)(x),
    "value_and_gradient": lambda f, x: jax.value_and_grad(f)(x),
    "jacobian": _jacobian,
    "hvp": lambda f, x, v: jax.jvp(jax.grad(f), (x,), (v,))[1],
    "hessian": lambda f, x: jax.hessian(f)(x),
}
