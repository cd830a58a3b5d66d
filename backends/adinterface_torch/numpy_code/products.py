"""Products of tensors as NumPy forms them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .composed import arrays, composed


def _product(call: Callable[..., Any]) -> Callable[..., Any]:
    def product(a: Any, b: Any) -> Any:
        if isinstance(a, Tensor) and isinstance(b, Tensor) and a.dtype is b.dtype:
            return call(a, b)
        return call(*arrays(a, b))

    return product


matmul = _product(torch.matmul)


@_product
def dot(a: Any, b: Any) -> Any:
    if a.ndim and b.ndim:
        return torch.matmul(a, b) if b.ndim <= 2 else torch.tensordot(a, b, ([-1], [-2]))
    return a * b


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    axisa, axisb, axisc = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)
    a, b = arrays(a, b)
    a, b = torch.movedim(a, axisa, -1), torch.movedim(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    stretched: Callable[..., Any] = torch.broadcast_tensors  # which torch leaves without types
    return torch.movedim(torch.linalg.cross(*stretched(a, b)), -1, axisc)


def einsum(
    *operands: Any, out: Any = None, dtype: Any = None, order: str = "K", casting: str = "safe", optimize: Any = False
) -> Any:
    if dtype is None and isinstance(operands[0], str):
        return torch.einsum(operands[0], *arrays(*operands[1:]))
    return composed("einsum")(*operands, dtype=dtype)
