"""Products of arrays."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .composing import (
    COMPOSITIONS,
    Array,
    cast,
    composition,
    conj,
    counted_in_full,
    flat,
    gathered,
    name_of,
    normalized,
)


@composition("dot")
def dot(xp: ModuleType, a: Any, b: Any, out: Any = None) -> Array:
    a, b = counted_in_full(xp, a, b)
    if not a.ndim or not b.ndim:
        return a * b
    return (
        xp.matmul(a, b)
        if len(b.shape) <= 2
        else xp.tensordot(a, b, axes=((len(a.shape) - 1,), (len(b.shape) - 2,)))
    )


@composition("inner")
def inner(xp: ModuleType, a: Any, b: Any) -> Array:
    a, b = counted_in_full(xp, a, b)
    if not a.ndim or not b.ndim:
        return a * b
    if len(b.shape) <= 2:
        return xp.matmul(a, b if len(b.shape) == 1 else xp.matrix_transpose(b))
    return xp.tensordot(a, b, axes=((len(a.shape) - 1,), (len(b.shape) - 1,)))


@composition("vecdot", "linalg.vecdot")
def vecdot(xp: ModuleType, a: Any, b: Any, /, *, axis: int = -1) -> Array:
    a, b = counted_in_full(xp, a, b)
    return cast(xp, xp.sum(conj(xp, a) * b, axis=axis), name_of(a))


@composition("tensordot", "linalg.tensordot")
def tensordot(xp: ModuleType, a: Any, b: Any, axes: Any = 2) -> Array:
    a, b = counted_in_full(xp, a, b)
    if isinstance(axes, int):
        return xp.tensordot(a, b, axes=axes)
    pairs = [
        normalized(tuple(np.atleast_1d(pair).tolist()), len(x.shape))
        for pair, x in zip(axes, (a, b))
    ]
    return xp.tensordot(a, b, axes=tuple(pairs))


@composition("kron")
def kron(xp: ModuleType, a: Any, b: Any) -> Array:
    a, b = counted_in_full(xp, a, b)
    ndim = max(len(a.shape), len(b.shape))
    shapes = [(1,) * (ndim - len(x.shape)) + tuple(x.shape) for x in (a, b)]
    a = xp.reshape(a, tuple([n for length in shapes[0] for n in (length, 1)]))
    b = xp.reshape(b, tuple([n for length in shapes[1] for n in (1, length)]))
    return xp.reshape(a * b, tuple([m * n for m, n in zip(*shapes)]))


@composition("cross")
def cross(
    xp: ModuleType,
    a: Any,
    b: Any,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array:
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    a, b = counted_in_full(xp, a, b)
    a, b = xp.moveaxis(a, axisa, -1), xp.moveaxis(b, axisb, -1)
    if a.shape[-1] == b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    a0, a1, a2 = [a[..., n] for n in range(3)]
    b0, b1, b2 = [b[..., n] for n in range(3)]
    return xp.moveaxis(
        xp.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1), -1, axisc
    )


@composition("convolve")
def convolve(xp: ModuleType, a: Any, v: Any, mode: str = "full") -> Array:
    a, v = counted_in_full(xp, a, v)
    a, v = flat(xp, a), flat(xp, v)
    if v.shape[0] > a.shape[0]:
        a, v = v, a
    return _slid(xp, a, xp.flip(v), mode)


@composition("correlate")
def correlate(xp: ModuleType, a: Any, v: Any, mode: str = "valid") -> Array:
    a, v = counted_in_full(xp, a, v)
    a, v = flat(xp, a), flat(xp, v)
    v = conj(xp, v)
    if v.shape[0] > a.shape[0]:
        return xp.flip(_slid(xp, v, a, mode))
    return _slid(xp, a, v, mode)


def _slid(xp: ModuleType, a: Array, kernel: Array, mode: str) -> Array:
    """The products of a kernel with the windows of a, which is at least as long."""
    length, width = a.shape[0], kernel.shape[0]
    full = length + width - 1
    start, count = {
        "full": (0, full),
        "same": ((width - 1) // 2, length),
        "valid": (width - 1, length - width + 1),
    }[mode]
    places = np.arange(start, start + count)[:, None] + np.arange(width) - (width - 1)
    inside = (places >= 0) & (places < length)
    windows = gathered(xp, a, np.where(inside, places + 1, 0))
    return xp.matmul(windows, kernel)


def _of_two(product: Callable[[ModuleType, Array, Array], Array]) -> Callable[..., Array]:
    return lambda xp, a, b, out=None: product(xp, *counted_in_full(xp, a, b))


COMPOSITIONS |= {
    "matmul": _of_two(lambda xp, a, b: xp.matmul(a, b)),
    "linalg.matmul": _of_two(lambda xp, a, b: xp.matmul(a, b)),
    "vdot": _of_two(lambda xp, a, b: xp.matmul(conj(xp, flat(xp, a)), flat(xp, b))),
    "outer": _of_two(lambda xp, a, b: flat(xp, a)[:, None] * flat(xp, b)[None, :]),
    "linalg.outer": _of_two(lambda xp, a, b: flat(xp, a)[:, None] * flat(xp, b)[None, :]),
    "matvec": _of_two(lambda xp, a, b: xp.matmul(a, b[..., None])[..., 0]),
    "vecmat": _of_two(lambda xp, a, b: xp.matmul(conj(xp, a)[..., None, :], b)[..., 0, :]),
    "linalg.cross": lambda xp, x1, x2, *, axis=-1: cross(xp, x1, x2, axis=axis),
}
