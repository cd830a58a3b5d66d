"""Evaluations of a flat function, all through one place: one after another, or on workers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np

from adinterface import BackendError, OutputError, PrecisionError
from adinterface.core.contract import (
    Arrays,
    Aux,
    Backend,
    Library,
    active_record,
    copies,
    dtype_kind,
    epsilon,
    evaluation,
    function_of_extension,
    library_of,
    size_of,
    width,
)

from .differences import OUTSIDE, Array, BasePoint, Evaluations, Level, Outputs, below, kept

_T = TypeVar("_T")
DOUBLE = np.dtype(np.float64)
#: What most functions return. To make it for each call takes as long as an f.
NUMBER = Outputs([np.float64(0.0)], [2.0**-52], OutputError)


class _NothingIgnored:
    """In place of the `Hold` of `adinterface.rules`, without which f can ignore nothing."""

    record = None

    def __init__(self, *point: Any):
        self.place = 0

    def __call__(self, f: Callable[..., Any], *args: Any) -> Any:
        return f(*args)

    def steadily(self) -> AbstractContextManager[None]:
        return nullcontext()


class FlatEvaluations(Evaluations):
    """A flat function around one point, with what f ignores fixed; values: `(outputs, aux)`."""

    def __init__(self, backend: Any, function: Any, leaves: Arrays):
        super().__init__(leaves, records=active_record() is not None)
        self.backend, self.executor = backend, backend.options.executor
        #: What an engine may trace: the leaves, and what else f is given.
        self.side_inputs = (*leaves, *function.side_inputs)
        function = function.repeated()
        #: The function at the point, and elsewhere.
        self.there, self.elsewhere = function, function.elsewhere()
        hold = function_of_extension("Hold") or _NothingIgnored
        #: Evaluates f with the values that it ignores.
        # no other evaluation may notice it
        self.hold: Any = hold(self.elsewhere, leaves, lambda: below(Level()))
        #: From the first evaluation: f's outputs and aux, and the libraries of the outputs, None
        #: for NumPy alone.
        self.first: Arrays = ()
        self.aux = Aux()
        self.libraries: list[Library] | None = None

    def point(self) -> BasePoint:
        """The leaves as NumPy numbers."""
        require_numbers(self.backend, self.leaves)
        options = self.backend.options
        return BasePoint(
            self.leaves,
            functools.partial(_taken, self.backend),
            scale=options.scale,
            bounds=options.bounds,
        )

    def call(self, *leaves: Any) -> tuple[Arrays, Aux]:
        return kept_all(self.hold(self.elsewhere, *leaves))

    def call_at_the_point(self) -> tuple[Arrays, Aux]:
        with evaluation(self.side_inputs):
            return kept_all(
                self.hold(self.there, *copies(self.backend, self.leaves, self.there.owned))
            )

    def vector(self, outputs: Arrays, aux: Aux) -> Any:
        if not self.known:
            self.see(outputs, aux)
        if self.libraries is not None:
            outputs = tuple(
                [library.to_numpy(output) for library, output in zip(self.libraries, outputs)]
            )
        return self.outputs.flat(outputs)

    def see(self, outputs: Arrays, aux: Aux) -> None:
        check_precision(self.backend, self.leaves, outputs)
        if len(outputs) == 1 and type(outputs[0]) is np.float64:
            self.known, self.outputs, self.first, self.aux = True, NUMBER, outputs, aux
            return
        self.first, self.aux = kept(outputs), aux
        require_numbers(self.backend, outputs)
        libraries = [library_of(self.backend, output) for output in outputs]
        numbers = [library.to_numpy(output) for library, output in zip(libraries, outputs)]
        exactness = [epsilon(library.dtype(output)) for library, output in zip(libraries, outputs)]
        self.known, self.outputs = True, Outputs(numbers, exactness, OutputError)
        if not all(isinstance(output, (np.ndarray, np.generic)) for output in outputs):
            self.libraries = libraries

    def native(self, stack: Array, one: bool = False) -> Arrays:
        """A stack (lines, outputs) as one per output, in its library. one: of the only line."""
        found = []
        for numbers, like, complex_ in zip(
            self.outputs.split(stack), self.first, self.outputs.complex
        ):
            library, numbers = library_of(self.backend, like), numbers[0] if one else numbers
            real = np.asarray(numbers if complex_ else np.real(numbers), order="C")
            found.append(library.asarray(real, dtype=library.dtype(like), like=like))
        return tuple(found)

    def all_as_aux(self, value: bool) -> Aux:
        """f's outputs and aux as the aux of its gradient; without `value` the layout alone."""
        outputs, aux = self.base()
        return Aux((*outputs, *aux.arrays) if value else (), aux.layout)

    def copies(self) -> Arrays:
        return copies(self.backend, self.leaves)

    def apart(self, differences: Callable[[Callable[[], Arrays]], _T]) -> _T:
        with evaluation(self.side_inputs):
            return super().apart(differences)

    def imaginary(self, leaves: Sequence[Any]) -> Array | None:
        unchecked = self.elsewhere.unchecked
        if unchecked is None:
            return None
        with below(self.level):
            outputs, _ = self.hold(unchecked, *leaves)
        parts = [np.imag(np.asarray(output)).astype("float64").ravel() for output in outputs]
        return np.concatenate(parts) if parts else None

    def vectors(self, points: Iterable[Sequence[Any]]) -> list[Any]:
        if self.executor is not None:
            return list(self._on_workers(points))
        found, hold, vector, function = [], self.hold, self.vector, self.elsewhere
        # once: to enter it for each point takes longer than many an f
        with below(self.level), hold.steadily():
            for leaves in points:
                hold.place = 0
                try:
                    found.append(vector(*function(*leaves)))
                except OUTSIDE as error:
                    found.append(self.outside(error))
                except OutputError:
                    # perhaps for an integer where f's value at the point is floating
                    layout = self.base()[1].layout
                    if function is not self.elsewhere or layout is None:
                        raise
                    hold.place, function = 0, self.elsewhere.elsewhere(layout)
                    found.append(vector(*function(*leaves)))
        return found

    def _on_workers(self, points: Iterable[Sequence[Any]]) -> Iterator[Any]:
        # late: a program without an executor need not load these
        from concurrent.futures import ThreadPoolExecutor

        from adinterface.batching.for_engines import Outside, Task, run_all

        floating, points = self.elsewhere.elsewhere(self.base()[1].layout), list(points)
        tasks = [Task(_noting, floating.task(leaves)) for leaves in points]
        # Other processes cannot take a derivative of f as a function; its own evaluations of f go
        # to the workers.
        of_f = all(task.args[0] is not floating for task in tasks)
        sent = of_f or isinstance(self.executor, ThreadPoolExecutor)
        if not sent or self.hold.record is not None:  # workers do not have the values at the point
            sent = of_f = False
            here = functools.partial(self.hold, floating)
            tasks = [Task(_noting, (here, leaves, {})) for leaves in points]
        for found in run_all(self.executor if sent else map, tasks):
            if type(found) is Outside:
                yield self.outside(found.error)
            else:
                value, *accuracy = found
                self.level.note(*accuracy)
                yield self.vector(*(floating.received(value) if of_f else value))


def _noting(
    f: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Any, float, int]:
    """On a worker: f's value, and the accuracy of differences inside f, as in `Level`."""
    with below(Level()) as level:
        return f(*args, **kwargs), level.error, level.order


def _taken(backend: Backend, leaf: Any) -> tuple[Any, float, Callable[[Any], Any] | None]:
    """For `BasePoint`."""
    library = library_of(backend, leaf)
    dtype = library.dtype(leaf)
    if isinstance(leaf, (np.ndarray, np.generic)):
        return leaf, epsilon(dtype), None
    native = functools.partial(library.asarray, dtype=dtype, like=leaf)
    return library.to_numpy(leaf), epsilon(dtype), native


def require_numbers(backend: Backend, arrays: Arrays) -> None:
    """Refuse an array that an outer engine traces."""
    for x in arrays:
        if (
            type(x) is not np.ndarray
            and type(x) is not np.float64
            and library_of(backend, x).traced(x)
        ):
            raise BackendError(
                "Finite differences are taken of numbers, and an engine traces these. Take"
                " differences outermost, or give the engine their derivative as a rule:"
                " adinterface.rules.differentiate_with(f, AutoFiniteDifferences())."
            )


def numbers_of(backend: Backend, array: Any) -> Any:
    """The numbers of a leaf or a tangent, wide enough to compute with."""
    library = library_of(backend, array)
    numbers = library.to_numpy(array)
    if numbers.dtype in (np.longdouble, np.clongdouble):
        return numbers
    return numbers.astype(
        "complex128" if dtype_kind(library.dtype(array)) == "complex" else "float64"
    )


def check_precision(backend: Backend, leaves: Arrays, outputs: Arrays) -> None:
    """Refuse a value with less precision than the arguments."""
    if all(getattr(x, "dtype", None) is DOUBLE for x in (*outputs, *leaves)):
        return
    dtypes = [library_of(backend, leaf).dtype(leaf) for leaf in leaves if size_of(backend, leaf)]
    finest = max(map(width, dtypes), default=0)
    for dtype in dtypes:
        if width(dtype) <= 8:
            raise PrecisionError(
                f"Finite differences: an argument of dtype {dtype} has too few digits for a step."
                " Convert it to float32, or wrap it in Constant(...)."
            )
    for output in outputs:
        library = library_of(backend, output)
        dtype = library.dtype(output)
        if size_of(backend, output) and width(dtype) < finest:
            given = {library_of(backend, leaf) for leaf in leaves}
            own = (
                ""
                if library in given
                else f" AutoFiniteDifferences(native=...) gives f arrays of {library.name}."
            )
            raise PrecisionError(
                f"Finite differences: f returned {dtype} for arguments of {finest} bits, so its"
                " rounding error would drown every difference. Compute in the arguments' dtype, or"
                f" pass arguments of dtype {dtype}.{own}"
            )


def kept_all(result: tuple[Arrays, Aux]) -> tuple[Arrays, Aux]:
    outputs, aux = result
    return kept(outputs), aux.map(lambda array: kept((array,))[0])
