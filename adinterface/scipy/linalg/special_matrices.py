"""Matrices made of the elements of arrays.

The SciPy functions are applied to indices, which say where each element goes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ..arrays import Array, array, cast, inexact, is_complex, rearranged
from ..dispatch import of_scipy


@of_scipy(scipy.linalg.toeplitz)
def toeplitz(c: Any, r: Any = None) -> Array:
    if r is None:
        c = array(c)
        r = np.conj(c) if is_complex(c) else c
    return rearranged(scipy.linalg.toeplitz, *_alike(c, r))


@of_scipy(scipy.linalg.hankel)
def hankel(c: Any, r: Any = None) -> Array:
    return rearranged(scipy.linalg.hankel, *_alike(*([c] if r is None else [c, r])))


of_scipy(scipy.linalg.circulant)(lambda c: rearranged(scipy.linalg.circulant, array(c)))
of_scipy(scipy.linalg.leslie)(lambda f, s: rearranged(scipy.linalg.leslie, *_alike(f, s)))
of_scipy(scipy.linalg.block_diag)(lambda *arrs: rearranged(scipy.linalg.block_diag, *_alike(*arrs)))
of_scipy(scipy.linalg.convolution_matrix)(
    lambda a, n, mode="full": rearranged(scipy.linalg.convolution_matrix, array(a), n=n, mode=mode)
)


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


def _alike(*values: Any) -> list[Array]:
    """Arrays of one dtype, so that a vector can hold the elements of all."""
    arrays = list(map(array, values))
    dtype = np.result_type(*[x.dtype for x in arrays])
    return [cast(x, dtype) for x in arrays]
