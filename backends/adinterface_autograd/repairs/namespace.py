"""The Array API namespace of autograd's boxes, version 2024.12, and einsum: autograd's functions where they are right, ours
elsewhere.

Each function of `autograd.numpy` here was checked: some others, such as `concat`, silently lose a gradient.
"""

import sys as _sys
from math import e, inf, nan, pi  # noqa: F401  (a namespace is what this file is)
from types import SimpleNamespace as _Names

import autograd.numpy as anp
import numpy as np

from . import fft as _fft
from . import linalg as _linalg
from .box import Box as _Box
from .box import boxing_all
from .functions import *  # noqa: F403
from .functions import discrete

__array_api_version__ = "2024.12"
__array_namespace_info__: type = np.__array_namespace_info__  # of 2.1, unless another is given

newaxis = None

bool = np.bool_
float16, float32, float64, complex64, complex128 = np.float16, np.float32, np.float64, np.complex64, np.complex128
int8, int16, int32, int64 = np.int8, np.int16, np.int32, np.int64
uint8, uint16, uint32, uint64 = np.uint8, np.uint16, np.uint32, np.uint64
can_cast, isdtype, finfo, iinfo = np.can_cast, np.isdtype, np.finfo, np.iinfo
result_type = discrete("result_type")

# Creation from values that are not boxes.
arange, empty, eye, ones, zeros, from_dlpack = np.arange, np.empty, np.eye, np.ones, np.zeros, np.from_dlpack
empty_like = discrete("empty_like")

# Element by element, with a derivative.
abs, conj, real, negative, positive = anp.abs, anp.conj, anp.real, anp.negative, lambda x, /: x
acos, acosh, asin, asinh, atan, atanh = anp.arccos, anp.arccosh, anp.arcsin, anp.arcsinh, anp.arctan, anp.arctanh
cos, cosh, sin, sinh, tan, tanh = anp.cos, anp.cosh, anp.sin, anp.sinh, anp.tan, anp.tanh
exp, expm1, log, log10, log1p, log2 = anp.exp, anp.expm1, anp.log, anp.log10, anp.log1p, anp.log2
reciprocal, sqrt, square = anp.reciprocal, anp.sqrt, anp.square
add, subtract, multiply, divide, atan2, logaddexp = (
    anp.add, anp.subtract, anp.multiply, anp.divide, anp.arctan2, anp.logaddexp,
)  # fmt: skip
maximum, minimum = anp.maximum, anp.minimum

# Element by element, without one.
ceil, floor, round, sign, trunc, floor_divide = (
    discrete(name) for name in ("ceil", "floor", "round", "sign", "trunc", "floor_divide")
)
isfinite, isinf, isnan, signbit = (discrete(name) for name in ("isfinite", "isinf", "isnan", "signbit"))
equal, not_equal, less, less_equal, greater, greater_equal = (
    discrete(name) for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
)
logical_and, logical_or, logical_xor, logical_not = (
    discrete(name) for name in ("logical_and", "logical_or", "logical_xor", "logical_not")
)
bitwise_and, bitwise_or, bitwise_xor, bitwise_invert, bitwise_left_shift, bitwise_right_shift = (
    discrete("bitwise_" + name) for name in ("and", "or", "xor", "invert", "left_shift", "right_shift")
)

# Searching and sets.
all, any, argmax, argmin, count_nonzero, nonzero, searchsorted = (
    discrete(name) for name in ("all", "any", "argmax", "argmin", "count_nonzero", "nonzero", "searchsorted")
)
unique_all, unique_counts, unique_inverse, unique_values = (
    discrete("unique_" + name) for name in ("all", "counts", "inverse", "values")
)

# Manipulation and products.
moveaxis, permute_dims = anp.moveaxis, lambda x, /, axes: anp.transpose(x, axes)
matmul = anp.matmul

linalg, fft = (_Names(**boxing_all(vars(module), module.__all__)) for module in (_linalg, _fft))

__all__ = sorted({name for name in globals() if not name.startswith("_")} - {"anp", "np", "discrete", "boxing_all"})

globals().update(boxing_all(globals(), __all__))
_Box.namespace = _sys.modules[__name__]
