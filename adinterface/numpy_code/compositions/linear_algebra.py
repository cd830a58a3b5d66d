"""numpy.linalg."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .composing import (
    COMPOSITIONS,
    Array,
    array,
    cast,
    composition,
    conj,
    flat,
    inexact,
    is_complex,
    name_of,
    normalized,
    promoted,
    root,
)
from .indexing import diagonal, trace

#: The named tuples of NumPy's results.
_RESULTS: list[Any] = [
    type(getattr(np.linalg, name)(np.eye(1))) for name in ("eigh", "eig", "qr", "slogdet", "svd")
]
EighResult, EigResult, QRResult, SlogdetResult, SVDResult = _RESULTS


def _squared(xp: ModuleType, x: Array) -> Array:
    return xp.square(xp.real(x)) + xp.square(xp.imag(x)) if is_complex(x) else xp.square(x)


def _adjoint(xp: ModuleType, x: Array) -> Array:
    return xp.matrix_transpose(conj(xp, x))


def _hermitian(xp: ModuleType, a: Array, triangle: str) -> Array:
    """The matrix given by one triangle of a: what NumPy reads, and so the only variables of a
    derivative.
    """
    a = inexact(xp, a)
    triangle = triangle.upper()
    if triangle not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    half = xp.tril(a) if triangle == "L" else xp.triu(a)
    strict = xp.tril(a, k=-1) if triangle == "L" else xp.triu(a, k=1)
    result = half + _adjoint(xp, strict)
    if not is_complex(a):
        return result
    # Only the real part of the diagonal: engines differ in what they do with the imaginary part.
    diagonal = array(xp, np.eye(a.shape[-1], dtype=bool), a)
    real = xp.real(result)
    return xp.where(diagonal, cast(xp, real, name_of(a)), result)


@composition("linalg.cholesky")
def cholesky(xp: ModuleType, a: Array, /, *, upper: bool = False) -> Array:
    lower = xp.linalg.cholesky(_hermitian(xp, a, "U" if upper else "L"))
    return _adjoint(xp, lower) if upper else lower


@composition("linalg.solve")
def solve(xp: ModuleType, a: Any, b: Any) -> Array:
    a, b = [inexact(xp, x) for x in promoted(xp, a, b)]
    # Never one axis less than a: namespaces differ in its meaning.
    rows = b[:, None] if len(b.shape) == 1 else b
    if a.shape[:-2] != rows.shape[:-2]:
        stack = np.broadcast_shapes(a.shape[:-2], rows.shape[:-2])
        a, rows = [xp.broadcast_to(x, (*stack, *x.shape[-2:])) for x in (a, rows)]
    result = xp.linalg.solve(a, rows)
    return result[..., 0] if len(b.shape) == 1 else result


@composition("linalg.svd")
def svd(
    xp: ModuleType,
    a: Array,
    full_matrices: bool = True,
    compute_uv: bool = True,
    hermitian: bool = False,
) -> Any:
    a = _hermitian(xp, a, "L") if hermitian else inexact(xp, a)
    if not compute_uv:
        return xp.linalg.svdvals(a)
    # The thin form where it is the same, because engines have a derivative for that alone.
    thin = not full_matrices or a.shape[-1] == a.shape[-2]
    return SVDResult(*xp.linalg.svd(a, full_matrices=not thin))


@composition("linalg.qr")
def qr(xp: ModuleType, a: Array, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    result = QRResult(
        *xp.linalg.qr(inexact(xp, a), mode="complete" if mode == "complete" else "reduced")
    )
    return result.R if mode == "r" else result


@composition("linalg.pinv")
def pinv(
    xp: ModuleType, a: Array, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> Array:
    given = rtol if rcond is None else rcond
    a = _hermitian(xp, a, "L") if hermitian else inexact(xp, a)
    return xp.linalg.pinv(a, rtol=1e-15 if given is None else given)


@composition("linalg.lstsq")
def lstsq(xp: ModuleType, a: Any, b: Any, rcond: Any = None) -> tuple[Array, Array, Array, Array]:
    a, b = [inexact(xp, x) for x in promoted(xp, a, b)]
    rows, columns = a.shape
    epsilon = float(np.finfo(name_of(a)).eps)
    cut = epsilon * max(rows, columns) if rcond is None else epsilon if rcond < 0 else rcond
    solution = xp.matmul(xp.linalg.pinv(a, rtol=cut), b)
    singular = xp.linalg.svdvals(a)
    rank = cast(xp, xp.sum(cast(xp, singular > cut * singular[:1], "int32"), axis=0), "int32")
    squares = xp.sum(_squared(xp, b - xp.matmul(a, solution)), axis=0)
    squares = squares if squares.ndim else squares[None]
    return solution, squares if rows > columns else squares[:0], rank, singular


@composition("linalg.matrix_rank")
def matrix_rank(
    xp: ModuleType, A: Array, tol: Any = None, hermitian: bool = False, *, rtol: Any = None
) -> Array | int:
    if len(A.shape) < 2:
        return int(xp.any(A != 0))
    A = _hermitian(xp, A, "L") if hermitian else A
    if tol is None:
        return xp.linalg.matrix_rank(inexact(xp, A), **({} if rtol is None else {"rtol": rtol}))
    return xp.sum(
        cast(xp, xp.linalg.svdvals(inexact(xp, A)) > array(xp, tol, A)[..., None], "int64"), axis=-1
    )


@composition("linalg.matrix_power")
def matrix_power(xp: ModuleType, a: Array, n: int) -> Array:
    if n < 0:
        a, n = xp.linalg.inv(inexact(xp, a)), -n
    eye = cast(xp, array(xp, np.eye(a.shape[-1]), a), name_of(a))
    result = None
    while n:
        if n % 2:
            result = a if result is None else xp.matmul(result, a)
        n //= 2
        a = xp.matmul(a, a) if n else a
    return xp.broadcast_to(eye, a.shape) if result is None else result


@composition("linalg.multi_dot")
def multi_dot(xp: ModuleType, arrays: Any, *, out: Any = None) -> Array:
    product, *rest = promoted(xp, *arrays)
    for factor in rest:
        product = xp.matmul(product, factor)
    return product


@composition("linalg.norm")
def norm(
    xp: ModuleType, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Array:
    x = inexact(xp, array(xp, x))
    ndim = len(x.shape)
    if axis is None and (ord is None or ndim == 1):
        result = _vector_norm(xp, flat(xp, x), 2 if ord is None else ord, -1)
        return xp.reshape(result, (1,) * ndim) if keepdims else result
    axes = normalized(axis, ndim)
    if len(axes) not in (1, 2):
        raise ValueError("Improper number of dimensions to norm.")
    moved = xp.permute_dims(x, tuple([n for n in range(ndim) if n not in axes]) + axes)
    result = (
        _vector_norm(xp, moved, 2 if ord is None else ord, -1)
        if len(axes) == 1
        else _matrix_norm(xp, moved, ord)
    )
    return (
        xp.reshape(result, tuple([1 if n in axes else k for n, k in enumerate(x.shape)]))
        if keepdims
        else result
    )


def _vector_norm(xp: ModuleType, x: Array, ord: Any, axis: Any) -> Array:
    size = xp.abs(x)
    if ord == 2:
        return root(xp, xp.sum(_squared(xp, x), axis=axis))
    if ord == math.inf:
        return xp.max(size, axis=axis)
    if ord == -math.inf:
        return xp.min(size, axis=axis)
    if ord == 0:
        return xp.sum(cast(xp, x != 0, name_of(size)), axis=axis)
    if ord == 1:
        return xp.sum(size, axis=axis)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    total = xp.sum(size**ord, axis=axis)
    corner = total == 0
    return xp.where(
        corner, xp.zeros_like(total), xp.where(corner, xp.ones_like(total), total) ** (1.0 / ord)
    )


def _matrix_norm(xp: ModuleType, x: Array, ord: Any) -> Array:
    """Of the last two axes."""
    if ord in (None, "fro", "f"):
        return root(xp, xp.sum(_squared(xp, x), axis=(-2, -1)))
    if ord in (2, -2, "nuc"):
        singular = xp.linalg.svdvals(x)
        reduce: Callable[..., Array] = {2: xp.max, -2: xp.min, "nuc": xp.sum}[ord]
        return reduce(singular, axis=-1)
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError("Invalid norm order for matrices.")
    sums = xp.sum(xp.abs(x), axis=-2 if abs(ord) == 1 else -1)
    return (xp.max if ord > 0 else xp.min)(sums, axis=-1)


@composition("linalg.vector_norm")
def vector_norm(
    xp: ModuleType, x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Array:
    x = inexact(xp, x)
    axes = normalized(axis, len(x.shape))
    result = _vector_norm(xp, x, ord, axes)
    return (
        xp.reshape(result, tuple([1 if n in axes else k for n, k in enumerate(x.shape)]))
        if keepdims
        else result
    )


@composition("linalg.cond")
def cond(xp: ModuleType, x: Array, p: Any = None) -> Array:
    x = inexact(xp, x)
    if p in (None, 2, -2):
        singular = xp.linalg.svdvals(x)
        return (
            singular[..., -1] / singular[..., 0]
            if p == -2
            else singular[..., 0] / singular[..., -1]
        )
    return _matrix_norm(xp, x, p) * _matrix_norm(xp, xp.linalg.inv(x), p)


@composition("linalg.tensorinv")
def tensorinv(xp: ModuleType, a: Array, ind: int = 2) -> Array:
    shape = tuple(a.shape)
    rows = math.prod(shape[:ind])
    return xp.reshape(
        xp.linalg.inv(inexact(xp, xp.reshape(a, (rows, -1)))), shape[ind:] + shape[:ind]
    )


@composition("linalg.tensorsolve")
def tensorsolve(xp: ModuleType, a: Any, b: Any, axes: Any = None) -> Array:
    a, b = promoted(xp, a, b)
    if axes is not None:
        moved = normalized(tuple(axes), len(a.shape))
        a = xp.permute_dims(a, tuple([n for n in range(len(a.shape)) if n not in moved]) + moved)
    shape = tuple(a.shape[len(b.shape) :])
    return xp.reshape(solve(xp, xp.reshape(a, (-1, math.prod(shape))), flat(xp, b)), shape)


_FORMULAS: dict[str, Callable[..., Any]] = {
    "linalg.inv": lambda xp, a: xp.linalg.inv(inexact(xp, a)),
    "linalg.det": lambda xp, a: xp.linalg.det(inexact(xp, a)),
    "linalg.slogdet": lambda xp, a: SlogdetResult(*xp.linalg.slogdet(inexact(xp, a))),
    "linalg.eig": lambda xp, a: EigResult(*xp.linalg.eig(inexact(xp, a))),
    "linalg.eigvals": lambda xp, a: xp.linalg.eigvals(inexact(xp, a)),
    "linalg.eigh": lambda xp, a, UPLO="L": EighResult(*xp.linalg.eigh(_hermitian(xp, a, UPLO))),
    "linalg.eigvalsh": lambda xp, a, UPLO="L": xp.linalg.eigvalsh(_hermitian(xp, a, UPLO)),
    "linalg.svdvals": lambda xp, x: xp.linalg.svdvals(inexact(xp, x)),
    "linalg.matrix_norm": lambda xp, x, *, keepdims=False, ord="fro": norm(
        xp, x, ord, (-2, -1), keepdims
    ),
    "linalg.diagonal": lambda xp, x, *, offset=0: diagonal(xp, x, offset, -2, -1),
    "linalg.trace": lambda xp, x, *, offset=0, dtype=None: trace(xp, x, offset, -2, -1, dtype),
}
COMPOSITIONS |= _FORMULAS
