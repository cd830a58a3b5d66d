"""Evaluations of a flat function: the one place through which all of them go, one after another or spread over workers."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from adinterface.core.contract.arrays import library_of, size_of
from adinterface.core.contract.backend import Arrays, Aux, Backend
from adinterface.core.contract.errors import PrecisionError
from adinterface.core.contract.library import epsilon, width
from adinterface.core.contract.record import active_record

from .around import Around
from .differences import Array, Evaluations, Form, Level, below, kept

DOUBLE = np.dtype(np.float64)


class FlatEvaluations(Evaluations):
    """A flat function around one point."""

    def __init__(self, backend: Backend, function: Any, leaves: Arrays, executor: Any = None):
        super().__init__(leaves, records=active_record() is not None)
        self.backend, self.executor = backend, executor
        self.around = Around(function, backend, leaves)
        #: f's aux, from its first evaluation.
        self.aux = Aux()
        self._base: tuple[Arrays, Aux] | None = None
        #: How outputs become a vector; the first that are seen say.
        self.flattener: Flattener

    def base(self) -> tuple[Arrays, Aux]:
        """f at the point itself, once. f may write into its arguments, and may reuse the arrays that it returns."""
        if self._base is None:
            with below(self.level):
                self._base = kept_all(self.around.at_the_point())
        if self.known is None:
            self._vector(*self._base)
        return self._base

    def here(self) -> Array:
        return np.array(np.atleast_1d(self._vector(*self.base())), self.form.dtype)

    def look(self) -> Array:
        if self._base is None:  # f gets copies, as elsewhere
            with below(self.level):
                self._base = kept_all(self.around(*self.copies()))
        return self.here()

    @property
    def at_hand(self) -> bool:
        return self._base is not None

    def copies(self) -> Arrays:
        copies: Arrays = self.around.copies()
        return copies

    def imaginary(self, leaves: Sequence[Any]) -> Array | None:
        with below(self.level):
            found = self.around.unchecked(*leaves)
        parts = [np.imag(np.asarray(output)).astype("float64").ravel() for output in found[0]] if found else []
        return np.concatenate(parts) if parts else None

    def vectors(self, points: Iterable[Sequence[Any]]) -> list[Any]:
        if self.executor is None:
            with below(self.level):
                found: list[Any] = self.around.many(points, self._vector, self.outside)
            return found
        self.base()
        return [
            self.outside(*result) if len(result) == 1 else self._heard(*result)
            for result in self.around.on_workers(self.executor, points, _noting)
        ]

    def _vector(self, outputs: Arrays, aux: Aux) -> Any:
        if self.known is None:
            check_precision(self.backend, self.leaves, outputs)
            flattener = _flattener_of(self.backend, outputs)
            if flattener.traced:
                raise TracedError
            self.flattener, self.known, self.aux = flattener, flattener.form, aux
        return self.flattener.flat(outputs)

    def _heard(self, value: tuple[Arrays, Aux], error: float, order: int) -> Any:
        self.level.note(error, order)
        return self._vector(*value)


def _noting(f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, float, int]:
    """On a worker: f's value, and the accuracy of differences inside f, as in `Level`."""
    with below(Level()) as level:
        return f(*args, **kwargs), level.error, level.order


class TracedError(Exception):
    """f's value is traced by an outer engine, so differences must be taken in that engine's arithmetic."""


class Flattener:
    """Flattens f's outputs to one NumPy vector, with enough precision for differences."""

    def __init__(self, backend: Backend, outputs: Arrays):
        self.outputs = kept(outputs)
        self.libraries = [library_of(backend, output) for output in outputs]
        self.dtypes = [library.dtype(output) for library, output in zip(self.libraries, outputs)]
        self.complex = [dtype.startswith(("complex", "clong")) for dtype in self.dtypes]
        self.shapes = [library.shape(output) for library, output in zip(self.libraries, outputs)]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        wide = any(width(dtype) > 64 for dtype in self.dtypes)
        dtype: Any = np.longdouble if wide else np.float64
        if any(self.complex):
            dtype = np.clongdouble if wide else np.complex128
        coarsest = max([epsilon(dtype) for dtype, size in zip(self.dtypes, self.sizes) if size], default=2.0**-52)
        self.form = Form(sum(self.sizes), dtype, coarsest)
        self.single = len(outputs) == 1 and isinstance(outputs[0], (np.ndarray, np.generic))
        self.number = self.single and self.sizes == [1]
        self.traced = any(library.traced(output) for library, output in zip(self.libraries, outputs))

    def flat(self, outputs: Arrays) -> Any:
        if self.number:
            output = outputs[0]
            return output if type(output) is not np.ndarray else output.reshape(())[()]
        if self.single:
            return np.array(outputs[0], self.form.dtype).ravel()  # f may compute into the same array again
        parts = [
            np.asarray(library.to_numpy(output)).astype(self.form.dtype).ravel()
            for library, output in zip(self.libraries, outputs)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def split(self, stack: Array) -> list[Array]:
        """A stack (lines, outputs) as a stack for each output of f, in its shape."""
        ends = list(itertools.accumulate(self.sizes))
        return [part.reshape(len(stack), *shape) for part, shape in zip(np.split(stack, ends[:-1], axis=1), self.shapes)]

    def native(self, n: int, numbers: Array) -> Any:
        """Numbers of the shape of output n, or a stack of such, as its library's array in its dtype."""
        real = numbers if self.complex[n] else np.real(numbers)
        return self.libraries[n].asarray(np.asarray(real, order="C"), dtype=self.dtypes[n], like=self.outputs[n])


def _flattener_of(backend: Backend, outputs: Arrays) -> Flattener:
    return _number_flattener(backend) if len(outputs) == 1 and type(outputs[0]) is np.float64 else Flattener(backend, outputs)


@functools.lru_cache(maxsize=32)
def _number_flattener(backend: Backend) -> Flattener:
    """The flattener of one NumPy number, which most functions return; cached, since making it takes long."""
    return Flattener(backend, (np.float64(0.0),))


def check_precision(backend: Backend, leaves: Arrays, outputs: Arrays) -> None:
    """Refuse a value with less precision than the arguments."""
    for array in (*outputs, *leaves):
        if type(array) is not np.float64 and (type(array) is not np.ndarray or array.dtype is not DOUBLE):
            break
    else:
        return
    dtypes = [library_of(backend, leaf).dtype(leaf) for leaf in leaves if size_of(backend, leaf)]
    for dtype in dtypes:
        if width(dtype) <= 8:
            raise PrecisionError(
                f"Finite differences: an argument of dtype {dtype} has too few digits for a step. Convert it to float32, or "
                f"wrap it in Constant(...)."
            )
    finest = max(map(width, dtypes), default=0)
    for output in outputs:
        if not size_of(backend, output):
            continue
        library = library_of(backend, output)
        dtype = library.dtype(output)
        if width(dtype) < finest:
            given = {library_of(backend, leaf) for leaf in leaves}
            own = "" if library in given else f" AutoFiniteDifferences(native=...) gives f arrays of {library.name}."
            raise PrecisionError(
                f"Finite differences: f returned {dtype} for arguments of {finest} bits, so its rounding error would drown "
                f"every difference. Compute in the arguments' dtype, or pass arguments of dtype {dtype}.{own}"
            )


def kept_all(result: tuple[Arrays, Aux]) -> tuple[Arrays, Aux]:
    outputs, aux = result
    return kept(outputs), aux.map(lambda array: kept((array,))[0])
