"""The Lagrangian of a constrained problem on a nested model, and its Hessian."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.contract.auto import AutoBackend
from ..core.tree.structures import Constant
from ..tree import leaves
from ..tree.mapping import require_leaf
from .flat import Flat, first
from .packing import Vector


class Lagrangian:
    """`factor * f(model, *constants) + multipliers @ g(model)` as a function of one vector.

    g returns a tree like `value`.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        g: Callable[[Any], Any] | None,
        backend: AutoBackend,
        start: Any,
        constants: tuple[Any, ...],
        value: Any,
    ):
        self._f, self._g, self._constants = f, g, constants
        self._shapes = [require_leaf(leaf, "the constraint").shape(leaf) for leaf in leaves(value)]
        self._starts: list[int] = np.cumsum(
            [0, *[math.prod(shape) for shape in self._shapes]]
        ).tolist()
        #: How many numbers g has.
        self.size: int = self._starts[-1]
        self._example = np.random.default_rng(0).normal(size=self.size)
        self._found = False
        self._flat = Flat(
            self._value, backend, start, (1.0, self._parts(np.zeros(self.size)), *constants), {}
        )

    def hessian(self, x: Vector, multipliers: Vector, factor: float) -> Any:
        """The Hessian as a matrix of shape `(n, n)`.

        A SciPy sparse matrix if the backend is `AutoSparse`.
        """
        if not self._found:
            # A pattern that is probed must see all of g, which multipliers of zero would hide.
            self._found = True
            self.hessian(self._flat.x0, self._example, 0.7)
        changed = Constant(float(factor)), Constant(self._parts(multipliers))
        self._flat.constants = (*changed, *self._flat.constants[2:])
        return self._flat.hess(x)

    def _value(self, model: Any, factor: Any, multipliers: Any, *constants: Any) -> Any:
        total = factor * first(self._f(model, *constants))
        if self._g is not None:
            for leaf, multiplier, shape in zip(
                leaves(self._g(model)), multipliers, self._shapes, strict=True
            ):
                total = total + (multiplier * leaf if shape == () else (multiplier * leaf).sum())
        return total

    def _parts(self, multipliers: Vector) -> list[Any]:
        """The multipliers in the shapes of the leaves of g."""
        parts = [multipliers[start:stop] for start, stop in zip(self._starts, self._starts[1:])]
        return [
            float(part[0]) if shape == () else part.reshape(shape)
            for part, shape in zip(parts, self._shapes)
        ]


__all__ = ["Lagrangian"]
