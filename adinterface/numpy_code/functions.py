"""What is known of functions of NumPy and the Array API: one table, for the wrappers of arrays and
the trace of sparsity.

A function stands in one row, by its names without module. The words of a row:
    elementwise, reduction, scan: as usual; NumPy's other ufuncs are elementwise, too.
    moves: the result has elements of the argument, or zeros.
    lane: each element of the result depends on all elements along an axis.
    matrices: of stacks of matrices.
    whole: each result depends on all arguments, though there is a composition.
    sized: the shape of the result depends on values.
    flat: the derivative is zero wherever it exists.
    linear: wherever there is a derivative.
    method: ndarray has a method that is this function.
    view: the result may share the memory of the argument; view-or-number: a result without axes is
        a number; view-array: it makes an array of a number.
    array: a result without axes is an array. Almost all other functions return a number.
"""

from __future__ import annotations

_TABLE = {
    "elementwise": (
        "abs absolute acos arccos acosh arccosh angle arcsin asin arcsinh asinh arctan atan "
        "arctan2 atan2 arctanh atanh bitwise_count cbrt cos cosh divide true_divide divmod "
        "exp exp2 expm1 fabs float_power frexp hypot ldexp log log10 log1p log2 logaddexp "
        "logaddexp2 multiply pow power reciprocal sin sinc sinh sqrt square tan tanh"
    ),
    "elementwise array": "i0",
    "elementwise flat": (
        "around bitwise_and bitwise_invert invert bitwise_left_shift left_shift bitwise_or "
        "bitwise_right_shift right_shift bitwise_xor ceil equal fix floor floor_divide "
        "greater greater_equal heaviside isclose iscomplex isfinite isinf isnan isneginf "
        "isposinf isreal less less_equal logical_and logical_not logical_or logical_xor "
        "not_equal rint sign signbit spacing trunc"
    ),
    "elementwise flat method": "round",
    "elementwise linear": (
        "add clip conj conjugate copysign deg2rad degrees fmax fmin fmod maximum minimum mod "
        "remainder modf negative nextafter positive rad2deg radians subtract"
    ),
    "elementwise linear view": "imag real",
    "elementwise linear view-or-number": "nan_to_num",
    "reduction": "nanprod nanstd nanvar norm vector_norm",
    "reduction flat method": "all any",
    "reduction linear": "amax amin median nanmax nanmean nanmedian nanmin nansum ptp",
    "reduction linear method": "max mean min sum",
    "reduction method": "prod std var",
    "scan": "cumulative_prod nancumprod",
    "scan linear": "cumulative_sum nancumsum",
    "scan linear method": "cumsum",
    "scan method": "cumprod",
    "moves": "delete diagflat permute_dims take_along_axis tril triu",
    "moves array": "resize roll tile",
    "moves method": "repeat take",
    "moves method view": "diagonal ravel squeeze swapaxes",
    "moves view": (
        "array_split atleast_1d atleast_2d atleast_3d diag dsplit flip fliplr flipud hsplit "
        "matrix_transpose moveaxis reshape rollaxis rot90 split transpose unstack vsplit"
    ),
    "moves view-array": "broadcast_to expand_dims",
    "lane": (
        "fft.fft fft.fft2 fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.irfft "
        "fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn partition sort"
    ),
    "matrices": (
        "cholesky cond det eig eigh eigvals eigvalsh inv lstsq matrix_norm matrix_power "
        "matrix_rank pinv qr slogdet solve svd svdvals"
    ),
    "whole": (
        "linalg.tensorinv linalg.tensorsolve nanpercentile nanquantile percentile polyfit quantile"
    ),
    "sized": (
        "arange argwhere bincount extract flatnonzero union1d unique unique_all unique_counts "
        "unique_inverse unique_values"
    ),
    "sized flat method": "nonzero",
    "flat": "allclose count_nonzero",
    "flat method": "argmax argmin argsort searchsorted",
    "linear view": "astype",
    "array": (
        "block copy cov cross diff empty_like full_like ones_like piecewise polyint require "
        "select tensordot where zeros_like"
    ),
    "method": "argpartition choose dot trace",
    "view": "broadcast_arrays meshgrid real_if_close",
    "view-or-number": "einsum",
}


def named(word: str) -> frozenset[str]:
    """The functions for which a word holds."""
    return frozenset(
        name for words, names in _TABLE.items() if word in words.split() for name in names.split()
    )


ELEMENTWISE, FLAT, MOVES, REDUCTIONS = map(named, ("elementwise", "flat", "moves", "reduction"))
SCANS, LANES, MATRICES, WHOLE = map(named, ("scan", "lane", "matrices", "whole"))
SHAPES_BY_VALUE = named("sized")
LINEAR_REDUCTIONS = named("linear") & REDUCTIONS
LINEAR = named("linear") - REDUCTIONS
