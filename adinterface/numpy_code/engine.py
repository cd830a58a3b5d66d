"""An engine's implementations of NumPy's functions, for `numpy_function`."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.contract.auto import BUILT_IN
from ..core.contract.errors import NumpyCodeError
from ..core.contract.library import Library, dtype_kind
from .array_like import operand_of
from .names import instead_of, names, spelled
from .storage import Storage
from .writes import holds_storage, stacked

#: The packages of the engines, with their import names, and ours.
ENGINES = frozenset(name for auto in BUILT_IN for name in (auto.name, f"adinterface_{auto.name}"))

#: Sources of functions that neither the engine nor a composition has: from a name and the engine to
#: the function on the
#: engine's arrays, or None. Extensions add theirs.
FURTHER: list[Callable[[str, Engine], Callable[..., Any] | None]] = []
#: The same for complex arrays, of functions that engines may have for real ones alone.
OF_COMPLEX: list[Callable[[str, Engine], Callable[..., Any] | None]] = []

#: Replacements of functions and classes of other packages, used where code runs as a copy.
OFFERS: list[Callable[[Any], Any]] = []


class Functions(dict[Any, Callable[..., Any]]):
    """The engine's function for each NumPy function, found at its first use."""

    def __init__(self, library: Library):
        super().__init__()
        self.library = library

    def __missing__(self, function: Any) -> Callable[..., Any]:
        result = self._find(function)
        if result is None:
            instead = instead_of(function)
            raise NumpyCodeError(
                f"numpy_function: {spelled(function)} does not work on {self.library.name} arrays. "
                + (
                    f"Write {instead}."
                    if instead
                    else "The table in the documentation lists what does."
                )
            )
        self[function] = result
        return result

    def has(self, function: Any) -> bool:
        try:
            self[function]
        except NumpyCodeError:
            return False
        return True

    def _find(self, function: Any) -> Callable[..., Any] | None:
        # on no engine, though one may have something of that name
        if instead_of(function) is not None:
            return None
        for source in self.library.numpy_sources():
            for name in names(function):
                try:
                    result: Callable[..., Any] = operator.attrgetter(name)(source)
                except AttributeError:
                    continue
                return self._of_complex_too(name, result)
        from . import compositions

        for name in names(function):
            composed = compositions.COMPOSITIONS.get(name)
            if composed is not None:
                return self._of_complex_too(
                    name, functools.partial(composed, self.library.namespace(None))
                )
        for find in FURTHER:
            for name in names(function):
                further = find(name, engine_of(self.library))
                if further is not None:
                    return self._of_complex_too(name, further)
        return None

    def _of_complex_too(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """An engine's function.

        For complex numbers the given form, where engines have it for real ones only.
        """
        library, engine = self.library, engine_of(self.library)
        if name in ("round", "around"):
            return functools.partial(_rounded, library, real)
        of_complex = next(
            (form for find in OF_COMPLEX if (form := find(name, engine)) is not None), None
        )
        if of_complex is None:
            return real

        def call(*args: Any) -> Any:
            if any(library.owns(x) and dtype_kind(library.dtype(x)) == "complex" for x in args):
                return of_complex(*args)
            return real(*args)

        return call


#: With so many digits, rounding is meant to change nothing, and has the derivative of its argument.
_ALL_DIGITS = 12


def _rounded(library: Library, real: Callable[..., Any], x: Any, decimals: Any = 0) -> Any:
    if type(decimals) is not int or decimals < _ALL_DIGITS:
        return real(x, decimals)
    return x + library.stopped(real(x, decimals) - x)


class Engine:
    """One library's arrays under NumPy's names."""

    def __init__(self, library: Library):
        self.library: Library = library
        #: The classes of the engine's arrays; NumPy's too, if the engine computes with plain NumPy
        #: arrays.
        self.types: tuple[type, ...] = (
            (*library.types, np.ndarray) if library.plain_numpy else library.types
        )
        #: The classes of the arrays met so far, for a check that costs less than isinstance.
        self.classes: set[type] = set()
        #: Python numbers, which every engine takes directly.
        self.numbers: frozenset[type[float] | type[int] | type[bool] | type[complex]] = frozenset(
            {float, int, bool, complex}
        )
        self.functions: Functions = Functions(library)
        # here, because the twenty files take a third of the time to import this package
        from . import compositions

        sources = library.numpy_sources()
        namespace = library.namespace(None)

        def given(name: str) -> Callable[..., Any]:
            composed = functools.partial(getattr(compositions, name), namespace)
            return next(
                (getattr(source, name) for source in sources if hasattr(source, name)), composed
            )

        self.getitem: Callable[[Any, Any], Any] = given("getitem")
        #: Whether x[index] is as in NumPy for integers and slices without steps, so that they need
        #: no check.
        self.own_indexing: bool = any(getattr(source, "OWN_INDEXING", False) for source in sources)
        #: `written(x, places, value)`: x with one value, or one for each place, at distinct places,
        #: counted in C order.
        self.written: Callable[[Any, Any, Any], Any] = given("written")
        #: As `written`, for places in an engine's array, perhaps with duplicates: values are
        #: assigned, or added.
        self.written_anywhere, self.added_anywhere = (
            given("written_anywhere"),
            given("added_anywhere"),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return engine_of, (self.library,)

    def lift(self, value: Any, beside: Any) -> Any:
        """A plain NumPy array as an operand for a native one."""
        if type(value) not in _PLAIN and type(value).__module__.partition(".")[0] not in ENGINES:
            _refuse_more_than_an_array(value)
            value = np.asarray(value)
        self.require_numbers(value.dtype)
        return self.library.lift(value, beside)

    def require_numbers(self, dtype: np.dtype[Any]) -> None:
        if dtype.kind in "OSUMmT":
            raise NumpyCodeError(
                f"numpy_function: an array of dtype {dtype} has no counterpart in"
                f" {self.library.name}. Convert it to numbers with astype(float)."
            )

    def operand(self, value: Any, beside: Any) -> Any:
        """A value other than a wrapper as an operand for a native array.

        NotImplemented if it is not a number.
        """
        if type(value) in self.numbers:
            return value
        value = operand_of(value)
        if isinstance(value, (list, tuple, range)):
            value = stacked(value) if holds_storage(value) else np.asarray(value)
        if isinstance(value, Storage):
            value = value.operand()
        if isinstance(value, (np.ndarray, np.generic)):
            return self.lift(value, beside)
        return value if isinstance(value, self.types) else NotImplemented


#: NumPy's array and its numbers.
_PLAIN = frozenset({np.ndarray, *np.sctypeDict.values()})


def _refuse_more_than_an_array(value: Any) -> None:
    """A matrix and a masked array are arrays with another meaning, which an engine's array would
    lose.
    """
    if isinstance(value, np.matrix):
        raise NumpyCodeError(
            "numpy_function: np.matrix has a product of its own, which an engine's array does not"
            " have. Write np.asarray(m), and @ for the product."
        )
    if isinstance(value, np.ma.MaskedArray):
        raise NumpyCodeError(
            "numpy_function: a masked array together with an engine's array would lose its mask."
            " Write np.where(mask, a, b), or nan for what is masked and np.nansum and the like."
        )
    cls = type(value)
    if (
        cls.__array_ufunc__ is not np.ndarray.__array_ufunc__
        or cls.__mul__ is not np.ndarray.__mul__
    ):
        raise NumpyCodeError(
            f"numpy_function: {cls.__module__}.{cls.__qualname__} is a subclass of numpy.ndarray"
            " with operators of its own, which an engine's array does not have. Write"
            " np.asarray(x) for it."
        )


@functools.cache
def engine_of(library: Library) -> Engine:
    return Engine(library)
