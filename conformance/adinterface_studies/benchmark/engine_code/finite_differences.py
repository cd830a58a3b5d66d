"""What a good user writes with NumPy alone: the same stencil in a loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as namespace
import numpy as np

from . import Leaf

__all__ = ["namespace", "native", "transform", "wait"]

native: Callable[[Any], Any] | None = None
wait: Callable[[Any], Any] | None = None


def transform(
    leaf: Leaf, operator: str, f: Callable[..., Any], prepared: bool
) -> Callable[..., Any] | None:
    """Central differences of f along each element; there is nothing to prepare."""
    make = _TRANSFORMS.get(operator)
    return None if make is None else make(f)


def _leaves(tree: Any) -> list[Any]:
    if isinstance(tree, dict):
        return [leaf for child in tree.values() for leaf in _leaves(child)]
    return [leaf for child in tree for leaf in _leaves(child)] if isinstance(tree, list) else [tree]


def _build(tree: Any, leaves: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _build(child, leaves) for key, child in tree.items()}
    return [_build(child, leaves) for child in tree] if isinstance(tree, list) else next(leaves)


def _columns(f: Callable[..., Any], x: Any, constants: Sequence[Any], root: int) -> list[Any]:
    """The derivative of f along each element of each leaf, the elements on the last axis."""
    leaves = _leaves(x)
    found = []
    for n, leaf in enumerate(leaves):
        relative = np.finfo(leaf.dtype).eps ** (1 / root)
        columns = []
        for i in range(leaf.size):
            h = relative * max(1.0, abs(leaf.flat[i]))
            ahead, behind = leaf.copy(), leaf.copy()
            ahead.flat[i] += h
            behind.flat[i] -= h
            up = f(_build(x, iter([*leaves[:n], ahead, *leaves[n + 1 :]])), *constants)
            down = f(_build(x, iter([*leaves[:n], behind, *leaves[n + 1 :]])), *constants)
            columns.append((up - down) / (2 * h))
        derivative = np.moveaxis(np.asarray(columns), 0, -1)
        found.append(derivative.reshape(derivative.shape[:-1] + leaf.shape))
    return found


def _jacobian(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *constants: _build(x, iter(_columns(f, x, constants, 3)))


def _value_and_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, *constants: (f(x, *constants), _build(x, iter(_columns(f, x, constants, 3))))


def _hvp(f: Callable[..., Any]) -> Callable[..., Any]:
    def product(x: Any, v: Any, *constants: Any) -> Any:
        leaves, directions = _leaves(x), _leaves(v)
        h = np.finfo(leaves[0].dtype).eps ** (1 / 4) / max(
            np.max(np.abs(direction)) for direction in directions
        )
        h *= max(1.0, *[np.max(np.abs(leaf)) for leaf in leaves])
        ahead = _build(
            x, iter([leaf + h * direction for leaf, direction in zip(leaves, directions)])
        )
        behind = _build(
            x, iter([leaf - h * direction for leaf, direction in zip(leaves, directions)])
        )
        up, down = _columns(f, ahead, constants, 4), _columns(f, behind, constants, 4)
        return _build(x, iter([(a - b) / (2 * h) for a, b in zip(up, down)]))

    return product


_TRANSFORMS: dict[str, Callable[..., Any]] = {
    "gradient": _jacobian,
    "value_and_gradient": _value_and_gradient,
    "jacobian": _jacobian,
    "hvp": _hvp,
}
