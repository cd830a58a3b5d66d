"""What the vectors and the partials of OpenMDAO take."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..numpy_code.array_makers import array
from ..numpy_code.made_array import captured
from ..numpy_code.made_array import made as writable


class Inputs:
    """Values by name, read as a Vector of OpenMDAO is."""

    def __init__(self, values: dict[str, Any]):
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __len__(self) -> int:
        return sum(map(np.size, self._values.values()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def keys(self) -> list[str]:
        return list(self._values)

    def values(self) -> Iterator[Any]:
        return map(self.__getitem__, self._values)

    def items(self) -> Iterator[tuple[str, Any]]:
        return zip(self._values, self.values())

    def asarray(self, copy: bool = False) -> Any:
        return np.concatenate([np.ravel(value) for value in self.values()])


class Outputs(Inputs):
    """Results by name.

    Like an OpenMDAO Vector, it copies values, and broadcasts or reshapes them as declared.
    """

    def __init__(self, shapes: dict[str, tuple[int, ...]]):
        super().__init__({name: writable(np.zeros(shape)) for name, shape in shapes.items()})
        self._shapes = shapes
        #: Whether an output was written, or read, which may be followed by a write.
        self.used: bool = False

    def __getitem__(self, name: str) -> Any:
        self.used = True
        return super().__getitem__(name)

    def __setitem__(self, name: str, value: Any) -> None:
        shape, value, self.used = self._shapes[name], array(value), True
        if np.shape(value) != shape:
            value = (
                np.reshape(value, shape)
                if np.size(value) == np.prod(shape)
                else array(np.broadcast_to(value, shape))
            )
        self._values[name] = value + 0.0 if value.dtype.kind in "biu" else value

    def set_val(self, value: Any, idxs: Any = ...) -> None:
        """Set the concatenated results, or some of them."""
        flat = writable(np.zeros(sum(math.prod(shape) for shape in self._shapes.values())))
        flat[:] = self.asarray()
        flat[idxs] = value
        start = 0
        for name, shape in self._shapes.items():
            stop = start + math.prod(shape)
            self[name], start = flat[start:stop], stop

    def set_vals(self, values: Iterable[Any]) -> None:
        """Set each of the results, in their order."""
        for name, value in zip(self, values):
            self[name] = value


def apart(component: Any) -> Any:
    """A copy of a component, whose code stores values in the copy.

    Its arrays support `array.dot(traced)`.

    Its code may write to its arrays of floating numbers, which are copies.
    """
    clone = copy.copy(component)
    for name, value in vars(component).items():
        if type(value) is np.ndarray:
            vars(clone)[name] = (
                writable(value.copy()) if value.dtype.kind in "fc" else captured(value)
            )
    return clone


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


__all__ = ["Inputs", "Outputs", "apart", "copied", "places_of", "taken"]
