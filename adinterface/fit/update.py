"""One step down the gradient, without anybody's optimiser."""

from __future__ import annotations

from typing import Any

from ..registry import evaluation
from ..tree.algebra import like, weak
from ..tree.mapping import precision
from .parameters import Parameters


def update(model: Any, gradient: Any, step: Any) -> Any:
    """A model like the given one, moved by `-step * gradient`: plain gradient descent, as Flux's `Descent` does it.

    gradient: a tree like the model, or what `gradient(loss, backend, model, Constant(x))` returned; where it has None, the
    model is kept. step: a number or a 0-d array. Each leaf keeps its type, library, dtype and device. An array that stands at
    several places of the model is one parameter: the gradients of its places are added up, and it stays one array.

    The model itself is not written to; of an `nn.Module` it gives one of the same class around new parameters.
    Raises TreeError, with the path, where the gradient does not match the model.

    >>> from adinterface import AutoFiniteDifferences, gradient, update
    >>> model = {"w": 3.0, "name": "line"}
    >>> slope = gradient(lambda m: m["w"] ** 2, AutoFiniteDifferences(), model)
    >>> round(update(model, slope, 0.1)["w"], 6)
    2.4
    """
    parameters = Parameters(model)
    slopes, step = parameters.gradients(gradient), weak(step)
    # Where nobody differentiates the step itself, an engine must not record it: parameters would drag all steps along.
    with evaluation([*parameters.values, *[slope for slope in slopes if slope is not None]]), precision(parameters.once):
        values = [
            value if slope is None else like(value - step * slope, value) for value, slope in zip(parameters.values, slopes)
        ]
    return parameters.rebuilt(values)


__all__ = ["update"]
