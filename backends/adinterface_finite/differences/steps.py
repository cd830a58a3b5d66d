"""The choice of steps: the first, the next, and when there are enough; with its constants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .extrapolation import Estimate
from .extrapolation.windows import FAR
from .neighbours import DEEP, between, fit, is_deep

Array = np.ndarray[Any, Any]

#: The first step, in units of x. Neighbouring steps differ by powers of two; this factor keeps them
#: from being multiples of the period of a function that oscillates.
START, FACTOR = 2.0**-3.5, 107 / 128
#: Steps at which two neighbouring slopes differ by this part extrapolate best.
GOOD = 0.02
#: Enough, in units of f's precision: at once; with two evaluations to spare; and for a function
#: that looks linear.
ENOUGH, LATE, LINEAR = 90.0, 4.5e4, 2e3
#: From this relative error on, steps shrink twice as fast.
LOST = 0.1
#: How much smaller a step is taken where f is not finite: by this power of two.
RETREAT = 6
#: Values of so few decimal digits are taken for rounded ones, unless they have no more than so many
#: binary digits.
DIGITS, BITS = 9, 42
#: The first two steps.
BEGIN = (0, -1)
#: How far below the only step at which f is finite the next one is: it is near an edge, and what
#: both lack is multiplied.
BELOW = 4
#: How far from the others one more step is taken along what looks like a straight line of rounded
#: values; by how many roundings it must rise within the smallest step to be none of such.
ASIDE, MANY = -3, 100.0
#: For slopes of which no others are taken, the unit of errors that are small enough is at least so
#: much.
FINE = 2.2e-14
#: In place of an infinite noise, which is that of values near the largest number.
MOST = 1e300
#: In place of the power of a step that is too small for one.
SMALLEST = 5e-324
#: One coarse look back by at most this power of two; one leap out of the noise.
LEAST, LEAP = -6, 14
#: How much more noise than rounding is reckoned with where steps are chosen.
UNSEEN = 8.0
#: Second differences that grow by the first factor, while f's own differences fall by less, are
#: noise, if these are less than the second number of roundings of f's value.
GROWN, ROUNDINGS = 8.0, 4096.0
#: From this relative error on, if it exceeds the truncation error and the known rounding by these
#: factors, the last step is a test. Its exponent, divided by the order of the derivative: the step
#: resolves most changes between larger steps, and has about the rounding error of a 3-point rule,
#: whose step is about three times larger.
UNSURE, BEYOND, KNOWN, TEST = 1e-5, 3e4, 5e6, -14


def grain(values: Sequence[float]) -> float:
    """The power of ten that divides these positive numbers, as printed ones; 0 if none does.

    Numbers of a few binary digits do not count, since exact arithmetic gives such. Nor do one or
    two values repeated, as of an f that is constant on one side of a kink.
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
        if all(
            abs(value * power - round(value * power)) <= 2.0**-50 * value * power
            for value in values
        ):
            many = sum([value.as_integer_ratio()[0].bit_length() > BITS for value in values])
            return 1 / power if many * 2 >= len(values) else 0.0
    return 0.0


def coarse(
    grain: float, slopes: Sequence[float], rounding: Sequence[float], smallest: float
) -> float:
    """This grain, half of f's rounding; 0 for a straight line that rises by many grains.

    smallest: the smallest step.
    """
    if not grain or abs(slopes[-1]) * smallest < MANY * grain:
        return grain
    bends = [
        abs(a - b) > 8 * (c + d) for a, b, c, d in zip(slopes, slopes[1:], rounding, rounding[1:])
    ]
    return grain if any(bends) else 0.0


def may_be_rounded(values: Array) -> Array:
    """Where `grain` may apply: (lines, outputs), from values >= 0 (lines, steps, outputs)."""
    top = values.max(axis=1)
    finest = values * (10.0 ** (DIGITS - 1 - np.floor(np.log10(top))))[:, None]
    found = (np.abs(finest - np.rint(finest)) <= 2.0**-50 * finest).all(axis=1)
    return np.asarray(found & (top > 0))


def noise_shown(slopes: Array, rounding: Array, powers: Array) -> Array:
    """The noise of f's values where second differences grow with the steps as it does; else 0.

    f rounds terms that are larger than its value, and a second difference divides that by the
    square of the step. A narrow feature of f grows so, too, but is more than `ROUNDINGS` times the
    rounding of f's value.

    slopes, rounding: (lines, steps, outputs), with three steps or more. powers: (lines, steps, 1),
    the steps to the order of the derivative. Gives (lines, outputs), in the units of f.
    """
    size, change = np.abs(slopes), np.abs(slopes) * powers
    last = change[:, -2:].max(axis=1)
    largest = size[:, -2:].max(axis=1)
    grows = (largest > GROWN * size[:, -3]) & (last > change[:, -3] / GROWN)
    # beyond the length scale of f large steps differ, but these agree
    grows &= np.abs(slopes[:, -2] - slopes[:, -1]) > largest / 4
    return np.where(grows & (last < ROUNDINGS * (rounding * powers)[:, -1]), last, 0.0)


def unit(scale: float) -> float:
    """The first step for a number of this size: a power of two times FACTOR, of few digits."""
    if not (0.0 < scale < math.inf):
        scale = 1.0
    return FACTOR * 2.0 ** max(-1000, min(round(math.log2(START * scale)), 1000))


def decide(
    exponents: tuple[int, ...],
    power: int,
    order: int,
    slopes: Array,
    rounding: Array,
    estimate: Estimate,
    limit: float,
    small: Array,
    bad: Array,
    left: Array,
    residues: Array | None = None,
    lengths: Array | None = None,
) -> list[int | None]:
    """The exponent of the next step for lines with the same steps; None for those that have enough.

    slopes, rounding, residues: (lines, steps, outputs). The worst output decides. residues: f at
    the point from the mean of f ahead and behind; None where slopes use f at the point. lengths:
    the steps. Others as for `next_step`.
    """
    if not slopes.shape[2]:
        return [None] * len(slopes)
    errors, value, last = estimate.error, np.abs(estimate.value), np.abs(slopes[:, -1])
    own = np.maximum(value, last)
    if slopes.shape[2] > 1:  # an output that hardly changes needs less accuracy
        least = rounding[:, 0] / (ENOUGH * limit)
        if residues is not None and lengths is not None:
            least = np.maximum(least, np.abs(residues[:, -1]) / lengths[:, -1:])
        least = np.minimum(least, own.max(axis=1, keepdims=True))
        own, value = np.maximum(own, least), np.maximum(value, least)
    if not own.all():
        own = np.where(own > 0, own, np.where(errors > 0, errors, 1.0))
    # The worst output of each line; a slice of the only one, which is several times as fast.
    lines: Any = slice(None)
    worst: Any = 0
    if slopes.shape[2] > 1:
        lines, worst = np.arange(len(own)), (errors / own).argmax(axis=1)
    chosen, noises = slopes[lines, :, worst], rounding[lines, :, worst].tolist()
    sizes, bends = np.abs(chosen).tolist(), np.abs(chosen[:, 1:] - chosen[:, :-1]).tolist()
    known = [array[lines, worst].tolist() for array in (value, errors, estimate.floor)]
    changes: list[bool] = np.asarray(slopes.reshape(len(slopes), -1).any(axis=1)).tolist()
    usual = [
        next_step(exponents, power, order, limit, *each) if change else None
        for change, *each in zip(
            changes, small.tolist(), bad.tolist(), left.tolist(), sizes, bends, noises, *known
        )
    ]
    if residues is None or lengths is None:
        return usual
    unsure = errors > ENOUGH * limit * own
    open_ = unsure.any(axis=1) & (left > 1)
    if not open_.any():
        return usual
    found = fit(
        exponents, slopes, rounding, lengths, residues, np.where(unsure, LATE * limit * own, np.inf)
    )
    differ = [_differs(*each) for each in zip(sizes, bends, noises)]
    return [
        _by_fit(exponents, *each) if go_on else step
        for go_on, step, *each in zip(
            open_.tolist(), usual, usual, *[each.tolist() for each in found], differ, left.tolist()
        )
    ]


def _differs(sizes: Sequence[float], bends: Sequence[float], noises: Sequence[float]) -> bool:
    """Whether the slopes at the two smallest steps are so far apart that steps must shrink."""
    return bends[-1] > 10 * GOOD * sizes[-1] and bends[-1] > 16 * noises[-1]


def _by_fit(
    exponents: tuple[int, ...],
    usual: int | None,
    missed: bool,
    alone: bool,
    below: float,
    bends: bool,
    left: int,
) -> int | None:
    """A line's next exponent by f at the point if the slope is not accurate enough; else the usual.

    missed, alone, below: as in `Fit`. bends: steps shrink already, since slopes differ. left:
    evaluations.
    """
    low, last = exponents[-1], left < 4
    if not is_deep(exponents):
        if not missed or bends:
            return usual
        return low - DEEP if usual is None or not last else min(low - DEEP, usual)
    if below < math.inf:
        wanted = min(exponents[-2] - 1, int(below) - last)
        return low - 1 if wanted in exponents else wanted
    if missed:
        return low - DEEP // 2 if alone else between(exponents)
    return usual


def next_step(
    exponents: tuple[int, ...],
    power: int,
    order: int,
    limit: float,
    small: bool,
    bad: int,
    left: int,
    sizes: Sequence[float],
    bends: Sequence[float],
    noises: Sequence[float],
    top: float,
    error: float,
    floor: float,
) -> int | None:
    """The exponent of the next step of a line along which f changes; None if it has enough.

    power, order: errors are a series in that power of the step; the derivative is of that order.
    limit: the unit of relative errors that are small enough. small: whether the largest step is
    less than x itself. bad: the least exponent at which f was not finite. left: how many
    evaluations the line may still take. sizes, noises: the slopes and their rounding. bends: how
    far slopes at neighbouring steps are apart. top, error, floor: the estimate. All in absolute
    value.
    """
    steps, high, low = len(exponents), exponents[0], exponents[-1]
    last, before = sizes[-1] or 1.0, sizes[-2]
    low_bend, high_bend = bends[-1] / last, bends[0] / last
    low_noise, high_noise = min(2 * noises[-1] / last, MOST), min(2 * noises[1] / last, MOST)
    relative = error / top if top else 0.0
    rest = left // 2
    if low_bend > 10 * GOOD and low_bend > 8 * low_noise:
        if rest > 2:
            down = LEAST
            if low_bend < math.inf:
                down = max(math.floor(math.log2(GOOD / low_bend) / power), LEAST)
            if order > 1 and before > last:  # the derivative may be small compared with the bend
                gap, _ = _gap(exponents, power, order, low_bend, low_noise, rest)
                down = max(down, -1 - rest * (gap - 1))
            return low + (min(down, -2) if relative > LOST and steps > 2 else down)
        return low - max(2, _gap(exponents, power, order, low_bend, low_noise, rest)[0])
    if steps == 2:
        enough = relative < min(LINEAR * limit, 0.05) and low_bend <= 4 * low_noise
    else:
        enough = relative < min(ENOUGH * limit, 0.01)
    if enough or (rest < 2 and relative < min(LATE * limit, 0.05)):
        return None
    if high_bend < 4 * high_noise:
        # As far as noise must fall, but not so far that what bends unseen below it would matter.
        leap = min(math.log2(high_noise / (8 * limit)), math.log2(GOOD / (4 * high_noise)) / power)
        outward = min(max(math.floor(leap), 3), LEAP) if steps > 2 or small else 1
        for size in (outward, 3):
            if high + size < bad:
                return high + size
    elif high_bend < GOOD / 8 and high + 1 < bad and (rest > 1 or floor > error / 4):
        return high + 1
    if rest > 2:
        return low - (2 if relative > LOST and steps > 2 else 1)
    gap, lacks = _gap(exponents, power, order, low_bend, low_noise, rest)
    if (
        rest < 2
        and steps > 3
        and max(UNSURE, BEYOND * lacks, KNOWN * low_noise) < relative < math.inf
    ):
        # A function that is noisy, or one that oscillates unseen between the steps: far below them
        # this can be told.
        return min(low - FAR, TEST // order)
    return low - gap


def _gap(
    exponents: tuple[int, ...], power: int, order: int, bend: float, noise: float, rest: int
) -> tuple[int, float]:
    """The powers of two between the last steps for the least error, and the truncation error now.

    bend, noise: relative, of the smallest present step. rest: how many steps there will be. The
    truncation error of an extrapolated value is about the product of those of its slopes.
    """
    low = exponents[-1]
    #: What the smallest step lacks, if errors fall with a power of the step.
    lacking = bend / (2.0 ** (power * (exponents[-2] - low)) - 1)
    known = 1.0
    for exponent in exponents:
        lacks = lacking * 2.0 ** (power * (exponent - low))
        if lacks < 0.3:
            known *= lacks
    product, lacking, noise = known, min(max(lacking, 1e-300), 1.0), max(noise, 1e-300) * UNSEEN
    for _ in range(rest):
        product *= lacking
    falls, rises = 2.0 ** (-power * (rest * (rest + 1) // 2)), 2.0 ** (order * rest)
    best, least = 1, math.inf
    for gap in range(1, -LEAST + 3):
        product, noise = product * falls, noise * rises
        total = product + noise
        if not total < least:  # from the least one on they rise
            break
        best, least = gap, total
    return best, known
