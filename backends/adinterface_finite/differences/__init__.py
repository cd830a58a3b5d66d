"""Derivatives of functions of NumPy arrays by finite differences, with estimated errors.

>>> import numpy as np
>>> from adinterface_finite.differences import differentiate
>>> found = differentiate(np.sin, np.array([0.5, 1.0]))
>>> # one row for each number in the arguments
>>> bool(abs(found.values[0] - [np.cos(0.5), 0.0]).max() < 1e-12)
True
>>> bool(found.errors.max() < 1e-12)
True

Each module builds on those before it, and on NumPy alone:

- `extrapolation`: slopes at several steps, extrapolated to step zero with an estimated error;
  `neighbours`: whether the values at both sides of the point show all that f does; `steps`: which
  step is next, and when there are enough.
- `levels`, `evaluation`: what methods ask of f, and how noisy it is where it takes differences
  itself; `points`, `lines`: where f is evaluated.
- `methods`: from evaluations to slopes; `second_order`: second derivatives; `accuracy`: which
  estimates call for a warning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .accuracy import LeafError, errors_by_leaf, overall
from .evaluation import OUTSIDE, Array, ArrayEvaluations, Evaluations, Outputs, kept
from .levels import Level, below, enclosing
from .lines import Coordinates, Directions
from .methods import Method, Slopes, method_of
from .methods.sampling import StepError
from .points import BasePoint, Lines
from .second_order import Second, along, hessian, product


def differentiate(f: Callable[..., Any], *arrays: Array, method: Method | None = None) -> Slopes:
    """The derivatives of f by each number in the arrays, of shape (numbers, outputs).

    f gets copies of the arrays and returns an array or a number. method: from `method_of`; adaptive
    differences by default.
    """
    evaluations = ArrayEvaluations(f, *arrays, records=True)
    lines = Coordinates(BasePoint(arrays), [False] * len(arrays))
    chosen = method or method_of()
    return evaluations.apart(lambda fresh: chosen.slopes(evaluations, lines, fresh))


__all__ = [
    "OUTSIDE", "Array", "ArrayEvaluations", "BasePoint", "Coordinates", "Directions", "Evaluations",
    "LeafError", "Level", "Lines", "Method", "Outputs", "Second", "Slopes", "StepError", "along",
    "below", "differentiate", "enclosing", "errors_by_leaf", "hessian", "kept", "method_of",
    "overall", "product",
]  # fmt: skip
