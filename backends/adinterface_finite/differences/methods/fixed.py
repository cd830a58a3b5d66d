"""Stencils of fixed steps: central, forward and backward differences of a chosen order.

Source of the step: Press et al., Numerical Recipes, 3rd ed., section 5.7: eps^(1/3) balances
truncation and rounding of a central difference; eps^(1/(p+1)) does for order p. Weights: B.
Fornberg, Math. Comp. 51 (1988).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..evaluation import Arrays, Evaluations
from ..points import Lines
from .method import Method, Slopes, in_parts


class Fixed(Method):
    """kind: "central", "forward" or "backward". step: relative to max(1, |x|), or the scale."""

    estimates = False

    def __init__(
        self, kind: str, order: int | None, step: float | None, noise: float | None, depth: int = 1
    ):
        self.kind, self.step, self.noise, self.depth = kind, step, noise, depth
        self.order = order or (2 if kind == "central" else 1)
        self.nodes, weights = stencil(kind, self.order)
        #: The nodes other than the point, and the factors from their distances to the mean step;
        #: the weights.
        self.beside = [node for node in self.nodes if node]
        self.shares = np.array([1 / node for node in self.beside]) / len(self.beside)
        self.weights = np.array([weight for node, weight in zip(self.nodes, weights) if node])
        #: The weight of f at the point itself; None if it takes no part.
        self.here = weights[self.nodes.index(0.0)] if 0.0 in self.nodes else None

    def relative(self, exactness: float) -> float:
        """The step, relative to a number's scale."""
        if self.step is not None:
            return self.step
        return float(max(self.noise or 0.0, exactness) ** (1 / (self.order + self.depth)))

    def relative_error(self, order: int, epsilon: float) -> float:
        # A factor of 1000, and of 100, is for functions that bend more than a sine.
        error: float = epsilon ** (self.order / (self.order + order))
        return (1e3 if order == 1 else 1e2) * error

    def slopes(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        along = functools.partial(self._along, evaluations, lines, fresh)
        return in_parts(evaluations, lines, len(self.nodes), along)

    def _along(
        self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays], chosen: range
    ) -> Slopes:
        scaled, relative, steps = lines.point.scale is not None, dict[float, float](), []
        for line in chosen:
            reach, exactness = lines.reach(line)
            if exactness not in relative:
                relative[exactness] = self.relative(exactness)
            steps.append(relative[exactness] * (lines.facts(line).usual if scaled else reach))
        wanted = [(line, node * step) for line, step in zip(chosen, steps) for node in self.beside]
        moved: list[Any] = []
        # first: it says which outputs are numbers
        here = None if self.here is None else evaluations.here()
        vectors = evaluations.vectors(lines.points(wanted, fresh, moved))
        form, shape = evaluations.form, (len(steps), len(self.beside))
        values = np.array(vectors, form.dtype).reshape(*shape, form.size)
        lengths = (np.array(moved).reshape(shape) @ self.shares)[:, None]
        weighted = self.weights @ values
        if here is not None:
            weighted += self.here * here
        if lengths.all():
            slopes = weighted / lengths
        else:  # a number that does not move has no slope
            slopes = np.divide(weighted, lengths, out=np.zeros_like(weighted), where=lengths != 0)
        if not evaluations.is_heard(1, self.estimates):
            return Slopes(*[slopes] * 5)  # their accuracy is not used
        sizes = np.abs(values).max(axis=1)
        if here is not None:
            sizes = np.maximum(sizes, np.abs(here))
        # Truncation as if f bent in the scale of x, and rounding.
        exactness = max(form.epsilon, self.noise or 0.0, evaluations.level.error)
        floors = exactness * sizes / np.array(steps)[:, None]
        scales = np.array([lines.facts(line).usual for line in chosen])[:, None]
        errors = np.abs(slopes) * max(relative.values(), default=0.0) ** self.order + floors
        return Slopes(slopes, errors, floors, sizes / scales, np.zeros(errors.shape))


@functools.cache
def stencil(kind: str, order: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Nodes and weights of a first derivative: it is exact for the polynomial through the nodes."""
    if kind == "central":
        half = (order + 1) // 2
        nodes = [float(k) for k in range(half, -half - 1, -1) if k]
    else:
        nodes = [float(k) if kind == "forward" else -float(k) for k in range(order, -1, -1)]
    powers = np.vander(np.array(nodes), len(nodes), increasing=True).T
    weights = np.linalg.solve(powers, np.eye(len(nodes))[1])
    return tuple(nodes), tuple(weights.tolist())
