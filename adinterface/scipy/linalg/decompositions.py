"""Decompositions: by NumPy where it has them, of the triangle that SciPy reads; LU by a rule.

Source of the derivative of LU: de Hoog, Anderssen and Lukas, Differentiation of matrix functionals
using triangular factorization, Mathematics of Computation, 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ...rules.rule import rule
from ..arrays import Array, adjoint, inexact, rearranged, scipy_rule, transposed
from ..dispatch import of_scipy, unsupported
from .matrix_functions import sqrtm
from .solving import read, triangle

# Cholesky
# ------------------------------------------------------------------------------------------------


@of_scipy(scipy.linalg.cholesky)
def cholesky(a: Any, lower: bool = False) -> Array:
    return np.linalg.cholesky(inexact(a), upper=not lower)


#: From this version on SciPy leaves zeros in the other triangle.
_CLEANED = np.lib.NumpyVersion(scipy.__version__) >= "1.18.0"


@of_scipy(scipy.linalg.cho_factor)
def cho_factor(a: Any, lower: bool = False) -> tuple[Array, bool]:
    a = inexact(a)
    factor = np.linalg.cholesky(a, upper=not lower)
    if _CLEANED:
        return factor, lower
    return factor + (np.triu(a, 1) if lower else np.tril(a, -1)), lower  # as SciPy leaves it there


@of_scipy(scipy.linalg.cho_solve)
def cho_solve(c_and_lower: tuple[Any, bool], b: Any) -> Array:
    c, lower = c_and_lower
    factor = triangle(inexact(c), bool(lower))
    first, second = (factor, adjoint(factor)) if lower else (adjoint(factor), factor)
    return np.linalg.solve(second, np.linalg.solve(first, inexact(b)))


# LU
# ------------------------------------------------------------------------------------------------


@scipy_rule("scipy.linalg.lu", lambda a: (np.zeros(a.shape[:-1], np.int64), *_parts(a)))
def _lu(a: Any) -> tuple[Any, Any, Any]:
    """Rows such that `lower @ upper` is a with its rows in that order."""
    rows, lower, upper = scipy.linalg.lu(a, p_indices=True)
    return np.argsort(rows, axis=-1).astype(np.int64), lower, upper


def _parts(a: Any) -> tuple[Any, Any]:
    k = min(a.shape[-2:])
    return np.ones((*a.shape[:-1], k), a.dtype), np.ones((*a.shape[:-2], k, a.shape[-1]), a.dtype)


@_lu.pushforward
def _(tangents: Any, value: Any, a: Any) -> Any:
    rows, lower, upper = value
    k = lower.shape[-1]
    da = np.take_along_axis(tangents[0], np.broadcast_to(rows[..., None], a.shape), axis=-2)
    left, right = lower[..., :k, :], upper[..., :, :k]
    # L^-1 dA U^-1 of the square block, whose strictly lower triangle is L^-1 dL and whose upper one
    # is dU U^-1.
    inner = np.linalg.solve(
        left, transposed(np.linalg.solve(transposed(right), transposed(da[..., :k, :k])))
    )
    d_left, d_right = left @ np.tril(inner, -1), np.triu(inner) @ right
    if a.shape[-2] > k:
        below = da[..., k:, :] - lower[..., k:, :] @ d_right
        d_left = np.concatenate(
            [d_left, transposed(np.linalg.solve(transposed(right), transposed(below)))], axis=-2
        )
    if a.shape[-1] > k:
        beside = np.linalg.solve(left, da[..., :k, k:] - d_left[..., :k, :] @ upper[..., :, k:])
        d_right = np.concatenate([d_right, beside], axis=-1)
    return None, d_left, d_right


@of_scipy(scipy.linalg.lu)
def lu(a: Any, permute_l: bool = False, p_indices: bool = False) -> tuple[Array, ...]:
    a = inexact(a)
    rows, lower, upper = _lu(a)
    places = np.argsort(rows, axis=-1)
    if permute_l:
        return (
            np.take_along_axis(lower, np.broadcast_to(places[..., None], lower.shape), axis=-2),
            upper,
        )
    if p_indices:
        return places, lower, upper
    one_hot = places[..., :, None] == np.arange(a.shape[-2])
    return one_hot.astype(np.real(a).dtype), lower, upper


@rule(host=lambda a: np.zeros((*a.shape[:-2], min(a.shape[-2:])), np.int32))
def _pivots(a: Any) -> Any:
    return scipy.linalg.lu_factor(a)[1].astype(np.int32)


_pivots.pushforward(lambda tangents, value, a: None)


@of_scipy(scipy.linalg.lu_factor)
def lu_factor(a: Any) -> tuple[Array, Array]:
    a = inexact(a)
    rows, columns = a.shape[-2:]
    _, lower, upper = _lu(a)
    k = min(rows, columns)
    return np.tril(lower, -1) @ np.eye(k, columns, dtype=a.dtype) + np.eye(
        rows, k, dtype=a.dtype
    ) @ upper, _pivots(a)


@rule(host=lambda pivots: pivots.astype(np.int64))
def _order(pivots: Any) -> Any:
    """The order of the rows that a sequence of exchanges leads to."""
    flat = pivots.reshape(-1, pivots.shape[-1])
    orders = np.tile(np.arange(pivots.shape[-1]), (len(flat), 1))
    for order, exchanges in zip(orders, flat):
        for n, m in enumerate(exchanges):
            order[[n, m]] = order[[m, n]]
    return orders.reshape(pivots.shape)


@of_scipy(scipy.linalg.lu_solve)
def lu_solve(lu_and_piv: tuple[Any, Any], b: Any, trans: int = 0) -> Array:
    factors, pivots = inexact(lu_and_piv[0]), lu_and_piv[1]
    b = inexact(b)
    order = _order(
        pivots
        if isinstance(pivots, np.ndarray) or hasattr(pivots, "native")
        else np.asarray(pivots)
    )
    mixed = triangle(factors, True, True) @ triangle(factors, False)
    a = np.take_along_axis(
        mixed, np.broadcast_to(np.argsort(order, axis=-1)[..., None], mixed.shape), axis=-2
    )
    if trans not in (0, 1, 2):
        raise ValueError("trans must be 0, 1 or 2")
    return np.linalg.solve(a if trans == 0 else transposed(a) if trans == 1 else adjoint(a), b)


# QR and singular values
# ----------------------------------------------------------------------------------------------


@rule(host=lambda a: np.zeros((*a.shape[:-2], a.shape[-1]), np.int32))
def _columns(a: Any) -> Any:
    """The order of the columns in a pivoted QR decomposition."""
    return scipy.linalg.qr(a, pivoting=True, mode="r")[1].astype(np.int32)


_columns.pushforward(lambda tangents, value, a: None)


@of_scipy(scipy.linalg.qr)
def qr(a: Any, mode: str = "full", pivoting: bool = False) -> Any:
    if mode not in ("full", "r", "economic"):
        raise (
            unsupported("scipy.linalg.qr", f"mode={mode!r}", "Write mode='economic'.")
            if mode == "raw"
            else ValueError(
                f"Mode argument should be one of ['full', 'r', 'economic', 'raw'], not {mode!r}"
            )
        )
    a = inexact(a)
    rows, columns = a.shape[-2:]
    if mode == "full" and rows > columns:
        raise unsupported(
            "scipy.linalg.qr",
            "mode='full' for a matrix with more rows than columns",
            "The rest of Q has no derivative: write mode='economic', or mode='r'.",
        )
    order = None
    if pivoting:
        order = _columns(a)
        a = np.take_along_axis(a, np.broadcast_to(order[..., None, :], a.shape), axis=-1)
    q, r = np.linalg.qr(a[..., :, :rows])
    if columns > rows:  # of which engines have no derivative
        r = np.concatenate([r, adjoint(q) @ a[..., :, rows:]], axis=-1)
    if mode == "r":
        if rows > columns:
            r = np.concatenate(
                [r, np.zeros((*r.shape[:-2], rows - columns, columns), r.dtype)], axis=-2
            )
        return (r,) if order is None else (r, order)
    return (q, r) if order is None else (q, r, order)


@of_scipy(scipy.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Any:
    a = inexact(a)
    return (
        tuple(np.linalg.svd(a, full_matrices)) if compute_uv else np.linalg.svd(a, compute_uv=False)
    )


svdvals: Callable[..., Array] = of_scipy(scipy.linalg.svdvals)(
    lambda a: np.linalg.svd(inexact(a), compute_uv=False)
)


@of_scipy(scipy.linalg.polar)
def polar(a: Any, side: str = "right") -> tuple[Array, Array]:
    """By the singular values. The derivative exists for matrices of full rank only."""
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    a = inexact(a)
    square = adjoint(a) @ a if side == "right" else a @ adjoint(a)
    positive = sqrtm(square)
    inverse = np.linalg.inv(positive)
    return (a @ inverse, positive) if side == "right" else (inverse @ a, positive)


@of_scipy(scipy.linalg.orthogonal_procrustes)
def orthogonal_procrustes(A: Any, B: Any) -> tuple[Array, Array]:
    A, B = inexact(A), inexact(B)
    factor, positive = polar(adjoint(A) @ B)
    return factor, np.real(np.trace(positive))


# Eigenvalues
# ------------------------------------------------------------------------------------------------


@of_scipy(scipy.linalg.eigh)
def eigh(
    a: Any,
    b: Any = None,
    *,
    lower: bool = True,
    eigvals_only: bool = False,
    type: int = 1,
    subset_by_index: Any = None,
) -> Any:
    a = read(inexact(a), "hermitian", lower)
    factor = None
    if b is not None:
        if type != 1:
            raise unsupported(
                "scipy.linalg.eigh", f"type={type}", "Write the problem as a @ v = w * b @ v."
            )
        factor = np.linalg.cholesky(read(inexact(b), "hermitian", lower))
        half = np.linalg.solve(factor, a)
        a = adjoint(np.linalg.solve(factor, adjoint(half)))
        a = (a + adjoint(a)) / 2
    chosen = (
        slice(None)
        if subset_by_index is None
        else slice(int(subset_by_index[0]), int(subset_by_index[1]) + 1)
    )
    if eigvals_only:
        return np.linalg.eigvalsh(a)[..., chosen]
    values, vectors = np.linalg.eigh(a)
    if factor is not None:
        vectors = np.linalg.solve(adjoint(factor), vectors)
    return values[..., chosen], vectors[..., chosen]


@of_scipy(scipy.linalg.eigvalsh)
def eigvalsh(
    a: Any, b: Any = None, *, lower: bool = True, type: int = 1, subset_by_index: Any = None
) -> Array:
    return eigh(a, b, lower=lower, eigvals_only=True, type=type, subset_by_index=subset_by_index)


def _tridiagonal(d: Any, e: Any) -> Array:
    return rearranged(lambda d, e: np.diag(d) + np.diag(e, -1), inexact(d), inexact(e))


@of_scipy(scipy.linalg.eigh_tridiagonal)
def eigh_tridiagonal(d: Any, e: Any, eigvals_only: bool = False) -> Any:
    a = _tridiagonal(d, e)
    return np.linalg.eigvalsh(a) if eigvals_only else tuple(np.linalg.eigh(a))


@of_scipy(scipy.linalg.eigvalsh_tridiagonal)
def eigvalsh_tridiagonal(d: Any, e: Any) -> Array:
    return np.linalg.eigvalsh(_tridiagonal(d, e))


@of_scipy(scipy.linalg.eig)
def eig(a: Any, right: bool = True) -> Any:
    values, vectors = np.linalg.eig(inexact(a))
    return (values, vectors) if right else values


eigvals: Callable[..., Array] = of_scipy(scipy.linalg.eigvals)(
    lambda a: np.linalg.eigvals(inexact(a))
)
