"""`update`: one step of gradient descent."""

from __future__ import annotations

from typing import Any

from ..core.contract.registry import evaluation
from ..core.contract.tracing import untraced
from ..tree.algebra import checked_factor, in_one_library, like
from ..tree.mapping import precision
from .parameters import Parameters


@untraced
def update(model: Any, gradient: Any, step: Any) -> Any:
    """The model moved by `-step * gradient`: plain gradient descent, as `Descent` of Flux.

    gradient: a tree like the model, or the result of `gradient(loss, backend, model, Constant(x))`;
    where it has None, the model is kept. step: a number or a 0-d array. Each leaf keeps its type,
    library, dtype and device. An array at several places of the model is one parameter: the
    gradients of its places are added, and it stays one array.

    The model itself is not written to; for an `nn.Module` the result is one of the same class with
    new parameters. Nothing is broadcast. Raises TreeError, with the path, where the gradient
    differs from the model in structure or shape, and for a step that is not a number.

    >>> from adinterface import AutoFiniteDifferences, gradient
    >>> from adinterface.fit import update
    >>> model = {"w": 3.0, "name": "line"}
    >>> slope = gradient(lambda m: m["w"] ** 2, AutoFiniteDifferences(), model)
    >>> round(update(model, slope, 0.1)["w"], 6)
    2.4
    """
    parameters = Parameters(model)
    step = checked_factor("update: the step", step, parameters.structure, parameters.found)
    slopes = parameters.gradients(gradient)
    # If the step is not differentiated itself, an engine must not record it: parameters would keep
    # all steps alive.
    with (
        evaluation([*parameters.values, *[slope for slope in slopes if slope is not None]]),
        precision(parameters.once),
    ):
        values = [
            value if slope is None else _moved(value, slope, step)
            for value, slope in zip(parameters.values, slopes)
        ]
    return parameters.rebuilt(values)


def _moved(value: Any, slope: Any, step: Any) -> Any:
    here, slope = in_one_library(value, slope)
    return like(here - step * slope, value)


__all__ = ["update"]
