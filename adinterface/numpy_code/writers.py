"""NumPy's functions and methods that write to an array, with `x[...] = value` for any array."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core.contract.errors import NumpyCodeError
from .names import spelled
from .refusals import INTO_UNKNOWN_ELEMENTS, of_write
from .storage import Storage, Unknown, known
from .writes import of_numbers, stacked

#: NumPy's functions that write to an argument.
WRITERS: dict[Any, Callable[..., Any]] = {}


def _writer(function: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(ours: Callable[..., Any]) -> Callable[..., Any]:
        target = next(iter(inspect.signature(ours).parameters))

        @functools.wraps(ours)
        def write(*args: Any, **keywords: Any) -> Any:
            if isinstance(args[0] if args else keywords[target], Storage):
                return ours(*args, **keywords)
            name = spelled(function)
            return function(
                *of_numbers(args, name),
                **{word: of_numbers(part, name) for word, part in keywords.items()},
            )

        WRITERS[function] = write
        return write

    return register


def _plain(x: Any) -> Any:
    """A mask or indices as NumPy's."""
    try:
        return np.asarray(known(x, x.engine if isinstance(x, Storage) else None))
    except Unknown:
        raise NumpyCodeError(of_write(INTO_UNKNOWN_ELEMENTS)) from None


def _vector(values: Any) -> Any:
    return np.reshape(stacked(values), (-1,))


@_writer(np.copyto)
def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    dtype = (
        src.dtype
        if hasattr(src, "dtype")
        else np.min_scalar_type(src)
        if np.ndim(src) == 0
        else np.asarray(src).dtype
    )
    if not np.can_cast(dtype, dst.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(
            f"Cannot cast array data from {dtype!r} to {dst.dtype!r} according to the rule"
            f" {casting!r}"
        )
    dst[...] = src if where is True else np.where(where, src, dst)


@_writer(np.putmask)
def putmask(a: Any, mask: Any, values: Any) -> None:
    values = stacked(values)
    if np.ndim(values) == 0 or np.shape(values) == a.shape:
        a[...] = np.where(mask, values, a)
        return
    values = _vector(values)
    places = np.flatnonzero(_plain(mask))
    if not np.shape(values)[0]:
        return  # as NumPy
    Flat(a)[places] = values[places % np.shape(values)[0]]


@_writer(np.place)
def place(arr: Any, mask: Any, vals: Any) -> None:
    values, places = _vector(vals), np.flatnonzero(_plain(mask))
    if not places.size:
        return
    if not np.shape(values)[0]:
        raise ValueError("Cannot insert from an empty array!")
    Flat(arr)[places] = values[np.arange(places.size) % np.shape(values)[0]]


@_writer(np.put)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    places, values = _plain(ind).ravel(), _vector(v)
    if not np.shape(values)[0]:
        return
    if mode == "wrap":
        places = places % a.size
    elif mode == "clip":
        places = np.clip(places, 0, a.size - 1)
    Flat(a)[places] = values[np.arange(places.size) % np.shape(values)[0]]


_writer(np.fill_diagonal)(inspect.unwrap(np.fill_diagonal))


@_writer(np.put_along_axis)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    inspect.unwrap(np.put_along_axis)(arr, _plain(indices), values, axis)


# Methods
# ------------------------------------------------------------------------------------------------


def _fill(self: Any, value: Any) -> None:
    self[...] = value


def _sort(
    self: Any, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> None:
    self[...] = np.sort(self, axis)


def _partition(
    self: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
) -> None:
    self[...] = np.partition(self, kth, axis)


WRITING_METHODS: dict[str, Callable[..., Any]] = {
    "fill": _fill,
    "put": put,
    "sort": _sort,
    "partition": _partition,
}


class Flat(np.lib.mixins.NDArrayOperatorsMixin):
    """x.flat: the elements of x in C's order, to read and to write."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, x: Any):
        self.base = x

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Iterator[Any]:
        return iter(np.ravel(self.base))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        return getattr(ufunc, method)(*map(_flattened, inputs), **keywords)

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        return function(
            *map(_flattened, args), **{name: _flattened(value) for name, value in keywords.items()}
        )

    def __getitem__(self, index: Any) -> Any:
        result = np.ravel(self.base)[index]
        return result.copy() if np.ndim(result) else result

    def __setitem__(self, index: Any, value: Any) -> None:
        x = self.base
        if not x.size:
            return  # as NumPy
        values, index = stacked(value), known(index, x.engine)
        if not np.size(values) and np.ndim(index):
            return  # as NumPy, which does not check the places
        places = np.arange(x.size)[index]
        if np.ndim(values) and np.ndim(places):
            values = _vector(values)
            if not np.shape(values)[0]:
                return  # as NumPy
            values = values[np.arange(places.size) % np.shape(values)[0]]  # which begin again
        if x.ndim:
            x[np.unravel_index(places, x.shape)] = values
        elif np.size(places):
            x[...] = values[-1] if np.ndim(values) else values


def _flattened(value: Any) -> Any:
    """The array of its elements for `x.flat`, as NumPy's functions take it."""
    return np.ravel(value.base) if isinstance(value, Flat) else value
