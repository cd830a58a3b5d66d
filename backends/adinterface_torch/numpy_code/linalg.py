"""numpy.linalg on tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adinterface.numpy_code.results import EighResult, EigResult, QRResult, SlogdetResult, SVDResult

from . import products
from .dtypes import INEXACT, at_least_1d, inexact, tensors
from .indexing import trace as _trace
from .shapes import matrix_transpose as matrix_transpose

Function = Callable[..., Any]
_SINGULAR: type[Exception] = vars(torch.linalg)["LinAlgError"]
matmul = products.matmul
outer = products.outer
tensordot = products.tensordot


def _numpys_errors(call: Function) -> Function:
    """What code around NumPy catches is NumPy's LinAlgError."""

    @functools.wraps(call)
    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except _SINGULAR as error:
            raise np.linalg.LinAlgError(str(error)) from error

    return function


@_numpys_errors
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    return torch.linalg.cholesky(inexact(a), upper=upper)


@_numpys_errors
def inv(a: Any) -> Any:
    return torch.linalg.inv(inexact(a))


@_numpys_errors
def solve(a: Any, b: Any) -> Any:
    if not (isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype is b.dtype and a.dtype in INEXACT):
        a, b = tensors(a, b)
        a, b = inexact(a), inexact(b)
    if b.ndim == a.ndim:
        return torch.linalg.solve(a, b)
    if b.ndim == 1:
        return torch.linalg.solve(a, b[:, None])[..., 0]
    # With as many axes as a, or torch takes a stack of vectors for what NumPy takes for a matrix.
    return torch.linalg.solve(a, b[(None,) * (a.ndim - b.ndim)])


def det(a: Any) -> Any:
    return torch.linalg.det(inexact(a))


def slogdet(a: Any) -> Any:
    return SlogdetResult(*torch.linalg.slogdet(inexact(a)))


@_numpys_errors
def eig(a: Any) -> Any:
    return EigResult(*torch.linalg.eig(inexact(a)))


@_numpys_errors
def eigvals(a: Any) -> Any:
    return torch.linalg.eigvals(inexact(a))


@_numpys_errors
def eigh(a: Any, UPLO: str = "L") -> Any:
    return EighResult(*torch.linalg.eigh(inexact(a), UPLO))


@_numpys_errors
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return torch.linalg.eigvalsh(inexact(a), UPLO)


@_numpys_errors
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if not compute_uv:
        return svdvals(a)
    # The thin form where it is the same, because torch has a derivative for that alone.
    thin = not full_matrices or a.shape[-1] == a.shape[-2]
    return SVDResult(*torch.linalg.svd(inexact(a), full_matrices=not thin))


@_numpys_errors
def svdvals(x: Any, /) -> Any:
    return torch.linalg.svdvals(inexact(x))


@_numpys_errors
def qr(a: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    # torch has no derivative for its own mode "r".
    found = QRResult(*torch.linalg.qr(inexact(a), "complete" if mode == "complete" else "reduced"))
    return found.R if mode == "r" else found


@_numpys_errors
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    return torch.linalg.pinv(inexact(a), rtol=_tolerance(a, rtol, rcond, 1e-15), hermitian=hermitian)


def _tolerance(a: Any, rtol: Any, rcond: Any, default: float | None) -> Any:
    given = rtol if rcond is None else rcond
    return default if given is None else given


@_numpys_errors
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    a, b = tensors(a, b)
    a, b = inexact(a), inexact(b)
    rows, columns = a.shape
    epsilon = torch.finfo(a.dtype).eps
    cut = epsilon * max(rows, columns) if rcond is None else epsilon if rcond < 0 else rcond
    solution = torch.linalg.pinv(a, rtol=cut) @ b
    singular = torch.linalg.svdvals(a)
    rank = torch.sum(singular > cut * singular[0], dtype=torch.int32)
    left = b - a @ solution
    squares = at_least_1d(torch.sum((left * torch.conj(left)).real, 0))
    return solution, squares if rows > columns else squares[:0], rank, singular


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    if A.ndim < 2:
        return int(torch.any(A != 0))
    return torch.linalg.matrix_rank(inexact(A).detach(), atol=tol, rtol=rtol, hermitian=hermitian)


@_numpys_errors
def matrix_power(a: Any, n: int) -> Any:
    return torch.linalg.matrix_power(inexact(a) if n < 0 else a, n)


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    return torch.linalg.multi_dot(tensors(*arrays))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = inexact(x)
    if axis is None and ord is not None and x.ndim > 2:
        raise ValueError("Improper number of dimensions to norm.")
    return torch.linalg.norm(x, ord, tuple(axis) if isinstance(axis, list) else axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return torch.linalg.norm(inexact(x), ord, (-2, -1), keepdims)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    return torch.linalg.vector_norm(inexact(x), ord, axis, keepdims)


@_numpys_errors
def cond(x: Any, p: Any = None) -> Any:
    x = inexact(x)
    if p is None or p in (2, -2):
        return torch.linalg.cond(x, p)
    # Not torch's own, whose backward pass fails: it writes to the inverse that it needs.
    return torch.linalg.matrix_norm(x, p) * torch.linalg.matrix_norm(torch.linalg.inv(x), p)


@_numpys_errors
def tensorinv(a: Any, ind: int = 2) -> Any:
    return torch.linalg.tensorinv(inexact(a), ind)


@_numpys_errors
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = tensors(a, b)
    return torch.linalg.tensorsolve(inexact(a), inexact(b), axes)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return products.cross(x1, x2, axis=axis)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return products.vecdot(x1, x2, axis=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return torch.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return _trace(x, offset, -2, -1, dtype)
