"""Evaluations of f: the one place through which all of them go, one after another or spread over workers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from adinterface.core.contract.arrays import library_of, size_of
from adinterface.core.contract.backend import Arrays, Aux, Backend, FlatFunction
from adinterface.core.contract.errors import PrecisionError
from adinterface.core.contract.fixed_values import hold_on, holding, let_go
from adinterface.core.contract.library import epsilon, width
from adinterface.core.contract.repetition import copies
from adinterface.core.contract.workers import OUTSIDE, Outside, Task, run_all

from .levels import Level, aside, below, come_back, go_below

_T = TypeVar("_T")
Array = np.ndarray[Any, Any]
DOUBLE = np.dtype(np.float64)

#: A flat function.
Evaluate = Callable[..., tuple[Arrays, Aux]]


class Evaluations:
    """A flat function around one point."""

    def __init__(self, backend: Backend, function: FlatFunction, leaves: Arrays, executor: Any = None):
        self.backend, self.leaves, self.executor = backend, leaves, executor
        #: The values that f ignores, held fixed at the point.
        self.function = holding(function, leaves, aside)
        self.alone: Any = self.function.beside
        #: f's aux, from its first evaluation.
        self.aux = Aux()
        #: What the evaluation recorded of nested differences inside f.
        self.level = Level()
        #: What f raised last at a displaced point.
        self.raised: Exception | None = None
        self._base: tuple[Arrays, Aux] | None = None
        self._flattener: Flattener | None = None

    def displaced(self, *leaves: Any) -> tuple[Arrays, Aux]:
        """f at one displaced point."""
        with below(self.level):
            result: tuple[Arrays, Aux] = self.alone(*leaves)
        return result

    def base(self) -> tuple[Arrays, Aux]:
        """f at the point itself, once."""
        outputs, aux = self.at_the_point()
        self.flattener(outputs, aux)
        return outputs, aux

    def at_the_point(self) -> tuple[Arrays, Aux]:
        """As `base`, for any value of f. f may write into its arguments, and may reuse the arrays that it returns."""
        if self._base is None:
            with below(self.level):
                self._base = kept_all(self.function(*copies(self.backend, self.leaves, self.function.held)))
        return self._base

    def look(self) -> Arrays:
        """The outputs at the point, when nothing else is needed there: f gets copies, as elsewhere."""
        if self._base is None:
            self._base = kept_all(self.displaced(*copies(self.backend, self.leaves)))
        return self.base()[0]

    @property
    def count(self) -> int | None:
        """How many numbers f returns; None if it was not evaluated yet."""
        return None if self._flattener is None else self._flattener.count

    @property
    def at_hand(self) -> bool:
        """Whether f is known at the point itself."""
        return self._base is not None

    def vectors(self, points: Iterable[Sequence[Any]]) -> list[Any]:
        """The outputs at these points, in order, each as one NumPy vector (a NumPy number for a single one)."""
        if self.executor is not None:
            return [
                self._outside(result.error) if type(result) is Outside else self._flat(*result)
                for result in self.spread(points)
            ]
        flattener, found = self._flattener, []
        inside, hold = self.alone.inside, self.alone.hold
        function = inside.shortest
        with DisplacedScope(self):
            for leaves in points:
                hold.place = 0
                try:
                    outputs, aux = function(*leaves)
                except OUTSIDE as error:
                    found.append(self._outside(error))
                    continue
                if flattener is None:
                    flattener, function = self.flattener(outputs, aux), inside.shortest
                found.append(flattener.flat(outputs))
        return found

    def _outside(self, error: Exception) -> Any:
        """The outputs of an f that raised: NaN, if f is defined at the point itself."""
        self.raised = error
        flattener = self._flattener or self.flattener(self.base()[0])
        return np.float64(np.nan) if flattener.number else np.full(flattener.count, np.nan)

    def spread(self, points: Iterable[Sequence[Any]]) -> Iterator[tuple[Arrays, Aux] | Outside]:
        """As `displaced` at each of these points, on the workers of the executor."""
        self.base()
        if self.function.ignores:  # workers do not have the held values
            yield from [self.displaced(*leaves) for leaves in points]
            return
        alone, ship = self.alone, getattr(self.alone, "shipped", None)
        tasks = [Task(_noting, (alone, leaves, {}) if ship is None else ship(leaves)) for leaves in points]
        for found in run_all(self.executor, tasks):
            if type(found) is Outside:
                yield found
                continue
            result, error, order = found
            self.level.note(error, order)
            yield result if ship is None else alone.taken_apart(result)

    def _flat(self, outputs: Arrays, aux: Aux) -> Any:
        return self.flattener(outputs, aux).flat(outputs)

    def elsewhere(self, function: Evaluate, leaves: Sequence[Any]) -> tuple[Arrays, Aux]:
        """Another form of f, at leaves of another dtype."""
        with below(self.level):
            return function(*leaves)

    def dtypes(self) -> list[str]:
        """Of the leaves that have numbers."""
        return [library_of(self.backend, x).dtype(x) for x in self.leaves if size_of(self.backend, x)]

    def flattener(self, outputs: Arrays, aux: Aux | None = None) -> Flattener:
        """How outputs become a vector; the first that are seen say."""
        if self._flattener is None:
            check_precision(self.backend, self.leaves, outputs)
            self._flattener = _flattener_of(self.backend, outputs)
            if self._flattener.traced:
                raise TracedError
            if aux is not None:
                self.aux = aux
        return self._flattener


def _noting(f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, float, int]:
    """On a worker: f's value, and the accuracy of differences inside f, as in `Level`."""
    with below(level := Level()):
        return f(*args, **kwargs), level.error, level.order


class DisplacedScope:
    """The scopes of evaluations at displaced points, entered once for many: to enter them for each takes longer than many an f.

    Inside, `alone.inside` is evaluated, each time after `alone.hold.place = 0`.
    """

    __slots__ = ("_evaluations", "_held", "_level")

    def __init__(self, evaluations: Evaluations):
        self._evaluations = evaluations

    def __enter__(self) -> None:
        evaluations = self._evaluations
        self._level, self._held = go_below(evaluations.level), hold_on(evaluations.alone.hold)

    def __exit__(self, *raised: object) -> None:
        let_go(self._held)
        come_back(self._level)


class TracedError(Exception):
    """f's value is traced by an outer engine, so differences must be taken in that engine's arithmetic."""


class Flattener:
    """Flattens f's outputs to one NumPy vector, with enough precision for differences."""

    def __init__(self, backend: Backend, outputs: Arrays):
        self.backend = backend
        self.outputs = kept(outputs)
        self.libraries = [library_of(backend, output) for output in outputs]
        self.dtypes = [library.dtype(output) for library, output in zip(self.libraries, outputs)]
        self.shapes = [library.shape(output) for library, output in zip(self.libraries, outputs)]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        self.count = sum(self.sizes)
        wide = any(width(dtype) > 64 for dtype in self.dtypes)
        self.dtype: Any = np.longdouble if wide else np.float64
        self.complex = any(dtype.startswith(("complex", "clong")) for dtype in self.dtypes)
        if self.complex:
            self.dtype = np.clongdouble if wide else np.complex128
        #: The distance from 1 to the next number of the coarsest output.
        self.epsilon = max([epsilon(dtype) for dtype, size in zip(self.dtypes, self.sizes) if size], default=2.0**-52)
        numpys = (np.ndarray, np.generic)
        self.number = len(outputs) == 1 and self.sizes == [1] and isinstance(outputs[0], numpys)
        self.single = len(outputs) == 1 and isinstance(outputs[0], numpys)
        #: For one real number of double precision, whose arithmetic is that of Python numbers.
        self.alone = self.count == 1 and self.dtype is np.float64
        self.traced = any(library.traced(output) for library, output in zip(self.libraries, outputs))

    def flat(self, outputs: Arrays) -> Any:
        if self.number:
            output = outputs[0]
            return output if type(output) is not np.ndarray else output.reshape(())[()]
        if self.single:
            return np.array(outputs[0], self.dtype).ravel()  # f may compute into the same array again
        parts = [
            np.asarray(library.to_numpy(output)).astype(self.dtype).ravel() for library, output in zip(self.libraries, outputs)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def split(self, stack: Array) -> list[Array]:
        """A stack (lines, outputs) as a stack for each output of f, in its shape."""
        found: list[Array] = []
        start = 0
        for shape, size in zip(self.shapes, self.sizes):
            found.append(stack[:, start : start + size].reshape(len(stack), *shape))
            start += size
        return found

    def native(self, n: int, numbers: Array) -> Any:
        """Numbers of the shape of output n, or a stack of such, as its library's array in its dtype."""
        library, dtype = self.libraries[n], self.dtypes[n]
        real = numbers if dtype.startswith(("complex", "clong")) else np.real(numbers)
        return library.asarray(np.asarray(real, order="C"), dtype=dtype, like=self.outputs[n])


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


def kept(arrays: Arrays) -> Arrays:
    """Copies of NumPy arrays; other values unchanged."""
    return tuple([array.copy("K") if isinstance(array, np.ndarray) else array for array in arrays])


def kept_all(result: tuple[Arrays, Aux]) -> tuple[Arrays, Aux]:
    outputs, aux = result
    return kept(outputs), aux.map(lambda array: kept((array,))[0])


def apart(backend: Backend, leaves: Arrays, differences: Callable[[Callable[[], Arrays]], _T]) -> _T:
    """`differences(fresh)`, where `fresh()` returns leaves that are not displaced, for f.

    NumPy leaves are the same copies each time, unless f writes into them. Then everything is computed again, with copies for
    each evaluation; making them from the start would take longer than many an f.
    """
    for leaf in leaves:
        if not isinstance(leaf, (np.ndarray, np.generic)):
            return differences(functools.partial(copies, backend, leaves))
    own: list[Arrays] = []

    def fresh() -> Arrays:
        if not own:  # most lines move all leaves that there are
            own.append(kept(leaves))
        return own[0]

    found = differences(fresh)
    if not own or all(a.tobytes() == b.tobytes() for a, b in zip(own[0], leaves)):
        return found
    return differences(functools.partial(kept, leaves))
