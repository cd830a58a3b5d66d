"""The accuracy of derivatives: from the error estimates of numbers to those of leaves, and who is notified."""

from __future__ import annotations

import numpy as np

from adinterface.core.contract.backend import Accuracy, LeafAccuracy
from adinterface.core.contract.errors import PrecisionError
from adinterface.core.contract.record import note_accuracy

from .evaluation import Evaluations
from .levels import enclosing, is_heard
from .methods.method import Slopes
from .points import Lines

#: The largest relative error of a third derivative, and of higher ones, that is not refused.
REFUSED = {3: 1e-7, 4: 1e-5}

#: What rounding makes of an f that does not change, by the order of the derivative: in units of f's precision and value, and
#: of the scale of x.
ROUNDING = {1: 64, 2: 1e4}


def report(
    evaluations: Evaluations,
    lines: Lines,
    slopes: Slopes,
    order: int = 1,
    *,
    warns: bool = True,
) -> None:
    """Report the accuracy of derivatives along lines: to the operator, which warns, and to outer differences, as their noise.

    order: of these derivatives, without those that f takes itself. warns: whether the operator is notified without an active
    record.
    """
    if not is_heard(evaluations.level, order, warns):
        return
    depth = evaluations.level.order + order
    if depth < 3 and enclosing() is None:
        note_accuracy(lambda: Accuracy(depth, _by_leaf(evaluations, lines, slopes, order)))
        return
    values, errors = slopes.values, slopes.errors
    top = float(np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))
    finite = np.where(np.isfinite(errors) & np.isfinite(values), errors, 0.0)
    worst = float(np.max(finite, initial=0.0))
    overall = worst / top if top else 0.0
    above = enclosing()
    if above is not None:
        floors = np.where(np.isfinite(values), slopes.floors, 0.0)
        above.note(float(np.max(floors, initial=0.0)) / top if top else 0.0, depth)
        return
    refuse(depth, overall)
    note_accuracy(lambda: Accuracy(depth, _by_leaf(evaluations, lines, slopes, order)))


def refuse(order: int, error: float) -> None:
    """Raise PrecisionError for an inaccurate derivative of third order or more."""
    if order < 3 or error <= REFUSED[min(order, 4)]:
        return
    raise PrecisionError(
        f"Finite differences: the estimated relative error of this derivative of order {order}, by differences of "
        f"differences, is {error:.1g}, more than {REFUSED[min(order, 4)]:g}. Give f a smoother form or more precision, choose "
        f"AutoFiniteDifferences(scale=...), or take the inner derivatives with an engine: "
        f"SecondOrder(AutoFiniteDifferences(), AutoJax())."
    )


def _by_leaf(evaluations: Evaluations, lines: Lines, slopes: Slopes, order: int) -> tuple[LeafAccuracy, ...]:
    """The accuracy of each leaf's derivatives, and whether it calls for a warning.

    An error that is at most the rounding of an f that does not change calls for one if a derivative of the size that is seen
    elsewhere could hide in it.
    """
    epsilon = evaluations.flattener(()).epsilon
    finite = np.isfinite(slopes.values)
    values, errors = np.where(finite, np.abs(slopes.values), 0.0), np.where(finite, slopes.errors, 0.0)
    seen = np.maximum(values, errors) > ROUNDING[min(order, 2)] * epsilon * slopes.rates
    elsewhere = np.where(seen, values, 0.0).max(axis=None if order > 1 else 0, initial=0.0)
    # An output that does not change at all where others do is taken to be independent.
    hidden = np.where((values == 0) & seen.any(axis=1, keepdims=True), 0.0, elsewhere)
    found: list[LeafAccuracy] = []
    for leaf, start, stop in lines.owners():
        coarse = max(epsilon, *lines.point.exactness) if leaf < 0 else max(epsilon, lines.point.exactness[leaf])
        bad = max(1e-4, 100 * coarse ** (2 / (order + 2)))
        own = slice(start, stop)
        if finite[own].size and not finite[own].any():
            continue
        tops, worst = values[own].max(axis=0, initial=0.0), errors[own].max(axis=0, initial=0.0)
        # Each output has its own scale, unless its change is within the rounding of an output that does not change.
        top = float(tops.max(initial=0.0)) or float(np.max(elsewhere, initial=0.0))
        limits = np.where(seen[own], np.where(tops > 0, tops, top), hidden[own])
        with np.errstate(all="ignore"):
            parts = np.where(seen[own].any(axis=0) & (tops > 0), worst / tops, 0.0)
        relative = max(float(parts.max(initial=0.0)), float(worst.max(initial=0.0)) / top if top else 0.0)
        found.append(LeafAccuracy(leaf, relative, bool(((errors[own] > bad * limits) & (limits > 0)).any())))
    return tuple(found)
