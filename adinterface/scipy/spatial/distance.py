"""scipy.spatial.distance on the arrays of any engine.

At a distance of zero the derivative of the root is zero, the smallest subgradient.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance as scipy_distance
from scipy.special import rel_entr

from ..arrays import Array, array, inexact, rearranged
from ..dispatch import of_scipy, rest_of, unsupported


def _root(x: Array, power: float = 0.5) -> Array:
    corner = x == 0
    return np.where(corner, 0.0, np.where(corner, 1.0, x) ** power)


def _weighted(x: Array, w: Any) -> Array:
    return x if w is None else w * x


def _sum(x: Array, w: Any = None) -> Array:
    return np.sum(_weighted(x, w), axis=-1)


#: By SciPy's name of the metric, of the last axis.
_METRICS: dict[str, Callable[..., Array]] = {}


def _metric(code: Callable[..., Array]) -> Callable[..., Any]:
    """Decorates a metric under SciPy's name: it is one for rows, and the function of two
    vectors.
    """

    @functools.wraps(code)
    def between(u: Any, v: Any, *rest: Any, **options: Any) -> Array:
        parts = [array(x) if isinstance(x, (list, tuple)) else x for x in rest]
        return code(inexact(u), inexact(v), *parts, **options)

    _METRICS[code.__name__] = code
    return of_scipy(getattr(scipy_distance, code.__name__))(between)


@_metric
def sqeuclidean(u: Array, v: Array, w: Any = None) -> Array:
    return _sum((u - v) ** 2, w)


@_metric
def euclidean(u: Array, v: Array, w: Any = None) -> Array:
    return _root(_sum((u - v) ** 2, w))


@_metric
def cityblock(u: Array, v: Array, w: Any = None) -> Array:
    return _sum(np.abs(u - v), w)


@_metric
def chebyshev(u: Array, v: Array, w: Any = None) -> Array:
    """Weights say here which components count."""
    size = np.abs(u - v)
    return np.max(size if w is None else np.where(w > 0, size, 0.0), axis=-1)


@_metric
def minkowski(u: Array, v: Array, p: Any = 2, w: Any = None) -> Array:
    if isinstance(p, (int, float)):
        if p <= 0:
            raise ValueError("p must be greater than 0")
        if p in (1, np.inf):
            return _METRICS["cityblock" if p == 1 else "chebyshev"](u, v, w)
    return _root(_sum(_root(np.abs(u - v), p), w), 1 / p)


@_metric
def cosine(u: Array, v: Array, w: Any = None) -> Array:
    return 1 - _sum(u * v, w) / np.sqrt(_sum(u * u, w) * _sum(v * v, w))


@_metric
def correlation(u: Array, v: Array, w: Any = None, centered: bool = True) -> Array:
    if centered:
        total = u.shape[-1] if w is None else np.sum(w)
        u, v = [x - np.sum(_weighted(x, w), axis=-1, keepdims=True) / total for x in (u, v)]
    return _METRICS["cosine"](u, v, w)


@_metric
def canberra(u: Array, v: Array, w: Any = None) -> Array:
    sizes = np.abs(u) + np.abs(v)
    zero = sizes == 0
    return _sum(np.where(zero, 0.0, np.abs(u - v) / np.where(zero, 1.0, sizes)), w)


@_metric
def braycurtis(u: Array, v: Array, w: Any = None) -> Array:
    return _sum(np.abs(u - v), w) / _sum(np.abs(u + v), w)


@_metric
def seuclidean(u: Array, v: Array, V: Any) -> Array:
    return _root(np.sum((u - v) ** 2 / V, axis=-1))


@_metric
def mahalanobis(u: Array, v: Array, VI: Any) -> Array:
    gap = u - v
    return _root(np.sum((gap @ VI) * gap, axis=-1))


@of_scipy(scipy_distance.jensenshannon)
def jensenshannon(
    p: Any, q: Any, base: float | None = None, *, axis: int = 0, keepdims: bool = False
) -> Array:
    p, q = [x / np.sum(x, axis=axis, keepdims=True) for x in (inexact(p), inexact(q))]
    middle = (p + q) / 2
    total = np.sum(rel_entr(p, middle) + rel_entr(q, middle), axis=axis, keepdims=keepdims)
    return _root(np.maximum(total if base is None else total / np.log(base), 0.0) / 2)


_METRICS["jensenshannon"] = functools.partial(jensenshannon, axis=-1)


def _distances(
    name: str, metric: Any, options: dict[str, Any], u: Array, v: Array, *points: Array
) -> Array:
    """Of the rows of u and v.

    What SciPy computes from all points, where it is not given, is computed from `points`.
    """
    if callable(metric):
        raise unsupported(name, "a function for a metric", "Write a loop, and np.stack.")
    kind = metric.lower()
    if kind not in _METRICS:
        raise unsupported(
            name,
            f"metric={metric!r}",
            f"Those with a derivative are {', '.join(sorted(_METRICS))}.",
        )
    options = {
        key: array(x) if isinstance(x, (list, tuple)) else x
        for key, x in options.items()
        if x is not None
    }
    if kind == "seuclidean" and "V" not in options:
        options["V"] = np.var(np.concatenate(points, axis=0), axis=0, ddof=1)
    if kind == "mahalanobis" and "VI" not in options:
        options["VI"] = np.linalg.inv(np.cov(np.concatenate(points, axis=0).T)).T
    return _METRICS[kind](u, v, **options)


@of_scipy(scipy_distance.pdist)
def pdist(X: Any, metric: Any = "euclidean", **options: Any) -> Array:
    X = inexact(X)
    if len(X.shape) != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    rows, columns = np.triu_indices(X.shape[0], 1)
    pairs = np.take(X, rows, axis=0), np.take(X, columns, axis=0)
    return _distances("scipy.spatial.distance.pdist", metric, options, *pairs, X)


@of_scipy(scipy_distance.cdist)
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", **options: Any) -> Array:
    XA, XB = inexact(XA), inexact(XB)
    if len(XA.shape) != 2 or len(XB.shape) != 2:
        raise ValueError("XA and XB must be 2-dimensional arrays.")
    if XA.shape[1] != XB.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    return _distances(
        "scipy.spatial.distance.cdist", metric, options, XA[:, None, :], XB[None, :, :], XA, XB
    )


@of_scipy(scipy_distance.squareform, ignored=("checks",))
def squareform(X: Any, force: str = "no") -> Array:
    return rearranged(
        lambda places: scipy_distance.squareform(places, force, checks=False), array(X)
    )


__getattr__ = rest_of("scipy.spatial.distance", globals())
