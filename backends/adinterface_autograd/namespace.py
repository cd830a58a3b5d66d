"""The Array API namespace (2024.12, and einsum) of autograd's boxes; what the repairs take.

autograd's functions where they are right, the repairs where they are not, and compositions for all
others. Each function of `autograd.numpy` here was checked: some others, such as `concat`, silently
lose a gradient.
"""

import functools as _functools
import sys as _sys
from collections.abc import Callable as _Callable
from math import e, inf, nan, pi  # noqa: F401  (a namespace is what this file is)
from operator import attrgetter as _attrgetter
from typing import Any as _Any

import autograd.numpy as anp
import numpy as np
from array_api_compat import numpy as _compat

from adinterface import ConversionError as _ConversionError
from adinterface import NotDifferentiableError as _NotDifferentiableError
from adinterface.core.contract import dtype_name as _dtype_name

from .repairs import fft as _fft
from .repairs import given as _given
from .repairs import linalg as _linalg
from .repairs.box import Box as _Box
from .repairs.box import boxing as _boxing
from .repairs.box import boxing_all as _boxing_all
from .repairs.functions import *  # noqa: F403
from .repairs.functions import discrete as _discrete
from .repairs.functions import is_box as _is_box
from .repairs.functions import value as _value

_Function = _Callable[..., _Any]
_this = _sys.modules[__name__]

__array_api_version__ = "2024.12"
__array_namespace_info__ = _compat.__array_namespace_info__  # type: ignore[attr-defined]  # NumPy's own is of 2.1

newaxis = None
bool = np.bool_
positive = lambda x, /: x
permute_dims = lambda x, /, axes: anp.transpose(x, axes)

#: Functions of autograd that are right, by NumPy's names, which are the standard's.
_OF_AUTOGRAD = (
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "conj", "cos", "cosh",
    "divide", "einsum", "exp", "expm1", "log", "log10", "log1p", "log2", "logaddexp", "matmul",
    "max", "maximum", "mean", "min", "minimum", "moveaxis", "multiply", "negative", "pow", "real",
    "reciprocal", "sin", "sinh", "sqrt", "square", "subtract", "sum", "tan", "tanh",
)  # fmt: skip
#: Functions whose results have no derivative.
_DISCRETE = (
    "all", "any", "argmax", "argmin", "bitwise_and", "bitwise_invert", "bitwise_left_shift",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "ceil", "count_nonzero", "empty_like",
    "equal", "floor", "floor_divide", "greater", "greater_equal", "isfinite", "isinf", "isnan",
    "less", "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "nonzero",
    "not_equal", "result_type", "round", "searchsorted", "sign", "signbit", "trunc", "unique_all",
    "unique_counts", "unique_inverse", "unique_values",
)  # fmt: skip
#: What takes no boxes: dtypes, and creation from other values.
_OF_NUMPY = (
    "arange", "can_cast", "complex128", "complex64", "empty", "eye", "finfo", "float16", "float32",
    "float64", "from_dlpack", "iinfo", "int16", "int32", "int64", "int8", "isdtype", "ones",
    "uint16", "uint32", "uint64", "uint8", "zeros",
)  # fmt: skip
#: autograd 1.8 has rules for these by their older names alone.
_ARC = {f"a{name}": f"arc{name}" for name in ("cos", "cosh", "sin", "sinh", "tan", "tan2", "tanh")}
globals().update({name: getattr(anp, _ARC.get(name, name)) for name in _OF_AUTOGRAD})
globals().update({name: _discrete(name) for name in _DISCRETE})
globals().update({name: getattr(np, name) for name in _OF_NUMPY})


class _Part:
    """linalg or fft: the functions of ours, and compositions."""

    def __init__(self, name: str, own: _Any):
        self._name = name
        vars(self).update(_boxing_all(vars(own), own.__all__))

    def __getattr__(self, name: str) -> _Any:
        composed = vars(self)[name] = _composed(f"{self._name}.{name}")
        return composed


def _composed(name: str) -> _Function:
    """NumPy's function for NumPy arrays, and a composition for boxes."""
    # here, because many programs need none of them
    from adinterface.namespaces.for_engines import COMPOSITIONS

    if name not in COMPOSITIONS:
        raise AttributeError(f"The namespace of autograd has no {name}.")
    composition, of_numpy = COMPOSITIONS[name], _attrgetter(name)(_compat)

    def call(*args: _Any, **options: _Any) -> _Any:
        for x in (*args, *options.values()):
            if _is_box(x):
                return composition(_this, *args, **options)
        return of_numpy(*args, **options)

    return _boxing(_functools.update_wrapper(call, of_numpy))


def __getattr__(name: str) -> _Any:
    composed = globals()[name] = _composed(name)
    return composed


linalg, fft = _Part("linalg", _linalg), _Part("fft", _fft)
_own = sorted(
    {name for name in globals() if not name.startswith("_")} - {"anp", "np", "fft", "linalg"}
)
globals().update(_boxing_all(globals(), _own))
_Box.namespace = _this

# What compositions take in addition to the standard.


def gather(x: _Any, indices: _Any, axis: int) -> _Any:
    return x[(*(slice(None),) * axis, indices)]


def numbers(x: _Any) -> _Any:
    return np.asarray(_value(x))


def dtype_name(x: _Any) -> str:
    """Of an array or of a dtype."""
    return _dtype_name(x.dtype if isinstance(getattr(x, "dtype", None), np.dtype) else np.dtype(x))


# What the repairs take.

_given.pickled = _functools.partial(
    _ConversionError,
    "An array that is being differentiated was pickled (by pickle, joblib or multiprocessing),"
    " which drops its gradient. Compute with it in this process.",
)
_given.listed = _functools.partial(
    _NotDifferentiableError,
    "A list of what is differentiated stands where one of autograd's functions takes an array, and"
    " its gradient would be lost. Write xp.stack([...]) for the list (xp ="
    " adinterface.array_namespace(x)), or decorate f with adinterface.numpy_function, for NumPy's"
    " own functions.",
)


@_functools.cache
def _composition(name: str) -> _Function:
    # here, because most programs need none of them
    from adinterface.numpy_code.for_engines import COMPOSITIONS

    return _functools.partial(COMPOSITIONS[name], _this)


_given.composition = _composition
