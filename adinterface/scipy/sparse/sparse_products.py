"""The product of a sparse matrix, a constant, with an array: a rule whose derivative is that
product again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from ...numpy_code import numpy_function
from ...numpy_code.array import NumpyArray
from ..arrays import Array, cast, inexact, linear_rule
from ..dispatch import is_engines


@linear_rule("a product with a sparse matrix", True, lambda matrix: {"matrix": matrix.conj().T})
def _product(x: Any, *, matrix: Any) -> Any:
    return np.asarray(matrix @ x, np.result_type(matrix.dtype, x.dtype))


def multiplied(matrix: Any, x: Any) -> Array:
    """`matrix @ x` for an array of an engine behind NumPy's protocols: x has one axis, or two."""
    x = inexact(x)
    count = matrix.shape[-1]
    if not x.shape or x.shape[0] != count or len(x.shape) > 2:
        raise ValueError(
            f"matmul: a sparse matrix of shape {matrix.shape} has no product with an array of shape"
            f" {x.shape}: it needs {count} numbers, or {count} rows."
        )
    dtype = np.result_type(matrix.dtype, x.dtype)
    if matrix.dtype.kind in "iub":
        matrix = matrix.astype(x.dtype)
    elif x.dtype.kind == dtype.kind and x.dtype != dtype:
        x = cast(x, dtype)
    return _product(x, matrix=matrix.tocsr() if matrix.format not in ("csr", "csc") else matrix)


def product(matrix: Any, x: Any) -> Any:
    """The product of a constant SciPy sparse matrix with a vector or the columns of a matrix.

    x: an array of any engine, of one axis or two. The product is computed on the host, also for
    arrays on a GPU. Raises TypeError if `matrix` is no sparse matrix, ValueError for shapes that do
    not fit.
    """
    if not scipy.sparse.issparse(matrix):
        seen = type(matrix).__name__
        raise TypeError(
            f"product takes a SciPy sparse matrix first, not a {seen}. For others write A @ x."
        )
    if not is_engines(x):
        return matrix @ x
    return (
        multiplied(matrix, x)
        if isinstance(x, NumpyArray)
        else numpy_function(lambda x: multiplied(matrix, x))(x)
    )


def matrix_product(ufunc: np.ufunc, matrix: Any, x: NumpyArray, reflected: bool) -> Any:
    """`matrix @ x` where it is reflected, else `x @ matrix`; NotImplemented for other types."""
    if not scipy.sparse.issparse(matrix):
        return NotImplemented
    if ufunc is not np.matmul and not isinstance(matrix, scipy.sparse.spmatrix):
        return NotImplemented  # * multiplies element by element, but for the class that is a matrix
    if reflected:
        return multiplied(matrix, x)
    return (
        multiplied(matrix.T, x)
        if x.ndim == 1
        else np.swapaxes(multiplied(matrix.T, np.swapaxes(x, -1, -2)), -1, -2)
    )
