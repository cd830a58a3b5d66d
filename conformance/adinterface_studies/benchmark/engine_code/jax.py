"""Good code with JAX alone: its operators, jitted if prepared."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.numpy as namespace
import numpy as np

from . import Function

__all__ = ["namespace", "native", "transform", "wait"]

native, wait = jnp.asarray, jax.block_until_ready


def transform(leaf: str, operator: str, f: Function, prepared: bool) -> Function | None:
    """The JAX operator on JAX arrays; on NumPy arrays in their precision, with NumPy results."""
    make = _TRANSFORMS.get(operator)
    if make is None:
        return None
    jitted = jax.jit(make(f)) if prepared else None
    if leaf == "native":
        return jitted or (lambda *args: make(f)(*args))
    wide: bool | None = None

    def of_numpy(*args: Any) -> Any:
        nonlocal wide
        if wide is None:  # which a user knows of the data
            wide = any(leaf.dtype == np.float64 for leaf in jax.tree.leaves(args))
        with jax.enable_x64(wide):
            found = jitted(*args) if jitted else make(f)(*jax.tree.map(jnp.asarray, args))
            one = isinstance(found, jax.Array)
            return np.array(found) if one else jax.tree.map(np.array, found)

    return of_numpy


def _jacobian(f: Function) -> Function:
    def jacobian(x: Any, *constants: Any) -> Any:
        inputs, outputs = _size(x), _size(jax.eval_shape(f, x, *constants))
        return (jax.jacfwd if inputs < outputs else jax.jacrev)(f)(x, *constants)

    return jacobian


def _size(tree: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(tree))


def _pullback(f: Function) -> Function:
    def pullback(x: Any, w: Any, *constants: Any) -> Any:
        value, back = jax.vjp(lambda x: f(x, *constants), x)
        return value, back(w)[0]

    return pullback


def _pushforward(f: Function) -> Function:
    return lambda x, v, *constants: jax.jvp(lambda x: f(x, *constants), (x,), (v,))


def _hvp(f: Function) -> Function:
    pushed = _pushforward(jax.grad(f))
    return lambda *args: pushed(*args)[1]


_TRANSFORMS: dict[str, Function] = {
    "gradient": jax.grad,
    "value_and_gradient": jax.value_and_grad,
    "jacobian": _jacobian,
    "hvp": _hvp,
    "pullback": _pullback,
    "pushforward": _pushforward,
    "hessian": jax.hessian,
}
