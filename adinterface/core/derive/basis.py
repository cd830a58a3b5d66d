"""The components of native arrays, their basis vectors, and operations for these."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..contract.arrays import is_complex, library_of
from ..contract.backend import Arrays, Backend
from ..contract.library import Library, dtype_kind

#: Seeds of a batched Jacobian or Hessian take at most this many bytes, unless `chunk_size` says
#: otherwise.
SEED_BYTES = 64 * 2**20

#: A linear map of stacks of arrays, which have one more axis in front.
Stacked = Callable[[Arrays], Arrays]


def zero_entry(backend: Backend, stack: Any) -> Any:
    """Zeros like one entry of a stack: shape `(n, 2, 3)` -> `(2, 3)`."""
    library = library_of(backend, stack)
    return library.asarray(
        np.zeros(library.shape(stack)[1:]), dtype=library.dtype(stack), like=stack
    )


def _deciding(backend: Backend, arrays: Sequence[Any]) -> tuple[Library, Any]:
    """The library and namespace of the first traced array, or else of the first."""
    libraries = [library_of(backend, array) for array in arrays]
    pairs = list(zip(libraries, arrays))
    library, array = next((pair for pair in pairs if pair[0].traced(pair[1])), pairs[0])
    return library, library.namespace(array)


def namespace_of(backend: Backend, arrays: Sequence[Any]) -> Any:
    return _deciding(backend, arrays)[1]


def stack_of(backend: Backend, arrays: Sequence[Any]) -> Any:
    library, xp = _deciding(backend, arrays)
    return xp.stack([library.asarray(array) for array in arrays])


def concatenated(backend: Backend, arrays: Sequence[Any]) -> Any:
    if len(arrays) == 1:
        return arrays[0]
    library, xp = _deciding(backend, arrays)
    return xp.concat([library.asarray(array) for array in arrays])


class Components:
    """The real components of some arrays, numbered: all of the first, then of the second, ...

    Arrays of shapes `(2,)` and `(3,)` have the components 0 and 1, and 2 to 4. If `doubled`, a
    complex array counts twice: first along 1, then along i. `ranges` has the first number and the
    unit of each run: `[(0, 1.0), (2, 1.0j)]` for a doubled array of shape `(2,)`.
    """

    def __init__(self, backend: Backend, arrays: Arrays, *, doubled: bool = True):
        self.backend: Backend = backend
        self.arrays: Arrays = arrays
        self.libraries: list[Library] = [library_of(backend, array) for array in arrays]
        pairs = [*zip(self.libraries, arrays)]
        self.shapes: list[tuple[int, ...]] = [library.shape(array) for library, array in pairs]
        self.dtypes: list[str] = [library.dtype(array) for library, array in pairs]
        self.complex: list[bool] = [dtype_kind(dtype) == "complex" for dtype in self.dtypes]
        self.sizes: list[int] = [math.prod(shape) for shape in self.shapes]
        self.ranges: list[list[tuple[int, complex]]] = []
        offset = 0
        for size, twice in zip(self.sizes, self.complex):
            units = (1.0, 1.0j) if doubled and twice else (1.0,)
            self.ranges.append([(offset + n * size, unit) for n, unit in enumerate(units)])
            offset += size * len(units)
        self.count: int = offset

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Ranges of component numbers whose seeds fit the budget."""
        step = self.backend.chunk_size
        if step is None:
            sizes = [16 if twice else 8 for twice in self.complex]
            step = max(1, SEED_BYTES // (sum(map(operator.mul, sizes, self.sizes)) or 8))
        for start in range(0, self.count, step):
            yield start, min(start + step, self.count)

    def seeds(self, start: int, stop: int) -> Arrays:
        """The basis vectors of components start to stop, as stacks like the arrays."""
        seeds: list[Any] = []
        for n, (array, size, ranges) in enumerate(zip(self.arrays, self.sizes, self.ranges)):
            library, dtype = self.libraries[n], self.dtypes[n]
            shape = (stop - start, *self.shapes[n])
            xp = library.namespace(array)
            # Inside a trace the seeds are computed, not stored as constants; JAX compiles eager
            # operations one by one.
            if hasattr(xp, "eye") and (library.mutable or library.traced(array)):
                units = [xp.eye(stop - start, size, k=start - offset) for offset, _ in ranges]
                numbers = xp.reshape(sum_units([*zip(units, (1.0, 1j))]), shape)
                seeds.append(library.asarray(numbers, dtype=dtype, like=array))
                continue
            # JAX does not infer float16 from the numbers, so they are sent as doubles and cast by
            # the engine.
            stack = np.zeros((stop - start, size), double(dtype))
            for offset, unit in ranges:
                numbers = np.arange(max(start, offset), min(stop, offset + size))
                stack[numbers - start, numbers - offset] = unit
            seeds.append(library.asarray(stack.reshape(shape), dtype=dtype, like=array))
        return tuple(seeds)

    def parts(self, stack: Any, n: int) -> list[tuple[Any, complex]]:
        """Of a stack over all components those of the n-th array, with the unit of each run."""
        size = self.sizes[n]
        if size == self.count:
            return [(stack, 1.0)]
        return [(stack[offset : offset + size], unit) for offset, unit in self.ranges[n]]

    def mapped(self, apply: Stacked) -> list[Any]:
        """`apply` to every basis vector: for each result, a stack over all components."""
        parts = [apply(self.seeds(start, stop)) for start, stop in self.chunks()]
        return [concatenated(self.backend, column) for column in zip(*parts)]

    def split(self, parts: Sequence[Any]) -> list[Any]:
        """A vector over all components, in chunks, as arrays like these.

        For shapes `(2,)` and `(3,)`: `[[1, 2, 3], [4, 5]]` -> `[[1, 2], [3, 4, 5]]`.
        """
        flat = concatenated(self.backend, parts) if parts else None
        result: list[Any] = []
        for n, (size, ranges) in enumerate(zip(self.sizes, self.ranges)):
            if flat is None or size == 0:
                result.append(self.libraries[n].full_like(self.arrays[n], 0.0))
                continue
            numbers = sum_units([(flat[offset : offset + size], unit) for offset, unit in ranges])
            xp = namespace_of(self.backend, (numbers,))
            result.append(xp.reshape(numbers, self.shapes[n]))
        return result


def inner_products(backend: Backend, stacks: Arrays, weights: Arrays, count: int) -> Any:
    """For each entry of the stacks Re sum(conj(entry) weight); a weight may be a stack, too.

    Where a weight is zero, an infinite number is left out: 0 * inf would make the sum NaN.
    """
    total: Any = None
    for image, weight in zip(stacks, weights):
        xp = namespace_of(backend, (image, weight))
        product = xp.real(xp.conj(image) * weight) if is_complex(backend, image) else image * weight
        product = xp.where((weight == 0) & ~xp.isfinite(image), xp.zeros_like(product), product)
        term = xp.sum(xp.reshape(product, (count, -1)), axis=1)
        total = term if total is None else total + term
    return total


def sum_units(parts: Sequence[tuple[Any, complex]]) -> Any:
    """`[(a, 1.0), (b, 1.0j)]` -> `a + 1j * b`."""
    return parts[0][0] if len(parts) == 1 else parts[0][0] + 1j * parts[1][0]


def double(dtype: str) -> str:
    return "complex128" if dtype_kind(dtype) == "complex" else "float64"
