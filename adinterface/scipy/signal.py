"""scipy.signal on the arrays of any engine: convolutions and linear filters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.signal as scipy_signal

from .arrays import (
    Array,
    adjoint,
    alike,
    gathered,
    inexact,
    is_complex,
    normalized_axes,
    scipy_rule,
)
from .dispatch import of_scipy, rest_of, unsupported
from .ndimage import convolve1d

# Convolutions
# ------------------------------------------------------------------------------------------------


def _convolved(first: Array, second: Array, axes: tuple[int, ...]) -> Array:
    """The full convolution along some axes; the others are broadcast."""
    if len(axes) == 1 and len(first.shape) == len(second.shape) == 1:
        return np.convolve(first, second)
    lengths = tuple([first.shape[n] + second.shape[n] - 1 for n in axes])
    if is_complex(first, second):
        return np.fft.ifftn(
            np.fft.fftn(first, lengths, axes) * np.fft.fftn(second, lengths, axes), lengths, axes
        )
    return np.fft.irfftn(
        np.fft.rfftn(first, lengths, axes) * np.fft.rfftn(second, lengths, axes), lengths, axes
    )


def _part(full: Array, first: Array, second: Array, mode: str, axes: tuple[int, ...]) -> Array:
    """The part of a full convolution that a mode keeps."""
    if mode == "full":
        return full
    if mode not in ("same", "valid"):
        raise ValueError("acceptable mode flags are 'valid', 'same', or 'full'")
    index = [slice(None)] * len(full.shape)
    for n in axes:
        long, short = first.shape[n], second.shape[n]
        if mode == "valid" and any(first.shape[m] < second.shape[m] for m in axes):
            long, short = short, long
        start = (short - 1) // 2 if mode == "same" else short - 1
        index[n] = slice(start, start + (first.shape[n] if mode == "same" else long - short + 1))
    return full[tuple(index)]


def _both(
    in1: Any, in2: Any, mode: str, name: str, axes: Any = None
) -> tuple[Array, Array, tuple[int, ...]]:
    """Both arrays, and the axes along which they are convolved."""
    first, second = alike(in1, in2)
    if len(first.shape) != len(second.shape):
        raise ValueError(f"{name}: in1 and in2 should have the same dimensionality")
    places = normalized_axes(axes, len(first.shape))
    pairs = [(first.shape[n], second.shape[n]) for n in places]
    if mode == "valid" and any(a < b for a, b in pairs) and any(a > b for a, b in pairs):
        raise ValueError(
            "For 'valid' mode, one must be at least as large as the other in every dimension"
        )
    return first, second, places


def _turned(x: Array) -> Array:
    return np.flip(np.conj(x) if is_complex(x) else x)


def _convolution(name: str, turn: Callable[[Array], Array] = lambda x: x) -> Callable[..., Array]:
    def convolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Array:
        first, second, places = _both(in1, turn(inexact(in2)), mode, f"scipy.signal.{name}", axes)
        if not first.shape:
            return first * second
        if 0 in first.shape or 0 in second.shape:
            return np.zeros(0, first.dtype)
        return _part(_convolved(first, second, places), first, second, mode, places)

    return of_scipy(getattr(scipy_signal, name), ignored=("method",))(convolve)


convolve, fftconvolve, oaconvolve = map(_convolution, ("convolve", "fftconvolve", "oaconvolve"))
correlate = _convolution("correlate", _turned)


_BOUNDARIES = {
    "fill": None,
    "pad": None,
    "wrap": "wrap",
    "circular": "wrap",
    "symm": "symmetric",
    "symmetric": "symmetric",
}


def _plane(in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any, name: str) -> Array:
    """A convolution of two planes with something beyond the edges of the first."""
    first, second, places = _both(in1, in2, mode, name)
    if boundary not in _BOUNDARIES:
        raise ValueError(
            "Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or"
            " 'symm')."
        )
    if len(first.shape) != 2:
        raise ValueError(f"{name} inputs must both be 2-D arrays")
    if mode == "valid":
        return _part(_convolved(first, second, places), first, second, mode, places)
    margins = [(n - 1, n - 1) for n in second.shape]
    kind = _BOUNDARIES[boundary]
    indices = np.arange(1, math.prod(first.shape) + 1).reshape(first.shape)
    around = np.pad(indices, margins) if kind is None else np.pad(indices, margins, mode=kind)  # type: ignore[call-overload]
    padded = np.where(around > 0, gathered(np.ravel(first), around), fillvalue)
    # Of every place in which the two meet.
    full = _convolved(padded, second, places)[
        tuple([slice(n - 1, 1 - n or None) for n in second.shape])
    ]
    return _part(full, first, second, mode, places)


@of_scipy(scipy_signal.convolve2d)
def convolve2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Array:
    return _plane(in1, in2, mode, boundary, fillvalue, "scipy.signal.convolve2d")


@of_scipy(scipy_signal.correlate2d)
def correlate2d(
    in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0
) -> Array:
    second = inexact(in2)
    if mode == "same" and any(n % 2 == 0 for n in second.shape):
        raise unsupported(
            "scipy.signal.correlate2d",
            "mode='same' with a second array of even length",
            "Write convolve2d.",
        )
    return _plane(in1, _turned(second), mode, boundary, fillvalue, "scipy.signal.correlate2d")


# Filters
# ------------------------------------------------------------------------------------------------


@scipy_rule("scipy.signal.lfilter", lambda a, x: np.zeros(x.shape, np.result_type(a, x)))
def _recursive(a: Any, x: Any) -> Any:
    """The y with y[n] + a[0] y[n-1] + a[1] y[n-2] + ... = x[n], along the last axis."""
    dtype = np.result_type(a, x)
    return np.asarray(
        scipy_signal.lfilter(np.ones(1, dtype), np.concatenate([np.ones(1, dtype), a]), x), dtype
    )


@_recursive.pushforward
def _(tangents: Any, value: Any, a: Any, x: Any) -> Any:
    da, dx = tangents
    return _recursive(a, dx - _windows(value, a.shape[0], 1) @ da)


@_recursive.pullback
def _(cotangent: Any, value: Any, a: Any, x: Any) -> Any:
    weights = np.flip(_recursive(np.conj(a) if is_complex(a) else a, np.flip(cotangent, -1)), -1)
    # adjoint() conjugates the windows; the sum is over time and everything in front of it.
    by_time = np.reshape(_windows(value, a.shape[0], 1), (math.prod(value.shape), a.shape[0]))
    return -(adjoint(by_time) @ np.reshape(weights, (-1,))), weights


def _windows(x: Array, count: int, first: int) -> Array:
    """x as it was `first`, ..., `first + count - 1` steps before, along a new last axis.

    Zero before its start.
    """
    length = x.shape[-1]
    places = np.arange(length)[:, None] - np.arange(first, first + count) + 1
    flat = np.reshape(x, (math.prod(x.shape[:-1]), length))
    taken = np.take(flat, np.maximum(places, 1) - 1, axis=1)
    return np.reshape(np.where(places > 0, taken, 0.0), (*x.shape, count))


def _extended(x: Array, count: int) -> Array:
    return np.concatenate([x, np.zeros((*x.shape[:-1], count), x.dtype)], axis=-1)


@of_scipy(scipy_signal.lfilter)
def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    b, a, x = alike(b, a, x)
    x = np.moveaxis(x, axis, -1)
    b, a = np.reshape(b, (-1,)), np.reshape(a, (-1,))
    b, a = b / a[0], a[1:] / a[0]
    order = max(b.shape[0] - 1, a.shape[0])
    length = x.shape[-1]
    moving = _windows(_extended(x, order), b.shape[0], 0) @ b
    if zi is not None:
        state = np.moveaxis(inexact(zi), axis, -1)
        if state.shape[-1] != order:
            raise ValueError(
                f"The initial conditions must have length {order} along the axis, not"
                f" {state.shape[-1]}."
            )
        moving = moving + np.concatenate(
            [state, np.zeros((*state.shape[:-1], length), state.dtype)], axis=-1
        )
    y = _recursive(a, moving[..., :length]) if a.shape[0] else moving[..., :length]
    filtered = np.moveaxis(y, -1, axis)
    if zi is None:
        return filtered
    rest = moving[..., length:]
    if a.shape[0]:
        rest = rest - (_windows(_extended(y, order), a.shape[0], 1) @ a)[..., length:]
    return filtered, np.moveaxis(rest, -1, axis)


@of_scipy(scipy_signal.sosfilt)
def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    sos, x = inexact(sos), inexact(x)
    states = []
    for n in range(sos.shape[0]):
        if zi is None:
            x = lfilter(sos[n, :3], sos[n, 3:], x, axis)
        else:
            x, state = lfilter(sos[n, :3], sos[n, 3:], x, axis, zi[n])
            states.append(state)
    return x if zi is None else (x, np.stack(states))


@of_scipy(scipy_signal.lfilter_zi)
def lfilter_zi(b: Any, a: Any) -> Array:
    b, a = inexact(b), inexact(a)
    b, a = b / a[0], a / a[0]
    order = max(b.shape[0], a.shape[0])
    b, a = _extended(b, order - b.shape[0]), _extended(a, order - a.shape[0])
    below = np.concatenate([-a[1:, None], np.eye(order - 1, order - 2, dtype=a.dtype)], axis=1)
    return np.linalg.solve(np.eye(order - 1, dtype=a.dtype) - below, b[1:] - a[1:] * b[0])


@of_scipy(scipy_signal.filtfilt, ignored=("irlen",))
def filtfilt(
    b: Any, a: Any, x: Any, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Array:
    b, a, x = inexact(b), inexact(a), np.moveaxis(inexact(x), axis, -1)
    edge = 3 * max(b.shape[0], a.shape[0]) if padlen is None else padlen
    edge = 0 if padtype is None else edge
    if x.shape[-1] <= edge:
        raise ValueError(
            f"The length of the input vector x must be greater than padlen, which is {edge}."
        )
    if padtype not in ("even", "odd", "constant", None):
        raise ValueError(
            f"Unknown value '{padtype}' given to padtype. padtype must be 'even', 'odd',"
            " 'constant', or None."
        )
    if edge:
        before, after = np.flip(x[..., 1 : edge + 1], -1), np.flip(x[..., -edge - 1 : -1], -1)
        if padtype == "odd":
            before, after = 2 * x[..., :1] - before, 2 * x[..., -1:] - after
        elif padtype == "constant":
            before, after = x[..., :1] + 0 * before, x[..., -1:] + 0 * after
        x = np.concatenate([before, x, after], axis=-1)
    state = lfilter_zi(b, a)
    y, _ = lfilter(b, a, x, -1, state * x[..., :1])
    y = np.flip(y, -1)
    y, _ = lfilter(b, a, y, -1, state * y[..., :1])
    y = np.flip(y, -1)
    return np.moveaxis(y[..., edge:-edge] if edge else y, -1, axis)


@of_scipy(scipy_signal.detrend)
def detrend(data: Any, axis: int = -1, type: str = "linear") -> Array:
    x = np.moveaxis(inexact(data), axis, -1)
    n = x.shape[-1]
    if type in ("constant", "c"):
        x = x - np.mean(x, axis=-1, keepdims=True)
    elif type in ("linear", "l"):
        basis = np.linalg.qr(np.stack([np.arange(1, n + 1) / n, np.ones(n)], axis=1))[0].astype(
            np.real(x[..., :0]).dtype
        )
        x = x - (x @ basis) @ basis.T
    else:
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    return np.moveaxis(x, -1, axis)


@of_scipy(scipy_signal.savgol_filter)
def savgol_filter(
    x: Any, window_length: int, polyorder: int, deriv: int = 0, delta: float = 1.0, axis: int = -1,
    mode: str = "interp", cval: Any = 0.0,
) -> Array:  # fmt: skip
    """Each element is a sum of the window around it, or at the ends, by "interp", of the window
    there.
    """
    if mode not in ("mirror", "constant", "nearest", "interp", "wrap"):
        raise ValueError("mode must be 'mirror', 'constant', 'nearest', 'wrap' or 'interp'.")
    x = np.moveaxis(inexact(x), axis, -1)
    n, options = x.shape[-1], (window_length, polyorder, deriv, delta)
    inside = mode == "interp"
    if inside and window_length > n:
        raise ValueError(
            "If mode is 'interp', window_length must be less than or equal to the size of x."
        )
    weights = scipy_signal.savgol_coeffs(*options).astype(x.dtype)
    y = convolve1d(x, weights, -1, mode="constant" if inside else mode, cval=cval)
    half = window_length // 2
    if inside and half:
        ends = scipy_signal.savgol_filter(np.eye(window_length), *options, axis=0).astype(x.dtype)
        first, last = (
            x[..., :window_length] @ ends[:half].T,
            x[..., -window_length:] @ ends[-half:].T,
        )
        y = np.concatenate([first, y[..., half : n - half], last], axis=-1)
    return np.moveaxis(y, -1, axis)


@of_scipy(scipy_signal.hilbert)
def hilbert(x: Any, N: int | None = None, axis: int = -1) -> Array:
    x = np.moveaxis(inexact(x), axis, -1)
    n = x.shape[-1] if N is None else N
    steps = np.zeros(n)
    steps[0] = 1.0
    steps[1 : (n + 1) // 2] = 2.0
    if n % 2 == 0:
        steps[n // 2] = 1.0
    return np.moveaxis(np.fft.ifft(np.fft.fft(x, n) * steps.astype(x.dtype)), -1, axis)


__getattr__ = rest_of("scipy.signal", globals())
