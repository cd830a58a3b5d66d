"""What the vectors and the partials of OpenMDAO take."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..numpy_code.array_makers import array
from ..numpy_code.made_array import captured
from ..numpy_code.made_array import made as writable


class Variables(dict[str, Any]):
    """Results by name, which take values as a Vector of OpenMDAO does: copied, and broadcast or reshaped as declared."""

    def __init__(self, shapes: dict[str, tuple[int, ...]]):
        super().__init__({name: writable(np.zeros(shape)) for name, shape in shapes.items()})
        self._shapes = shapes

    def __setitem__(self, name: str, value: Any) -> None:
        shape, value = self._shapes[name], array(value)
        if np.shape(value) != shape:
            value = np.reshape(value, shape) if np.size(value) == np.prod(shape) else array(np.broadcast_to(value, shape))
        super().__setitem__(name, value + 0.0 if value.dtype.kind in "biu" else value)


def apart(component: Any) -> Any:
    """A copy that keeps what its code stores to itself, and whose arrays take part in `array.dot(traced)`."""
    made = copy.copy(component)
    vars(made).update({name: captured(value) for name, value in vars(component).items()})
    return made


def copied(vector: Any) -> dict[str, Any]:
    return {name: np.array(vector[name]) for name in vector}


def taken(block: Any, info: Any, width: int) -> Any:
    """A block of the Jacobian in the form in which it was declared."""
    sparse, places = hasattr(block, "tocsr"), places_of(info)
    matrix: Any = block.tocsr() if sparse else np.reshape(block, (-1, width))
    if places is None:
        return matrix.toarray() if sparse else matrix
    entries = np.asarray(matrix[places]).ravel()
    if not hasattr(info["val"], "tocoo"):
        return entries
    made = info["val"].tocoo(copy=True)
    made.data = entries
    return made.asformat(info["val"].format)


def places_of(info: Any) -> tuple[Any, Any] | None:
    """The rows and columns of the entries of a sparse partial; None for a dense one."""
    if info.get("rows") is not None:
        return info["rows"], info["cols"]
    if info.get("diagonal"):
        return (np.arange(info["shape"][0]),) * 2
    if hasattr(info["val"], "tocoo"):
        rows, columns = info["val"].tocoo().coords
        return rows, columns
    return None


__all__ = ["Variables", "apart", "copied", "places_of", "taken"]
