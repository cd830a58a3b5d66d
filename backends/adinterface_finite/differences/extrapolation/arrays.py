"""Extrapolation of some lines and outputs at once, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .windows import ALIKE, ALONE, CALM, CAUTION, DOUBT, FITS, FLOOR, SURE, TOLD, Array, Windows


class Estimate(NamedTuple):
    """Of some lines and outputs: (lines, outputs) each."""

    value: Array
    error: Array
    #: The part of the error that rounding and noise make.
    floor: Array
    #: The noise of f's values that the slopes show, its standard deviation.
    noise: Array | None


@np.errstate(all="ignore")  # quotients of zeros are looked at nowhere
def extrapolate(
    found: Windows,
    slopes: Array,
    rounding: Array,
    smallest: Array,
    steps: Array,
    residues: Array | None = None,
) -> Estimate:
    """slopes, rounding: (lines, steps, outputs), from the largest step to the smallest.

    smallest: (lines, 1, 1), the smallest step to the power of the derivative's order. steps:
    (lines, steps). residues: shaped like slopes; the mean of f ahead and behind minus f at the
    point.
    """
    estimate = _extrapolate(found, slopes, rounding, smallest, steps, residues)
    if found.before is None or (residues is None and found.steps == 3):
        return estimate
    near, bend = slopes[:, -2], slopes[:, -3] - slopes[:, -2]
    calm = _largest(bend) <= CALM * _largest(near)
    if not calm.any():
        return estimate
    fewer = None if residues is None else residues[:, :-1]
    before = _extrapolate(
        found.before,
        slopes[:, :-1],
        rounding[:, :-1],
        smallest * found.louder,
        steps[:, :-1],
        fewer,
    )
    turn = np.abs(slopes[:, -1] - before.value)
    if residues is None:
        assert before.noise is not None
        noise = before.noise / smallest[:, 0]
        told = (noise > 8 * rounding[:, -1]) & (TOLD * noise < turn)
    else:
        # Noise is at the far step what it is elsewhere, in the middle and in the slope.
        lacking = np.abs(found.before.weights[-1] @ residues[:, :-1])
        told = (np.abs(residues[:, -1]) > ALIKE * lacking) & (
            turn * steps[:, -1:] > ALIKE / 4 * lacking
        )
        told &= lacking > SURE * (found.before.gains[-1] @ (rounding * steps[:, :, None])[:, :-1])
        if found.above is not None:
            told &= ~stands_alone(found.above, slopes, steps, residues)
    # by chance one of many outputs is as near as if it were not noisy
    noisy = calm & told.any(axis=1, keepdims=True)
    value, error, floor = [np.where(noisy, old, new) for old, new in zip(before[:3], estimate[:3])]
    # Waves that are short compared with the smallest step look like noise. If that calls for a
    # warning, it counts.
    doubtful = noisy & told & (error > DOUBT * np.abs(value)) & (residues is not None)
    return Estimate(
        value, np.where(doubtful, np.maximum(error, turn), error), floor, estimate.noise
    )


def _largest(array: Array) -> Array:
    """By line."""
    return np.asarray(np.abs(array).max(axis=1, keepdims=True, initial=0.0))


def stands_alone(found: Windows, slopes: Array, steps: Array, residues: Array) -> Array:
    """Whether slopes agree much better than f fits between its neighbours, unlike noise.

    found: of the first of the steps.
    """
    size, full, place = found.steps, found.weights[-1], found.shorter[-1]
    # By chance the window without the largest step is as near, or that without the smallest one.
    change = np.abs((full - found.weights[place - 1 : place + 1]) @ slopes[:, :size]).max(axis=1)
    return np.asarray(
        ALONE * change * steps[:, size - 1 : size] < np.abs(full @ residues[:, :size])
    )


def missed(
    found: Windows, slopes: Array, rounding: Array, lengths: Array, residues: Array
) -> Array:
    """The errors of the windows, (lines, windows, outputs), if residues are errors of a slope.

    The mean of f ahead and behind is a series in h^2 that starts with f at the point, so it is
    extrapolated like slopes. If the rest is small, the step is short compared with the length scale
    of f, and slopes have smaller errors. Slopes that differ by rounding alone have no such error
    where f fits well, as at the top of an even function.
    """
    noise = rounding * lengths[:, :, None]
    off = np.abs(found.weights[found.steps :] @ residues) - SURE * (
        found.gains[found.steps :] @ noise
    )
    part = np.where(off > 0, np.minimum(off / np.abs(residues[:, found.last]), 1.0), 0.0)
    agree = np.abs(slopes[:, found.first] - slopes[:, found.last]) <= SURE * rounding[:, found.last]
    part = np.where(agree & (part < FITS), 0.0, part)
    return np.asarray(np.sqrt(np.sqrt(part)) * off / lengths[:, found.last, None])


def _extrapolate(
    found: Windows,
    slopes: Array,
    rounding: Array,
    smallest: Array,
    lengths: Array,
    residues: Array | None,
) -> Estimate:
    steps = found.steps
    values = found.weights @ slopes
    wide = values[:, steps:]
    errors = np.abs(wide - values[:, found.shorter])
    floors = found.gains[steps:] @ rounding
    noise, total = None, errors
    if steps > 2:
        previous = errors[:, found.previous]
        latest = errors[:, steps - 1 :]
        ratio = np.where(previous > 0, latest / previous, 0.0) * found.ratios
        total = errors.copy()
        total[:, steps - 1 :] *= np.minimum(np.maximum(ratio, FLOOR), 1.0)
        window, last, smaller = found.behind
        here = wide[:, window]
        off = np.abs(slopes[:, smaller] - here) - np.abs(slopes[:, last] - here)
        off -= 8 * rounding[:, smaller]
        if (off > 0).any():
            # where a smaller step contradicts all of the value, what it misses of f counts, too
            if residues is not None:
                lacking = np.abs(residues[:, smaller]) / lengths[:, smaller, None]
                off += np.where(off > np.abs(here), lacking, 0.0)
            total += found.gathered @ np.maximum(off, 0.0)
        # where slopes differ more from step to step, larger steps say nothing of the smallest
        if residues is None:
            bends, end = np.abs(slopes[:, :-1] - slopes[:, 1:]), found.last[steps - 1 :]
            grows = bends[:, end - 1] > bends[:, end - 2] + 8 * rounding[:, end]
            apart = np.abs(wide[:, steps - 1 :] - slopes[:, end])
            total[:, steps - 1 :] += np.where(grows, apart, 0.0)
        samples = latest / found.difference
        if steps > 3:
            samples = np.sort(samples, axis=1)
            samples = np.sqrt(samples[:, :1] * samples[:, 1:2])
        noise = samples[:, 0] * smallest[:, 0]
    total = floors + total
    if residues is not None:
        total += missed(found, slopes, rounding, lengths, residues)
    best = total.argmin(axis=1)
    at = np.arange(best.shape[0])[:, None], best, np.arange(best.shape[1])
    value, error, floor = wide[at], total[at], floors[at]
    if noise is not None:
        error = np.maximum(error, CAUTION * noise * found.amplified[best] / smallest[:, 0])
    return Estimate(value, error, floor, noise)
