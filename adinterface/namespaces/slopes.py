"""Derivatives of functions that NumPy-like modules have with wrong derivatives, or with none.

Each function takes the namespace, the argument, the cotangents, the results, and the options of the
call. Cotangents and results are single arrays, or tuples of arrays where the function returns
several.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: By the name in the standard, with `linalg.` in front.
SLOPES: dict[str, Callable[..., Any]] = {
    "expm1": lambda xp, x, cotangent, y: cotangent * xp.conj(y + 1.0),
    "tan": lambda xp, x, cotangent, y: cotangent * xp.conj(1.0 + y * y),
    "linalg.inv": lambda xp, x, cotangent, y: -(_adjoint(xp, y) @ cotangent @ _adjoint(xp, y)),
}


def slope(function: Callable[..., Any]) -> Callable[..., Any]:
    """Register the derivative of a function of `linalg`."""
    SLOPES["linalg." + function.__name__] = function
    return function


def _adjoint(xp: Any, x: Any) -> Any:
    return xp.matrix_transpose(xp.conj(x))


def _column(xp: Any, x: Any) -> Any:
    """`(..., n)` -> `(..., n, 1)`."""
    return xp.expand_dims(x, axis=-1)


def _row(xp: Any, x: Any) -> Any:
    """`(..., n)` -> `(..., 1, n)`."""
    return xp.expand_dims(x, axis=-2)


def _inverse_differences(xp: Any, x: Any) -> Any:
    """1 / (x_j - x_i), and zero where both are equal."""
    differences = _row(xp, x) - _column(xp, x)
    equal = differences == 0
    return xp.where(
        equal,
        xp.zeros_like(differences),
        1.0 / xp.where(equal, xp.ones_like(differences), differences),
    )


@slope
def cholesky(xp: Any, x: Any, cotangent: Any, y: Any, upper: bool = False) -> Any:
    """Source: Murray, Differentiation of the Cholesky decomposition, 2016, equation 10."""
    lower, cotangent = (_adjoint(xp, y), _adjoint(xp, cotangent)) if upper else (y, cotangent)
    half = xp.asarray(np.tri(y.shape[-1]) - np.eye(y.shape[-1]) / 2, dtype=xp.real(y).dtype)
    inverse = xp.linalg.inv(lower)
    whole = _adjoint(xp, inverse) @ (half * (_adjoint(xp, lower) @ cotangent)) @ inverse
    return (whole + _adjoint(xp, whole)) / 2.0


@slope
def eigh(xp: Any, x: Any, cotangents: Any, results: Any) -> Any:
    """Source: Giles, An extended collection of matrix derivative results, 2008, section 3.1."""
    values, vectors = results
    inner = _inverse_differences(xp, values) * (_adjoint(xp, vectors) @ cotangents[1])
    inner = inner + _column(xp, cotangents[0]) * xp.eye(x.shape[-1], dtype=x.dtype)
    whole = vectors @ inner @ _adjoint(xp, vectors)
    return (whole + _adjoint(xp, whole)) / 2.0


@slope
def qr(xp: Any, x: Any, cotangents: Any, results: Any, mode: str = "reduced") -> Any:
    """Source: Walter and Lehmann, Algorithmic differentiation of linear algebra functions, 2018,
    equation 5.4.
    """
    if mode != "reduced" or x.shape[-2] < x.shape[-1]:
        raise NotImplementedError(
            "linalg.qr has a derivative for reduced factors of a matrix that is not wide."
        )
    q, r = results
    inner = r @ _adjoint(xp, cotangents[1]) - _adjoint(xp, cotangents[0]) @ q
    inner = xp.tril(inner) + _adjoint(xp, xp.tril(inner, k=-1))
    return (cotangents[0] + q @ inner) @ _adjoint(xp, xp.linalg.inv(r))


@slope
def svd(xp: Any, x: Any, cotangents: Any, results: Any, full_matrices: bool = True) -> Any:
    """Source: Townsend, Differentiating the singular value decomposition, 2016, equation 4."""
    if full_matrices:
        raise NotImplementedError("linalg.svd has a derivative for full_matrices=False.")
    u, s, vh = results
    of_u, of_s, of_v = cotangents[0], cotangents[1], _adjoint(xp, cotangents[2])
    v, inverses, scale = _adjoint(xp, vh), _inverse_differences(xp, s * s), _column(xp, s)
    left, right = inverses * (_adjoint(xp, u) @ of_u), inverses * (vh @ of_v)
    inner = (left + _adjoint(xp, left)) * _row(xp, s) + scale * (right + _adjoint(xp, right))
    inner = inner + _column(xp, of_s) * xp.eye(s.shape[-1], dtype=x.dtype)
    outside_u = (of_u - u @ (_adjoint(xp, u) @ of_u)) / _row(xp, s)
    outside_v = (of_v - v @ (vh @ of_v)) / _row(xp, s)
    return (u @ inner + outside_u) @ vh + u @ _adjoint(xp, outside_v)
