"""Functions in which array-api-compat's torch lacks something or loses a gradient.

(Not in namespace.py, whose `any` and `sum` are torch's.)
"""

from __future__ import annotations

from typing import Any

import array_api_compat.torch as compat
import torch
import torch.utils.dlpack

__all__ = [
    "arange", "asarray", "empty", "eye", "floor_divide", "from_dlpack", "full", "imag", "linspace",
    "moveaxis", "nextafter", "ones", "pow", "sign", "std", "take", "zeros",
]  # fmt: skip

#: `torch.moveaxis` is the same, but torch.func.vmap has no rule for it.
moveaxis = torch.movedim


def asarray(
    x: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None, **options: Any
) -> Any:
    """As in array-api-compat, but a tensor stays in its graph, and so do tensors in a list.

    `torch.asarray` warns about the first since torch 2.13, and gives the second no gradient.
    """
    if isinstance(x, (list, tuple)) and _holds_tensors(x):
        x = torch.stack([asarray(item) for item in x])
    if not isinstance(x, torch.Tensor):
        return compat.asarray(x, dtype=dtype, device=device, copy=copy, **options)
    # Under torch.func `to` gives another object of the same memory.
    moved = x.to(dtype=dtype or x.dtype, device=device or x.device, copy=bool(copy))
    if copy is False and (moved.dtype, moved.device) != (x.dtype, x.device):
        raise ValueError("asarray: this conversion needs a copy, which copy=False forbids.")
    return moved


def _holds_tensors(items: Any) -> bool:
    return any(
        isinstance(item, torch.Tensor) or (isinstance(item, (list, tuple)) and _holds_tensors(item))
        for item in items
    )


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Any:
    """A tensor is one already; under torch.func it could not be exported."""
    if isinstance(x, torch.Tensor):
        return asarray(x, device=device, copy=copy)
    tensor = torch.utils.dlpack.from_dlpack(x)
    return tensor.to(device=device) if device is not None else tensor.clone() if copy else tensor


# Creation
# ------------------------------------------------------------------------------------------------


arange, empty, eye, ones, zeros = compat.arange, compat.empty, compat.eye, compat.ones, compat.zeros


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor as fill value keeps its gradient."""
    if isinstance(fill_value, torch.Tensor):
        return asarray(fill_value, dtype=dtype, device=device).expand(shape)
    return compat.full(shape, fill_value, dtype=dtype, device=device)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Any:
    if isinstance(start, torch.Tensor) or isinstance(stop, torch.Tensor):
        steps = linspace(
            0.0, 1.0, num, dtype=dtype or torch.result_type(start, stop), endpoint=endpoint
        )
        return start * (1 - steps) + stop * steps
    return compat.linspace(start, stop, num, dtype=dtype, device=device, endpoint=endpoint)


# Functions
# ------------------------------------------------------------------------------------------------


def imag(x: Any, /) -> Any:
    # Not for a lazily conjugated view, which torch.func.vmap does not take.
    return torch.imag(x.resolve_conj()) if x.is_complex() else torch.zeros_like(x)


def floor_divide(x: Any, y: Any, /) -> Any:
    """torch has no derivative for it: zero."""
    x, y = (v.detach() if isinstance(v, torch.Tensor) else v for v in (x, y))
    return compat.floor_divide(x, y)


def pow(x: Any, y: Any, /) -> Any:
    """torch's power, whose exponent is constant where x is zero: its rule has no derivative."""
    inexact = isinstance(y, torch.Tensor) and (y.is_floating_point() or y.is_complex())
    if inexact and (isinstance(x, torch.Tensor) or x == 0):
        zero = torch.as_tensor(x == 0, device=y.device)
        y = torch.where(zero & (y.real >= 0), y.detach(), y)
        x = torch.where(zero & (y == 0), torch.ones_like(y), x)
    return compat.pow(x, y)


def nextafter(x: Any, y: Any, /) -> Any:
    """torch has no derivative for it: that of x."""
    return x + (
        compat.nextafter(x.detach(), y.detach() if isinstance(y, torch.Tensor) else y) - x.detach()
    )


def sign(x: Any, /) -> Any:
    # Not written in place by a mask, which torch.func.vmap does not take.
    if x.is_complex():
        return torch.where(x == 0, 0, x / torch.where(x == 0, 1, torch.abs(x)))
    result = torch.sign(x)
    return torch.where(torch.isnan(x), x.detach(), result) if x.is_floating_point() else result


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Indices of any shape: torch takes a vector.

    For a batch of 0-d indices torch.func.vmap repeats the result.
    """
    taken = compat.take(x, indices.reshape(-1), axis=axis)
    place = 0 if axis is None else axis % x.ndim
    return taken.reshape((*x.shape[:place], *indices.shape, *x.shape[place + 1 :]))


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """torch.std takes whole corrections alone."""
    if correction == int(correction):
        return compat.std(x, axis=axis, correction=int(correction), keepdims=keepdims)
    return torch.sqrt(compat.var(x, axis=axis, correction=correction, keepdims=keepdims))
