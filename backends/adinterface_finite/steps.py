"""Which steps: where they start, where they go next, and when there are enough of them. The numbers behind are all here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .extrapolation import Estimate, Number

Array = np.ndarray[Any, Any]

#: The first step, in units of x. Neighbouring steps differ by powers of two; this factor keeps them from being multiples of
#: the period of a function that oscillates.
START, FACTOR = 2.0**-3.5, 107 / 128
#: Steps at which two neighbouring slopes differ by this part extrapolate best.
GOOD = 0.02
#: Enough, in units of f's precision: at once; with two evaluations to spare; and for a function that looks linear.
ENOUGH, LATE, LINEAR = 90.0, 4.5e4, 2e3
#: From this relative error on, steps shrink twice as fast.
LOST = 0.1
#: How much smaller a step is taken where f is not finite: by this power of two.
RETREAT = 6
#: Values of so few decimal digits are taken for rounded ones, unless they have no more than so many binary digits.
DIGITS, BITS = 9, 42
#: One coarse look back by at most this power of two; one leap out of the noise.
LEAST, LEAP = -6, 14
#: How much more noise than rounding is reckoned with where steps are chosen.
UNSEEN = 8.0
#: From this relative error on, if it is so many times what the steps lack and samples of noise are alike up to this factor,
#: the last step is a test: how noisy it may be in parts of that error, and how far away at most.
UNSURE, BEYOND, ALIKE, PART, FARTHEST = 1e-5, 3e4, 10.0, 1e-4, 24


def grain(values: Sequence[float]) -> float:
    """Of which power of ten all of these positive numbers are multiples, as printed or tabled ones are; 0 if of none.

    Numbers of a few binary digits do not count: exact arithmetic gives such. Nor do one or two numbers over and over, as of
    an f that is constant on one side of a kink.
    """
    top = max(values)
    if not 1e-200 < top < 1e200 or len(set(values)) < min(3, len(values)):
        return 0.0
    first = -math.floor(math.log10(top))
    finest = values[0] * 10.0 ** (first + DIGITS - 1)
    if abs(finest - round(finest)) > 2.0**-50 * finest:
        return 0.0
    for digits in range(first, first + DIGITS):
        power = 10.0**digits
        if all(abs(value * power - round(value * power)) <= 2.0**-50 * value * power for value in values):
            many = sum([value.as_integer_ratio()[0].bit_length() > BITS for value in values])
            return 1 / power if many * 2 >= len(values) else 0.0
    return 0.0


def may_be_rounded(values: Array) -> Array:
    """Where `grain` may find something. values: (lines, steps, outputs), not negative; gives (lines, outputs)."""
    top = values.max(axis=1)
    with np.errstate(all="ignore"):
        finest = values * (10.0 ** (DIGITS - 1 - np.floor(np.log10(top))))[:, None]
        found = (np.abs(finest - np.rint(finest)) <= 2.0**-50 * finest).all(axis=1)
    return np.asarray(found & (top > 0))


def unit(scale: float) -> float:
    """The first step for a number of this size: a power of two times FACTOR, so that it has few digits."""
    if not (0.0 < scale < math.inf):
        scale = 1.0
    return FACTOR * 2.0 ** min(max(round(math.log2(START * scale)), -1000), 1000)


def decide(
    exponents: tuple[int, ...],
    power: int,
    slopes: Array,
    rounding: Array,
    estimate: Estimate,
    epsilon: float,
    small: Sequence[bool],
    bad: Sequence[int],
    left: Sequence[int],
) -> list[int | None]:
    """The exponent of the next step of each of some lines that have the same; None for those that have enough.

    slopes, rounding: (lines, steps, outputs). small: whether the largest step is less than x itself. bad: the least exponent
    at which f was not finite. left: how many evaluations each line may still take.
    """
    sizes = _norms(slopes)
    noises = 2 * rounding.max(axis=2, initial=0.0)
    low_bends, high_bends = _norms(slopes[:, -2] - slopes[:, -1]), _norms(slopes[:, 0] - slopes[:, 1])
    of_lines = sizes, noises, low_bends, high_bends, _norms(estimate.value), _norms(estimate.error), _norms(estimate.floor)
    alike = np.full(len(slopes), np.inf)
    if estimate.alike is not None and slopes.shape[2]:
        worst = estimate.error.argmax(axis=1)[:, None]
        alike = np.take_along_axis(estimate.alike, worst, 1)[:, 0]
    lines: Any = zip(*[measure.tolist() for measure in (*of_lines, alike)])
    return [_next(exponents, power, epsilon, small[n], bad[n], left[n], *measures) for n, measures in enumerate(lines)]


def decide_number(
    exponents: tuple[int, ...],
    power: int,
    slopes: Sequence[float],
    rounding: Sequence[float],
    estimate: Number,
    epsilon: float,
    small: bool,
    bad: int,
    left: int,
) -> int | None:
    """As `decide`, for one line of a function with one output."""
    sizes, noises = [abs(slope) for slope in slopes], [2 * noise for noise in rounding]
    low_bend, high_bend = abs(slopes[-2] - slopes[-1]), abs(slopes[0] - slopes[1])
    top, error, floor = abs(estimate.value), estimate.error, estimate.floor
    measures = sizes, noises, low_bend, high_bend, top, error, floor, estimate.alike
    return _next(exponents, power, epsilon, small, bad, left, *measures)


def _norms(array: Array) -> Array:
    norms: Array = np.abs(array).max(axis=-1, initial=0.0)
    return norms


def _next(
    exponents: tuple[int, ...],
    power: int,
    epsilon: float,
    small: bool,
    bad: int,
    left: int,
    sizes: Sequence[float],
    noises: Sequence[float],
    low_bend: float,
    high_bend: float,
    top: float,
    error: float,
    floor: float,
    alike: float,
) -> int | None:
    if not any(sizes):
        return None
    steps, high, low = len(exponents), exponents[0], exponents[-1]
    last = sizes[-1] or 1.0
    low_bend, high_bend = low_bend / last, high_bend / last
    low_noise, high_noise = noises[-1] / last, noises[1] / last
    relative = error / top if top else 0.0
    rest = left // 2
    #: What the smallest step lacks, if errors fall with a power of the step.
    lacking = low_bend / (2.0 ** (power * (exponents[-2] - low)) - 1)
    if low_bend > 10 * GOOD and low_bend > 8 * low_noise:
        if rest > 2:
            down = max(math.floor(math.log2(GOOD / low_bend) / power), LEAST) if low_bend < math.inf else LEAST
            return low + (min(down, -2) if relative > LOST and steps > 2 else down)
        return low - max(2, _gap(exponents, power, lacking, low_noise, rest)[0])
    if steps == 2:
        enough = relative < min(LINEAR * epsilon, 0.05) and low_bend <= 4 * low_noise
    else:
        enough = relative < min(ENOUGH * epsilon, 0.01)
    if enough or (rest < 2 and (relative < min(LATE * epsilon, 0.05) or error < NOISY * floor)):
        return None
    if high_bend < 4 * high_noise:
        # As far as noise must fall, but not so far that what bends unseen below it would matter.
        leap = min(math.log2(high_noise / (8 * epsilon)), math.log2(GOOD / (4 * high_noise)) / power)
        outward = min(max(math.floor(leap), 3), LEAP) if steps > 2 or small else 1
        for size in (outward, 3):
            if high + size < bad:
                return high + size
    elif high_bend < GOOD / 8 and high + 1 < bad and (rest > 1 or floor > error / 4):
        return high + 1
    if rest > 2:
        return low - (2 if relative > LOST and steps > 2 else 1)
    gap, lacks = _gap(exponents, power, lacking, low_noise, rest)
    if rest < 2 and steps > 3 and max(UNSURE, BEYOND * lacks) < relative < math.inf and alike < ALIKE:
        # A function that is noisy, or one that oscillates unseen between the steps: far below them this can be told.
        gap = max(gap, min(math.floor(math.log2(PART * relative / max(UNSEEN * low_noise, 1e-300))), FARTHEST))
    return low - gap


def _gap(exponents: tuple[int, ...], power: int, lacking: float, noise: float, rest: int) -> tuple[int, float]:
    """How many powers of two lie between the last steps, so that what they lack and their noise are least together.

    And what the value that there is lacks by itself.

    lacking, noise: relative, of the smallest step that there is. rest: how many steps there will be. What an extrapolated value
    lacks is about the product of what its slopes lack.
    """
    low, product = exponents[-1], 1.0
    for exponent in exponents:
        lacks = lacking * 2.0 ** (power * (exponent - low))
        if lacks < 0.3:
            product *= lacks
    lacking, noise = min(max(lacking, 1e-300), 1.0), max(noise, 1e-300) * UNSEEN
    known, best, least = product, 1, math.inf
    for gap in range(1, -LEAST + 3):
        lacks = product
        for k in range(1, rest + 1):
            lacks *= lacking * 2.0 ** (-power * gap * k)
        total = lacks + noise * 2.0 ** (gap * rest)
        if total < least:
            best, least = gap, total
    return best, known

NOISY = 0.0
