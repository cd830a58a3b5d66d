"""Steps of training as JAX's users write them: loss, gradient and Optax in one function of `jax.jit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax


def _loss(model: Any, x: Any, y: Any) -> Any:
    hidden = jnp.tanh(x @ model["w"] + model["b"])
    scores = hidden @ model["v"] + model["c"]
    return -jnp.mean(jnp.sum(y * jax.nn.log_softmax(scores), axis=1))


def _model() -> Any:
    draw = np.random.default_rng(0)
    shapes = {"w": (64, 64), "b": (64,), "v": (64, 10), "c": (10,)}
    return {name: draw.normal(size=shape).astype(np.float32) / 8 for name, shape in shapes.items()}


def _data() -> tuple[Any, Any]:
    draw = np.random.default_rng(1)
    return draw.normal(size=(128, 64)).astype(np.float32), np.eye(10, dtype=np.float32)[draw.integers(10, size=128)]


def _on_device(tree: Any) -> Any:
    return jax.tree.map(jnp.asarray, tree)


def _by_hand(transform: Any, model: Any, wait: bool) -> Callable[..., Any]:
    @jax.jit
    def step(model: Any, state: Any, x: Any, y: Any) -> Any:
        value, gradient = jax.value_and_grad(_loss)(model, x, y)
        updates, state = transform.update(gradient, state, model)
        return value, optax.apply_updates(model, updates), state

    state = transform.init(model)

    def stepped(x: Any, y: Any) -> Any:
        nonlocal model, state
        value, model, state = step(model, state, x, y)
        if wait:  # NumPy in, NumPy out
            model, state = jax.tree.map(np.array, (model, state))
            value = np.asarray(value)
        return value

    return stepped


def steps(auto: Any, step: Callable[..., Any]) -> Iterator[Any]:
    """An MLP of 64, 64, 10 on a batch of 128 by Adam: of JAX's own arrays, and of NumPy's."""
    transform, data = optax.adam(1e-3), _data()
    native = _on_device(_model())
    yield step(
        "MLP, Adam of Optax, JAX's arrays", _loss, _on_device(data), auto, "from_optax", (transform,), {}, native,
        lambda: _by_hand(transform, native, False), jax.block_until_ready,
    )  # fmt: skip
    yield step(
        "MLP, Adam of Optax, NumPy arrays", _loss, data, auto, "from_optax", (transform,), {}, _model(),
        lambda: _by_hand(transform, _model(), True), jax.block_until_ready,
    )  # fmt: skip
    yield step(
        "the same, gradient and Optax apart", _loss, _on_device(data), auto, "from_optax", (transform,), {}, native,
        lambda: _by_hand(transform, native, False), jax.block_until_ready, False,
    )  # fmt: skip
