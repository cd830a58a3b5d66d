"""Models of JAX's two kinds: a module that is a pytree (Equinox), and a dict of parameters with a
module (Flax).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import Model

ALL = ("gradient", "value_and_gradient", "hvp", "jacobian")


def models() -> list[Model]:
    """Those whose package is installed."""
    known = {
        "equinox": Model("Equinox model", 128, _equinox, _of_equinox, ALL),
        "flax": Model("Flax model", 128, _flax, _of_flax),
    }
    return [
        model for package, model in known.items() if importlib.util.find_spec(package) is not None
    ]


def _equinox() -> Any:
    import equinox

    model = equinox.nn.MLP(64, 10, 64, 1, activation=jnp.tanh, key=jax.random.key(0))
    return (
        _loss(lambda model, x: jax.vmap(model)(x)),
        _outputs(lambda model, x: jax.vmap(model)(x)),
        model,
        _data(),
    )


def _flax() -> Any:
    from flax import linen

    model = linen.Sequential([linen.Dense(64), jnp.tanh, linen.Dense(10)])
    batch, labels = _data()
    parameters = model.init(jax.random.key(0), batch)["params"]
    apply = lambda parameters, x: model.apply({"params": parameters}, x)
    return _loss(apply), _outputs(apply), parameters, (batch, labels)


def _data() -> tuple[jax.Array, jax.Array]:
    rng = np.random.default_rng(0)
    return jnp.asarray(rng.normal(size=(128, 64)), dtype=jnp.float32), jnp.asarray(
        rng.integers(0, 10, size=128)
    )


def _loss(apply: Callable[..., Any]) -> Callable[..., Any]:
    def loss(model: Any, batch: Any, labels: Any) -> Any:
        return -jnp.mean(
            jnp.take_along_axis(jax.nn.log_softmax(apply(model, batch)), labels[:, None], axis=1)
        )

    return loss


def _outputs(apply: Callable[..., Any]) -> Callable[..., Any]:
    return lambda model, batch, labels: jnp.mean(apply(model, batch), axis=0)


def _of_equinox(operator: str, f: Callable[..., Any], prepared: bool) -> Callable[..., Any] | None:
    """Equinox's own operator, which leaves out what is no array."""
    import equinox

    def hvp(model: Any, v: Any, *constants: Any) -> Any:
        gradient: Any = equinox.filter_grad(f)
        filter_jvp: Any = equinox.filter_jvp
        return filter_jvp(lambda model: gradient(model, *constants), (model,), (v,))[1]

    known: dict[str, Any] = {
        "gradient": equinox.filter_grad,
        "value_and_gradient": equinox.filter_value_and_grad,
        "jacobian": equinox.filter_jacrev,
        "hvp": lambda f: hvp,
    }
    if operator not in known:
        return None
    made = known[operator](f)
    jitted: Any = equinox.filter_jit(made) if prepared else made
    return jitted  # type: ignore[no-any-return]


def _of_flax(operator: str, f: Callable[..., Any], prepared: bool) -> Callable[..., Any] | None:
    """JAX's own operator on the dict of parameters."""
    make = {"gradient": jax.grad, "value_and_gradient": jax.value_and_grad}.get(operator)
    if make is None:
        return None
    return jax.jit(make(f)) if prepared else make(f)
