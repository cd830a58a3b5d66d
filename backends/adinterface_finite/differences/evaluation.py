"""What methods ask of f: its values around one point, as vectors."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .levels import Level, below, enclosing

_T = TypeVar("_T")
Array = np.ndarray[Any, Any]
#: The arguments of f, one array each; of a class of the caller's, perhaps.
Arrays = tuple[Any, ...]

#: What Python code raises where arrays would be NaN: `math.log(-1.0)`, `1 / 0.0`, a matrix without
#: a Cholesky factor; and NumPy warnings that are errors.
OUTSIDE = (ArithmeticError, ValueError, RuntimeWarning)


class Form(NamedTuple):
    """How many numbers f returns, the dtype for their differences, and their precision."""

    size: int
    dtype: Any
    epsilon: float

    @property
    def complex(self) -> bool:
        return bool(np.dtype(self.dtype).kind == "c")


class Outputs:
    """How f's outputs, NumPy arrays or numbers, become one vector that is precise enough."""

    def __init__(
        self, outputs: Sequence[Any], exactness: Sequence[float], error: type[Exception] = TypeError
    ):
        self.error = error
        self.complex = [np.iscomplexobj(output) for output in outputs]
        self.shapes = [np.shape(output) for output in outputs]
        self.sizes = [math.prod(shape) for shape in self.shapes]
        wide = any(output.dtype in (np.longdouble, np.clongdouble) for output in outputs)
        real, both = (np.longdouble, np.clongdouble) if wide else (np.float64, np.complex128)
        coarsest = max(
            [epsilon for epsilon, size in zip(exactness, self.sizes) if size], default=2.0**-52
        )
        self.form = Form(sum(self.sizes), both if any(self.complex) else real, coarsest)
        self.number = self.sizes == [1]

    def flat(self, outputs: Sequence[Any]) -> Any:
        """A number for a single one. Raises `error` for outputs of another form."""
        if self.number and type(outputs[0]) is np.float64 and len(outputs) == 1:
            return outputs[0]
        shapes = [output.shape for output in outputs]
        complex_ = [output.dtype.kind == "c" for output in outputs]
        if shapes != self.shapes or complex_ != self.complex:
            before, now = (
                f"outputs of the shapes {known}{' (complex)' * any(kinds)}"
                for known, kinds in ((self.shapes, self.complex), (shapes, complex_))
            )
            raise self.error(
                f"Finite differences: f returned {before} at one point and {now} at another one"
                " near it. Give f outputs whose shapes and dtypes do not depend on the numbers in"
                " its arguments."
            )
        if self.number:
            return outputs[0].reshape(())[()]
        # Copies: f may compute into the same array again.
        parts = [np.array(output, self.form.dtype).ravel() for output in outputs]
        return parts[0] if len(parts) == 1 else np.concatenate(parts) if parts else np.zeros(0)

    def split(self, stack: Array) -> list[Array]:
        """A stack (lines, outputs) as a stack for each output of f, in its shape."""
        parts = zip(itertools.accumulate(self.sizes), self.sizes, self.shapes)
        return [
            stack[:, end - size : end].reshape(len(stack), *shape) for end, size, shape in parts
        ]


class Evaluations(ABC):
    """A function around one point."""

    def __init__(self, leaves: Arrays, *, records: bool = False):
        self.leaves = leaves
        #: Whether estimated errors are recorded.
        self.records = records
        #: What the evaluations recorded of nested differences inside f.
        self.level = Level()
        #: What f raised last at a displaced point.
        self.raised: Exception | None = None
        #: Whether f was evaluated.
        self.known = False
        #: How f's outputs become a vector, from the first evaluation.
        self.outputs: Outputs
        self._base: tuple[Any, ...] | None = None

    @abstractmethod
    def call(self, *leaves: Any) -> tuple[Any, ...]:
        """f's value, in a tuple. f may write into these leaves, and reuse what it returns."""

    def call_at_the_point(self) -> tuple[Any, ...]:
        """f's value at the point, from the evaluation that counts, if there are several."""
        return self.call(*self.copies())

    @abstractmethod
    def see(self, *value: Any) -> None:
        """The first value of f: it sets `outputs` and `known`."""

    @abstractmethod
    def vector(self, *value: Any) -> Any:
        """f's value as one vector, or as a number for a single one."""

    def base(self) -> tuple[Any, ...]:
        """f's value at the point itself, evaluated once."""
        return self._once(self.call_at_the_point)

    def here(self) -> Array:
        """As `base`, as an array of the dtype of the form."""
        return self._numbers(self.base())

    def look(self) -> Array:
        """As `here`, where nothing else than the values is needed. Raises OUTSIDE."""
        return self._numbers(self._once(lambda: self.call(*self.copies())))

    def _once(self, call: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        if self._base is None:
            with below(self.level):
                self._base = call()
        if not self.known:
            self.see(*self._base)
        return self._base

    def _numbers(self, value: tuple[Any, ...]) -> Array:
        return np.array(np.atleast_1d(self.vector(*value)), self.form.dtype)

    @property
    def at_hand(self) -> bool:
        """Whether f is known at the point itself."""
        return self._base is not None

    @property
    def form(self) -> Form:
        """That of f's values, from an evaluation at the point if there was none."""
        if not self.known:
            self.vector(*self.base())
        return self.outputs.form

    def vectors(self, points: Iterable[Sequence[Any]]) -> list[Any]:
        """The values at these points, in order, each as `vector`; NaN outside of f's domain."""
        found = []
        with below(self.level):
            for leaves in points:
                try:
                    found.append(self.vector(*self.call(*leaves)))
                except OUTSIDE as error:
                    found.append(self.outside(error))
        return found

    def imaginary(self, leaves: Sequence[Any]) -> Array | None:
        """The imaginary parts at complex leaves; None without an evaluation. Raises as f does."""
        return None

    def copies(self) -> Arrays:
        """The leaves for an f that may write into them."""
        return kept(self.leaves)

    def outside(self, error: Exception) -> Any:
        """The values of an f that raised: NaN, if f is defined at the point itself."""
        self.raised = error
        size = self.form.size
        return np.float64(np.nan) if self.outputs.number else np.full(size, np.nan)

    def is_heard(self, order: int, warns: bool) -> bool:
        """Whether an accuracy of this order is used. warns: whether errors cause a warning."""
        return warns or self.records or self.level.order + order >= 3 or enclosing() is not None

    def apart(self, differences: Callable[[Callable[[], Arrays]], _T]) -> _T:
        """`differences(fresh)`, where `fresh()` returns leaves that are not displaced, for f.

        NumPy leaves are the same copies each time, unless f writes into them. Then everything is
        computed again, with copies for each evaluation; making them from the start would take
        longer than many an f.
        """
        for leaf in self.leaves:
            if not isinstance(leaf, (np.ndarray, np.generic)):
                return differences(self.copies)
        own: list[Arrays] = []

        def fresh() -> Arrays:
            if not own:  # most lines move all leaves that there are
                own.append(kept(self.leaves))
            return own[0]

        found = differences(fresh)
        if not own or all(a.tobytes() == b.tobytes() for a, b in zip(own[0], self.leaves)):
            return found
        return differences(self.copies)


class ArrayEvaluations(Evaluations):
    """Of a function of NumPy arrays that returns an array or a number."""

    def __init__(self, f: Callable[..., Any], *leaves: Any, records: bool = False):
        super().__init__(leaves, records=records)
        self.f = f

    def call(self, *leaves: Any) -> tuple[Array]:
        return (np.array(self.f(*leaves)),)

    def see(self, value: Array) -> None:
        self.outputs, self.known = Outputs([value], [float(np.finfo(value.dtype).eps)]), True

    def vector(self, value: Array) -> Any:
        if not self.known:
            self.see(value)
        return self.outputs.flat([value])

    def imaginary(self, leaves: Sequence[Any]) -> Array | None:
        return np.imag(self.call(*leaves)[0]).ravel()


def kept(arrays: Arrays) -> Arrays:
    """Copies of NumPy arrays; other values unchanged."""
    return tuple([array.copy("K") if isinstance(array, np.ndarray) else array for array in arrays])
