"""numpy.fft on tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .dtypes import inexact


def _one_axis(call: Callable[..., Any]) -> Callable[..., Any]:
    def transform(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
        return call(inexact(a), n, axis, norm)

    return transform


def _several_axes(call: Callable[..., Any], default: tuple[int, ...] | None) -> Callable[..., Any]:
    def transform(a: Any, s: Any = None, axes: Any = default, norm: str | None = None, out: Any = None) -> Any:
        return call(inexact(a), None if s is None else tuple(s), None if axes is None else tuple(axes), norm)

    return transform


fft = _one_axis(torch.fft.fft)
ifft = _one_axis(torch.fft.ifft)
rfft = _one_axis(torch.fft.rfft)
irfft = _one_axis(torch.fft.irfft)
hfft = _one_axis(torch.fft.hfft)
ihfft = _one_axis(torch.fft.ihfft)
fft2 = _several_axes(torch.fft.fft2, (-2, -1))
ifft2 = _several_axes(torch.fft.ifft2, (-2, -1))
rfft2 = _several_axes(torch.fft.rfft2, (-2, -1))
irfft2 = _several_axes(torch.fft.irfft2, (-2, -1))
fftn = _several_axes(torch.fft.fftn, None)
ifftn = _several_axes(torch.fft.ifftn, None)
rfftn = _several_axes(torch.fft.rfftn, None)
irfftn = _several_axes(torch.fft.irfftn, None)


def fftshift(x: Any, axes: Any = None) -> Any:
    return torch.fft.fftshift(x, axes)


def ifftshift(x: Any, axes: Any = None) -> Any:
    return torch.fft.ifftshift(x, axes)
