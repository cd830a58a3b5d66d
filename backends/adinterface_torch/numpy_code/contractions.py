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


def einsum(
    *operands: Any, out: Any = None, dtype: Any = None, order: str = "K", casting: str = "safe", optimize: Any = False
) -> Any:
    if dtype is None and isinstance(operands[0], str):
        return torch.einsum(operands[0], *arrays(*operands[1:]))
    return composed("einsum")(*operands, dtype=dtype)
