"""An `asarray` that never cuts torch's graph. (Not in namespace.py, whose `any` and `sum` are torch's.)"""

from __future__ import annotations

from typing import Any

import torch
from array_api_compat.torch import asarray as _asarray


def asarray(x: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None, **options: Any) -> torch.Tensor:
    """As array-api-compat's, but a tensor stays in its graph, and so do tensors in a list.

    `torch.asarray` warns about the first since torch 2.13, and gives the second no gradient at all.
    """
    if isinstance(x, (list, tuple)) and _holds_tensors(x):
        x = torch.stack([asarray(item) for item in x])
    if not isinstance(x, torch.Tensor):
        made: torch.Tensor = _asarray(x, dtype=dtype, device=device, copy=copy, **options)
        return made
    moved = x.to(dtype=dtype or x.dtype, device=device or x.device)
    if copy is False and moved is not x:
        raise ValueError("asarray: this conversion needs a copy, which copy=False forbids.")
    return moved.clone() if copy and moved is x else moved


def _holds_tensors(items: Any) -> bool:
    return any(isinstance(item, torch.Tensor) or (isinstance(item, (list, tuple)) and _holds_tensors(item)) for item in items)
