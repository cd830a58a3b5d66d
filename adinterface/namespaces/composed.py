"""`ComposedNamespace`: the Array API namespace of an engine that has only a NumPy-like module."""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.contract.library import Library
from .compositions import COMPOSITIONS, EighResult, QRResult, SlogdetResult, SVDResult

Array = np.ndarray[Any, Any]

#: What compositions call, and the function of the module that it is.
_OF_MODULES = {
    "gather": "take",
    "matrix_product": "matmul",
    "own_einsum": "einsum",
    "full_svd": "svd",
    "reduced_qr": "qr",
}
#: Names of the standard that NumPy-like modules spell in another way.
_NUMPY_NAMES = {
    **{f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tan2", "tanh")},
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "bool": "bool_",
    "concat": "concatenate",
    "cumulative_prod": "cumprod",
    "cumulative_sum": "cumsum",
    "permute_dims": "transpose",
    "pow": "power",
    **_OF_MODULES,
}
#: Functions that are composed of each other, so that an engine must give one of them.
_EACH_FROM_THE_OTHER = {
    "linalg.inv": "linalg.solve",
    "linalg.solve": "linalg.inv",
    "linalg.det": "linalg.slogdet",
    "linalg.slogdet": "linalg.det",
}

_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
    "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip

#: Reductions that have a value for an empty array.
_OF_EMPTY = ("all", "any", "mean", "prod", "std", "sum", "var")

#: The classes of results that the engine may return as plain tuples.
_RESULTS = {
    "linalg.eigh": EighResult,
    "linalg.qr": QRResult,
    "linalg.slogdet": SlogdetResult,
    "linalg.svd": SVDResult,
}


class ComposedNamespace:
    """The Array API namespace of an engine, version 2024.12, from the functions that the engine
    has.

    A function is the first of: the function in `own`; the function of `module` under its standard
    or NumPy name; a composition of others. The conformance command checks each function and its
    derivatives: `python -m adinterface_conformance --scenario "function:*"`.

    library: the engine's library of arrays: `dtype`, `to_numpy` and `asarray` of it are used.
    module: the engine's functions, by names of the standard or of NumPy, with `linalg` and `fft` if
        it has them.
    own: functions that take precedence, by name, such as `{"asarray": ..., "linalg.solve": ...}`.
        None passes over a function of the module that is wrong: `{"take": None}`. The compositions
        also call `gather(x, indices, axis)`, which takes indices that are not negative,
        `matrix_product(x, y)` of two stacks of matrices of equal length, and `transpose(x, axes)`;
        by default these are `take`, `matmul` and `transpose` of the module.

    Accessing a function that neither of the three has raises AttributeError.
    """

    __array_api_version__ = "2024.12"
    e: float = math.e
    inf: float = math.inf
    nan: float = math.nan
    pi: float = math.pi
    newaxis: None = None

    def __init__(self, library: Library, module: Any, own: Mapping[str, Any] | None = None):
        self._library, self._module, self._own = library, module, dict(own or {})
        self.linalg: _SubNamespace = _SubNamespace(self, "linalg.")
        self.fft: _SubNamespace = _SubNamespace(self, "fft.")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = vars(self)[name] = self.function(name)
        return found

    def function(self, name: str) -> Any:
        """A function of the standard or a dtype, by its name with `linalg.` or `fft.` in front."""
        function = self._given(name)
        other = _EACH_FROM_THE_OTHER.get(name)
        composable = other is None or self._given(other) is not None
        if function is None and name in COMPOSITIONS and composable:
            function = functools.partial(COMPOSITIONS[name], self)
        elif function is not None and name in _RESULTS:
            function = functools.partial(_as_result, _RESULTS[name], function)
        if function is None:
            known = _OF_MODULES.get(name, name) + (f" and no {other}" if other else "")
            raise AttributeError(f"The namespace of {self._library.name} has no {known}.")
        return self._of_any_size(name, function) if name in _OF_EMPTY else function

    def _given(self, name: str) -> Any:
        """The function of `own`, or else of the module; None without one."""
        if name in self._own:
            return self._own[name]
        part, dot, last = name.rpartition(".")
        for spelled in (last, _NUMPY_NAMES.get(last, last)):
            try:
                return operator.attrgetter(part + dot + spelled)(self._module)
            except AttributeError:
                continue
        return None

    def _of_any_size(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """A reduction whose value for an empty array is the one of NumPy: MLX may never return from
        its own.
        """
        numpys = getattr(np, name)

        def reduce(x: Any, /, **options: Any) -> Any:
            if 0 not in tuple(x.shape):
                return function(x, **options)
            given = options.pop("dtype", None)
            dtype = self.dtype_name(x if given is None else given)
            known = hasattr(np, dtype)  # bfloat16 is not
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a mean of nothing is nan
                numbers = numpys(np.zeros(tuple(x.shape), dtype if known else "float32"), **options)
            return self._library.asarray(np.asarray(numbers), dtype=None if known else dtype)

        return reduce

    # functions of the namespace that need none of the engine

    def numbers(self, x: Any) -> Array | None:
        """The numbers of an array or of a number; None where the engine has not computed them."""
        if not self._library.owns(x):
            return np.asarray(x)
        return (
            self._library.value_under_trace(x)
            if self._library.traced(x)
            else np.asarray(self._library.to_numpy(x))
        )

    def dtype_name(self, x: Any) -> str:
        """The name of a dtype, or of the dtype of an array."""
        if self._library.owns(x):
            return self._library.dtype(x)
        if isinstance(x, (np.ndarray, np.generic)):
            return str(x.dtype.name)
        for name in _DTYPES:
            known = self._own.get(name, getattr(self._module, _NUMPY_NAMES.get(name, name), None))
            if (known is not None and known is x) or (
                known is not None and not isinstance(x, type) and known == x
            ):
                return name
        return str(np.dtype(x).name)

    def asarray(self, x: Any, /, *, dtype: Any = None, device: Any = None, copy: Any = None) -> Any:
        """An array of the engine. A list that holds arrays of the engine is stacked."""
        if "asarray" in self._own:
            return self._own["asarray"](x, dtype=dtype)
        name = None if dtype is None else self.dtype_name(dtype)
        if not self._library.owns(x):
            if isinstance(x, (list, tuple)) and any(map(self._holds, x)):
                return self.stack([self.asarray(part, dtype=dtype) for part in x])
            x = np.asarray(x)
        return self._library.asarray(x, dtype=name, copy=bool(copy))

    def _holds(self, x: Any) -> bool:
        return any(map(self._holds, x)) if isinstance(x, (list, tuple)) else self._library.owns(x)

    def astype(self, x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
        """Another dtype, with a derivative between floating dtypes.

        By default `Library.asarray` converts.
        """
        own = self._own.get("astype")
        return (
            self._library.asarray(x, dtype=self.dtype_name(dtype)) if own is None else own(x, dtype)
        )

    def can_cast(self, x: Any, to: Any, /) -> bool:
        return bool(np.can_cast(self.dtype_name(x), self.dtype_name(to)))

    def finfo(self, dtype: Any, /) -> Any:
        return np.finfo(self.dtype_name(dtype))

    def iinfo(self, dtype: Any, /) -> Any:
        return np.iinfo(self.dtype_name(dtype))

    def isdtype(self, dtype: Any, kind: Any) -> bool:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        named = tuple(
            [part if isinstance(part, str) else np.dtype(self.dtype_name(part)) for part in kinds]
        )
        return bool(np.isdtype(np.dtype(self.dtype_name(dtype)), named))

    def result_type(self, *arrays_and_dtypes: Any) -> Any:
        return getattr(self, np.result_type(*[self.dtype_name(x) for x in arrays_and_dtypes]).name)


class _SubNamespace:
    """`linalg` or `fft` of a namespace."""

    def __init__(self, namespace: ComposedNamespace, prefix: str):
        self._namespace, self._prefix = namespace, prefix

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = vars(self)[name] = self._namespace.function(self._prefix + name)
        return found


def _as_result(
    result: Callable[..., Any], function: Callable[..., Any], *args: Any, **words: Any
) -> Any:
    return result(*function(*args, **words))
