"""What a good user writes with NumPy alone: the same stencil in a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as namespace
import numpy as np

from . import Function, build, leaves

__all__ = ["namespace", "native", "transform", "wait"]

native = wait = None


def transform(leaf: str, operator: str, f: Function, prepared: bool) -> Function | None:
    """Central differences of f along each element; there is nothing to prepare."""
    made: dict[str, Function] = {
        "gradient": lambda x, *constants: _jacobian(f, x, constants),
        "value_and_gradient": lambda x, *rest: (f(x, *rest), _jacobian(f, x, rest)),
        "jacobian": lambda x, *constants: _jacobian(f, x, constants),
        "hvp": lambda x, v, *constants: _hvp(f, x, v, constants),
    }
    return made.get(operator)


def _jacobian(f: Function, x: Any, constants: Sequence[Any], root: int = 3) -> Any:
    """The derivative of f along each element of each leaf, the elements on the last axes."""
    parts, found = leaves(x), []
    for n, leaf in enumerate(parts):
        relative, columns = np.finfo(leaf.dtype).eps ** (1 / root), []
        for i in range(leaf.size):
            h = relative * max(1.0, abs(leaf.flat[i]))
            ends = []
            for sign in (1, -1):
                moved = leaf.copy()
                moved.flat[i] += sign * h
                ends.append(f(build(x, iter([*parts[:n], moved, *parts[n + 1 :]])), *constants))
            columns.append((ends[0] - ends[1]) / (2 * h))
        derivative = np.moveaxis(np.asarray(columns), 0, -1)
        found.append(derivative.reshape(derivative.shape[:-1] + leaf.shape))
    return build(x, iter(found))


def _hvp(f: Function, x: Any, v: Any, constants: Sequence[Any]) -> Any:
    parts, directions = leaves(x), leaves(v)
    h = np.finfo(parts[0].dtype).eps ** (1 / 4) / max(np.max(np.abs(d)) for d in directions)
    h *= max(1.0, *[np.max(np.abs(leaf)) for leaf in parts])
    ends = []
    for step in (h, -h):
        moved = build(x, iter([leaf + step * d for leaf, d in zip(parts, directions)]))
        ends.append(leaves(_jacobian(f, moved, constants, 4)))
    return build(x, iter([(a - b) / (2 * h) for a, b in zip(*ends)]))
