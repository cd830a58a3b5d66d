"""Functions of the Array API and of NumPy, grouped by their effect on elements, with the names of
both, without module.
"""

from __future__ import annotations

_FLAT_ELEMENTWISE = frozenset({
    "sign", "floor", "ceil", "round", "around", "trunc", "rint", "fix", "heaviside", "isnan",
    "isinf", "isfinite", "greater", "less", "greater_equal", "less_equal", "equal", "not_equal",
    "logical_and", "logical_or", "logical_not", "logical_xor", "signbit", "floor_divide",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert", "bitwise_left_shift",
    "bitwise_right_shift", "invert", "left_shift", "right_shift", "isneginf", "isposinf",
    "iscomplex", "isreal", "isclose", "spacing",
})  # fmt: skip

#: Functions whose derivative is zero wherever it exists.
FLAT = _FLAT_ELEMENTWISE | {
    "all",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "nonzero",
    "argsort",
    "searchsorted",
    "allclose",
}

#: Functions that are linear wherever they have a derivative.
LINEAR = frozenset({
    "add", "subtract", "negative", "positive", "real", "imag", "conj", "conjugate", "maximum",
    "minimum", "fmax", "fmin", "clip", "copysign", "remainder", "mod", "fmod", "nan_to_num",
    "deg2rad", "rad2deg", "degrees", "radians", "astype", "cumsum", "cumulative_sum", "nancumsum",
    "modf", "nextafter",
})  # fmt: skip

#: Element-wise functions, besides NumPy's ufuncs, which all are.
_MOVING = {"cumsum", "cumulative_sum", "nancumsum", "astype"}
ELEMENTWISE = _FLAT_ELEMENTWISE | LINEAR - _MOVING | frozenset({
    "abs", "absolute", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "arccos",
    "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cos", "cosh", "divide",
    "true_divide", "exp", "exp2", "expm1", "hypot", "log", "log10", "log1p", "log2", "logaddexp",
    "logaddexp2", "multiply", "pow", "power", "float_power", "reciprocal", "sin", "sinh", "sqrt",
    "cbrt", "square", "tan", "tanh", "fabs", "sinc", "i0", "divmod", "ldexp", "angle",
    "bitwise_count", "frexp",
})  # fmt: skip

#: Functions whose result has elements of the argument, or zeros.
MOVES = frozenset({
    "reshape", "transpose", "permute_dims", "matrix_transpose", "roll", "flip", "flipud", "fliplr",
    "squeeze", "expand_dims", "broadcast_to", "moveaxis", "swapaxes", "rollaxis", "tile", "repeat",
    "ravel", "diagonal", "take", "take_along_axis", "rot90", "diag", "diagflat", "tril", "triu",
    "unstack", "split", "array_split", "hsplit", "vsplit", "dsplit", "atleast_1d", "atleast_2d",
    "atleast_3d", "resize", "delete",
})  # fmt: skip

REDUCTIONS = frozenset({
    "sum", "prod", "mean", "max", "min", "var", "std", "amax", "amin", "nansum", "nanprod",
    "nanmean", "nanmax", "nanmin", "nanvar", "nanstd", "all", "any", "vector_norm", "norm", "ptp",
    "median", "nanmedian",
})  # fmt: skip
LINEAR_REDUCTIONS = frozenset({
    "sum", "mean", "max", "min", "amax", "amin", "nansum", "nanmean", "nanmax", "nanmin", "ptp",
    "median", "nanmedian",
})  # fmt: skip

SCANS = frozenset(
    {"cumsum", "cumulative_sum", "cumprod", "cumulative_prod", "nancumsum", "nancumprod"}
)

#: Functions of which each element of the result depends on a whole lane of the argument: all
#: elements along an axis.
LANES = frozenset({
    "sort", "partition", "fft.fft", "fft.ifft", "fft.rfft", "fft.irfft", "fft.hfft", "fft.ihfft",
    "fft.fft2", "fft.ifft2", "fft.rfft2", "fft.irfft2", "fft.fftn", "fft.ifftn", "fft.rfftn",
    "fft.irfftn",
})  # fmt: skip

#: Functions of stacks of matrices.
MATRICES = frozenset({
    "cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "pinv", "qr", "slogdet", "svd",
    "svdvals", "solve", "matrix_power", "matrix_norm", "matrix_rank", "lstsq", "cond",
})  # fmt: skip

#: Functions with a composition that are taken as a whole all the same: each result depends on all
#: arguments.
WHOLE = frozenset(
    {
        "linalg.tensorinv",
        "linalg.tensorsolve",
        "quantile",
        "percentile",
        "nanquantile",
        "nanpercentile",
        "polyfit",
    }
)

#: Functions whose result has a shape that depends on values.
SHAPES_BY_VALUE = frozenset({
    "nonzero", "flatnonzero", "argwhere", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "union1d", "extract", "bincount", "arange",
})  # fmt: skip

#: Methods of NumPy arrays, with the NumPy function that each is.
METHODS = {
    name: name for name in (
        "all", "any", "argmax", "argmin", "argsort", "copy", "cumprod", "cumsum", "diagonal", "dot",
        "max", "mean", "min", "nonzero", "prod", "ravel", "repeat", "reshape", "round",
        "searchsorted", "squeeze", "std", "sum", "swapaxes", "take", "trace", "transpose", "var",
    )
} | {"flatten": "ravel"}  # fmt: skip
