"""What a method gives: slopes along lines, with their estimated errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from adinterface.core.contract.backend import Arrays

from ..evaluation import Evaluations
from ..points import Lines

Array = np.ndarray[Any, Any]


class Slopes(NamedTuple):
    """Of some lines, (lines, outputs): the derivatives along each, their estimated errors, and how f's values were."""

    values: Array
    errors: Array
    #: The part of them that rounding and noise make, which is what differences of these derivatives have to deal with.
    floors: Array
    #: The largest value of each output that was met along each line.
    sizes: Array

    @classmethod
    def joined(cls, parts: Sequence[Slopes]) -> Slopes:
        """Of some lines one after another."""
        return cls(*[np.concatenate(column) for column in zip(*parts)])


class Method(ABC):
    """From evaluations of f to slopes."""

    @abstractmethod
    def slopes(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        """The derivatives along these lines. `fresh()` gives the leaves that do not move."""

    @abstractmethod
    def relative_error(self, order: int, epsilon: float) -> float:
        """What to expect of derivatives of this order, relative to the largest number that takes part, by f's precision."""
