"""scipy.sparse.linalg on the arrays of any engine: solutions with a sparse matrix, a constant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse.linalg as scipy_linalg

from ...rules.rule import rule
from ..arrays import Array, inexact, real_like
from ..dispatch import of_scipy, rest_of


@rule(host=lambda b, *, matrix: np.zeros(b.shape, np.result_type(matrix.dtype, b.dtype)))
def _solved(b: Any, *, matrix: Any) -> Any:
    solution = scipy_linalg.spsolve(matrix, np.asarray(b, np.result_type(matrix.dtype, b.dtype, np.float64)))
    return np.asarray(solution, np.result_type(matrix.dtype, b.dtype)).reshape(b.shape)


@_solved.pushforward
def _(tangents: Any, value: Any, b: Any, *, matrix: Any) -> Any:
    return _solved(tangents[0], matrix=matrix)


@_solved.pullback
def _(cotangent: Any, value: Any, b: Any, *, matrix: Any) -> Any:
    return real_like(_solved(cotangent, matrix=matrix.conj().T.tocsc()), b)


_solved._definition.name = "scipy.sparse.linalg.spsolve"


@of_scipy(scipy_linalg.spsolve, ignored=("permc_spec", "use_umfpack"))
def spsolve(A: Any, b: Any) -> Array:
    return _solved(inexact(b), matrix=A.tocsc().astype(np.result_type(A.dtype, np.float32)))


__getattr__: Callable[[str], Any] = rest_of("scipy.sparse.linalg", globals())

__all__ = ["spsolve"]
