"""Functions of linalg as in the Array API, where rules of autograd are missing or wrong.

autograd 1.9 has no rule for `qr`, `pinv(rtol=)`, and a stack of systems with a single right-hand
side.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive

from . import functions
from .functions import conjugate, is_box, matrix_transpose, shape_of, value, where

__all__ = [
    "cholesky", "det", "eig", "eigh", "eigvals", "inv", "matmul", "pinv", "qr", "slogdet", "solve",
    "svd",
]  # fmt: skip


EighResult = namedtuple("EighResult", "eigenvalues eigenvectors")
QRResult = namedtuple("QRResult", "Q R")
SlogdetResult = namedtuple("SlogdetResult", "sign logabsdet")
SVDResult = namedtuple("SVDResult", "U S Vh")


def _named(function: Any, result: Any) -> Any:
    """A function of autograd whose results have names."""
    return lambda x, /, **options: result(*function(x, **options))


eig, eigh = _named(anp.linalg.eig, EighResult), _named(anp.linalg.eigh, EighResult)
slogdet, svd = _named(anp.linalg.slogdet, SlogdetResult), _named(anp.linalg.svd, SVDResult)
matmul = anp.matmul
det = anp.linalg.det
inv = anp.linalg.inv


def _below(x: Any) -> Any:
    """What is below the diagonal."""
    rows, columns = shape_of(x)[-2:]
    return where(np.tri(rows, columns, k=-1, dtype=bool), x, 0.0)


def _adjoint(x: Any) -> Any:
    return matrix_transpose(conjugate(x))


def complex_cholesky_vjp(ans: Any, x: Any) -> Any:
    """Source: Murray, Differentiation of the Cholesky decomposition, 2016, equation (10), with
    adjoints for transposes, which autograd's rule lacks.
    """

    def back(g: Any) -> Any:
        inner = matmul(_adjoint(ans), anp.conj(g))  # autograd's cotangents are not conjugated
        inner = _below(inner) + _real_diagonal(inner) / 2
        inverse = inv(ans)
        result = matmul(matmul(_adjoint(inverse), inner), inverse)
        return anp.conj((result + _adjoint(result)) / 2)

    return back


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    lower = anp.linalg.cholesky(x)
    return _adjoint(lower) if upper else lower


def eigvals(x: Any, /) -> Any:
    return eig(x)[0]


@primitive  # type: ignore[untyped-decorator]
def _pinv(x: Any, rtol: Any) -> Any:
    return np.linalg.pinv(x, rtol=rtol)


def _pinv_vjp(ans: Any, x: Any, rtol: Any) -> Any:
    """Source: Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least squares
    problems whose variables separate, 1973, equation (4.12), for a matrix of constant rank.
    autograd's rule takes no rtol.
    """
    rows, columns = shape_of(x)[-2:]

    def back(g: Any) -> Any:
        g, adjoint = anp.conj(g), _adjoint(ans)  # autograd's cotangents are not conjugated
        turned = _adjoint(g)
        result = -matmul(matmul(adjoint, g), adjoint)
        result = result + matmul(
            matmul(np.eye(rows) - matmul(x, ans), turned), matmul(ans, adjoint)
        )
        result = result + matmul(
            matmul(adjoint, ans), matmul(turned, np.eye(columns) - matmul(ans, x))
        )
        return anp.conj(result)

    return back


defvjp(_pinv, _pinv_vjp)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    return _pinv(x, value(rtol))


@primitive  # type: ignore[untyped-decorator]
def _solve(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


defvjp(
    _solve,
    lambda ans, a, b: lambda g: -matmul(_solve(matrix_transpose(a), g), matrix_transpose(ans)),
    lambda ans, a, b: lambda g: _solve(matrix_transpose(a), g),
)


def solve(a: Any, b: Any, /) -> Any:
    """autograd's rule takes no stack of systems with a single right-hand side."""
    shape, right = shape_of(a), shape_of(b)
    if len(right) == 1:
        return solve(a, b[:, None])[..., 0]
    if shape[:-2] != right[:-2]:
        stack = np.broadcast_shapes(shape[:-2], right[:-2])
        a, b = [functions.broadcast_to(x, (*stack, *shape_of(x)[-2:])) for x in (a, b)]
    return _solve(a, b)


# QR
# ------------------------------------------------------------------------------------------------


@primitive  # type: ignore[untyped-decorator]
def _qr(x: Any) -> Any:
    return tuple(np.linalg.qr(x))


def _qr_vjp(ans: Any, x: Any) -> Any:
    """Source: Liao, Liu, Wang and Xiang, Differentiable programming tensor networks, 2019, equation
    (4), for real and complex matrices with at least as many rows as columns.
    """
    q, r = ans[0], ans[1]

    def back(g: Any) -> Any:
        # autograd's cotangents are not conjugated; the formula is written for those that are.
        gq, gr = anp.conj(g[0]), anp.conj(g[1])
        m = matmul(r, _adjoint(gr)) - matmul(_adjoint(gq), q)
        strict = _below(m)
        symmetric = strict + _adjoint(strict) + _real_diagonal(m)
        right = _adjoint(gq + matmul(q, symmetric))
        return anp.conj(_adjoint(anp.linalg.solve(r, right)))

    return back


def _real_diagonal(m: Any) -> Any:
    eye = np.eye(shape_of(m)[-1])
    return anp.real(m) * eye


defvjp(_qr, _qr_vjp)


def qr(x: Any, /, *, mode: str = "reduced") -> QRResult:
    """Wide matrices are split: the left square block alone determines Q."""
    if not is_box(x):
        q, r = np.linalg.qr(x, mode=mode)  # type: ignore[call-overload]
        return QRResult(q, r)
    rows, columns = shape_of(x)[-2:]
    if mode != "reduced" and rows != columns:
        raise NotImplementedError(
            "autograd: only the reduced QR decomposition has a derivative, qr(x, mode='reduced')"
        )
    result = _qr(x if rows >= columns else x[..., :rows])
    q, r = result[0], result[1]
    if rows < columns:
        r = anp.concatenate([r, matmul(_adjoint(q), x[..., rows:])], axis=-1)
    return QRResult(q, r)
