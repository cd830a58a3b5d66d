"""What `numpy_function` knows of one engine: NumPy's functions on its arrays."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import NumpyCodeError
from ..library import Library
from . import compositions
from .names import INSTEAD, names, spelled


class Functions(dict[Any, Callable[..., Any]]):
    """An engine's function for each of NumPy's, found when it is first asked for."""

    def __init__(self, library: Library):
        super().__init__()
        self.library = library

    def __missing__(self, function: Any) -> Callable[..., Any]:
        found = self._find(function)
        if found is None:
            name = names(function)[0]
            instead = INSTEAD.get(name)
            raise NumpyCodeError(
                f"numpy_function: {spelled(function)} does not work on {self.library.name} arrays. "
                + (f"Write {instead}." if instead else "The table in the documentation lists what does.")
            )
        self[function] = found
        return found

    def _find(self, function: Any) -> Callable[..., Any] | None:
        for source in self.library.numpy_sources():
            for name in names(function):
                try:
                    found: Callable[..., Any] = operator.attrgetter(name)(source)
                except AttributeError:
                    continue
                return found
        for name in names(function):
            composed = compositions.COMPOSITIONS.get(name)
            if composed is not None:
                return functools.partial(composed, self.library.namespace(None))
        return None


class Engine:
    """One library's arrays under NumPy's names."""

    __slots__ = ("functions", "getitem", "library", "lift", "types")

    def __init__(self, library: Library):
        self.library = library
        self.types = library.types
        self.functions = Functions(library)
        self.lift = library.lift
        sources = library.numpy_sources()
        self.getitem: Callable[[Any, Any], Any] = next(
            (source.getitem for source in sources if hasattr(source, "getitem")), None
        ) or functools.partial(compositions.getitem, library.namespace(None))

    def __reduce__(self) -> tuple[Any, ...]:
        return engine_of, (self.library,)

    def operand(self, value: Any, beside: Any) -> Any:
        """What is not one of our wrappers, as an operand beside a native array; NotImplemented for what is no number."""
        cls = type(value)
        if cls is float or cls is int or cls is bool or cls is complex:
            return value
        if isinstance(value, (np.ndarray, np.generic)):
            return self.lift(value, beside)
        if isinstance(value, (list, tuple)):
            return self.lift(np.asarray(value), beside)
        return value if isinstance(value, self.types) else NotImplemented


@functools.cache
def engine_of(library: Library) -> Engine:
    return Engine(library)
