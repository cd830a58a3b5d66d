"""Products of tensors as NumPy forms them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .dtypes import broadcast, converted, listed, tensors, to_dtype


def _product(call: Callable[..., Any]) -> Callable[..., Any]:
    def product(a: Any, b: Any) -> Any:
        if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype is b.dtype:
            return call(a, b)
        return call(*operands_of(a, b))

    return product


def operands_of(*values: Any) -> list[Any]:
    """Tensors of one dtype. Not ufuncs, most of these functions make an array of a Python number, which counts in full."""
    beside = next(value for value in values if isinstance(value, Tensor))
    return tensors(*[listed(value, beside) for value in values])


matmul = _product(torch.matmul)
inner = _product(torch.inner)
kron = _product(torch.kron)


@_product
def dot(a: Any, b: Any) -> Any:
    if a.ndim and b.ndim:
        return torch.matmul(a, b) if b.ndim <= 2 else torch.tensordot(a, b, ([-1], [-2]))
    return a * b


@_product
def vdot(a: Any, b: Any) -> Any:
    return torch.matmul(torch.conj(torch.ravel(a)), torch.ravel(b))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    a, b = operands_of(a, b)
    return torch.outer(torch.ravel(a), torch.ravel(b))


def vecdot(a: Any, b: Any, /, *, axis: int = -1) -> Any:
    a, b = operands_of(a, b)
    return torch.sum(torch.conj(a) * b, axis).to(a.dtype)


@_product
def matvec(a: Any, b: Any) -> Any:
    return torch.matmul(a, b[..., None])[..., 0]


@_product
def vecmat(a: Any, b: Any) -> Any:
    return torch.matmul(torch.conj(a)[..., None, :], b)[..., 0, :]


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = operands_of(a, b)
    if not isinstance(axes, int):
        axes = [np.atleast_1d(pair).tolist() for pair in axes]
    return torch.tensordot(a, b, axes)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    a, b = operands_of(a, b)
    a, b = torch.movedim(a, axisa, -1), torch.movedim(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    return torch.movedim(torch.linalg.cross(*broadcast(a, b)), -1, axisc)


def einsum(
    *operands: Any, out: Any = None, dtype: Any = None, order: str = "K", casting: str = "safe", optimize: Any = False
) -> Any:
    if isinstance(operands[0], str):
        result = torch.einsum(operands[0], *operands_of(*operands[1:]))
    else:
        result = _interleaved(operands)
    return result if dtype is None else converted(result, to_dtype(dtype))


def _interleaved(operands: tuple[Any, ...]) -> Any:
    """einsum(a, [0, 1], b, [1, 2], [0, 2])"""
    count = len(operands) // 2
    arrays = operands_of(*operands[0 : 2 * count : 2])
    mixed = [part for pair in zip(arrays, operands[1 : 2 * count : 2]) for part in pair]
    return torch.einsum(*mixed, *operands[2 * count :])
