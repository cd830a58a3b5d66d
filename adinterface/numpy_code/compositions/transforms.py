"""numpy.fft."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from .composing import Array, cast, composition, inexact, name_of, normalized

_COMPLEX_INPUT = ("fft", "ifft", "irfft", "hfft", "fftn", "ifftn", "irfftn")


def _input(xp: ModuleType, a: Array, name: str) -> Array:
    a = inexact(xp, a)
    return cast(xp, a, np.result_type(name_of(a), np.complex64)) if name in _COMPLEX_INPUT else a


def _one_axis(name: str) -> Callable[..., Array]:
    def transform(
        xp: ModuleType,
        a: Array,
        n: int | None = None,
        axis: int = -1,
        norm: Any = None,
        out: Any = None,
    ) -> Array:
        return getattr(xp.fft, name)(_input(xp, a, name), n=n, axis=axis, norm=norm or "backward")

    return transform


def _several_axes(name: str, default: Any) -> Callable[..., Array]:
    def transform(
        xp: ModuleType,
        a: Array,
        s: Any = None,
        axes: Any = default,
        norm: Any = None,
        out: Any = None,
    ) -> Array:
        if axes is None:
            axes = range(len(a.shape)) if s is None else range(len(a.shape) - len(s), len(a.shape))
        axes = normalized(tuple(axes), len(a.shape))
        sizes = (
            None if s is None else tuple([a.shape[n] if k == -1 else k for n, k in zip(axes, s)])
        )
        return getattr(xp.fft, name)(
            _input(xp, a, name), s=sizes, axes=axes, norm=norm or "backward"
        )

    return transform


for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    composition(f"fft.{_name}")(_one_axis(_name))
for _name in ("fft", "ifft", "rfft", "irfft"):
    composition(f"fft.{_name}n")(_several_axes(f"{_name}n", None))
    composition(f"fft.{_name}2")(_several_axes(f"{_name}n", (-2, -1)))


def _rolling(sign: int) -> Callable[..., Array]:
    def rolled(xp: ModuleType, x: Array, axes: Any = None) -> Array:
        axes = normalized(axes, len(x.shape))
        return xp.roll(x, tuple([sign * (x.shape[n] // 2) for n in axes]), axis=axes)

    return rolled


composition("fft.fftshift")(_rolling(1))
composition("fft.ifftshift")(_rolling(-1))
