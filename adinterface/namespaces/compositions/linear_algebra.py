"""Compositions of products and of `linalg`."""

from __future__ import annotations

import builtins
import functools
import math
from typing import Any, NamedTuple

import numpy as np

from .composing import COMPOSITIONS, Axes, axes_of, axis_of, by_index, composition, is_complex, root


@composition
def matmul(xp: Any, x: Any, y: Any, /) -> Any:
    """By `matrix_product`, the engine's product of stacks of matrices, for vectors and broadcast
    stacks too.
    """
    row, column = len(x.shape) == 1, len(y.shape) == 1
    x, y = xp.expand_dims(x, axis=0) if row else x, xp.expand_dims(y, axis=-1) if column else y
    stacks = np.broadcast_shapes(tuple(x.shape)[:-2], tuple(y.shape)[:-2])
    x, y = (xp.broadcast_to(z, (*stacks, *tuple(z.shape)[-2:])) for z in (x, y))
    product = xp.matrix_product(x, y)
    product = xp.squeeze(product, axis=-2) if row else product
    return xp.squeeze(product, axis=-1) if column else product


@composition
def einsum(xp: Any, subscripts: str, /, *arrays: Any) -> Any:
    """The engine's own, without axes of length 1 that are stretched to longer ones: not every
    engine takes those.
    """
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    if "." in inputs:
        return xp.own_einsum(subscripts, *arrays)
    terms = inputs.split(",")
    longest = {
        label: builtins.max(
            x.shape[term.index(label)] for term, x in zip(terms, arrays) if label in term
        )
        for label in inputs
        if label != ","
    }
    kept = [
        [n for n, label in enumerate(term) if x.shape[n] == longest[label]]
        for term, x in zip(terms, arrays)
    ]
    arrays = tuple(
        [xp.reshape(x, tuple([x.shape[n] for n in places])) for x, places in zip(arrays, kept)]
    )
    terms = ["".join([term[n] for n in places]) for term, places in zip(terms, kept)]
    once = sorted([label for label in longest if inputs.count(label) == 1])
    return xp.own_einsum(f"{','.join(terms)}->{output if arrow else ''.join(once)}", *arrays)


@composition
def vecdot(xp: Any, x: Any, y: Any, /, *, axis: int = -1) -> Any:
    x = xp.conj(x) if is_complex(xp, x) else x
    return xp.sum(x * y, axis=axis)


@composition
def tensordot(xp: Any, x: Any, y: Any, /, *, axes: Any = 2) -> Any:
    if isinstance(axes, (int, np.integer)):
        axes = range(len(x.shape) - int(axes), len(x.shape)), range(int(axes))
    left, right = axes_of(tuple(axes[0]), len(x.shape)), axes_of(tuple(axes[1]), len(y.shape))
    free_x, free_y = (
        [n for n in range(len(z.shape)) if n not in used] for z, used in ((x, left), (y, right))
    )
    heights, widths = [x.shape[n] for n in free_x], [y.shape[n] for n in free_y]
    inner = math.prod([x.shape[n] for n in left])
    a = xp.reshape(xp.permute_dims(x, (*free_x, *left)), (math.prod(heights), inner))
    b = xp.reshape(xp.permute_dims(y, (*right, *free_y)), (inner, math.prod(widths)))
    return xp.reshape(xp.matmul(a, b), (*heights, *widths))


for _name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
    COMPOSITIONS["linalg." + _name] = functools.partial(
        lambda name, xp, *args, **options: getattr(xp, name)(*args, **options), _name
    )


# linalg
# ------------------------------------------------------------------------------------------------


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


class SVDResult(NamedTuple):
    """The factors of x = U diag(S) Vh."""

    U: Any
    S: Any
    Vh: Any


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, and eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


class QRResult(NamedTuple):
    """The factors of x = Q R."""

    Q: Any
    R: Any


@composition
def linalg_outer(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.expand_dims(x, axis=-1) * xp.expand_dims(y, axis=0)


@composition
def linalg_diagonal(xp: Any, x: Any, /, *, offset: int = 0) -> Any:
    rows, columns = x.shape[-2:]
    places = np.diagonal(np.arange(rows * columns).reshape(rows, columns), offset).copy()
    return by_index(
        xp, xp.reshape(x, (*tuple(x.shape)[:-2], rows * columns)), places, len(x.shape) - 2
    )


@composition
def linalg_trace(xp: Any, x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    diagonal = xp.linalg.diagonal(x, offset=offset)
    return xp.sum(diagonal if dtype is None else xp.astype(diagonal, dtype), axis=-1)


@composition
def linalg_cross(xp: Any, x: Any, y: Any, /, *, axis: int = -1) -> Any:
    x, y = xp.broadcast_arrays(x, y)
    a, b = xp.unstack(x, axis=axis), xp.unstack(y, axis=axis)
    parts = [a[(n + 1) % 3] * b[(n + 2) % 3] - a[(n + 2) % 3] * b[(n + 1) % 3] for n in range(3)]
    return xp.stack(parts, axis=axis_of(axis, len(x.shape)))


@composition
def linalg_det(xp: Any, x: Any, /) -> Any:
    logarithm = xp.linalg.slogdet(x)
    return logarithm[0] * xp.exp(logarithm[1])


@composition
def linalg_slogdet(xp: Any, x: Any, /) -> Any:
    det = xp.linalg.det(x)
    return SlogdetResult(xp.sign(det), xp.log(xp.abs(det)))


@composition
def linalg_solve(xp: Any, x: Any, y: Any, /) -> Any:
    return xp.matmul(xp.linalg.inv(x), y)


@composition
def linalg_inv(xp: Any, x: Any, /) -> Any:
    return xp.linalg.solve(x, xp.broadcast_to(xp.eye(x.shape[-1], dtype=x.dtype), tuple(x.shape)))


@composition
def linalg_matrix_power(xp: Any, x: Any, n: int, /) -> Any:
    if n < 0:
        return xp.linalg.matrix_power(xp.linalg.inv(x), -n)
    if n == 0:
        return xp.zeros_like(x) + xp.eye(x.shape[-1], dtype=x.dtype)
    half = xp.linalg.matrix_power(x, n // 2) if n > 1 else None
    square = x if half is None else xp.matmul(half, half)
    return xp.matmul(square, x) if n > 1 and n % 2 else square


@composition
def linalg_qr(xp: Any, x: Any, /, *, mode: str = "reduced") -> Any:
    if mode != "reduced":
        raise TypeError("linalg.qr: the composition has reduced factors only.")
    return QRResult(*xp.linalg.reduced_qr(x))


@composition
def linalg_svd(xp: Any, x: Any, /, *, full_matrices: bool = True) -> Any:
    u, s, vh = xp.linalg.full_svd(x)
    count = s.shape[-1]
    return (
        SVDResult(u, s, vh) if full_matrices else SVDResult(u[..., :count], s, vh[..., :count, :])
    )


@composition
def linalg_svdvals(xp: Any, x: Any, /) -> Any:
    return xp.linalg.svd(x, full_matrices=False)[1]


@composition
def linalg_eigvalsh(xp: Any, x: Any, /) -> Any:
    return xp.linalg.eigh(x)[0]


@composition
def linalg_pinv(xp: Any, x: Any, /, *, rtol: Any = None) -> Any:
    """For full rank: (x' x)^-1 x' or x' (x x')^-1.

    Raises TypeError for `rtol`, which asks for a truncated inverse.
    """
    if rtol is not None:
        raise TypeError("linalg.pinv: the composition takes matrices of full rank, without rtol.")
    turned = xp.matrix_transpose(xp.conj(x))
    if x.shape[-2] >= x.shape[-1]:
        return xp.linalg.solve(xp.matmul(turned, x), turned)
    return xp.matrix_transpose(xp.conj(xp.linalg.solve(xp.matmul(x, turned), x)))


@composition
def linalg_matrix_rank(xp: Any, x: Any, /, *, rtol: Any = None) -> Any:
    values = xp.linalg.svdvals(x)
    rtol = builtins.max(x.shape[-2:]) * np.finfo(xp.dtype_name(x)).eps if rtol is None else rtol
    return xp.count_nonzero(values > rtol * xp.max(values, axis=-1, keepdims=True), axis=-1)


@composition
def linalg_vector_norm(
    xp: Any, x: Any, /, *, axis: Axes = None, keepdims: bool = False, ord: float = 2
) -> Any:
    size = xp.abs(x)
    options = {"axis": axis, "keepdims": keepdims}
    if ord == math.inf:
        return xp.max(size, **options)
    if ord == -math.inf:
        return xp.min(size, **options)
    if ord == 0:
        return xp.sum(xp.astype(x != 0, size.dtype), **options)
    if ord == 1:
        return xp.sum(size, **options)
    if ord == 2:  # of a real x not by its size, which has no second derivative at zero
        return root(xp, xp.sum(size * size if is_complex(xp, x) else x * x, **options))
    return xp.sum(size**ord, **options) ** (1.0 / ord)


@composition
def linalg_matrix_norm(xp: Any, x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    size = xp.abs(x)
    if ord in (2, -2, "nuc"):
        values = xp.linalg.svdvals(x)
        norm = (xp.sum if ord == "nuc" else xp.max if ord == 2 else xp.min)(values, axis=-1)
    elif ord == "fro":
        norm = xp.linalg.vector_norm(x, axis=(-2, -1))
    else:
        sums = xp.sum(size, axis=-2 if ord in (1, -1) else -1)
        norm = (xp.max if ord > 0 else xp.min)(sums, axis=-1)
    return xp.expand_dims(xp.expand_dims(norm, axis=-1), axis=-1) if keepdims else norm
