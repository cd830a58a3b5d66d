"""Matrices made of the elements of arrays.

The SciPy functions are applied to indices, which say where each element goes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ..arrays import Array, array, cast, inexact, is_complex, rearranged
from ..dispatch import of_scipy


@of_scipy(scipy.linalg.toeplitz)
def toeplitz(c: Any, r: Any = None) -> Array:
    c = array(c)
    r = (np.conj(c) if is_complex(c) else c) if r is None else array(r)
    return rearranged(scipy.linalg.toeplitz, *_alike(c, r))


@of_scipy(scipy.linalg.hankel)
def hankel(c: Any, r: Any = None) -> Array:
    c = array(c)
    return (
        rearranged(scipy.linalg.hankel, c)
        if r is None
        else rearranged(scipy.linalg.hankel, *_alike(c, array(r)))
    )


circulant: Callable[..., Array] = of_scipy(scipy.linalg.circulant)(
    lambda c: rearranged(scipy.linalg.circulant, array(c))
)


@of_scipy(scipy.linalg.block_diag)
def block_diag(*arrs: Any) -> Array:
    return rearranged(scipy.linalg.block_diag, *_alike(*map(array, arrs)))


@of_scipy(scipy.linalg.companion)
def companion(a: Any) -> Array:
    a = inexact(a)
    first = -a[..., 1:] / a[..., :1]
    n = first.shape[-1]
    below = np.broadcast_to(np.eye(n - 1, n, dtype=a.dtype), (*first.shape[:-1], n - 1, n))
    return np.concatenate([first[..., None, :], below], axis=-2)


@of_scipy(scipy.linalg.khatri_rao)
def khatri_rao(a: Any, b: Any) -> Array:
    a, b = array(a), array(b)
    return np.reshape(a[..., :, None, :] * b[..., None, :, :], (*a.shape[:-2], -1, a.shape[-1]))


def _alike(*arrays: Array) -> list[Array]:
    """Of one dtype, so that a vector can hold the elements of all."""
    dtype = np.result_type(*[x.dtype for x in arrays])
    return [cast(x, dtype) for x in arrays]
