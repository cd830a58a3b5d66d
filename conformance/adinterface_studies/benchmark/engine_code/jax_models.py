"""Models of JAX's two kinds: a module that is a pytree (Equinox), and a dict of parameters with a
module (Flax).
"""

from __future__ import annotations

import importlib.util
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import Function, Model

ALL = ("gradient", "value_and_gradient", "hvp", "jacobian")


def models() -> list[Model]:
    """Those whose package is installed."""
    known = {
        "equinox": Model("Equinox model", 128, _equinox, _of_equinox, ALL),
        "flax": Model("Flax model", 128, _flax, _of_flax),
    }
    return [each for package, each in known.items() if importlib.util.find_spec(package)]


def _equinox() -> Any:
    import equinox

    model = equinox.nn.MLP(64, 10, 64, 1, activation=jnp.tanh, key=jax.random.key(0))
    return _problem(lambda model, x: jax.vmap(model)(x), model)


def _flax() -> Any:
    from flax import linen

    model = linen.Sequential([linen.Dense(64), jnp.tanh, linen.Dense(10)])
    parameters = model.init(jax.random.key(0), jnp.zeros((1, 64)))["params"]
    return _problem(lambda parameters, x: model.apply({"params": parameters}, x), parameters)


def _problem(apply: Function, model: Any) -> Any:
    def loss(model: Any, batch: Any, labels: Any) -> Any:
        chances = jax.nn.log_softmax(apply(model, batch))
        return -jnp.mean(jnp.take_along_axis(chances, labels[:, None], axis=1))

    rng = np.random.default_rng(0)
    batch = jnp.asarray(rng.normal(size=(128, 64)), dtype=jnp.float32)
    labels = jnp.asarray(rng.integers(0, 10, size=128))
    return loss, lambda m, x, y: jnp.mean(apply(m, x), axis=0), model, (batch, labels)


def _of_equinox(operator: str, f: Function, prepared: bool) -> Function | None:
    """Equinox's own operator, which leaves out what is no array."""
    import equinox

    filter_jvp: Any = equinox.filter_jvp

    def hvp(model: Any, v: Any, *constants: Any) -> Any:
        gradient: Any = equinox.filter_grad(f)
        return filter_jvp(lambda model: gradient(model, *constants), (model,), (v,))[1]

    known: dict[str, Any] = {
        "gradient": equinox.filter_grad,
        "value_and_gradient": equinox.filter_value_and_grad,
        "jacobian": equinox.filter_jacrev,
        "hvp": lambda f: hvp,
    }
    made: Any = known[operator](f) if operator in known else None
    return made if made is None or not prepared else equinox.filter_jit(made)


def _of_flax(operator: str, f: Function, prepared: bool) -> Function | None:
    """JAX's own operator on the dict of parameters."""
    make = {"gradient": jax.grad, "value_and_gradient": jax.value_and_grad}.get(operator)
    return None if make is None else jax.jit(make(f)) if prepared else make(f)
