"""Operators of the flat contract, each derived once from `pullback` or `pushforward`. Engines override for speed only."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend import Arrays, Backend, FlatFunction, gives
from ..errors import BackendError
from ..library import Library, complex_of, kind
from ..tree import handler_of


def library_of(backend: Backend, array: Any) -> Library:
    """The library of a native array."""
    if backend.library is not None:
        return backend.library
    handler = handler_of(array)
    assert isinstance(handler, Library), type(array)
    return handler


def gradient(backend: Backend, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
    """`(outputs, aux, gradients, connected)` of a function with one real scalar output."""
    if gives(backend, "pullback"):
        outputs, aux, back, connected = backend.pullback(function, leaves)
        return outputs, aux, back((_one_like(backend, outputs[0]),)), connected
    if gives(backend, "pushforward"):
        return _forward_gradient(backend, function, leaves)
    raise BackendError(f"{type(backend).__name__} defines neither pullback nor pushforward; it must give one of them.")


def _one_like(backend: Backend, output: Any) -> Any:
    library = library_of(backend, output)
    return library.asarray(np.ones((), dtype="float64"), dtype=library.dtype(output), like=output)


def _forward_gradient(backend: Backend, function: FlatFunction, leaves: Arrays) -> tuple[Arrays, Arrays, Arrays, bool]:
    """One pushforward for each real component of the leaves; along i for the imaginary parts."""
    zeros = [_basis(backend, leaf, None, 0) for leaf in leaves]
    outputs, _, aux = backend.pushforward(function, leaves, tuple(zeros))
    gradients: list[Any] = []
    for n, leaf in enumerate(leaves):
        library = library_of(backend, leaf)
        dtype, shape = library.dtype(leaf), library.shape(leaf)
        complex_leaf = kind(dtype) == "complex"
        slopes = np.zeros(int(np.prod(shape)), dtype="complex128" if complex_leaf else "float64")
        for i in range(slopes.size):
            for unit in (1, 1j) if complex_leaf else (1,):
                tangents = tuple([_basis(backend, leaf, i, unit) if m == n else zero for m, zero in enumerate(zeros)])
                slope = backend.pushforward(function, leaves, tangents).tangents[0]
                slopes[i] += unit * float(library_of(backend, slope).to_numpy(slope))
        gradients.append(library.asarray(slopes.reshape(shape), dtype=dtype, like=leaf))
    return outputs, aux, tuple(gradients), True


def _basis(backend: Backend, leaf: Any, i: int | None, unit: complex) -> Any:
    library = library_of(backend, leaf)
    dtype = library.dtype(leaf)
    basis = np.zeros(int(np.prod(library.shape(leaf))), dtype="complex128" if kind(dtype) == "complex" else "float64")
    if i is not None:
        basis[i] = unit
    return library.asarray(basis.reshape(library.shape(leaf)), dtype=dtype, like=leaf)


__all__ = ["complex_of", "gradient", "library_of"]
