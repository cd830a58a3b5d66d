"""scipy.sparse.linalg on the arrays of any engine: solutions with a sparse matrix, a constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse.linalg as scipy_linalg

from ..arrays import Array, inexact, linear_rule
from ..dispatch import of_scipy, rest_of


@linear_rule(
    "scipy.sparse.linalg.spsolve",
    lambda b, *, matrix: np.zeros(b.shape, np.result_type(matrix.dtype, b.dtype)),
    lambda matrix: {"matrix": matrix.conj().T.tocsc()},
)  # fmt: skip
def _solved(b: Any, *, matrix: Any) -> Any:
    solution = scipy_linalg.spsolve(
        matrix, np.asarray(b, np.result_type(matrix.dtype, b.dtype, np.float64))
    )
    return np.asarray(solution, np.result_type(matrix.dtype, b.dtype)).reshape(b.shape)


@of_scipy(scipy_linalg.spsolve, ignored=("permc_spec", "use_umfpack"))
def spsolve(A: Any, b: Any) -> Array:
    return _solved(inexact(b), matrix=A.tocsc().astype(np.result_type(A.dtype, np.float32)))


__getattr__ = rest_of("scipy.sparse.linalg", globals())
