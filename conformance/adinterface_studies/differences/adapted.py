"""The method of FiniteDifferences.jl, written again by what it publishes, for the table.

Source: `central_fdm(5, 1)` of FiniteDifferences.jl 0.12 (github.com/JuliaDiff/FiniteDifferences.jl, src/methods.jl). It is a
stencil of five points. The step balances rounding, by the size of f, against truncation, by the size of its fifth derivative.
A stencil of seven points estimates the latter, with its own step. The step does not know the size of x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

#: What the fifth derivative is taken for where nothing is known; how much larger a step may be than without knowledge of f.
_CONDITION, _LARGEST = 10.0, 1000.0


@cache
def _weights(points: int, order: int, offset: int = 0) -> Array:
    """Of the derivative of this order at `offset`, from values at -k .. k."""
    nodes = np.arange(points) - points // 2 - offset
    powers = np.vander(nodes.astype(float), points, increasing=True).T
    return np.asarray(np.linalg.solve(powers, math.factorial(order) * np.eye(points)[order]))


def _step(points: int, order: int, derivative: float, error: float) -> float:
    """Where the sum of truncation and rounding is least."""
    weights, nodes = _weights(points, order), np.arange(points) - points // 2
    rounding = error * float(np.abs(weights).sum())
    truncation = derivative * float(np.abs(weights * nodes.astype(float) ** points).sum()) / math.factorial(points)
    return float((order / (points - order) * rounding / truncation) ** (1 / points))


def derivative(f: Callable[[float], Array], x: float) -> Array:
    """Of a function of one number, by twelve evaluations."""
    wide = _step(7, 5, _CONDITION, 2.0**-52)
    seen = np.array([f(x + k * wide) for k in range(-3, 4)])
    size = float(np.abs(seen).max())
    fifth = max(float(np.abs(np.tensordot(_weights(7, 5, at), seen, 1)).max()) / wide**5 for at in (-1, 0, 1))
    usual = step = _step(5, 1, _CONDITION, 2.0**-52)
    if 0 < fifth < math.inf and 0 < size < math.inf:
        step = min(_step(5, 1, fifth, float(np.spacing(size))), _LARGEST * usual)
    values = np.array([f(x + k * step) for k in range(-2, 3)])
    return np.asarray(np.tensordot(_weights(5, 1), values, 1) / step)


def jacobian(f: Callable[[Array], Any], x: Array) -> Array:
    """(outputs, numbers)"""

    def along(i: int) -> Callable[[float], Array]:
        def g(t: float) -> Array:
            moved = x.copy()
            moved[i] = t
            return np.atleast_1d(f(moved))

        return g

    return np.stack([derivative(along(i), float(x[i])) for i in range(len(x))], axis=1)
