"""Compositions of `fft`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .composing import COMPOSITIONS, Axes, along, axes_of, axis_of, composition, is_complex


@composition
def fft_fftshift(xp: Any, x: Any, /, *, axes: Axes = None) -> Any:
    places = axes_of(axes, len(x.shape))
    return xp.roll(x, [x.shape[a] // 2 for a in places], axis=places)


@composition
def fft_ifftshift(xp: Any, x: Any, /, *, axes: Axes = None) -> Any:
    places = axes_of(axes, len(x.shape))
    return xp.roll(x, [-(x.shape[a] // 2) for a in places], axis=places)


@composition
def fft_fftfreq(
    xp: Any, n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None
) -> Any:
    return xp.asarray(np.fft.fftfreq(n, d), dtype=dtype)


@composition
def fft_rfftfreq(
    xp: Any, n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None
) -> Any:
    return xp.asarray(np.fft.rfftfreq(n, d), dtype=dtype)


def _resized(xp: Any, x: Any, n: int | None, axis: int) -> Any:
    """x with `n` numbers along an axis: truncated, or padded with zeros at the end."""
    count = x.shape[axis]
    if n is None or n == count:
        return x
    if n < count:
        return x[along(axis, slice(None, n))]
    shape = [n - count if k == axis else length for k, length in enumerate(x.shape)]
    return xp.concat([x, xp.zeros(tuple(shape), dtype=x.dtype)], axis=axis)


def _scale(norm: str, n: int, inverse: bool) -> float:
    powers = {"backward": (0.0, -1.0), "forward": (-1.0, 0.0), "ortho": (-0.5, -0.5)}
    return math.pow(n, powers[norm][inverse])


def _transformed(xp: Any, x: Any, n: int | None, axis: int, norm: str, inverse: bool) -> Any:
    """By the matrix of the discrete Fourier transform: n^2 products, for an engine without a fast
    one.
    """
    axis = axis_of(axis, len(x.shape))
    x = xp.moveaxis(_resized(xp, x, n, axis), axis, -1)
    count = x.shape[-1]
    turns = np.outer(np.arange(count), np.arange(count)) % count / count
    matrix = np.exp((2j if inverse else -2j) * np.pi * turns) * _scale(norm, count, inverse)
    name = "complex64" if xp.dtype_name(x) in ("float32", "complex64") else "complex128"
    x = x if is_complex(xp, x) else xp.astype(x, getattr(xp, name))
    return xp.moveaxis(xp.matmul(x, xp.asarray(matrix.astype(name))), -1, axis)


@composition
def fft_fft(
    xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Any:
    return _transformed(xp, x, n, axis, norm, False)


@composition
def fft_ifft(
    xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Any:
    return _transformed(xp, x, n, axis, norm, True)


@composition
def fft_rfft(
    xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Any:
    axis = axis_of(axis, len(x.shape))
    result = xp.fft.fft(x, n=n, axis=axis, norm=norm)
    return result[along(axis, slice(None, result.shape[axis] // 2 + 1))]


@composition
def fft_irfft(
    xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Any:
    """From n // 2 + 1 numbers, followed by the conjugates of all but the first and a middle one."""
    axis = axis_of(axis, len(x.shape))
    n = 2 * (x.shape[axis] - 1) if n is None else n
    half = _resized(xp, x, n // 2 + 1, axis)
    mirrored = xp.flip(half[along(axis, slice(1, (n + 1) // 2))], axis=axis)
    return xp.real(
        xp.fft.ifft(xp.concat([half, xp.conj(mirrored)], axis=axis), axis=axis, norm=norm)
    )


def _several(xp: Any, x: Any, s: Any, axes: Any, norm: str, name: str) -> Any:
    """Over several axes: a real transform takes the last axis, forward first and backward last."""
    places = axes_of(
        axes if axes is not None or s is None else tuple(range(-len(s), 0)), len(x.shape)
    )
    sizes = [None] * len(places) if s is None else list(s)
    real = name in ("rfft", "irfft")
    rest = [(size, axis) for size, axis in zip(sizes, places)][: -1 if real else None]
    if name == "rfft":
        x = xp.fft.rfft(x, n=sizes[-1], axis=places[-1], norm=norm)
    for size, axis in rest:
        x = getattr(xp.fft, {"rfft": "fft", "irfft": "ifft"}.get(name, name))(
            x, n=size, axis=axis, norm=norm
        )
    return xp.fft.irfft(x, n=sizes[-1], axis=places[-1], norm=norm) if name == "irfft" else x


def _over_several(name: str) -> Callable[..., Any]:
    def transform(
        xp: Any, x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward"
    ) -> Any:
        return _several(xp, x, s, axes, norm, name)

    return transform


COMPOSITIONS |= {
    f"fft.{_name}n": _over_several(_name) for _name in ("fft", "ifft", "rfft", "irfft")
}


@composition
def fft_hfft(
    xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Any:
    """Source: hfft(x, n) = n irfft(conj(x), n), with the scale of the other direction."""
    return xp.fft.irfft(xp.conj(x), n=n, axis=axis, norm=_OTHER_NORM[norm])


@composition
def fft_ihfft(
    xp: Any, x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
) -> Any:
    return xp.conj(xp.fft.rfft(x, n=n, axis=axis, norm=_OTHER_NORM[norm]))


_OTHER_NORM = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
