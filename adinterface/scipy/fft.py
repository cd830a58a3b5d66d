"""scipy.fft on the arrays of any engine: the transforms of NumPy.

Cosine and sine transforms by a rule.

An orthonormal cosine or sine transform is a matrix whose inverse is its transpose. The others
multiply it by factors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.fft as scipy_fft

from .arrays import Array, inexact, linear_rule, normalized_axes
from .dispatch import of_scipy, rest_of


def _one_axis(name: str) -> None:
    function = getattr(np.fft, name)

    @of_scipy(getattr(scipy_fft, name))
    def transform(x: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
        return function(inexact(x), n=n, axis=axis, norm=norm)


def _several_axes(name: str, default: Any) -> None:
    function = getattr(np.fft, name)

    @of_scipy(getattr(scipy_fft, name))
    def transform(x: Any, s: Any = None, axes: Any = default, norm: str | None = None) -> Array:
        if axes is None and s is not None:
            axes = tuple(range(-len(s), 0))
        return function(inexact(x), s=s, axes=axes, norm=norm)


for _kind in ("fft", "ifft", "rfft", "irfft"):
    _one_axis(_kind)
    _several_axes(f"{_kind}n", None)
    _several_axes(f"{_kind}2", (-2, -1))
_one_axis("hfft")
_one_axis("ihfft")


@of_scipy(scipy_fft.fftshift)
def fftshift(x: Any, axes: Any = None) -> Array:
    return np.fft.fftshift(x, axes)


@of_scipy(scipy_fft.ifftshift)
def ifftshift(x: Any, axes: Any = None) -> Array:
    return np.fft.ifftshift(x, axes)


# Cosines and sines
# ------------------------------------------------------------------------------------------------


@linear_rule(
    "scipy.fft.dct", lambda x, *, name, type, inverse: x,
    lambda name, type, inverse: {"name": name, "type": type, "inverse": not inverse},
)  # fmt: skip
def _orthogonal(x: Any, *, name: str, type: int, inverse: bool) -> Any:
    """The orthonormal transform along the last axis, or its inverse."""
    return getattr(scipy_fft, "i" + name if inverse else name)(
        x, type, norm="ortho", orthogonalize=True
    )


def _factors(
    name: str, type: int, n: int, norm: str | None, orthogonalize: bool | None
) -> tuple[Any, Any]:
    """The factors of the arguments and of the results that make another transform from the
    orthonormal one.

    Each entry of the matrix is the orthonormal entry times a factor of its row and a factor of its
    column. The factors of the columns are equal, except the first and the last. The first row and
    column have no zeros, so the factors are computed from them.
    """

    def ratios(place: int) -> Any:
        unit = np.zeros(n)
        unit[place] = 1.0
        transform = getattr(scipy_fft, name)
        known = transform(unit, type, norm="ortho", orthogonalize=True)
        return (
            transform(unit, type, norm=norm, orthogonalize=orthogonalize)[
                : None if place == 0 else 1
            ]
            / (known[: None if place == 0 else 1])
        )

    results = ratios(0)
    arguments = np.full(n, ratios(min(1, n - 1))[0] / results[0])
    arguments[0], arguments[-1] = 1.0, ratios(n - 1)[0] / results[0]
    return arguments, results


def _transform(name: str, inverse: bool) -> Callable[..., Any]:
    scipys = getattr(scipy_fft, "i" * inverse + name)

    def transform(
        x: Any,
        type: int = 2,
        n: int | None = None,
        axis: int = -1,
        norm: str | None = None,
        orthogonalize: bool | None = None,
    ) -> Array:
        x = np.moveaxis(inexact(x), axis, -1)
        if n is not None and n != x.shape[-1]:
            kept = x[..., :n]
            extra = n - kept.shape[-1]
            zeros = np.zeros((*kept.shape[:-1], max(extra, 0)), x.dtype)
            x = np.concatenate([kept, zeros], axis=-1) if extra > 0 else kept
        real = np.empty(0, x.dtype).real.dtype
        factors = _factors("i" * inverse + name, type, x.shape[-1], norm, orthogonalize)
        before, after = [factor.astype(real) for factor in factors]
        return np.moveaxis(
            after * _orthogonal(before * x, name=name, type=type, inverse=inverse), -1, axis
        )

    return of_scipy(scipys)(transform)


def _several(name: str, one: Callable[..., Any]) -> None:
    @of_scipy(getattr(scipy_fft, name))
    def transform(
        x: Any,
        type: int = 2,
        s: Any = None,
        axes: Any = None,
        norm: str | None = None,
        orthogonalize: bool | None = None,
    ) -> Array:
        x = inexact(x)
        if axes is None and s is not None:
            axes = tuple(range(-len(s), 0))
        places = normalized_axes(axes, len(x.shape))
        for place, n in zip(places, [None] * len(places) if s is None else s):
            x = one(x, type, n=n, axis=place, norm=norm, orthogonalize=orthogonalize)
        return x


for _name in ("dct", "dst"):
    _several(f"{_name}n", _transform(_name, False))
    _several(f"i{_name}n", _transform(_name, True))

__getattr__ = rest_of("scipy.fft", globals())
