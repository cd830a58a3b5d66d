"""From slopes at several steps to the slope at none, and how far that can be trusted.

The error of a central slope is a series in h^2, that of a one-sided one in h, so a polynomial through the slopes of some
neighbouring steps, a window, is extrapolated to h = 0. Every window gives a value; what it differs by from the window
without its largest step is the error of that one, from which its own is guessed; rounding is amplified by known factors.
For each output the window with the least estimated error is taken.

Sources. Extrapolation: L. F. Richardson, Phil. Trans. Royal Society A 210 (1911), p. 307. A table of windows in which the
least error decides: C. Ridders, Advances in Engineering Software 4 (1982), p. 75.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, Any]

#: A window's error is at least this part of that of the window without its largest step.
FLOOR = 0.01
#: A measured noise counts so many times: it is seen in one or two samples.
CAUTION = 3.0
#: How much larger than the least sample of noise the mean of the two least may be: the other one may show how f bends.
TWICE = 8.0


#: From this power of two on a step lies far below the others: what is noise at those is much more there. Where the slopes at
#: the others differ by at most this part, and that at the far step by more than this part of such noise, f is noisy. Where the
#: far slope is much nearer than that, there is none, and what the others show is what f does between them.
FAR, CALM, TOLD = 6, 0.2, 0.01


class Windows(NamedTuple):
    """All windows of neighbouring steps: first those of one step, then those of two, ..."""

    #: (windows, steps): the weights of the slopes in a window's value.
    weights: Array
    #: Their absolute values.
    gains: Array
    #: The window without the largest step, for each of two steps or more.
    shorter: Array
    #: For each window of three steps or more, how much faster it converges than the shorter one if all goes well.
    ratios: Array
    #: How much independent noise of f is amplified in the value, and in the difference of a window and its shorter one; in
    #: units of the smallest step.
    amplified: Array
    difference: Array
    #: Steps behind a window, which may contradict it: for each such pair the window, its last step, the smaller step; and
    #: what sums the pairs of a window.
    behind: tuple[Array, Array, Array]
    gathered: Array
    #: The place of the first step of each window of two steps or more.
    first: Array
    steps: int
    #: The same as Python's numbers, for each window of two steps or more.
    wide: tuple[Window, ...]
    #: `2**exponent` of each step.
    powers: tuple[float, ...]
    #: The windows without the smallest step if that lies far below the others, and how much more noise that step has.
    before: Windows | None
    louder: float

    def number(self, slopes: Sequence[float], rounding: Sequence[float]) -> Number:
        """As `extrapolate`, for one line and one output.

        What NumPy would do with arrays of a few numbers, in a tenth of the time.
        """
        if self.before is not None and abs(slopes[-3] - slopes[-2]) <= CALM * abs(slopes[-2]):
            found = self.before.number(slopes[:-1], rounding[:-1])
            noise = found.noise * self.louder
            if noise > 8 * rounding[-1] and TOLD * noise < abs(slopes[-1] - found.value):
                return found
        if self.steps == 2:
            weight, (far, near), (more, noise) = self.wide[0].weight, slopes, rounding
            change, floor = weight * (near - far), noise + weight * (noise + more)
            return Number(near + change, floor + abs(change), floor, 0, 0.0, math.inf)
        steps = self.steps
        values, floors, errors = list(slopes), list(rounding), [0.0] * steps
        best, least, samples = -1, math.inf, []
        for _start, stop, shorter, other, weight, ratio, _, difference in self.wide:
            nearer, noise = values[shorter], floors[shorter]
            change = weight * (nearer - values[other])
            value, floor, error = nearer + change, noise + weight * (noise + floors[other]), abs(change)
            total = floor + error
            if difference:
                previous = errors[shorter]
                gained = error / previous * ratio if previous > 0 else 0.0
                if gained < 1.0:
                    total = floor + error * (gained if gained > FLOOR else FLOOR)
                samples.append(error / difference)
            if stop < steps:
                last = abs(slopes[stop - 1] - value)
                for j in range(stop, steps):
                    off = abs(slopes[j] - value) - last - 8 * rounding[j]
                    if off > 0:
                        total += off
            if total < least:
                best, least = len(values), total
            values.append(value)
            floors.append(floor)
            errors.append(error)
        if best < 0:
            return Number(values[-1], math.inf, math.inf, 0, 0.0, math.inf)
        window, noise, alike = self.wide[best - steps], 0.0, math.inf
        if samples:
            samples.sort()
            noise = samples[0]
            if len(samples) > 1:
                noise = min(math.sqrt(noise * samples[1]), TWICE * noise)
                alike = samples[1] / samples[0] if samples[0] > 0 else math.inf
            least = max(least, CAUTION * noise * window.amplified)
        return Number(values[best], least, floors[best], window.start, noise, alike)


class Window(NamedTuple):
    """One window of two steps or more, as Neville makes it of two shorter ones."""

    start: int
    stop: int
    #: The windows without the largest and without the smallest step, and what their difference counts.
    shorter: int
    other: int
    weight: float
    #: As in `Windows`; 0 in windows of two steps.
    ratio: float
    amplified: float
    difference: float


class Number(NamedTuple):
    """As `Estimate`, of one line and one output."""

    value: float
    error: float
    floor: float
    first: int
    #: Of the slope at the smallest step; and how much larger the second sample of it is than the least.
    noise: float
    alike: float


@functools.lru_cache(maxsize=4096)
def windows(exponents: tuple[int, ...], power: int, order: int) -> Windows:
    """Of steps `2**exponents`, from the largest to the smallest, where errors are a series in `h**power`.

    order: of the derivative; the noise of f's values is divided by that power of the step.
    """
    steps = len(exponents)
    sizes = np.array([2.0 ** (e - exponents[-1]) for e in exponents])
    nodes = sizes**power
    spans = [(start, size) for size in range(1, steps + 1) for start in range(steps - size + 1)]
    number = {span: n for n, span in enumerate(spans)}
    weights = np.zeros((len(spans), steps))
    for n, (start, size) in enumerate(spans):
        inside = range(start, start + size)
        for j in inside:
            weights[n, j] = np.prod([nodes[k] / (nodes[k] - nodes[j]) for k in inside if k != j])
    wide = spans[steps:]
    shorter = np.array([number[start + 1, size - 1] for start, size in wide], dtype=int)
    ratios = np.array([nodes[start] / nodes[start + 1] for start, size in wide if size > 2])
    rounding = (weights / sizes**order) ** 2
    apart = ((weights[steps:] - weights[shorter]) / sizes**order) ** 2
    pairs = [(n, start + size - 1, j) for n, (start, size) in enumerate(wide) for j in range(start + size, steps)]
    gathered = np.zeros((len(wide), len(pairs)))
    for k, (n, _, _) in enumerate(pairs):
        gathered[n, k] = 1.0
    columns = np.array(pairs, dtype=int).reshape(-1, 3)
    behind = (columns[:, 0], columns[:, 1], columns[:, 2])
    amplified, difference = np.sqrt(rounding.sum(axis=1))[steps:], np.sqrt(apart.sum(axis=1))[steps - 1 :]
    two = [0.0] * max(0, steps - 1)
    others = [number[start, size - 1] for start, size in wide]
    parts = [float(nodes[start + size - 1] / (nodes[start] - nodes[start + size - 1])) for start, size in wide]
    each = zip(wide, shorter.tolist(), others, parts, two + ratios.tolist(), amplified.tolist(), two + difference.tolist())
    singly = tuple([Window(start, start + size, *rest) for (start, size), *rest in each])
    far = steps > 3 and exponents[-2] - exponents[-1] >= FAR
    before = windows(exponents[:-1], power, order) if far else None
    louder = 2.0 ** (order * (exponents[-2] - exponents[-1])) if far else 0.0
    return Windows(
        weights, np.abs(weights), shorter, ratios[:, None], amplified, difference[:, None], behind, gathered,
        np.array([start for start, _ in wide], dtype=int), steps, singly, tuple([2.0**e for e in exponents]),
        before, louder,
    )  # fmt: skip


class Estimate(NamedTuple):
    """Of some lines and outputs: (lines, outputs) each."""

    value: Array
    error: Array
    #: The part of the error that rounding and noise make.
    floor: Array
    #: The place of the first step of the window that was taken.
    first: Array
    #: The noise of f's values that the slopes show, its standard deviation.
    noise: Array | None
    #: How much larger the second sample of it is than the least; None if there are not two.
    alike: Array | None


def extrapolate(found: Windows, slopes: Array, rounding: Array, smallest: Array) -> Estimate:
    """slopes, rounding: (lines, steps, outputs), from the largest step to the smallest.

    smallest: (lines, 1, 1), the smallest step to the power of the derivative's order.
    """
    estimate = _extrapolate(found, slopes, rounding, smallest)
    if found.before is None:
        return estimate
    near, bend = slopes[:, -2], slopes[:, -3] - slopes[:, -2]
    calm = _largest(bend) <= CALM * _largest(near)
    if not calm.any():
        return estimate
    before = _extrapolate(found.before, slopes[:, :-1], rounding[:, :-1], smallest * found.louder)
    assert before.noise is not None
    noise = before.noise / smallest[:, 0]
    told = (noise > 8 * rounding[:, -1]) & (TOLD * noise < np.abs(slopes[:, -1] - before.value))
    noisy = calm & told.any(axis=1, keepdims=True)  # by chance one of many outputs is as near as if it were not noisy
    parts = [np.where(noisy, old, new) for old, new in zip(before[:4], estimate[:4])]
    return Estimate(parts[0], parts[1], parts[2], parts[3], estimate.noise, estimate.alike)


def _largest(array: Array) -> Array:
    """By line."""
    return np.asarray(np.abs(array).max(axis=1, keepdims=True, initial=0.0))


def _extrapolate(found: Windows, slopes: Array, rounding: Array, smallest: Array) -> Estimate:
    steps = found.steps
    values = found.weights @ slopes
    wide = values[:, steps:]
    errors = np.abs(wide - values[:, found.shorter])
    floors = found.gains[steps:] @ rounding
    total = floors.copy()
    noise = alike = None
    if steps > 2:
        previous = errors[:, found.shorter[steps - 1 :] - steps]
        latest = errors[:, steps - 1 :]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(previous > 0, latest / previous, 0.0) * found.ratios
        total[:, : steps - 1] += errors[:, : steps - 1]
        total[:, steps - 1 :] += latest * np.clip(ratio, FLOOR, 1.0)
        window, last, smaller = found.behind
        here = wide[:, window]
        off = np.abs(slopes[:, smaller] - here) - np.abs(slopes[:, last] - here) - 8 * rounding[:, smaller]
        total += found.gathered @ np.maximum(off, 0.0)
        samples = latest / found.difference
        if steps > 3:
            samples = np.sort(samples, axis=1)
            with np.errstate(divide="ignore", invalid="ignore"):
                alike = np.where(samples[:, 0] > 0, samples[:, 1] / samples[:, 0], np.inf)
            noise = np.minimum(np.sqrt(samples[:, 0] * samples[:, 1]), TWICE * samples[:, 0]) * smallest[:, 0]
        else:
            noise = samples[:, 0] * smallest[:, 0]
    else:
        total += errors
    best = total.argmin(axis=1)
    lines, outputs = np.ogrid[: best.shape[0], : best.shape[1]]
    value, error, floor = wide[lines, best, outputs], total[lines, best, outputs], floors[lines, best, outputs]
    if noise is not None:
        error = np.maximum(error, CAUTION * noise * found.amplified[best] / smallest[:, 0])
    return Estimate(value, error, floor, found.first[best], noise, alike)
