"""Whatever JAX's pytree registry knows is a node: Equinox modules, Flax and Optax states, a user's own classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.tree_util as jtu

from adinterface.contract.nodes import NodeType


class Pytree(NodeType):
    def matches(self, value: object) -> bool:
        return not jtu.treedef_is_leaf(jtu.tree_structure(value, is_leaf=lambda node: node is not value))

    def flatten(self, value: Any) -> tuple[Sequence[Any], Any]:
        return jtu.tree_flatten(value, is_leaf=lambda node: node is not value)

    def unflatten(self, data: Any, children: Sequence[Any]) -> Any:
        return jtu.tree_unflatten(data, children)

    def paths(self, data: Any, count: int) -> list[str]:
        numbered, _ = jtu.tree_flatten_with_path(jtu.tree_unflatten(data, range(count)))
        return [jtu.keystr(path) for path, _ in numbered]
