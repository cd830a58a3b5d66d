"""Arrays of libraries without a backend that follow the Array API standard: a Python loop computes
with them, too.
"""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from ...core.contract.library import Library


class ForeignLibrary(Library):
    """The library of one Array API namespace."""

    types: ClassVar[tuple[type, ...]] = ()

    def __init__(self, namespace: ModuleType):
        vars(self).update(name=namespace.__name__)
        self._namespace = namespace

    def owns(self, x: object) -> bool:
        return library_of(x) is self

    def dtype(self, x: Any) -> str:
        return str(x.dtype).rpartition(".")[2]

    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        return np.asarray(x)

    def asarray(
        self, x: Any, *, dtype: str | None = None, like: Any = None, copy: bool = False
    ) -> Any:
        if isinstance(x, np.ndarray):
            dtype = dtype or x.dtype.name
            x = x.tolist() if x.ndim == 0 else x
        return self._namespace.asarray(
            x, dtype=None if dtype is None else getattr(self._namespace, dtype), copy=copy or None
        )

    def namespace(self, x: Any) -> ModuleType:
        return self._namespace


def library_of(x: object) -> ForeignLibrary | None:
    """The library of an array with `__array_namespace__`; None for any other object."""
    ask = getattr(type(x), "__array_namespace__", None)
    return None if ask is None else _library(ask(x))


@functools.lru_cache(maxsize=64)
def _library(namespace: ModuleType) -> ForeignLibrary:
    return ForeignLibrary(namespace)


__all__ = ["library_of"]
