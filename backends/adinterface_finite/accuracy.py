"""The accuracy of derivatives: from the error estimates of numbers to those of leaves, and who is notified."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adinterface.core.contract.backend import Accuracy, LeafAccuracy
from adinterface.core.contract.errors import PrecisionError
from adinterface.core.contract.record import note_accuracy

from .evaluation import Evaluations
from .levels import enclosing, is_heard
from .methods.method import Array, Slopes
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
    others: Sequence[float] | None = None,
) -> None:
    """Report the accuracy of derivatives along lines: to the operator, which warns, and to outer differences, as their noise.

    order: of these derivatives, without those that f takes itself. warns: whether the operator is notified without an active
    record.
    others: for mixed second derivatives, the scale of the second line, by output; None if both lines are the same.
    """
    if not is_heard(evaluations.level, order, warns):
        return
    depth = evaluations.level.order + order
    if depth < 3 and enclosing() is None:
        note_accuracy(lambda: Accuracy(depth, _by_leaf(evaluations, lines, slopes, order, others)))
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
    note_accuracy(lambda: Accuracy(depth, _by_leaf(evaluations, lines, slopes, order, others)))


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


def _by_leaf(
    evaluations: Evaluations, lines: Lines, slopes: Slopes, order: int, others: Sequence[float] | None
) -> tuple[LeafAccuracy, ...]:
    """The accuracy of each leaf's derivatives, and whether it calls for a warning.

    It does not if the error is at most the rounding of an f that does not change.
    """
    epsilon = evaluations.flattener(()).epsilon
    found: list[LeafAccuracy] = []
    for leaf, start, stop in lines.owners():
        coarse = max(epsilon, *lines.point.exactness) if leaf < 0 else max(epsilon, lines.point.exactness[leaf])
        bad = max(1e-4, 100 * coarse ** (2 / (order + 2)))
        known = np.isfinite(slopes.values[start:stop])
        if known.size and not known.any():
            continue
        values, errors = np.where(known, np.abs(slopes.values[start:stop]), 0.0), slopes.errors[start:stop]
        errors = np.where(known, errors, 0.0)
        tops, worst = values.max(axis=0, initial=0.0), errors.max(axis=0, initial=0.0)
        top, error = float(tops.max(initial=0.0)), float(worst.max(initial=0.0))
        # Each output has its own scale, unless its change is within the rounding of an output that does not change.
        seen = _seen(lines, slopes, range(start, stop), order, np.maximum(values, errors), epsilon, others)
        with np.errstate(all="ignore"):
            own = np.where(seen.any(axis=0) & (tops > 0), worst / tops, 0.0)
        relative = max(float(own.max(initial=0.0)), error / top if top else 0.0)
        doubtful = top > 0 and bool((seen & (errors > bad * np.where(tops > 0, tops, top))).any())
        found.append(LeafAccuracy(leaf, relative, doubtful))
    return tuple(found)


def _seen(
    lines: Lines, slopes: Slopes, chosen: range, order: int, sizes: Array, epsilon: float, others: Sequence[float] | None
) -> Array:
    """Where derivatives of these sizes are more than what rounding makes of an f that does not change."""
    scales = np.array([lines.scale(line)[0] for line in chosen])[:, None]
    weights = scales**order if others is None else scales * np.array(others)
    return np.asarray(sizes * weights > ROUNDING[min(order, 2)] * epsilon * slopes.sizes[chosen.start : chosen.stop])
