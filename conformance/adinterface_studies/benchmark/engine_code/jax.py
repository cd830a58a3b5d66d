"""Good code with JAX alone: its operators, jitted if prepared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.numpy as namespace
import numpy as np

from . import Leaf

__all__ = ["namespace", "native", "transform", "wait"]

native: Callable[[Any], Any] | None = jnp.asarray
wait: Callable[[Any], Any] | None = jax.block_until_ready


def transform(
    leaf: Leaf, operator: str, f: Callable[..., Any], prepared: bool
) -> Callable[..., Any] | None:
    """The JAX operator on JAX arrays, jitted if prepared; on NumPy arrays in their precision, with
    NumPy results.
    """
    make = _TRANSFORMS.get(operator)
    if make is None:
        return None
    if leaf == "native":
        return jax.jit(make(f)) if prepared else lambda *args: make(f)(*args)
    return _of_numpy(make, f, prepared)


def _of_numpy(
    make: Callable[..., Any], f: Callable[..., Any], prepared: bool
) -> Callable[..., Any]:
    if prepared:
        jitted = jax.jit(make(f))
    wide: bool | None = None

    def call(*args: Any) -> Any:
        nonlocal wide
        if wide is None:  # which a user knows of the data
            leaves = jax.tree.leaves(args)
            wide = any(
                leaf.dtype.itemsize == 8
                for leaf in leaves
                if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f"
            )
        with jax.enable_x64(wide):
            found = jitted(*args) if prepared else make(f)(*jax.tree.map(jnp.asarray, args))
            return (
                np.array(found) if isinstance(found, jax.Array) else jax.tree.map(np.array, found)
            )

    return call


def _jacobian(f: Callable[..., Any]) -> Callable[..., Any]:
    def jacobian(x: Any, *constants: Any) -> Any:
        inputs, outputs = _size(x), _size(jax.eval_shape(f, x, *constants))
        return (jax.jacfwd if inputs < outputs else jax.jacrev)(f)(x, *constants)

    return jacobian


def _size(tree: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


def _hvp(f: Callable[..., Any]) -> Callable[..., Any]:
    gradient = jax.grad(f)
    return lambda x, v, *constants: jax.jvp(lambda x: gradient(x, *constants), (x,), (v,))[1]


def _pullback(f: Callable[..., Any]) -> Callable[..., Any]:
    def pullback(x: Any, w: Any, *constants: Any) -> Any:
        value, back = jax.vjp(lambda x: f(x, *constants), x)
        return value, back(w)[0]

    return pullback


def _pushforward(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, v, *constants: jax.jvp(lambda x: f(x, *constants), (x,), (v,))


_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": jax.grad,
    "value_and_gradient": jax.value_and_grad,
    "jacobian": _jacobian,
    "hvp": _hvp,
    "pullback": _pullback,
    "pushforward": _pushforward,
    "hessian": jax.hessian,
}
