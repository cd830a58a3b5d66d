"""What a method gives: slopes along lines, with their estimated errors."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adinterface.contract.backend import Arrays

from ..evaluation import Evaluations
from ..points import Lines

Array = np.ndarray[Any, Any]


#: Of one line and one output: the derivative, its error, floor and size, as in `Slopes`.
Row = tuple[float, float, float, float]


class Slopes:
    """Of some lines, (lines, outputs): the derivatives along each, their estimated errors, and how f's values were.

    Of few lines of an f with one real output they are Python's numbers until somebody asks for arrays: of some numbers NumPy's
    take longer than f.
    """

    __slots__ = ("_rows", "errors", "floors", "sizes", "values")

    values: Array
    errors: Array
    #: The part of them that rounding and noise make, which is what differences of these derivatives have to deal with.
    floors: Array
    #: The largest value of each output that was met along each line.
    sizes: Array

    def __init__(self, values: Array, errors: Array, floors: Array, sizes: Array):
        self.values, self.errors, self.floors, self.sizes = values, errors, floors, sizes
        self._rows: list[Row] | None = None

    @classmethod
    def of_numbers(cls, rows: list[Row]) -> Slopes:
        """Of lines with one real output."""
        slopes = cls.__new__(cls)
        slopes._rows = rows
        return slopes

    @classmethod
    def joined(cls, parts: Sequence[Slopes]) -> Slopes:
        """Of some lines one after another."""
        rows: list[Row] = []
        for part in parts:
            if part._rows is None:
                arrays = zip(*[(part.values, part.errors, part.floors, part.sizes) for part in parts])
                return cls(*[np.concatenate(column) for column in arrays])
            rows += part._rows
        return cls.of_numbers(rows)

    def __getattr__(self, name: str) -> Array:
        """The arrays of numbers, from now on in their place."""
        if name not in ("values", "errors", "floors", "sizes"):
            raise AttributeError(name)
        assert self._rows is not None
        self.values, self.errors, self.floors, self.sizes = np.array(self._rows).T[:, :, None]
        self._rows = None
        found: Array = getattr(self, name)
        return found

    def largest(self, start: int, stop: int) -> tuple[float, float]:
        """The largest derivative of these lines in absolute value, and the largest error; not finite if any is not."""
        if self._rows is None or stop == start:
            top = float(np.abs(self.values[start:stop]).max(initial=0.0))
            return top, float(self.errors[start:stop].max(initial=0.0))
        if stop - start == 1:
            value, error, _, _ = self._rows[start]
            return float(abs(value)), float(error)  # steps along directions may be NumPy's numbers
        values, errors, _, _ = zip(*self._rows[start:stop])
        top, error = max(map(abs, values)), max(errors)
        if math.isfinite(sum(map(abs, values))) and not math.isnan(sum(errors)):
            return float(top), float(error)
        return float(np.abs(values).max()), float(np.max(errors))

    def block(self, start: int, stop: int, shape: tuple[int, ...]) -> Array:
        """The derivatives of one real output along these lines, in this shape, as an array of its own."""
        if self._rows is None:
            return self.values[start:stop, 0].reshape(shape).copy()
        values = np.array(next(zip(*self._rows[start:stop]), ()))
        return values if values.shape == shape else values.reshape(shape).copy()


class Method(ABC):
    """From evaluations of f to slopes."""

    @abstractmethod
    def slopes(self, evaluations: Evaluations, lines: Lines, fresh: Callable[[], Arrays]) -> Slopes:
        """The derivatives along these lines. `fresh()` gives the leaves that do not move."""

    @abstractmethod
    def relative_error(self, order: int, epsilon: float) -> float:
        """What to expect of derivatives of this order, relative to the largest number that takes part, by f's precision."""
