"""What methods ask of f: its values around one point, as vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .levels import Level, below, enclosing

_T = TypeVar("_T")
Array = np.ndarray[Any, Any]
#: The arguments of f, one array each; of a class of the caller's, perhaps.
Arrays = tuple[Any, ...]

#: What Python code raises where arrays would be NaN: `math.log(-1.0)`, `1 / 0.0`, a matrix without a Cholesky factor; and
#: NumPy warnings that are errors.
OUTSIDE = (ArithmeticError, ValueError, RuntimeWarning)


class Form(NamedTuple):
    """How many numbers f returns, the dtype for differences of them, and the distance from 1 to the next number of theirs."""

    size: int
    dtype: Any
    epsilon: float

    @property
    def complex(self) -> bool:
        return bool(np.dtype(self.dtype).kind == "c")


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
        #: Known after the first evaluation.
        self.known: Form | None = None

    @property
    def form(self) -> Form:
        """That of f's values, from an evaluation at the point if there was none."""
        if self.known is None:
            self.here()
        assert self.known is not None
        return self.known

    @abstractmethod
    def vectors(self, points: Iterable[Sequence[Any]]) -> list[Any]:
        """The values at these points, in order, each as one vector (a number for a single one); NaN outside of f's domain."""

    @abstractmethod
    def here(self) -> Array:
        """The values at the point itself, evaluated once, as an array of the dtype of the form."""

    def look(self) -> Array:
        """As `here`, where nothing else than the values is needed. Raises OUTSIDE."""
        return self.here()

    @property
    @abstractmethod
    def at_hand(self) -> bool:
        """Whether f is known at the point itself."""

    def imaginary(self, leaves: Sequence[Any]) -> Array | None:
        """The imaginary parts of the values at complex leaves; None if f is not evaluated there. Raises what f raises."""
        return None

    def copies(self) -> Arrays:
        """The leaves for an f that may write into them."""
        return kept(self.leaves)

    def outside(self, error: Exception) -> Any:
        """The values of an f that raised: NaN, if f is defined at the point itself."""
        self.raised = error
        form = self.form
        return np.float64(np.nan) if form.size == 1 and form.dtype is np.float64 else np.full(form.size, np.nan)

    def is_heard(self, order: int, warns: bool) -> bool:
        """Whether the accuracy of derivatives of this order is used. warns: whether large errors cause a warning."""
        return warns or self.records or self.level.order + order >= 3 or enclosing() is not None

    def apart(self, differences: Callable[[Callable[[], Arrays]], _T]) -> _T:
        """`differences(fresh)`, where `fresh()` returns leaves that are not displaced, for f.

        NumPy leaves are the same copies each time, unless f writes into them. Then everything is computed again, with copies
        for each evaluation; making them from the start would take longer than many an f.
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
        self._here: Array | None = None

    def vectors(self, points: Iterable[Sequence[Any]]) -> list[Any]:
        found = []
        with below(self.level):
            for leaves in points:
                try:
                    found.append(self._vector(self.f(*leaves)))
                except OUTSIDE as error:
                    found.append(self.outside(error))
        return found

    def here(self) -> Array:
        if self._here is None:
            with below(self.level):
                self._here = self._vector(self.f(*self.copies()))
        return self._here

    @property
    def at_hand(self) -> bool:
        return self._here is not None

    def imaginary(self, leaves: Sequence[Any]) -> Array | None:
        return np.imag(np.asarray(self.f(*leaves))).ravel()

    def _vector(self, value: Any) -> Array:
        array = np.asarray(value)
        wide = array.dtype.itemsize > (16 if array.dtype.kind == "c" else 8)
        real, both = (np.longdouble, np.clongdouble) if wide else (np.float64, np.complex128)
        if self.known is None:
            self.known = Form(array.size, both if array.dtype.kind == "c" else real, float(np.finfo(array.dtype).eps))
        return np.array(array, self.known.dtype).ravel()


def kept(arrays: Arrays) -> Arrays:
    """Copies of NumPy arrays; other values unchanged."""
    return tuple([array.copy("K") if isinstance(array, np.ndarray) else array for array in arrays])
