"""Differences in the arithmetic of any arrays, for values of which an estimate cannot be taken: another engine follows them.

The stencil is fixed: four points, whose error falls with the fourth power of the step. The step is a number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: Distances and weights; the step is the fifth root of the machine epsilon.
STENCIL, ROOT = ((1.0, 8 / 12), (-1.0, -8 / 12), (2.0, -1 / 12), (-2.0, 1 / 12)), 5


def step_along(leaves: Sequence[Any], tangents: Sequence[Any], exactness: Sequence[float]) -> float | None:
    """The step: relative to the largest component of x that v moves, at least to 1; None if v is zero.

    Numbers of leaves and tangents; None, for unknown ones, is taken for 1. exactness: the machine epsilons of the leaves.
    """
    scale, length, relative = 1.0, 0.0, 0.0
    for x, v, coarse in zip(leaves, tangents, exactness):
        moves = np.ones(() if x is None else np.shape(x)) if v is None else np.abs(v)
        if not np.any(moves):
            continue
        relative = max(relative, coarse ** (1 / ROOT))
        length = max(length, float(np.max(moves)))
        if x is not None:
            scale = max(scale, float(np.max(np.abs(x), where=moves != 0, initial=0.0)))
    return relative * scale / length if length else None


def pushed(f: Callable[[list[Any]], Sequence[Any]], leaves: Sequence[Any], tangents: Sequence[Any], step: float) -> list[Any]:
    """The derivatives of f's outputs along a direction. f takes the list of its displaced leaves."""
    total: list[Any] = []
    for distance, weight in STENCIL:
        there = f([leaf + distance * step * tangent for leaf, tangent in zip(leaves, tangents)])
        change = [weight * output for output in there]
        total = [sum_ + each for sum_, each in zip(total, change)] if total else change
    return [sum_ / step for sum_ in total]
