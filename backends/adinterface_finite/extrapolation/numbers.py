"""Extrapolation of one line and one output in Python's numbers, step after step.

What NumPy would do with arrays of a few numbers, in a tenth of the time: a step that is smaller or larger than all others adds
its own windows to those that are there, each from two shorter ones (E. H. Neville, Journal of the Indian Mathematical Society
20 (1934), p. 87).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from .windows import CALM, CAUTION, FLOOR, TOLD, TWICE, Joined, is_far, windows_of_first, windows_of_last


class Number(NamedTuple):
    """As `Estimate`, of one line and one output."""

    value: float
    error: float
    floor: float
    #: The place of the first step of the window that was taken.
    first: int
    #: Of f's values, its standard deviation in units of the step `2**0`; and how much larger the second sample of it is than
    #: the least.
    noise: float
    alike: float


#: What is kept of a window: 0 its estimated error, 1 its value, 2 how far that is from the slope at its last step, 3 the part
#: of rounding, 4 how far it is from the window without its largest step, 5 how noise is amplified in it, and 6 its rank: what
#: comes first of windows that are equally good, the shorter, then that of larger steps. (A list is quicker than an object.)
Kept = list[Any]


class Table:
    """All windows of the steps so far, from the largest to the smallest, and what they say."""

    __slots__ = ("columns", "epsilon", "exponents", "order", "power", "rounding", "said", "samples", "slopes")

    def __init__(self, power: int, order: int):
        self.power, self.order = power, order
        #: What the rounding was reckoned by; below 0 if it was not.
        self.epsilon = -1.0
        self.clear()

    def clear(self) -> None:
        """Begin again."""
        self.exponents: tuple[int, ...] = ()
        self.slopes: list[float] = []
        self.rounding: list[float] = []
        #: For each step the windows that end at it, from that of one step to the longest.
        self.columns: list[list[Kept]] = []
        #: The two least samples of noise.
        self.samples = (math.inf, math.inf)
        #: What was said of all steps but the last.
        self.said: Number | None = None

    def add_last(self, exponents: tuple[int, ...], slope: float, rounding: float) -> None:
        """Reckon with one more step, the last of `exponents`, which is smaller than all others.

        rounding: the error that it makes in the slope.
        """
        self.said = self.estimate() if is_far(exponents) else None
        margin = 8 * rounding
        for column in self.columns:
            for window in column[1:]:
                off = abs(slope - window[1]) - window[2] - margin
                if off > 0:
                    window[0] += off
        column = [_alone(slope, rounding)]
        if self.columns:
            for window, constants in zip(self.columns[-1], windows_of_last(exponents, self.power, self.order)):
                column.append(self._window(column[-1], window, constants, slope))
        self.columns.append(column)
        self.exponents = exponents
        self.slopes.append(slope)
        self.rounding.append(rounding)

    def add_first(self, exponents: tuple[int, ...], slope: float, rounding: float) -> None:
        """As `add_last`, with the first of `exponents`, which is larger than all others."""
        self.said = None
        columns = self.columns
        before = _alone(slope, rounding)
        behind = list(zip(self.slopes, self.rounding))
        for n, (column, constants) in enumerate(zip(columns, windows_of_first(exponents, self.power, self.order)), 1):
            window = self._window(column[-1], before, constants, behind[n - 1][0])
            for smaller, noise in behind[n:]:
                off = abs(smaller - window[1]) - window[2] - 8 * noise
                if off > 0:
                    window[0] += off
            column.append(window)
            before = window
        columns.insert(0, [_alone(slope, rounding)])
        self.exponents = exponents
        self.slopes.insert(0, slope)
        self.rounding.insert(0, rounding)

    def _window(self, shorter: Kept, other: Kept, constants: Joined, last: float) -> Kept:
        """Of the windows without its largest and without its smallest step, at which the slope is `last`."""
        weight, ratio, amplified, difference, rank = constants
        nearer, noise, previous = shorter[1], shorter[3], shorter[4]
        change = weight * (nearer - other[1])
        value = nearer + change
        floor = noise + weight * (noise + other[3])
        error = abs(change)
        total = floor + error
        if difference:
            gained = error / previous * ratio if previous > 0 else 0.0
            if gained < 1.0:
                total = floor + error * (gained if gained > FLOOR else FLOOR)
            sample, samples = error / difference, self.samples
            if sample < samples[1]:
                self.samples = (sample, samples[0]) if sample < samples[0] else (samples[0], sample)
        return [total, value, abs(last - value), floor, error, amplified, rank]

    def estimate(self) -> Number:
        """What the windows of two steps or more say."""
        slopes, columns = self.slopes, self.columns
        if len(slopes) == 2:
            window = columns[1][1]
            return Number(window[1], window[0], window[3], 0, 0.0, math.inf)
        before, power = self.said, self.order * self.exponents[-1]
        if before is not None and abs(slopes[-3] - slopes[-2]) <= CALM * abs(slopes[-2]):
            noise = before.noise / 2.0**power
            if noise > 8 * self.rounding[-1] and TOLD * noise < abs(slopes[-1] - before.value):
                return before
        least, best = math.inf, None
        for column in columns:
            for window in column:
                total = window[0]
                if total < least or (total == least and best is not None and window[6] < best[6]):
                    least, best = total, window
        if best is None:
            return Number(columns[-1][-1][1], math.inf, math.inf, 0, 0.0, math.inf)
        _, value, _, floor, _, amplified, (_, largest) = best
        noise, second = self.samples
        alike = math.inf
        if second < math.inf:
            alike = second / noise if noise > 0 else math.inf
            noise = min(math.sqrt(noise * second), TWICE * noise)
        return Number(value, max(least, CAUTION * noise * amplified), floor, self.exponents.index(-largest), noise, alike)


def _alone(slope: float, rounding: float) -> Kept:
    """The window of one step, which says nothing by itself."""
    return [math.inf, slope, 0.0, rounding, 0.0, 0.0, None]
