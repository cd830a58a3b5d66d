"""JAX's arrays: precision scopes, conversions, devices."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from operator import attrgetter
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.dtypes import canonicalize_dtype
from jax.sharding import SingleDeviceSharding

from adinterface import ConversionError, PrecisionError
from adinterface.core.contract import (
    NUMPY,
    Arrays,
    Enter,
    FlatRule,
    Library,
    Loops,
    Scoping,
    ToLeaf,
    any_wide,
    as_it_is,
    dtype_kind,
    dtype_name,
    unsupported_dtype,
)

from . import namespace
from .custom import custom
from .outside import outside
from .private import SHARDING, ArrayImpl, untraced
from .sharding import as_traced, sharding_of

_LACKING = {name for x in ("longdouble", "clongdouble") for name in (x, np.dtype(x).name)}
_SUPPORTED = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
_aval_and_sharding, _sharding = attrgetter("aval", SHARDING), attrgetter(SHARDING)


class JaxLibrary(Library):
    types = (jax.Array,)
    mutable = False

    def dtype(self, x: Any) -> str:
        return dtype_name(x.dtype)

    def sparse_matrices(
        self, rows: Any, columns: Any, shape: tuple[int, int]
    ) -> Callable[[Any], Any]:
        from jax.experimental.sparse import BCOO  # here, because it takes a while to import

        with jax.ensure_compile_time_eval():
            indices = jnp.asarray(np.stack([rows, columns], axis=1))
        return lambda entries: BCOO(
            (entries, indices), shape=shape, indices_sorted=True, unique_indices=True
        )

    def take(self, x: Any, places: np.ndarray[Any, Any]) -> Any:
        # The compiler computes gathered indices element by element, with one division less for two
        # index arrays. They are one constant, because joining two large ones takes seconds.
        x = x.reshape(x.shape[0], -1) if x.ndim > 1 else x.reshape(1, -1)
        index = np.stack(np.divmod(places, x.shape[1]), axis=1)
        numbers = jax.lax.GatherDimensionNumbers(
            offset_dims=(), collapsed_slice_dims=(0, 1), start_index_map=(0, 1)
        )
        return jax.lax.gather(
            x, jnp.asarray(index), numbers, slice_sizes=(1, 1), mode="promise_in_bounds"
        )

    def traced(self, x: Any) -> bool:
        return isinstance(x, jax.core.Tracer)

    def value_under_trace(self, x: Any) -> np.ndarray[Any, Any] | None:
        stopped = jax.lax.stop_gradient(x)  # known outside jit and vmap
        return None if isinstance(stopped, jax.core.Tracer) else np.asarray(stopped)

    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        return np.asarray(x)

    def exported(self, x: Any) -> Any:
        sharding = x.sharding
        if type(sharding) is not SingleDeviceSharding and not sharding.is_fully_replicated:
            raise ConversionError(
                f"A JAX array of shape {x.shape} lies in parts on {len(sharding.device_set)}"
                f" devices ({sharding.spec}), which another engine could only have gathered on one."
                " Differentiate it with AutoJax(), which leaves it where it is, or gather it"
                " yourself: jax.device_put(x, jax.devices()[0])."
            )
        # DLPack, without a copy; empty and deleted arrays have no memory to share, and those on
        # several devices have it several times.
        shared = x.size and type(sharding) is SingleDeviceSharding and not x.is_deleted()
        return x if shared else np.asarray(x)

    def asarray(
        self, x: Any, *, dtype: str | None = None, like: Any = None, copy: bool = False
    ) -> Any:
        if isinstance(x, jax.Array):
            if dtype is not None and dtype_name(x.dtype) != dtype:
                with precision_of(dtype):
                    x = (
                        x.real if dtype_kind(dtype) != "complex" and jnp.iscomplexobj(x) else x
                    ).astype(canonicalize_dtype(dtype))
        else:
            x = self._adopted(x, dtype)
        if like is None:
            return x
        if isinstance(like, jax.core.Tracer):
            return as_traced(x, like)
        if isinstance(x, jax.core.Tracer):
            return x
        target = sharding_of(like, x.ndim) if isinstance(like, jax.Array) else like
        return x if x.sharding == target else jax.device_put(x, target)

    def _adopted(self, x: Any, dtype: str | None) -> jax.Array:
        """A NumPy array, a Python number or a DLPack object as a JAX array."""
        if not isinstance(x, (np.ndarray, np.generic, float, complex, int)):
            with precision_of(str(x.dtype).rpartition(".")[2]):
                adopted = jnp.from_dlpack(x, copy=True)
            return adopted if dtype is None else self.asarray(adopted, dtype=dtype)
        if isinstance(x, (np.ndarray, np.generic)):
            if x.dtype.name in _LACKING:
                raise unsupported_dtype(x.dtype.name, "JAX", _SUPPORTED)
            if not x.dtype.isnative:
                x = x.astype(x.dtype.newbyteorder("="))
            x = self._index_width(x)
            dtype = dtype or x.dtype.name
        if dtype in _LACKING:
            raise unsupported_dtype(str(dtype), "JAX", _SUPPORTED)
        # To name a dtype that the array has already costs half as much again.
        named = dtype is not None and not (isinstance(x, np.ndarray) and x.dtype.name == dtype)
        with precision_of(*[dtype] if dtype else []):
            # Always a copy, made here: JAX shares the memory of NumPy arrays, or copies them when
            # its computation starts (also with `copy=True`), after the caller may have written to
            # them.
            own = np.array(x) if isinstance(x, np.ndarray) else x
            return jnp.asarray(own, dtype=canonicalize_dtype(dtype) if named else None)

    @staticmethod
    def _index_width(x: Any) -> Any:
        """64-bit integers in JAX's default width, if their values fit."""
        if x.dtype.name in ("int64", "uint64") and x.size and not jax.config.jax_enable_x64:  # type: ignore[attr-defined]
            narrow = np.iinfo("int32" if x.dtype.kind == "i" else "uint32")
            if x.max() > narrow.max or x.min() < narrow.min:
                raise PrecisionError(
                    f"An array of dtype {x.dtype.name} holds values that do not fit {narrow.dtype},"
                    " which JAX uses in a call without 64-bit floats. Make a floating leaf"
                    " float64, or set jax_enable_x64."
                )
        return x

    def signature(self, x: Any) -> Any:
        if type(x) is ArrayImpl:
            return _aval_and_sharding(x)  # results are put where the array lies
        dtype_and_shape = super().signature(x)
        return dtype_and_shape if isinstance(x, jax.core.Tracer) else (*dtype_and_shape, x.sharding)

    def enter(self, example: Any, source: Library, dtype: str | None) -> Enter | None:
        return as_it_is if source is self else None

    def to_leaf(self, example: Any, source: Library) -> ToLeaf | None:
        if type(example) is np.ndarray and example.dtype.isnative:
            return _own_numbers(example.dtype)
        if type(example) is float:
            return _to_float
        if example is None and source is NUMPY:
            return _own_numbers_of_any_dtype
        if example is None and source is self:
            return _untraced
        return _own_array(example) if type(example) is ArrayImpl else None

    def namespace(self, x: Any) -> ModuleType:
        return namespace

    def numpy_sources(self) -> tuple[Any, ...]:
        from . import numpy_code

        return (numpy_code,)

    def custom(self, rule: FlatRule, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
        try:
            result: tuple[Arrays, Arrays] = custom(rule, leaves, carried)
        except jax.errors.UnexpectedTracerError as error:
            raise rule.captured() from error
        return result

    def outside(
        self, function: Callable[..., Arrays], arrays: Arrays, example: Callable[[], Arrays]
    ) -> Arrays:
        return outside(function, arrays, example)

    def stopped(self, x: Any) -> Any:
        return jax.lax.stop_gradient(x)

    def loops(self) -> Loops:
        from .loops import JaxLoops

        return JaxLoops(self)

    def precision(self, dtypes: tuple[str, ...]) -> Scoping | None:
        return _widening if any_wide(dtypes) else None


def precision_of(*dtypes: str) -> AbstractContextManager[Any]:
    """The precision for arrays of these dtypes."""
    return (_widening() if any_wide(dtypes) else None) or nullcontext()


def _widening() -> AbstractContextManager[Any] | None:
    """64 bits, unless the user chose already: for all of JAX, or by the precision of a trace."""
    if jax.config.jax_enable_x64 or not untraced():  # type: ignore[attr-defined]
        return None
    scope: AbstractContextManager[Any] = jax.enable_x64(True)
    return scope


def _own_numbers(dtype: np.dtype[Any]) -> ToLeaf:
    def to_leaf(result: Any, occupied: set[int]) -> Any:
        # Inside a trace of the user's, it may have been computed in the precision of that.
        if type(result) is not ArrayImpl:
            return None
        numbers: np.ndarray[Any, Any] = np.array(result)
        return numbers if numbers.dtype == dtype else None

    return to_leaf


def _own_numbers_of_any_dtype(result: Any, occupied: set[int]) -> Any:
    return np.array(result) if type(result) is ArrayImpl else None


def _untraced(result: Any, occupied: set[int]) -> Any:
    return result if type(result) is ArrayImpl else None


_double = struct.Struct("=d").unpack


def _to_float(result: Any, occupied: set[int]) -> Any:
    if type(result) is not ArrayImpl:
        return None
    try:
        return _double(result)[0]  # by the buffer protocol: a fifth of the time through NumPy
    except (struct.error, BufferError):  # of another dtype, or on another device
        return np.asarray(result).item()


def _own_array(example: Any) -> ToLeaf:
    known = _sharding(example)

    def to_leaf(result: Any, occupied: set[int]) -> Any:
        nonlocal known
        if type(result) is not ArrayImpl:
            return None
        sharding = _sharding(result)
        if sharding is not known:
            if sharding != known:
                return None
            # compiled code returns the same objects again, and comparing others takes longer
            known = sharding
        return result

    return to_leaf


JAX = JaxLibrary()
