"""The fft extension of the Array API for autograd's boxes, from one linear map: the discrete Fourier transform.

autograd 1.9 has no rule for hfft, ihfft and odd lengths of rfft and irfft, and a wrong one for their norm="forward".
The matrix is symmetric, so it is its own transpose; lengths, halves and symmetry are padding, slicing and conjugation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive

from .functions import _along, _axis, axes_of, flip, ndim_of, roll, shape_of, value

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft", "rfftfreq",
    "rfftn",
]  # fmt: skip


@primitive  # type: ignore[untyped-decorator]
def _transform(x: Any, axis: int, norm: str, inverse: bool) -> Any:
    return (np.fft.ifft if inverse else np.fft.fft)(x, axis=axis, norm=norm)  # type: ignore[arg-type]


defvjp(
    _transform,
    lambda ans, x, axis, norm, inverse: lambda g: _transform(g, axis, norm, inverse),
    argnums=(0,),
)


def _resized(x: Any, n: int | None, axis: int) -> Any:
    """x cut or padded with zeros to length n."""
    length = shape_of(x)[axis]
    if n is None or n == length:
        return x
    if n < length:
        return x[_along(axis, slice(None, n))]
    shape = list(shape_of(x))
    shape[axis] = n - length
    return anp.concatenate([x, np.zeros(shape, dtype=np.asarray(value(x)).dtype)], axis=axis)


def _complex(x: Any) -> Any:
    return x if np.iscomplexobj(value(x)) else x + 0j


def _along_one(x: Any, n: int | None, axis: int, norm: str, inverse: bool) -> Any:
    axis = _axis(axis, ndim_of(x))
    return _transform(_complex(_resized(x, n, axis)), axis, norm, inverse)


def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return _along_one(x, n, axis, norm, False)


def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return _along_one(x, n, axis, norm, True)


def _axes(x: Any, s: Sequence[int] | None, axes: Sequence[int] | None) -> list[tuple[int, int | None]]:
    ndim = ndim_of(x)
    if axes is None:
        axes = range(ndim) if s is None else range(ndim - len(s), ndim)
    return [(_axis(axis, ndim), None if s is None else s[i]) for i, axis in enumerate(axes)]


def fftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    for axis, n in _axes(x, s, axes):
        x = fft(x, n=n, axis=axis, norm=norm)
    return x


def ifftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    for axis, n in _axes(x, s, axes):
        x = ifft(x, n=n, axis=axis, norm=norm)
    return x


def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    axis = _axis(axis, ndim_of(x))
    length = shape_of(x)[axis] if n is None else n
    return fft(x, n=n, axis=axis, norm=norm)[_along(axis, slice(None, length // 2 + 1))]


def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The other half of the spectrum is the conjugate, and its ends are real, as NumPy takes them to be."""
    axis = _axis(axis, ndim_of(x))
    length = 2 * (shape_of(x)[axis] - 1) if n is None else n
    x = _complex(_resized(x, length // 2 + 1, axis))
    inner = x[_along(axis, slice(1, (length + 1) // 2))]
    parts = [anp.real(x[_along(axis, slice(0, 1))]) + 0j, inner]
    if length % 2 == 0:
        parts.append(anp.real(x[_along(axis, slice(length // 2, None))]) + 0j)
    parts.append(anp.conj(flip(inner, axis=axis)))
    return anp.real(ifft(anp.concatenate(parts, axis=axis), axis=axis, norm=norm))


def rfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    (*others, (last, n)) = _axes(x, s, axes)
    x = rfft(x, n=n, axis=last, norm=norm)
    for axis, n in others:
        x = fft(x, n=n, axis=axis, norm=norm)
    return x


def irfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    (*others, (last, n)) = _axes(x, s, axes)
    for axis, m in others:
        x = ifft(x, n=m, axis=axis, norm=norm)
    return irfft(x, n=n, axis=last, norm=norm)


_OPPOSITE = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return irfft(anp.conj(_complex(x)), n=n, axis=axis, norm=_OPPOSITE[norm])


def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return anp.conj(rfft(x, n=n, axis=axis, norm=_OPPOSITE[norm]))


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    return np.fft.fftfreq(n, d=d).astype(dtype or np.float64)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    return np.fft.rfftfreq(n, d=d).astype(dtype or np.float64)


def _shifted(x: Any, axes: Any, sign: int) -> Any:
    for axis in axes_of(x, axes):
        n = shape_of(x)[axis]
        x = roll(x, n // 2 if sign > 0 else -(n // 2), axis=axis)
    return x


def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    return _shifted(x, axes, 1)


def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    return _shifted(x, axes, -1)
