"""Polynomials by their coefficients, the highest power first."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from .composing import Array, array, cast, composition, flat, inexact, name_of, promoted
from .linear_algebra import lstsq
from .products import convolve


def _coefficients(xp: ModuleType, p: Any) -> Array:
    p = array(xp, p)
    return flat(xp, p) if p.ndim else p[None]


@composition("polyval")
def polyval(xp: ModuleType, p: Any, x: Any) -> Array:
    p, x = promoted(xp, array(xp, p, x), x)
    coefficients = [p[n] for n in range(p.shape[0])]
    value = xp.zeros_like(x)
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


@composition("polyadd")
def polyadd(xp: ModuleType, a1: Any, a2: Any) -> Array:
    a1, a2 = promoted(xp, _coefficients(xp, a1), _coefficients(xp, a2))
    length = max(a1.shape[0], a2.shape[0])
    a1, a2 = [
        xp.concat([xp.zeros((length - p.shape[0],), dtype=p.dtype), p], axis=0) for p in (a1, a2)
    ]
    return a1 + a2


@composition("polysub")
def polysub(xp: ModuleType, a1: Any, a2: Any) -> Array:
    return polyadd(xp, a1, -_coefficients(xp, a2))


@composition("polymul")
def polymul(xp: ModuleType, a1: Any, a2: Any) -> Array:
    return convolve(xp, _coefficients(xp, a1), _coefficients(xp, a2))


@composition("polyder")
def polyder(xp: ModuleType, p: Any, m: int = 1) -> Array:
    p = _coefficients(xp, p)
    for _ in range(m):
        powers = cast(xp, array(xp, np.arange(p.shape[0] - 1, 0, -1), p), name_of(p))
        p = p[:-1] * powers
    return p


@composition("polyint")
def polyint(xp: ModuleType, p: Any, m: int = 1, k: Any = None) -> Array:
    p = inexact(xp, _coefficients(xp, p))
    constants = array(xp, 0 if k is None else k, p)
    for n in range(m):
        constant = constants if not constants.ndim else constants[min(n, constants.shape[0] - 1)]
        powers = cast(xp, array(xp, np.arange(p.shape[0], 0, -1), p), name_of(p))
        p = xp.concat([p / powers, cast(xp, constant, name_of(p))[None]], axis=0)
    return p


@composition("vander")
def vander(xp: ModuleType, x: Any, N: int | None = None, increasing: bool = False) -> Array:
    x = array(xp, x)
    count = x.shape[0] if N is None else N
    columns = [xp.ones_like(x)]
    for _ in range(count - 1):
        columns.append(columns[-1] * x)
    columns = columns[:count]
    return xp.stack(columns if increasing else columns[::-1], axis=-1)


@composition("polyfit")
def polyfit(
    xp: ModuleType,
    x: Any,
    y: Any,
    deg: int,
    rcond: Any = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    x, y = [inexact(xp, v) for v in promoted(xp, x, y)]
    rcond = x.shape[0] * float(np.finfo(name_of(x)).eps) if rcond is None else rcond
    matrix, values = vander(xp, x, deg + 1), y
    if w is not None:
        w = cast(xp, array(xp, w, x), name_of(x))
        matrix = matrix * w[:, None]
        values = y * (w if len(y.shape) == 1 else w[:, None])
    scale = xp.sqrt(xp.sum(xp.square(matrix), axis=0))
    matrix = matrix / scale
    result, residuals, rank, singular = lstsq(xp, matrix, values, rcond)
    result = result / scale if len(result.shape) == 1 else result / scale[:, None]
    if full:
        return result, residuals, rank, singular, rcond
    if not cov:
        return result
    inverse = xp.linalg.inv(xp.matmul(xp.matrix_transpose(matrix), matrix)) / (
        scale[:, None] * scale[None, :]
    )
    factor = 1.0 if cov == "unscaled" else residuals / (x.shape[0] - deg - 1)
    if len(y.shape) == 1:
        return result, inverse * factor
    return result, inverse[..., None] * factor
