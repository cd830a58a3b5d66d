"""Extrapolation of some lines and outputs at once, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .windows import CALM, CAUTION, FLOOR, TOLD, TWICE, Array, Windows


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
