"""The discrete Fourier transform as one linear map, with the arguments of the Array API.

The real transforms of autograd 1.9 are wrong for norm="forward", and have no rule for odd lengths:
`namespace` composes them of this one. Its matrix is symmetric, so it is its own transpose.
"""

from __future__ import annotations

from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive

from .functions import _along, _axis, ndim_of, shape_of, value

__all__ = ["fft", "ifft"]


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


def _along_one(x: Any, n: int | None, axis: int, norm: str, inverse: bool) -> Any:
    axis = _axis(axis, ndim_of(x))
    x = _resized(x, n, axis)
    return _transform(x if np.iscomplexobj(value(x)) else x + 0j, axis, norm, inverse)


def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return _along_one(x, n, axis, norm, False)


def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    return _along_one(x, n, axis, norm, True)
