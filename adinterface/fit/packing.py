"""A nested model as the one real vector that solvers work on, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..contract.errors import NotDifferentiableError, TreeError
from ..contract.library import NUMPY, PYTHON, kind, widest
from ..tree.mapping import require_leaf
from ..tree.structures import Leaf
from ..tree.vectors import as_matrix
from .parameters import Parameters

Vector = np.ndarray[Any, np.dtype[np.float64]]


class Packing:
    """Models like the given one as float64 vectors of shape `(n,)`, in the order of `tree.ravel`.

    A complex leaf takes its real parts and then its imaginary parts; an array that stands at several places stands once.
    """

    def __init__(self, model: Any):
        self.model, self.parameters = model, Parameters(model)
        once = self.parameters.once
        if not once:
            raise NotDifferentiableError("The start has no floating leaf, so that there is nothing to solve for.")
        self.shapes = [leaf.library.shape(leaf.value) for leaf in once]
        self.complex = [_is_complex(leaf) for leaf in once]
        sizes = [math.prod(shape) * (2 if doubled else 1) for shape, doubled in zip(self.shapes, self.complex)]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        self.size: int = self.starts[-1]
        real = widest([leaf.library.dtype(leaf.value) for leaf in once if leaf.library is not PYTHON])
        self.dtypes = [real if leaf.library is PYTHON else leaf.library.dtype(leaf.value) for leaf in once]
        self.shared = len(once) < sum(place is not None for place in self.parameters.places)

    def start(self) -> Vector:
        """The model itself as a vector."""
        return self._concatenated(self.parameters.values)

    def gradient(self, gradient: Any) -> Vector:
        """A gradient of the model, or the tuple that `gradient` returns, as a vector; None counts as zero."""
        return self._concatenated(self.parameters.gradients(gradient))

    def like(self, other: Any, name: str, missing: float) -> Vector:
        """A tree like the model as a vector: a number stands for a whole array, None for `missing`."""
        if other is None or type(other) in (float, int):
            return np.full(self.size, missing if other is None else float(other))
        vector = np.full(self.size, missing)
        for place, part in zip(self.parameters.places, self.parameters.along(other, name)):
            if place is not None and part is not None:
                numbers = np.asarray(require_leaf(part, name).to_numpy(part))
                try:
                    vector[self.starts[place] : self.starts[place + 1]] = np.broadcast_to(numbers, self.shapes[place]).ravel()
                except ValueError:
                    path = self.parameters.paths()[place]
                    raise TreeError(
                        f"{name}{path} has shape {numbers.shape}, but the model's has {self.shapes[place]}."
                    ) from None
        return vector

    def unpacked(self, vector: Vector) -> Any:
        """The model with the numbers of a vector: each leaf of its type, library, dtype and device, and of its own memory."""
        taken: set[int] = set()
        values = [
            self._restored(vector[start:stop], leaf, shape, dtype, doubled, taken)
            for start, stop, leaf, shape, dtype, doubled in zip(
                self.starts, self.starts[1:], self.parameters.once, self.shapes, self.dtypes, self.complex
            )
        ]
        return self.parameters.rebuilt(values)

    def hessian(self, blocks: Any) -> Vector:
        """What `hessian` returned, as a matrix of shape `(n, n)`."""
        return self._folded(self._folded(_numbers(as_matrix(blocks, self.model))).T).T

    def jacobian(self, blocks: Any, value: Any, constants: tuple[Any, ...] = ()) -> Vector:
        """What `jacobian` returned for f's value, as a matrix of shape `(m, n)`."""
        return self._folded(_numbers(as_matrix(blocks, value, (self.model, *constants))))

    def require_real(self, caller: str) -> None:
        """Raises NotDifferentiableError for complex leaves."""
        if any(self.complex):
            path = self.parameters.paths()[self.complex.index(True)]
            raise NotDifferentiableError(
                f"{caller}: the start{path} is complex, for which the solver has no Jacobian. Make it two real leaves, and put "
                f"them together in f."
            )

    def _folded(self, matrix: Vector) -> Vector:
        """The columns of one parameter at several places, added up."""
        if not self.shared:
            return matrix
        columns = [
            n
            for place in self.parameters.places
            if place is not None
            for n in range(self.starts[place], self.starts[place + 1])
        ]
        folded = np.zeros((matrix.shape[0], self.size))
        np.add.at(folded.T, columns, matrix.T)
        return folded

    def _concatenated(self, values: list[Any]) -> Vector:
        vector = np.zeros(self.size)
        for value, start, stop, doubled in zip(values, self.starts, self.starts[1:], self.complex):
            if value is None:
                continue
            numbers = value if type(value) is np.ndarray else require_leaf(value, "the tree").to_numpy(value)
            flat = numbers.reshape(-1)
            vector[start:stop] = np.concatenate([flat.real, flat.imag]) if doubled else flat
        return vector

    @staticmethod
    def _restored(part: Vector, leaf: Leaf, shape: tuple[int, ...], dtype: str, doubled: bool, taken: set[int]) -> Any:
        if doubled:
            half = len(part) // 2
            part = part[:half] + 1j * part[half:]
        if leaf.library is PYTHON:
            return complex(part[0]) if doubled else float(part[0])
        array = np.array(part).reshape(shape)
        if type(leaf.value) is np.ndarray and leaf.value.dtype == array.dtype:
            return array
        return leaf.library.restore(array, NUMPY, leaf.value, dtype, taken)


def pack(value: Any, caller: str) -> Vector:
    """What f returned as one real vector."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value.reshape(-1)
    packing = Packing(value)
    packing.require_real(caller)
    # What f returns twice is two results.
    parts = [_numbers(leaf.value).reshape(-1) for leaf in packing.parameters.found if leaf.differentiated]
    return np.concatenate(parts).astype(np.float64)


def _numbers(x: Any) -> Any:
    return np.asarray(x, dtype=np.float64) if isinstance(x, (np.ndarray, float)) else require_leaf(x, "the tree").to_numpy(x)


def _is_complex(leaf: Leaf) -> bool:
    return type(leaf.value) is complex or kind(leaf.library.dtype(leaf.value)) == "complex"


__all__ = ["Packing", "pack"]
