"""Central differences behind the contract. f is a black box: any library, any engine inside it.

Source of the step: Press et al., Numerical Recipes, 3rd ed., section 5.7 (the cube root of the machine epsilon).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from adinterface.auto import AutoFiniteDifferences
from adinterface.backend import Arrays, Backend, FlatFunction, Pushforward
from adinterface.errors import PrecisionError
from adinterface.library import Library, kind, width
from adinterface.operators.derive import library_of
from adinterface.registry import backend_of, loaded_backends

_EPSILON = {64: 2.0**-52, 32: 2.0**-23, 16: 2.0**-10, 80: float(np.finfo(np.longdouble).eps)}


class FiniteDifferencesBackend(Backend):
    def __init__(self, auto: AutoFiniteDifferences):
        super().__init__(auto)
        self.relative_step = auto.relative_step
        if auto.native is not None:
            native = backend_of(auto.native)
            self.library = native.library
            self.device = native.device

    def gradient(self, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
        with _evaluation(leaves):
            outputs, aux = function(*leaves)
            self._check_precision(leaves, outputs)
            gradients = []
            for n, leaf in enumerate(leaves):

                def value(x: Any, n: int = n) -> Any:
                    (output,), _ = function(*leaves[:n], x, *leaves[n + 1 :])
                    return output

                gradients.append(self._slopes(value, leaf))
        return outputs, aux, tuple(gradients), True

    def _slopes(self, value: Any, leaf: Any) -> Any:
        """The central difference quotient for each component of one leaf."""
        library = library_of(self, leaf)
        dtype, shape = library.dtype(leaf), library.shape(leaf)
        units = (1.0, 1.0j) if kind(dtype) == "complex" else (1.0,)
        traced = library.traced(leaf)
        step = self._step(dtype)
        size = int(np.prod(shape))
        total: Any = None  # slopes that an outer engine traces
        slopes = np.zeros(size, dtype="complex128" if len(units) == 2 else "float64" if width(dtype) <= 64 else "longdouble")
        numbers = None if traced else np.ravel(library.to_numpy(leaf))
        for i in range(size):
            for unit in units:
                if numbers is None:
                    ahead, behind, distance = _moved_trace(library, leaf, i, unit, step)
                else:
                    ahead, behind, distance = _moved(library, leaf, numbers, i, unit, step)
                up, down = value(ahead), value(behind)
                source = library_of(self, up)
                if traced or source.traced(up):
                    basis = np.zeros(size, dtype=slopes.dtype)
                    basis[i] = unit
                    direction = source.asarray(basis.reshape(shape), dtype=None if slopes.dtype.kind == "c" else source.dtype(up))
                    term = (up - down) / distance * direction
                    total = term if total is None else total + term
                else:
                    difference = source.to_numpy(up).astype(slopes.real.dtype) - source.to_numpy(down).astype(slopes.real.dtype)
                    slopes[i] += unit * (difference / distance)
        if total is not None:
            return total
        return library.asarray(slopes.reshape(shape), dtype=dtype, like=leaf)

    def pushforward(self, function: FlatFunction, leaves: Arrays, tangents: Arrays) -> Pushforward:
        raise NotImplementedError

    def _step(self, dtype: str) -> float:
        if self.relative_step is not None:
            return self.relative_step
        return float(_EPSILON.get(width(dtype), 2.0**-3) ** (1 / 3))

    def _check_precision(self, leaves: Arrays, outputs: Arrays) -> None:
        finest = max(width(library_of(self, leaf).dtype(leaf)) for leaf in leaves)
        for output in outputs:
            dtype = library_of(self, output).dtype(output)
            if width(dtype) < finest:
                raise PrecisionError(
                    f"Finite differences: f returned {dtype} for arguments of {finest} bits, so its rounding error would drown "
                    f"every difference. Compute in the arguments' dtype, or pass arguments of dtype {dtype}."
                )


def _moved(
    library: Library, leaf: Any, numbers: np.ndarray[Any, Any], i: int, unit: complex, step: float
) -> tuple[Any, Any, Any]:
    """The leaf with component i moved ahead and behind, and the distance between the two as the dtype rounds it."""
    h = step * max(1.0, float(abs(numbers[i])))
    ahead, behind = numbers.copy(), numbers.copy()
    ahead[i] += numbers.dtype.type(unit * h) if numbers.dtype.kind == "c" else numbers.dtype.type(h)
    behind[i] -= numbers.dtype.type(unit * h) if numbers.dtype.kind == "c" else numbers.dtype.type(h)
    apart = ahead[i] - behind[i]
    distance = np.imag(apart) if unit == 1.0j else np.real(apart)
    shape, dtype = library.shape(leaf), library.dtype(leaf)
    return (
        library.asarray(ahead.reshape(shape), dtype=dtype, like=leaf),
        library.asarray(behind.reshape(shape), dtype=dtype, like=leaf),
        np.asarray(distance, dtype="longdouble" if width(dtype) > 64 else "float64")[()],
    )


def _moved_trace(library: Library, leaf: Any, i: int, unit: complex, step: float) -> tuple[Any, Any, Any]:
    """As `_moved`, in the arithmetic of an outer engine that traces the leaf."""
    xp = library.namespace(leaf)
    shape, dtype = library.shape(leaf), library.dtype(leaf)
    basis = np.zeros(int(np.prod(shape)), dtype="complex128" if kind(dtype) == "complex" else "float64")
    basis[i] = unit
    direction = library.asarray(basis.reshape(shape), dtype=dtype)
    modulus = xp.sum(xp.abs(leaf * direction))
    h = step * xp.where(modulus > 1, modulus, xp.ones_like(modulus))
    return leaf + h * direction, leaf - h * direction, 2 * h


@contextmanager
def _evaluation(leaves: Arrays) -> Iterator[None]:
    """f is called for its values: no engine needs to record it, unless it does so already."""
    with ExitStack() as stack:
        for backend in loaded_backends():
            for library in backend.libraries:
                stack.enter_context(library.evaluation(leaves))
        yield
