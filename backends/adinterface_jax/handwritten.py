"""What a good user writes with JAX alone for trees of NumPy arrays: the yardstick of the benchmark."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.numpy as namespace
import numpy as np

__all__ = ["models", "namespace", "transform"]


def transform(operator: str, f: Callable[..., Any], prepared: bool) -> Callable[..., Any] | None:
    """JAX's own operator, jitted if prepared, in the precision of the arguments, NumPy in and NumPy out."""
    make = _TRANSFORMS.get(operator)
    if make is None:
        return None
    if prepared:
        jitted = jax.jit(make(f))
    wide: bool | None = None
    of_model: Callable[..., Any] | None = None

    def call(*args: Any) -> Any:
        nonlocal wide, of_model
        if wide is None:  # which a user knows of the data, as of the model
            leaves = jax.tree.leaves(args)
            wide = any(leaf.dtype.itemsize == 8 for leaf in leaves if isinstance(leaf, np.ndarray) and leaf.dtype.kind == "f")
            of_model = _of_model(operator, f, prepared) if any(isinstance(leaf, jax.Array) for leaf in leaves) else None
        if of_model is not None:
            return of_model(*args)
        with jax.enable_x64(wide):
            found = jitted(*args) if prepared else make(f)(*jax.tree.map(jnp.asarray, args))
            return np.array(found) if isinstance(found, jax.Array) else jax.tree.map(np.array, found)

    return call


def _of_model(operator: str, f: Callable[..., Any], prepared: bool) -> Callable[..., Any]:
    """Equinox's own operator for its models, which are JAX arrays already."""
    import equinox

    def hvp(model: Any, v: Any, *constants: Any) -> Any:
        gradient: Any = equinox.filter_grad(f)
        filter_jvp: Any = equinox.filter_jvp
        return filter_jvp(lambda model: gradient(model, *constants), (model,), (v,))[1]

    made: Any = {
        "gradient": equinox.filter_grad(f),
        "value_and_gradient": equinox.filter_value_and_grad(f),
        "jacobian": equinox.filter_jacrev(f),
        "hvp": hvp,
    }[operator]
    return equinox.filter_jit(made) if prepared else made


def models() -> dict[str, Any]:
    """An Equinox model: a real function of it, an array-valued one, the model, further arguments."""
    if importlib.util.find_spec("equinox") is None:
        return {}
    import equinox

    rng = np.random.default_rng(0)
    model = equinox.nn.MLP(64, 10, 64, 1, activation=jnp.tanh, key=jax.random.key(0))
    batch = jnp.asarray(rng.normal(size=(128, 64)), dtype=jnp.float32)
    labels = jnp.asarray(rng.integers(0, 10, size=128))

    def loss(model: Any, batch: Any, labels: Any) -> Any:
        logits = jax.vmap(model)(batch)
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))

    def outputs(model: Any, batch: Any, labels: Any) -> Any:
        return jnp.mean(jax.vmap(model)(batch), axis=0)

    return {"Equinox model": (loss, outputs, model, (batch, labels))}


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


_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": jax.grad,
    "value_and_gradient": jax.value_and_grad,
    "jacobian": _jacobian,
    "hvp": _hvp,
    "hessian": jax.hessian,
}
