"""From the estimated errors of derivatives to those of leaves, and to warnings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .methods.method import Slopes
from .points import Lines

#: What rounding makes of an f that does not change, by the order of the derivative, and the most
#: that it makes of one whose
#: steps are short: in units of f's precision and value, and of the scale of x.
ROUNDING = {1: (64, 2e4), 2: (1e4, 2e6)}
#: A derivative is within the rounding of f if it is at most so many times what is estimated for the
#: rounding.
WITHIN = 10.0


class LeafError(NamedTuple):
    """The error of the derivatives by one leaf, or (-1) along lines that move several."""

    leaf: int
    #: The largest estimated error relative to the largest derivative.
    relative: float
    #: Whether it calls for a warning.
    doubtful: bool


def errors_by_leaf(
    lines: Lines, slopes: Slopes, order: int, epsilon: float, gradient: bool = False
) -> list[LeafError]:
    """Leaves of which all derivatives are NaN are left out. epsilon: the precision of f's values.
    gradient: whether f's values are the derivatives of one function. A derivative of these that is
    tiny beside the largest one may be the rounding of sums that cancel: it is taken to be zero.

    An error may be within the rounding of an f that does not change. It calls for a warning if a
    derivative of the size that is seen elsewhere could hide in it; if none is seen, one that
    changes f by 1, or by as much as f was seen to change.
    """
    finite, values, errors = np.isfinite(slopes.values), np.abs(slopes.values), slopes.errors
    if not finite.all():
        values, errors = np.where(finite, values, 0.0), np.where(finite, errors, 0.0)
    if gradient:
        tiny = np.maximum(values, errors) < np.sqrt(epsilon) * values.max(initial=0.0)
        values, errors = np.where(tiny, 0.0, values), np.where(tiny, 0.0, errors)
    least, most = [part * epsilon * slopes.rates for part in ROUNDING[min(order, 2)]]
    seen = np.maximum(values, errors) > least
    rounding = np.maximum(least, np.minimum(WITHIN * slopes.floors, most))
    sure = np.where(values > rounding, values, 0.0)  # what errors are compared with for a warning
    told = np.maximum(sure, errors) > rounding
    elsewhere = sure.max(axis=None if order > 1 else 0, initial=0.0)
    # An output that does not change at all where others do is taken to be independent.
    hidden = np.where(elsewhere > 0, elsewhere, slopes.units)
    hidden[(values == 0) & told.any(axis=1, keepdims=True)] = 0.0
    found: list[LeafError] = []
    for leaf, start, stop in lines.owners():
        exactness = lines.point.exactness
        coarse = max(epsilon, *(exactness if leaf < 0 else [exactness[leaf]]))
        bad = max(1e-4, 100 * coarse ** (2 / (order + 2)))
        own = slice(start, stop)
        if finite[own].size and not finite[own].any():
            continue
        tops, worst = values[own].max(axis=0, initial=0.0), errors[own].max(axis=0, initial=0.0)
        # Each output has its own scale, unless its change is within the rounding of an output that
        # does not change.
        own_sure, other = sure[own].max(axis=0, initial=0.0), float(np.max(elsewhere, initial=0.0))
        scales = np.where(own_sure > 0, own_sure, own_sure.max(initial=0.0) or other)
        limits = np.where(told[own], scales, hidden[own])
        top = float(tops.max(initial=0.0)) or other
        with np.errstate(all="ignore"):
            parts = np.where(seen[own].any(axis=0) & (tops > 0), worst / tops, 0.0)
        top = top or float(hidden[own].max(initial=0.0))
        whole = float(worst.max(initial=0.0)) / top if top else 0.0
        doubtful = bool(((errors[own] > bad * limits) & (limits > 0)).any())
        found.append(LeafError(leaf, max(float(parts.max(initial=0.0)), whole), doubtful))
    return found


def overall(slopes: Slopes) -> tuple[float, float]:
    """The largest error, and the largest noise in it, relative to the largest derivative."""
    values, errors = np.abs(slopes.values), slopes.errors
    finite = np.isfinite(values)
    top = float(np.max(values, initial=0.0, where=finite))
    worst = float(np.max(errors, initial=0.0, where=finite & np.isfinite(errors)))
    noise = float(np.max(slopes.floors, initial=0.0, where=finite))
    return (worst / top, noise / top) if top else (0.0, 0.0)
