"""Tangents in the dtype of their numbers.

Where a number in a 0-d float32 tensor meets a Python float, torch's forward mode takes that for a float64 tensor, so that the
tangent is one too. Functions that write then fail ("Index put requires the source and destination dtypes match").
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .nested_forward import has_other_dtype

_WIDE = dict.fromkeys((torch.float32, torch.float16, torch.bfloat16), torch.float64) | {torch.complex64: torch.complex128}


def keeping_dtypes(function: Callable[..., Any], leaves: Iterable[torch.Tensor]) -> Callable[..., Any]:
    """The function as forward mode may take it, which is itself if all leaves have the widest dtype."""
    if all(leaf.dtype not in _WIDE for leaf in leaves):
        return function

    def kept(*arrays: Any) -> Any:
        with _Keeping():
            return function(*arrays)

    return kept


class _Keeping(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        if isinstance(found, torch.Tensor) and found.ndim == 0 and found.dtype in _WIDE and has_other_dtype(found):
            return found.to(_WIDE[found.dtype]).to(found.dtype)  # which converts the tangents twice, too
        return found


__all__ = ["keeping_dtypes"]
