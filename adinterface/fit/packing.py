"""A nested model as the one real vector that solvers work on, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._trees import along
from ..core.contract.errors import NotDifferentiableError, TreeError
from ..core.contract.library import NUMPY, PYTHON, Library
from ..core.tree import build_gradient
from ..core.tree.recognition import handler_of
from ..core.tree.structures import Leaf
from ..tree.mapping import is_complex, require_leaf, require_like, require_shape
from ..tree.vectors import as_matrix
from .parameters import Parameters

Vector = np.ndarray[Any, np.dtype[np.float64]]


class Packing:
    """Models like the given one as float64 vectors of shape `(n,)`, in the order of `tree.ravel`.

    A complex leaf takes its real parts and then its imaginary parts; an array at several places is
    in the vector once.
    """

    def __init__(self, model: Any):
        self.model: Any = model
        self.parameters: Parameters = Parameters(model)
        once = self.parameters.once
        if not once:
            raise NotDifferentiableError(
                "The start has no floating leaf, so that there is nothing to solve for."
            )
        self.shapes: list[tuple[int, ...]] = [leaf.library.shape(leaf.value) for leaf in once]
        self.complex: list[bool] = [is_complex(leaf.value) for leaf in once]
        sizes = [
            math.prod(shape) * (2 if doubled else 1)
            for shape, doubled in zip(self.shapes, self.complex)
        ]
        self.starts: Any = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        self.size: int = self.starts[-1]
        self.dtypes: list[str] = self.parameters.dtypes
        #: Whether the model is one float64 array of NumPy, so that no tree is built.
        self.is_vector: bool = type(model) is np.ndarray and model.dtype == np.float64
        #: Whether an array is at several places of the model.
        self.shared: bool = len(once) < sum(place is not None for place in self.parameters.places)

    def start(self) -> Vector:
        return self._concatenated(self.parameters.values)

    def gradient(self, gradient: Any, name: str = "the gradient") -> Vector:
        """A gradient of the model, or the tuple that `gradient` returns, as a vector.

        None counts as zero.

        Raises TreeError, with the path, where it does not match the model in structure and shape.
        """
        if self.is_vector and _is_like(gradient, self.shapes[0]):
            alone: Vector = gradient.reshape(-1)
            return alone
        return self._concatenated(self.parameters.gradients(gradient, name))

    def like(self, other: Any, name: str, missing: float) -> Vector:
        """A tree like the model as a vector: a number fills a whole array, None gives `missing`.

        Raises TreeError, with the path, for another structure, or an array of another shape.
        """
        if other is None or type(other) in (float, int):
            return np.full(self.size, missing if other is None else float(other))
        vector = np.full(self.size, missing)
        for place, part in zip(
            self.parameters.places, self.parameters.along(other, name, _number_or_like)
        ):
            if place is not None and part is not None:
                numbers = np.asarray(require_leaf(part, name).to_numpy(part))
                vector[self.starts[place] : self.starts[place + 1]] = np.broadcast_to(
                    numbers, self.shapes[place]
                ).ravel()
        return vector

    def unpacked(self, vector: Vector) -> Any:
        """The model with the numbers of a vector, in memory of its own.

        Each leaf has its type, library, dtype and device.
        """
        if self.is_vector:
            return np.array(vector).reshape(self.shapes[0])
        return self.parameters.rebuilt(self._values(vector))

    def tangent(self, vector: Any) -> Any:
        """As `unpacked`, with None for what has no derivative."""
        values = self._values(np.asarray(vector, dtype=np.float64))
        each = iter([values[place] for place in self.parameters.places if place is not None])
        return build_gradient(self.parameters.structure, each)

    def _values(self, vector: Vector) -> list[Any]:
        taken: set[int] = set()
        return [
            self._restored(vector[start:stop], leaf, shape, dtype, doubled, taken)
            for start, stop, leaf, shape, dtype, doubled in zip(
                self.starts,
                self.starts[1:],
                self.parameters.once,
                self.shapes,
                self.dtypes,
                self.complex,
            )
        ]

    def hessian(self, blocks: Any) -> Any:
        """What `hessian` returned, as a matrix of shape `(n, n)`; sparse if the blocks are."""
        matrix = _matrix(blocks if _is_sparse(blocks) else as_matrix(blocks, self.model))
        return self._folded(self._folded(matrix).T).T if self.shared else matrix

    def jacobian(self, blocks: Any, value: Any, constants: tuple[Any, ...] = ()) -> Any:
        """What `jacobian` returned for f's value, as a matrix of shape `(m, n)`.

        Sparse if the blocks are.
        """
        # The result and the model are one leaf each if the block is alone.
        single = _is_sparse(blocks[0]) if type(blocks) is tuple else False
        return self._folded(
            _matrix(blocks[0] if single else as_matrix(blocks, value, (self.model, *constants)))
        )

    def require_real(self, caller: str) -> None:
        """Raises NotDifferentiableError for complex leaves."""
        if any(self.complex):
            path = self.parameters.paths()[self.complex.index(True)]
            raise NotDifferentiableError(
                f"{caller}: the start{path} is complex, for which the solver has no Jacobian. Make"
                " it two real leaves, and put them together in f."
            )

    def _folded(self, matrix: Any) -> Any:
        """The columns of one parameter at several places, added up."""
        if not self.shared:
            return matrix
        columns = [
            n
            for place in self.parameters.places
            if place is not None
            for n in range(self.starts[place], self.starts[place + 1])
        ]
        if not isinstance(matrix, np.ndarray):
            moved = matrix.tocoo()
            places = moved.row, np.asarray(columns)[moved.col]
            # which adds up equal places
            return type(matrix)((moved.data, places), shape=(matrix.shape[0], self.size))
        folded = np.zeros((matrix.shape[0], self.size))
        np.add.at(folded.T, columns, matrix.T)
        return folded

    def _concatenated(self, values: list[Any]) -> Vector:
        vector = np.zeros(self.size)
        for value, start, stop, doubled in zip(values, self.starts, self.starts[1:], self.complex):
            if value is None:
                continue
            numbers = (
                value
                if type(value) is np.ndarray
                else require_leaf(value, "the tree").to_numpy(value)
            )
            flat = numbers.reshape(-1)
            vector[start:stop] = np.concatenate([flat.real, flat.imag]) if doubled else flat
        return vector

    @staticmethod
    def _restored(
        part: Vector, leaf: Leaf, shape: tuple[int, ...], dtype: str, doubled: bool, taken: set[int]
    ) -> Any:
        if doubled:
            half = len(part) // 2
            part = part[:half] + 1j * part[half:]
        if leaf.library is PYTHON:
            return complex(part[0]) if doubled else float(part[0])
        array = np.array(part).reshape(shape)
        if type(leaf.value) is np.ndarray and leaf.value.dtype == array.dtype:
            return array
        return leaf.library.restore(array, NUMPY, leaf.value, dtype, taken)


class Rows:
    """The structure that f must return: dy/dt like y, a fit like the data.

    Numbers are matched by their place, not by their order. A 1-d array and a list of numbers may
    replace each other.
    """

    def __init__(self, example: Any, name: str):
        self.example: Any = example
        self.name: str = name
        self._parameters = Parameters(example)

    def matches(self, value: Any, what: str) -> bool:
        """Whether `value` has the places of the example.

        False if both are rows of numbers of different length.

        Raises TreeError, with the path, for another structure or shape.
        """
        if _is_row(self.example) and _is_row(value):
            return False
        self._along(value, what)
        return True

    def pack(self, value: Any, caller: str, what: str = "what f returned") -> Vector:
        """A tree like the example as one real vector, in the order of the example."""
        if not self.matches(value, what):
            return pack(value, caller)
        return np.concatenate([pack(part, caller) for part in self._along(value, what)])

    def like(self, other: Any, name: str, missing: float) -> Vector:
        """A tree like the example as a vector; a number fills all numbers, None gives `missing`."""
        numbers = pack(self.example, name)
        if other is None or type(other) in (float, int):
            return np.full_like(numbers, missing if other is None else float(other))
        return self.pack(other, name, name)

    def _along(self, value: Any, what: str) -> list[Any]:
        parts = along(
            self._parameters.structure,
            self._parameters.found,
            value,
            what,
            first=self.name,
            fits=require_like,
        )
        result = [
            part
            for place, part in zip(self._parameters.places, parts, strict=True)
            if place is not None
        ]
        if any(part is None for part in result):
            raise TreeError(f"{what} has None, or a Constant, where {self.name} has numbers.")
        return result


def _is_row(x: Any) -> bool:
    if type(x) in (list, tuple):
        return all(_is_number(part) for part in x)
    library = handler_of(x, scan=False)
    return isinstance(library, Library) and len(library.shape(x)) == 1


def _is_number(x: Any) -> bool:
    library = handler_of(x, scan=False)
    return isinstance(library, Library) and library.shape(x) == ()


def pack(value: Any, caller: str) -> Vector:
    """A value of f as one real vector."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value.reshape(-1)
    packing = Packing(value)
    packing.require_real(caller)
    # An array that f returns twice is two results.
    parts = [
        _numbers(leaf.value).reshape(-1) for leaf in packing.parameters.found if leaf.differentiated
    ]
    return np.concatenate(parts).astype(np.float64)


def _matrix(matrix: Any) -> Any:
    if not _is_sparse(matrix):
        return _numbers(matrix)
    return matrix if matrix.dtype == np.float64 else matrix.astype(np.float64)


def _is_like(x: Any, shape: tuple[int, ...]) -> bool:
    return type(x) is np.ndarray and x.dtype == np.float64 and x.shape == shape


def _is_sparse(x: Any) -> bool:
    return hasattr(x, "tocoo")


def _numbers(x: Any) -> Any:
    return (
        np.asarray(x, dtype=np.float64)
        if isinstance(x, (np.ndarray, float))
        else require_leaf(x, "the tree").to_numpy(x)
    )


def _number_or_like(leaf: Any, other: Any, place: str, first: str) -> None:
    if require_leaf(other, place).shape(other) != ():
        require_shape(leaf, other, place, first)


__all__ = ["Packing", "Rows", "pack"]
