"""numpy.fft on tensors, along one axis. torch needs no complex copy of real numbers, as a composition does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .composed import inexact


def _one_axis(call: Callable[..., Any]) -> Callable[..., Any]:
    def transform(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
        return call(inexact(a), n, axis, norm)

    return transform


fft = _one_axis(torch.fft.fft)
ifft = _one_axis(torch.fft.ifft)
rfft = _one_axis(torch.fft.rfft)
irfft = _one_axis(torch.fft.irfft)
