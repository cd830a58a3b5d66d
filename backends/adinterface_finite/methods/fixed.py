"""Stencils of fixed steps: central, forward and backward differences of a chosen order.

Source of the step: Press et al., Numerical Recipes, 3rd ed., section 5.7: eps^(1/3) balances the truncation error of a
central difference against its rounding error; eps^(1/(p+1)) does for order p. Weights: B. Fornberg, Math. Comp. 51 (1988).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adinterface.core.contract.backend import Arrays

from ..evaluation import Evaluations
from ..points import Lines
from .method import Method, Slopes, in_parts


class Fixed(Method):
    """kind: "central", "forward" or "backward". step: relative to max(1, |x|), or to the scale if one is given."""

    estimates = False

    def __init__(self, kind: str, order: int | None, step: float | None, noise: float | None, depth: int = 1):
        self.kind, self.step, self.noise, self.depth = kind, step, noise, depth
        self.order = order or (2 if kind == "central" else 1)
        self.nodes, self.weights = stencil(kind, self.order)

    def relative(self, exactness: float) -> float:
        """The step, relative to a number's scale."""
        if self.step is not None:
            return self.step
        balanced: float = max(self.noise or 0.0, exactness) ** (1 / (self.order + self.depth))
        return balanced

    def relative_error(self, order: int, epsilon: float) -> float:
        # A factor of 1000, and of 100, is for functions that bend more than a sine.
        error: float = epsilon ** (self.order / (self.order + order))
        return (1e3 if order == 1 else 1e2) * error

    def slopes(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        return in_parts(evaluations, lines, len(self.nodes), lambda chosen: self._along(evaluations, lines, chosen, fresh))

    def _along(self, evaluations: Evaluations, lines: Lines, chosen: range, fresh: Callable[[], Arrays]) -> Slopes:
        scaled = lines.point.scale is not None
        relative = [self.relative(lines.exactness(line)) for line in chosen]
        steps = [r * (lines.scale(line)[0] if scaled else lines.reach(line)) for r, line in zip(relative, chosen)]
        nodes = [node for node in self.nodes if node]
        moved: list[Any] = []

        def points() -> Iterator[Sequence[Any]]:
            for line, step in zip(chosen, steps):
                move = lines.mover(line, fresh)
                for node in nodes:
                    leaves, distance = move(node * step)
                    moved.append(distance)
                    yield leaves

        vectors = evaluations.vectors(points())
        flattener = evaluations.flattener(())
        values = np.array(vectors, flattener.dtype).reshape(len(chosen), len(nodes), flattener.count)
        lengths = np.array(moved).reshape(len(chosen), len(nodes)) @ (1 / np.array(nodes)) / len(nodes)
        weighted = np.array([weight for node, weight in zip(self.nodes, self.weights) if node]) @ values
        sizes = np.abs(values).max(axis=1)
        if len(nodes) < len(self.nodes):
            outputs, _ = evaluations.base()
            here = np.array(np.atleast_1d(flattener.flat(outputs)), flattener.dtype)
            weighted += self.weights[self.nodes.index(0.0)] * here
            sizes = np.maximum(sizes, np.abs(here))
        with np.errstate(all="ignore"):  # a number that does not move has no slope
            slopes = np.where(lengths[:, None] == 0, 0.0, weighted / lengths[:, None])
        # Truncation as if f bent in the scale of x, and rounding.
        exactness = max(flattener.epsilon, self.noise or 0.0, evaluations.level.error)
        floors = exactness * sizes / np.array(steps)[:, None]
        return Slopes(slopes, np.abs(slopes) * max(relative, default=0.0) ** self.order + floors, floors, sizes)


@functools.cache
def stencil(kind: str, order: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Nodes and weights of a first derivative: those of the polynomial through the nodes."""
    if kind == "central":
        half = (order + 1) // 2
        nodes = [float(k) for k in range(half, -half - 1, -1) if k]
    else:
        nodes = [float(k) if kind == "forward" else -float(k) for k in range(order, -1, -1)]
    powers = np.vander(np.array(nodes), len(nodes), increasing=True).T
    weights = np.linalg.solve(powers, np.eye(len(nodes))[1])
    return tuple(nodes), tuple(weights.tolist())
