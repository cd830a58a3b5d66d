"""Stencils of fixed steps: central, forward and backward differences of a chosen order.

Source of the step: Press et al., Numerical Recipes, 3rd ed., section 5.7: eps^(1/3) balances the truncation error of a
central difference against its rounding error; eps^(1/(p+1)) does for order p. Weights: B. Fornberg, Math. Comp. 51 (1988).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adinterface.core.contract.backend import Arrays

from ..evaluation import Evaluations
from ..points import Lines
from .method import Array, Method, Slopes


class Fixed(Method):
    """kind: "central", "forward" or "backward". step: relative to max(1, |x|), or to the scale if one is given."""

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
        if self.nodes == (1.0, -1.0):
            return self._pairs(evaluations, lines, fresh)
        steps = self._steps(lines)
        found: list[Array] = []
        sizes: list[Array] = []
        for line, step in enumerate(steps):
            vectors: list[Array] = []
            moved: list[Any] = []
            for node in self.nodes:
                if node == 0.0:
                    outputs, _ = evaluations.base()
                    vector = evaluations.layout(outputs).flat(outputs)
                else:
                    leaves, distance = lines.at(fresh(), line, node * step)
                    moved.append(distance / (node * step))
                    (vector,) = evaluations.vectors([leaves])
                vectors.append(np.atleast_1d(vector))
            array = np.array(vectors, evaluations.layout(()).dtype)
            found.append(np.tensordot(np.array(self.weights), array, 1) / (step * float(np.mean(moved))))
            sizes.append(np.abs(array).max(axis=0))
        return self._with_errors(evaluations, lines, np.array(found), np.array(sizes), steps)

    def _pairs(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        """Two evaluations a line, without the generality of the rest."""
        steps = self._steps(lines)
        apart: list[Any] = []

        def points() -> Any:
            at = lines.at
            for line, step in enumerate(steps):
                ahead, far = at(fresh(), line, step)
                yield ahead
                behind, near = at(fresh(), line, -step)
                apart.append(far - near)
                yield behind

        vectors = evaluations.vectors(points())
        layout = evaluations.layout(())
        array = np.array(vectors, layout.dtype).reshape(len(steps), 2, layout.count)
        lengths = np.array(apart)[:, None]
        with np.errstate(all="ignore"):
            values = np.where(lengths == 0, 0.0, (array[:, 0] - array[:, 1]) / np.where(lengths == 0, 1.0, lengths))
        return self._with_errors(evaluations, lines, values, np.abs(array).max(axis=1), steps)

    def _steps(self, lines: Lines) -> list[float]:
        reach = lines.reach if lines.point.scale is None else lambda line: lines.scale(line)[0]
        return [self.relative(lines.exactness(line)) * reach(line) for line in range(lines.count)]

    def _with_errors(self, evaluations: Evaluations, lines: Lines, values: Array, sizes: Array, steps: list[float]) -> Slopes:
        """Truncation as if f bent in the scale of x, and rounding."""
        relative = max([self.relative(lines.exactness(line)) for line in range(min(1, lines.count))], default=0.0)
        exactness = max(evaluations.layout(()).epsilon, self.noise or 0.0, evaluations.level.error)
        lengths = np.array(steps)[:, None] if len(steps) else np.ones((0, 1))
        floors = exactness * sizes / lengths
        return Slopes(values, np.abs(values) * relative**self.order + floors, floors, sizes)


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
