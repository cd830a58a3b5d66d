"""Averages, covariances and counts."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from .composing import (
    Array,
    Axis,
    array,
    broadcast,
    cast,
    composition,
    conj,
    gathered,
    inexact,
    is_complex,
    name_of,
    normalized,
    promoted,
    size_of,
)
from .reductions import mean as _mean
from .reductions import sum as _sum


@composition("average")
def average(
    xp: ModuleType,
    a: Array,
    axis: Axis = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    if weights is None:
        result = _mean(xp, a, axis, None, None, keepdims)
        total: Any = xp.full_like(result, size_of(a) / max(size_of(result), 1))
        return (result, total) if returned else result
    a, weights = promoted(xp, inexact(xp, array(xp, a)), weights)
    if tuple(weights.shape) != tuple(a.shape):
        axes = normalized(axis, len(a.shape))
        weights = xp.permute_dims(weights, tuple(sorted(range(len(axes)), key=lambda n: axes[n])))
        weights = xp.reshape(
            weights, tuple([length if n in axes else 1 for n, length in enumerate(a.shape)])
        )
    a, weights = broadcast(xp, a, weights)
    total = _sum(xp, weights, axis, None, None, keepdims)
    result = _sum(xp, a * weights, axis, None, None, keepdims) / total
    return (result, total) if returned else result


@composition("cov")
def cov(
    xp: ModuleType, m: Any, y: Any = None, rowvar: bool = True, bias: bool = False,
    ddof: Any = None, fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Array:  # fmt: skip
    m = _observations(xp, m, rowvar)
    if y is not None:
        m, y = promoted(xp, m, _observations(xp, y, rowvar))
        m = xp.concat([m, y], axis=0)
    m = cast(xp, m, np.result_type(name_of(m), float) if dtype is None else dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    weights: Any = None
    for given in (fweights, aweights):
        if given is not None:
            given = cast(xp, array(xp, given, m), name_of(m))
            weights = given if weights is None else weights * given
    total: Any = m.shape[1] if weights is None else xp.sum(weights)
    mean = xp.sum(m if weights is None else m * weights, axis=1, keepdims=True) / total
    if weights is None or ddof == 0 or aweights is None:
        factor = total - ddof
    else:
        aweights = cast(xp, array(xp, aweights, m), name_of(m))
        factor = total - ddof * xp.sum(weights * aweights) / total
    centred = m - mean
    other = centred if weights is None else centred * weights
    result = xp.matmul(centred, xp.matrix_transpose(conj(xp, other))) / factor
    return xp.reshape(result, tuple([length for length in result.shape if length != 1]))


def _observations(xp: ModuleType, m: Any, rowvar: bool) -> Array:
    m = array(xp, m)
    if len(m.shape) < 2:
        return xp.reshape(m, (1, -1))
    return m if rowvar or m.shape[0] == 1 else xp.matrix_transpose(m)


@composition("corrcoef")
def corrcoef(
    xp: ModuleType, x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None
) -> Array:
    covariance = cov(xp, x, y, rowvar, dtype=dtype)
    if not covariance.ndim:
        return covariance / covariance
    count = covariance.shape[0]
    variance = gathered(xp, covariance, np.arange(count) * (count + 1) + 1)
    deviation = xp.sqrt(xp.real(variance) if is_complex(variance) else variance)
    result = covariance / deviation[:, None] / deviation[None, :]
    # Not clip, which would take away a second derivative at 1 itself.
    return result if is_complex(result) else xp.where(xp.abs(result) > 1, xp.sign(result), result)


@composition("bincount")
def bincount(xp: ModuleType, x: Array, /, weights: Any = None, minlength: int = 0) -> Array:
    x = array(xp, x, weights)
    length = max(int(xp.max(x)) + 1 if size_of(x) else 0, minlength)
    hits = x[:, None] == array(xp, np.arange(length), x)[None, :]
    if weights is None:
        return xp.sum(cast(xp, hits, "int64"), axis=0)
    weights = cast(xp, array(xp, weights, x), "float64")
    return xp.sum(xp.where(hits, weights[:, None], xp.zeros_like(weights)[:, None]), axis=0)
