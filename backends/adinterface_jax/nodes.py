"""Whatever JAX's pytree registry knows is a node: Equinox modules, Flax and Optax states, a user's own classes."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sequence
from typing import Any

import jax.tree_util as jtu

from adinterface.contract.nodes import NodeType, Unkeyed, contents, exactly


class Pytree(NodeType):
    def matches(self, value: object) -> bool:
        return jtu.default_registry.flatten_one_level(value) is not None  # of an iterator `tree_structure` warns

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        return jtu.tree_flatten(value, is_leaf=lambda node: node is not value)

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        return jtu.tree_unflatten(data, children)

    def key(self, data: Any) -> Any:
        # The definition itself is equal to one with 4.0 for 4.
        cls, static = data.node_data()
        try:
            return cls, exactly(static)
        except Unkeyed:
            return cls, contents(static)

    def own(self, data: Any) -> Any:
        cls, static = data.node_data()
        try:
            exactly(static)
        except Unkeyed:  # a dict, say, which its owner may write to
            try:
                copied = copy.deepcopy(static)
            except (TypeError, copy.Error):
                return data
            return jtu.PyTreeDef.from_node_data_and_children(jtu.default_registry, (cls, copied), data.children())
        return data

    def paths(self, data: Any, count: int) -> list[str]:
        numbered, _ = jtu.tree_flatten_with_path(jtu.tree_unflatten(data, range(count)))
        return [jtu.keystr(path) for path, _ in numbered]


class EquinoxModule(Pytree):
    """A Python number inside is a hyperparameter, as `eqx.filter_grad` and `eqx.filter_jit` have it."""

    fixes_numbers = True

    def matches(self, value: object) -> bool:
        equinox = sys.modules.get("equinox")
        return equinox is not None and isinstance(value, equinox.Module)
