"""autograd's arrays: NumPy arrays, and the boxes around them while f is traced."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.numpy.numpy_boxes import ArrayBox
from autograd.tracer import getval

from adinterface.core.contract import (
    NUMPY,
    PYTHON,
    Arrays,
    Enter,
    FlatRule,
    Library,
    Loops,
    ToLeaf,
    dtype_kind,
    dtype_name,
    unsupported_dtype,
)

from . import namespace as box_namespace
from .custom import custom
from .repairs.checkpoint import checkpoint

_SUPPORTED = (
    "float16", "float32", "float64", "longdouble", "complex64", "complex128", "clongdouble",
)  # fmt: skip


class AutogradLoops(Loops):
    def checkpoint(self, function: Callable[..., Arrays], arrays: Arrays) -> Arrays:
        return checkpoint(function, arrays)


class AutogradLibrary(Library):
    types = (ArrayBox,)

    def dtype(self, x: Any) -> str:
        numbers = getval(x)
        try:
            return dtype_name(numbers.dtype)
        except AttributeError:  # a Python number
            return dtype_name(np.result_type(numbers))

    def shape(self, x: Any) -> tuple[int, ...]:
        return getattr(getval(x), "shape", ())

    def traced(self, x: Any) -> bool:
        return isinstance(x, ArrayBox)

    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        return np.asarray(getval(x))

    def value_under_trace(self, x: Any) -> np.ndarray[Any, Any] | None:
        return self.to_numpy(x)

    def asarray(
        self, x: Any, *, dtype: str | None = None, like: Any = None, copy: bool = False
    ) -> Any:
        if not isinstance(x, ArrayBox):
            array = NUMPY.asarray(x, dtype=dtype, copy=copy)
            if array.dtype.kind not in "fcbiu":
                raise unsupported_dtype(array.dtype.name, "autograd", _SUPPORTED)
            return array
        if dtype is None or dtype_name(x.dtype) == dtype:
            return x
        real = dtype_kind(dtype) != "complex" and np.iscomplexobj(getval(x))
        return (anp.real(x) if real else x).astype(dtype)

    def enter(self, example: Any, source: Library, dtype: str | None) -> Enter | None:
        if type(example) is np.ndarray and example.dtype.kind in "fcbiu":
            return NUMPY.enter(example, source, dtype)
        if source is PYTHON:
            return lambda x, occupied: np.array(x, dtype)
        return None

    def to_leaf(self, example: Any, source: Library) -> ToLeaf | None:
        return NUMPY.to_leaf(example, source)

    def loops(self) -> Loops:
        return AutogradLoops(self)

    def namespace(self, x: Any) -> ModuleType:
        return box_namespace

    def custom(self, rule: FlatRule, leaves: Arrays, carried: Arrays) -> tuple[Arrays, Arrays]:
        return custom(rule, leaves, carried)

    def outside(
        self, function: Callable[..., Arrays], arrays: Arrays, example: Callable[[], Arrays]
    ) -> Arrays:
        return tuple(map(np.asarray, function(*map(getval, arrays))))

    def stopped(self, x: Any) -> Any:
        return getval(x)

    def numpy_sources(self) -> tuple[Any, ...]:
        from . import numpy_code

        return (numpy_code,)
