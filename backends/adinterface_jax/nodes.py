"""Classes in JAX's pytree registry are nodes: Equinox, Flax, Optax states, a user's own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import jax
import jax.tree_util as jtu
import numpy as np

from adinterface import Constant
from adinterface.core.contract import Around, NodeType, key_of


class Pytree(NodeType):
    def matches(self, value: object) -> bool:
        # of an iterator `tree_structure` warns
        return jtu.default_registry.flatten_one_level(value) is not None

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        return jtu.tree_flatten(value, is_leaf=lambda node: node is not value)

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        return jtu.tree_unflatten(data, children)

    def key(self, data: Any, fixed: bool = True) -> Any:
        # The definition itself is equal to one with 4.0 for 4.
        return key_of(data.node_data(), fixed)

    def paths(self, data: Any, count: int) -> list[str]:
        numbered, _ = jtu.tree_flatten_with_path(jtu.tree_unflatten(data, range(count)))
        return [jtu.keystr(path) for path, _ in numbered]


class EquinoxModule(Pytree):
    """A Python number inside is a hyperparameter, as in `eqx.filter_grad` and `filter_jit`."""

    fixes_numbers = True

    def matches(self, value: object) -> bool:
        equinox = sys.modules.get("equinox")
        return equinox is not None and isinstance(value, equinox.Module)


class NnxObject(Pytree):
    """Flax NNX modules and variables. Only `nnx.Param` has a gradient, as in `nnx.grad`."""

    def matches(self, value: object) -> bool:
        nnx = sys.modules.get("flax.nnx")
        return (
            nnx is not None
            and isinstance(value, (nnx.Pytree, nnx.Variable))
            and super().matches(value)
        )

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        children, data = super().flatten(value)
        if self.writable(value) and not isinstance(value, sys.modules["flax.nnx"].Param):
            children = [Constant(child) for child in children]
        return children, data

    def replace(self, data: Any, children: Sequence[Any]) -> Any:
        return self.unflatten(
            data, [child.value if type(child) is Constant else child for child in children]
        )

    def around(self, operator: Any, plan: Any) -> Around:
        from .nnx import Changes  # here, because few programs need it

        return Changes(operator)

    def writable(self, value: Any) -> bool:
        """Whether `write` can replace the object's value."""
        return isinstance(value, sys.modules["flax.nnx"].Variable)

    def write(self, value: Any, child: Any) -> None:
        """Replace the value of a writable object, which is its one child."""
        from adinterface import tree  # here, so that JAX needs no extension without NNX

        # Beside NumPy arrays or Python numbers it was presented as such.
        if isinstance(value.get_raw_value(), jax.Array) and isinstance(
            child, (float, complex, int)
        ):
            child = np.asarray(child, dtype=value.get_raw_value().dtype)
        value.set_raw_value(tree.to(child, "jax"))  # `jax.tree.map` would sort the keys of a dict
