"""Functions on native arrays: their library, size and dtype, and arrays like them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .backend import Arrays, Backend
from .errors import ConversionError
from .library import NUMPY, PYTHON, Library, complex_of, dtype_kind
from .registry import REGISTRY, libraries


def library_of_array(array: Any) -> Library:
    """The library of a number, a NumPy array, or an array of a loaded engine or an extension."""
    cls = type(array)
    known = REGISTRY.handlers.get(cls)
    if known is not None and known.is_library:
        return known  # type: ignore[return-value]
    own = [library for library in (NUMPY, PYTHON) if library.owns(array)]
    for library in own or libraries():
        if library.owns(array):
            if known is None:
                REGISTRY.handlers[cls] = library
            return library
    raise ConversionError(
        f"A {cls.__module__}.{cls.__qualname__} stands where an engine has its arrays, and no"
        " library knows it. If f computes with it, pass numpy.asarray(x)."
    )


def library_of(backend: Backend, array: Any) -> Library:
    """The library of a native array."""
    if backend.library is not None and backend.library.owns(array):
        return backend.library
    return library_of_array(array)


def size_of(backend: Backend, array: Any) -> int:
    return math.prod(library_of(backend, array).shape(array))


def is_complex(backend: Backend, array: Any) -> bool:
    return dtype_kind(library_of(backend, array).dtype(array)) == "complex"


def full_like(backend: Backend, array: Any, value: float, count: int | None = None) -> Any:
    """An array like this one, or a stack of `count` of them, filled with one number."""
    return library_of(backend, array).full_like(array, value, count)


def filled(
    backend: Backend, arrays: Sequence[Any], likes: Sequence[Any], count: int | None = None
) -> Arrays:
    """The arrays, with zeros in place of None; for stacks, `count` zeros."""
    for array in arrays:
        if array is None:
            break
    else:
        return tuple(arrays)
    pairs = zip(arrays, likes, strict=True)
    return tuple(
        [full_like(backend, like, 0.0, count) if array is None else array for array, like in pairs]
    )


def cast(backend: Backend, array: Any, dtype: str) -> Any:
    """The array in this dtype: an engine computes in the widest, a result has that of its place."""
    library = library_of(backend, array)
    return array if library.dtype(array) == dtype else library.asarray(array, dtype=dtype)


def cast_like(backend: Backend, arrays: Sequence[Any], likes: Sequence[Any]) -> Arrays:
    """Each array in the dtype of its counterpart."""
    dtypes = [library_of(backend, like).dtype(like) for like in likes]
    return tuple([cast(backend, array, dtype) for array, dtype in zip(arrays, dtypes)])


def copies(backend: Backend, leaves: Arrays, owned: frozenset[int] = frozenset()) -> Arrays:
    """The leaves for an f that may write into them, but those that it reaches through an object."""
    return tuple([leaf if n in owned else _copy(backend, leaf) for n, leaf in enumerate(leaves)])


def _copy(backend: Backend, leaf: Any) -> Any:
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf.copy("K") if isinstance(leaf, np.ndarray) else leaf
    library = library_of(backend, leaf)
    return leaf if not library.mutable or library.traced(leaf) else library.asarray(leaf, copy=True)


def block_dtype(output: str, leaf: str) -> str:
    """The dtype of d output / d leaf, from theirs: complex if one of them is."""
    either = dtype_kind(output) == "complex" and dtype_kind(leaf) == "real"
    return complex_of(leaf) if either else leaf
