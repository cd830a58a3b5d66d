"""The replacements of NumPy's names in copied code: functions that make arrays, and functions that
read lists.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from ...core.contract.errors import NumpyCodeError
from .. import array_makers
from ..array import NumpyArray, pretended, settled_number
from ..array_like import holder_among
from ..array_makers import asarray
from ..made_array import array_of_engine, made, plain
from ..names import SEVERAL
from ..refusals import note_unknown
from ..storage import source_of
from ..writers import WRITERS
from ..writes import holds_storage, stacked
from .globals import Of
from .math_names import inverse_of_real
from .plain import Same, assembled, unknown
from .standing import real_of, standing


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    a = asarray(a, dtype, order)
    if a.dtype.kind in "fc" and not unknown(finite := np.all(np.isfinite(a))) and not finite:
        raise ValueError("array must not contain infs or NaNs")
    return a


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    return asarray(a, dtype)


def isscalar(element: Any) -> bool:
    return (
        pretended(element) is not np.ndarray
        if isinstance(element, NumpyArray)
        else np.isscalar(element)
    )


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: bool = True,
    shape: Any = None,
) -> Any:
    a = assembled(a)
    dtype = dtype if dtype is not None else a.dtype if hasattr(a, "dtype") else np.asarray(a).dtype
    return array_makers.full(np.shape(a) if shape is None else shape, fill_value, dtype)


def arange(*args: Any, **keywords: Any) -> Any:
    """np.arange. The number of elements must be known while f is traced."""
    followed = array_of_engine((*args, *keywords.values()))
    if followed is None or "step" in keywords or "start" in keywords:
        return array_makers.MAKERS[np.arange](*args, **keywords)
    first, *others = args
    start, stop, step = (
        (0, first, 1) if not others else (first, others[0], others[1] if len(others) > 1 else 1)
    )
    numbers: Any = [settled_number(x) for x in (start, stop, step)]
    count = len(np.arange(*numbers))
    result = start + step * np.arange(count)
    return asarray(result, keywords.get("dtype"))


class Ufunc(Same):
    """A ufunc that also takes lists with engine arrays."""

    def __init__(self, real: np.ufunc):
        self.__wrapped__: np.ufunc = real
        self.__doc__ = real.__doc__

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__wrapped__, name)
        if name not in ("accumulate", "outer", "reduce", "reduceat"):
            return value
        return lambda *args, **keywords: value(*map(assembled, args), **keywords)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if any(isinstance(arg, (list, tuple)) for arg in args):
            args = tuple(map(assembled, args))
        return self.__wrapped__(*args, **keywords)


class Ranges:
    """np.r_ and np.c_."""

    def __init__(self, real: Any, join: Callable[..., Any]):
        self._real, self._join = real, join

    def __getitem__(self, items: Any) -> Any:
        items = [assembled(item) for item in (items if type(items) is tuple else (items,))]
        if array_of_engine(items) is None:
            return made(self._real[tuple(plain(items))])
        if isinstance(items[0], str):
            raise TypeError(
                f"numpy_function: np.{self._join.__name__} for np.r_[{items[0]!r}, ...] of what is"
                " differentiated."
            )
        return self._join(
            [self._real[item] if isinstance(item, slice) else np.atleast_1d(item) for item in items]
        )


class Broadcast:
    """np.broadcast, of which the shapes are used."""

    def __init__(self, *arrays: Any):
        self.shape: tuple[int, ...] = np.broadcast_shapes(*map(np.shape, map(assembled, arrays)))
        self.ndim: int = len(self.shape)
        self.nd: int = self.ndim
        self.size: int = int(np.prod(self.shape))
        self._arrays = arrays

    def __iter__(self) -> Any:
        return iter(zip(*[np.ravel(np.broadcast_to(a, self.shape)) for a in self._arrays]))


def broadcast(*arrays: Any) -> Any:
    return np.broadcast(*arrays) if array_of_engine(arrays) is None else Broadcast(*arrays)


def ndenumerate(a: Any) -> Any:
    a = assembled(a)
    if not isinstance(a, NumpyArray):
        return np.ndenumerate(a)
    return ((place, a[place]) for place in np.ndindex(*a.shape))


def nditer(op: Any, *options: Any, **keywords: Any) -> Any:
    if array_of_engine((op, options, keywords)) is None:
        return np.nditer(plain(op), *plain(options), **plain(keywords))
    raise NumpyCodeError(
        "numpy_function: np.nditer does not take what is differentiated. Write a loop."
    )


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **keywords: Any) -> Any:
    arr = asarray(arr)
    moved = np.moveaxis(arr, axis, -1)
    results = [
        asarray(func1d(moved[place], *args, **keywords)) for place in np.ndindex(*moved.shape[:-1])
    ]
    inner = results[0].shape
    stacked_results = np.reshape(np.stack(results), (*moved.shape[:-1], *inner))
    first = len(moved.shape) - 1
    place = axis % arr.ndim
    return np.moveaxis(
        stacked_results,
        tuple(range(first, first + len(inner))),
        tuple(range(place, place + len(inner))),
    )


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Whether two arrays are views of one."""
    if array_of_engine((a, b)) is None:  # plain arrays, several of which may share memory
        return bool(np.may_share_memory(plain(a), plain(b)))
    return isinstance(a, NumpyArray) and isinstance(b, NumpyArray) and _root(a) is _root(b)


def _root(x: Any) -> Any:
    while (source := source_of(x)) is not None:
        x = source
    return x


def _moving(real: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the memory of an array, which here has that of the numbers of its elements, in
    C order.
    """

    @functools.wraps(real)
    def call(x: Any, *args: Any, **keywords: Any) -> Any:
        x = asarray(x)
        if type(x) is not NumpyArray or x.itemsize not in (4, 8):
            return made(real(plain(x), *args, **keywords))
        places = np.arange(x.size, dtype=f"i{x.itemsize}").reshape(x.shape)
        return np.ravel(x)[real(places, *args, **keywords)]

    return call


def fromiter(iterable: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    items = [item for n, item in enumerate(iterable) if count < 0 or n < count]
    return array_makers.array(items, dtype)


def iterable(y: Any) -> bool:
    return y.ndim > 0 if isinstance(y, NumpyArray) else np.iterable(y)


class Vectorized(Same):
    """np.vectorize: a loop in Python, as in NumPy."""

    def __init__(self, of: Of, real: np.vectorize):
        self._real, self._of = real, of
        functools.update_wrapper(self, real.pyfunc)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        args = tuple(map(assembled, args))
        real, function = self._real, self._of(self._real.pyfunc)
        signature, excluded = getattr(real, "signature", None), getattr(real, "excluded", None)
        if signature is not None or keywords or excluded or array_of_engine(args) is None:
            again = np.vectorize(
                function, otypes=real.otypes, excluded=excluded, signature=signature
            )
            return made(again(*plain(args), **plain(keywords)))
        arrays = np.broadcast_arrays(*map(asarray, args))
        shape = np.shape(arrays[0])
        flat = [np.ravel(a) for a in arrays]
        results = [function(*[a[n] for a in flat]) for n in range(len(flat[0]))]
        if results and type(results[0]) is tuple:
            return tuple([np.reshape(asarray(list(parts)), shape) for parts in zip(*results)])
        if not shape:
            return results[0]
        return np.reshape(asarray(results), shape)


def number_class(real: type[np.generic]) -> Callable[..., Any]:
    """np.float64(x) and the like."""

    def make(x: Any = 0, *args: Any) -> Any:
        x = assembled(x)
        return x.astype(real) if type(x) is NumpyArray else real(plain(x), *args)

    return make


#: Keywords that do not apply to an engine's arrays, and do not affect plain ones.
_OF_NUMPY_ALONE = ("device", "subok")
#: Functions whose NumPy code cannot be copied either, because it calls C code.
_OUTSIDE = frozenset(
    getattr(np, name)
    for name in (
        "array2string",
        "array_repr",
        "array_str",
        "may_share_memory",
        "save",
        "savetxt",
        "savez",
        "shares_memory",
    )
)


def looking_into_lists(real: Callable[..., Any], of: Of) -> Callable[..., Any]:
    """A NumPy function that also takes lists with engine arrays, and that runs as a copy of NumPy's
    code if the engine lacks it.
    """
    one_by_one = real in SEVERAL or real is np.piecewise
    written = getattr(real, "_implementation", None)
    written = None if real in _OUTSIDE or not hasattr(written, "__code__") else written

    def taken(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [assembled(part) for part in value] if one_by_one else assembled(value)
        return real_of(value) if isinstance(value, type) else value

    polynomials = real.__name__.startswith("poly")

    @functools.wraps(real)
    def call(*args: Any, **keywords: Any) -> Any:
        if (holder := holder_among((args, keywords))) is not None:
            return holder.__array_function__(real, (type(holder),), args, keywords)
        if polynomials and any(isinstance(arg, np.poly1d) for arg in args):
            return of(written)(*args, **keywords)
        if real is np.einsum:  # of which a list may say axes
            args = tuple([stacked(arg) if holds_storage([arg]) else arg for arg in args])
        elif real is not np.block:  # which takes nested lists
            args = tuple([taken(arg) for arg in args])
        if keywords:
            keywords = {
                name: taken(value)
                for name, value in keywords.items()
                if name not in _OF_NUMPY_ALONE
            }
        followed = array_of_engine((args, keywords))
        if followed is None:
            return made(real(*args, **keywords))
        if written is not None and real not in WRITERS and not followed.engine.functions.has(real):
            return of(written)(*args, **keywords)
        return real(*args, **keywords)

    return call


#: The results of these have as many elements as a number says.
_SIZED_BY_NUMBERS = frozenset({
    np.argwhere, np.bincount, np.compress, np.delete, np.extract, np.flatnonzero, np.insert,
    np.nonzero, np.repeat, np.split, np.unique, np.where,
})  # fmt: skip


def by_numbers(real: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose result has as many elements as a number says, which may be unknown."""

    @functools.wraps(real)
    def call(*args: Any, **keywords: Any) -> Any:
        try:
            return ours(*args, **keywords)
        except (IndexError, TypeError, RuntimeError) as error:
            if any(map(unknown, (*args, *keywords.values()))):
                note_unknown(error)
            raise

    return call


def inverse(real: Callable[..., Any], name: str) -> Callable[..., Any]:
    """np.emath.arccos or np.emath.arcsin, which are complex for real numbers beyond 1."""
    inside = {"acos": np.arccos, "asin": np.arcsin}[name]

    @functools.wraps(real)
    def call(x: Any) -> Any:
        x = assembled(x)
        if type(x) is not NumpyArray:
            return made(real(plain(x)))
        return (
            inverse_of_real(name, x) if x.dtype.kind != "c" and np.any(np.abs(x) > 1) else inside(x)
        )

    return call


def stand_ins(of: Of) -> dict[int, tuple[Any, Any]]:
    """The replacement of each NumPy name, by its identity."""
    ours = {
        **array_makers.MAKERS, np.asfortranarray: asarray, np.asarray_chkfinite: asarray_chkfinite,
        np.require: require, np.isscalar: isscalar, np.full_like: full_like, np.arange: arange,
        np.broadcast: broadcast, np.ndenumerate: ndenumerate, np.nditer: nditer,
        np.apply_along_axis: apply_along_axis, np.may_share_memory: may_share_memory,
        np.shares_memory: may_share_memory, np.fromiter: fromiter,
        np.iterable: iterable, as_strided: _moving(as_strided),
        sliding_window_view: _moving(sliding_window_view),
        np.emath.arccos: inverse(np.emath.arccos, "acos"),
        np.emath.arcsin: inverse(np.emath.arcsin, "asin"),
        np.vectorize: standing(
            np.vectorize, lambda *args, **kwargs: Vectorized(of, np.vectorize(*args, **kwargs))
        ),
    }  # fmt: skip
    pairs: list[tuple[Any, Any]] = list(ours.items())
    pairs += [(np.r_, Ranges(np.r_, np.concatenate)), (np.c_, Ranges(np.c_, np.column_stack))]
    pairs += [
        (real, standing(real, number_class(real)))
        for real in (np.float64, np.float32, np.complex128, np.complex64)
    ]
    known = {id(real) for real, _ in pairs}
    for module in (np, np.linalg, np.fft, np.emath):
        for name in dir(module):
            value: Any = (
                operator.attrgetter(name)(module)
                if name != "in1d" and not name.startswith("_")
                else None
            )
            if hasattr(value, "_implementation") and id(value) not in known:
                known.add(id(value))
                pairs.append((value, looking_into_lists(value, of)))
    return {
        id(real): (real, by_numbers(real, ours) if real in _SIZED_BY_NUMBERS else ours)
        for real, ours in pairs
    }
