"""Checks that f at the point fits between the values at both sides, if steps are short.

The mean of the values at one step minus f at the point is a series in h^2, like the error of a
slope. So the difference falls with the step, and faster after extrapolation. If it does not, f
changes within less than the step, or is noisy. Slopes do not show this if they agree by chance, or
if f changes at the point alone. A much smaller step distinguishes the two. Noise is as large there;
a change of f is resolved.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .extrapolation import stands_alone, windows
from .extrapolation.windows import ALIKE, SURE, upper

Array = np.ndarray[Any, Any]

#: One more step must reduce the difference to this fraction. For two steps it must fall to twice
#: the square that the smaller step implies; or, if it falls as it must but slopes agree much
#: better, the rest must be at most this fraction.
ROUGH, TWO = 0.25, 0.02
#: So many powers of two below the others is the step that tells, and half as many below that the
#: next one if it does not.
DEEP = 14
#: How near to the step itself, relative, residues of a kink fall.
KINK = 1e-3
#: How many powers of two the test step is below the length over which f changes.
BELOW_LENGTH = 4


def between(exponents: tuple[int, ...]) -> int:
    """The exponent of a step in the first gap, halfway if more than one step lies below it."""
    size = upper(exponents)
    return (
        exponents[size - 1] - 1
        if size == len(exponents) - 1
        else (exponents[size - 1] + exponents[size]) // 2
    )


class Fit(NamedTuple):
    """Of some lines with the same steps."""

    #: f at the point does not fit, which matters.
    missed: Array
    #: Whether slopes agree, so that only f at the point does not fit.
    alone: Array
    #: The exponent of a step below the length over which f changes, if the smallest step shows it;
    #: else a large one.
    below: Array


def is_deep(exponents: tuple[int, ...]) -> bool:
    """Whether the smallest step is one that tells."""
    return exponents[-1] <= -DEEP and upper(exponents) < len(exponents)


def fit(
    exponents: tuple[int, ...],
    slopes: Array,
    rounding: Array,
    lengths: Array,
    residues: Array,
    matters: Array,
) -> Fit:
    """slopes, rounding, residues (means minus f): (lines, steps, outputs); lengths: (lines, steps).

    matters: (lines, outputs), the slope above which a hidden change of f matters.
    """
    noise, step = rounding * lengths[:, :, None], lengths[:, -1:]
    if is_deep(exponents):
        off, above = np.abs(residues[:, -1]), windows(exponents[:-1], 2, 1)
        seen = (off > ALIKE * np.abs(above.weights[-1] @ residues[:, :-1])) & (
            off > SURE * noise[:, -1]
        )
        first = windows(exponents[: upper(exponents)], 2, 1)
        agree = np.zeros(off.shape, dtype=bool)
        if first.steps > 1:
            agree = stands_alone(first, slopes, lengths, residues)
        below = _below(exponents, slopes, noise, lengths, residues)
        below = np.where(seen.any(axis=1), np.inf, below)
    else:
        off, seen = _stays(exponents, slopes, noise, lengths, residues)
        agree, below = np.zeros(off.shape, dtype=bool), np.full(len(slopes), np.inf)
    seen &= off / step > matters
    return Fit(seen.any(axis=1), (agree | ~seen).all(axis=1), below)


def without_kinks(residues: Array, lengths: Array) -> Array:
    """The residues, but zero where they fall as the step and not as its square: at a kink of f.

    Nor do residues count where f is not finite at the point.
    """
    falls = (lengths[:, -1] / lengths[:, -2])[:, None]
    # not where one is NaN
    fits = np.abs(residues[:, -1] - falls * residues[:, -2]) >= KINK * np.abs(residues[:, -1])
    return residues if fits.all() else np.where(fits[:, None] & ~np.isnan(residues), residues, 0.0)


def _stays(
    exponents: tuple[int, ...], slopes: Array, noise: Array, lengths: Array, residues: Array
) -> tuple[Array, Array]:
    """What the last close steps miss f by, extrapolated, and whether it fails to fall."""
    near = [first - second <= 2 for first, second in zip(exponents[-4:], exponents[-3:])][::-1]
    size = 1 + (near.index(False) if False in near else len(near))
    if size < 2:
        return np.zeros(slopes[:, 0].shape), np.zeros(slopes[:, 0].shape, dtype=bool)
    inside, last = windows(exponents[-size:], 2, 1), slice(-size, None)
    full, shorter = inside.weights[-1], inside.weights[inside.shorter[-1]]
    off, change = np.abs(full @ residues[:, last]), np.abs(inside.changes[-1] @ slopes[:, last])
    hides = off > 2 * change * lengths[:, -1:]
    if size == 2:
        low = np.abs(residues[:, -1])
        square = np.abs(residues[:, -2]) * (lengths[:, -1:] / lengths[:, -2:-1]) ** 2
        stays = (low > 2 * square) | ((low > square / 2) & (off > TWO * low) & hides)
    else:
        shortest = windows(exponents[-size + 2 :], 2, 1).weights[-1]
        turn = np.abs(shorter @ slopes[:, last] - shortest @ slopes[:, 2 - size :])
        larger = np.abs(shorter[1:] @ residues[:, -size:-1])
        # one of both may be small by chance
        before = np.maximum(np.abs(shorter @ residues[:, last]), larger / 4)
        stays = (off > ROUGH * before) & (hides | (change > ROUGH * turn))
    return off, stays & (off > SURE * (inside.gains[-1] @ noise[:, last]))


def _below(
    exponents: tuple[int, ...], slopes: Array, noise: Array, lengths: Array, residues: Array
) -> Array:
    """The exponent of a step below the length over which f changes, from those above the gap."""
    size = max(
        2, next(n for n, (one, other) in enumerate(pairwise(exponents), 1) if one - other > 2)
    )
    weights = windows(exponents[:size], 2, 1).weights[-1]
    missed = np.abs(weights @ residues[:, :size])
    turn = np.abs(slopes[:, -1] - weights @ slopes[:, :size])
    bend = np.maximum(np.abs(residues[:, -1]), noise[:, -1])
    length = np.fmin(missed / turn, lengths[:, -1:] * np.sqrt(missed / bend))
    known = (missed > SURE * (np.abs(weights) @ noise[:, :size])) & (length > 0)
    length = np.where(known, length, np.inf).min(axis=1, initial=np.inf)
    return np.asarray(np.floor(np.log2(length / lengths[:, 0])) + exponents[0] - BELOW_LENGTH)
