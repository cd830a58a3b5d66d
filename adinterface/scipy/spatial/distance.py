"""scipy.spatial.distance on the arrays of any engine.

At a distance of zero the derivative of the root is zero, the smallest subgradient.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.spatial.distance as scipy_distance

from ..arrays import Array, array, inexact, rearranged
from ..dispatch import of_scipy, rest_of, unsupported


def _root(x: Array, power: float = 0.5) -> Array:
    corner = x == 0
    return np.where(corner, 0.0, np.where(corner, 1.0, x) ** power)


def _weighted(x: Array, w: Any) -> Array:
    return x if w is None else w * x


def _sum(x: Array, w: Any = None) -> Array:
    return np.sum(_weighted(x, w), axis=-1)


def _sqeuclidean(u: Array, v: Array, w: Any = None) -> Array:
    return _sum((u - v) ** 2, w)


def _euclidean(u: Array, v: Array, w: Any = None) -> Array:
    return _root(_sqeuclidean(u, v, w))


def _cityblock(u: Array, v: Array, w: Any = None) -> Array:
    return _sum(np.abs(u - v), w)


def _chebyshev(u: Array, v: Array, w: Any = None) -> Array:
    """Weights say here which components count."""
    size = np.abs(u - v)
    return np.max(size if w is None else np.where(w > 0, size, 0.0), axis=-1)


def _minkowski(u: Array, v: Array, p: Any = 2, w: Any = None) -> Array:
    if isinstance(p, (int, float)):
        if p <= 0:
            raise ValueError("p must be greater than 0")
        if p == np.inf:
            return _chebyshev(u, v, w)
        if p == 1:
            return _cityblock(u, v, w)
    return _root(_sum(_root(np.abs(u - v), p), w), 1 / p)


def _cosine(u: Array, v: Array, w: Any = None) -> Array:
    return 1 - _sum(u * v, w) / np.sqrt(_sum(u * u, w) * _sum(v * v, w))


def _correlation(u: Array, v: Array, w: Any = None, centered: bool = True) -> Array:
    if centered:
        total = u.shape[-1] if w is None else np.sum(w)
        u, v = [x - np.sum(_weighted(x, w), axis=-1, keepdims=True) / total for x in (u, v)]
    return _cosine(u, v, w)


def _canberra(u: Array, v: Array, w: Any = None) -> Array:
    sizes = np.abs(u) + np.abs(v)
    zero = sizes == 0
    return _sum(np.where(zero, 0.0, np.abs(u - v) / np.where(zero, 1.0, sizes)), w)


def _braycurtis(u: Array, v: Array, w: Any = None) -> Array:
    return _sum(np.abs(u - v), w) / _sum(np.abs(u + v), w)


def _seuclidean(u: Array, v: Array, V: Any) -> Array:
    return _root(np.sum((u - v) ** 2 / V, axis=-1))


def _mahalanobis(u: Array, v: Array, VI: Any) -> Array:
    gap = u - v
    return _root(np.sum((gap @ VI) * gap, axis=-1))


def _jensenshannon(p: Array, q: Array, base: float | None = None) -> Array:
    p, q = [x / np.sum(x, axis=-1, keepdims=True) for x in (p, q)]
    from scipy.special import rel_entr

    middle = (p + q) / 2
    total = np.sum(rel_entr(p, middle), axis=-1) + np.sum(rel_entr(q, middle), axis=-1)
    return _root(np.maximum(total if base is None else total / np.log(base), 0.0) / 2)


#: By SciPy's name of the metric, and its other names.
_METRICS: dict[str, Callable[..., Array]] = {
    "braycurtis": _braycurtis,
    "canberra": _canberra,
    "chebyshev": _chebyshev,
    "cityblock": _cityblock,
    "correlation": _correlation,
    "cosine": _cosine,
    "euclidean": _euclidean,
    "jensenshannon": _jensenshannon,
    "mahalanobis": _mahalanobis,
    "minkowski": _minkowski,
    "seuclidean": _seuclidean,
    "sqeuclidean": _sqeuclidean,
}
_ALIASES = {
    "cheby": "chebyshev", "chebychev": "chebyshev", "cheb": "chebyshev", "ch": "chebyshev", "manhattan": "cityblock",
    "cblock": "cityblock", "cb": "cityblock", "c": "cityblock", "co": "correlation", "cos": "cosine", "euclid": "euclidean",
    "eu": "euclidean", "e": "euclidean", "js": "jensenshannon", "mahal": "mahalanobis", "mah": "mahalanobis",
    "mi": "mahalanobis",
    "pnorm": "minkowski", "m": "minkowski", "se": "seuclidean", "s": "seuclidean", "sqeuclid": "sqeuclidean",
    "sqe": "sqeuclidean",
}  # fmt: skip


def _metric(name: str, metric: Any, options: dict[str, Any]) -> Callable[..., Array]:
    """The distance of rows, along the last axis."""
    if callable(metric):
        raise unsupported(name, "a function for a metric", "Write a loop, and np.stack.")
    lower = metric.lower()
    known = _METRICS.get(_ALIASES.get(lower, lower))
    if known is None:
        raise unsupported(name, f"metric={metric!r}", f"Those with a derivative are {', '.join(_METRICS)}.")
    return lambda u, v: known(u, v, **options)


def _options(metric: Any, options: dict[str, Any], *points: Array) -> dict[str, Any]:
    """With what SciPy computes from the points where it is not given."""
    lower = metric.lower() if isinstance(metric, str) else ""
    options = {key: array(x) if isinstance(x, (list, tuple)) else x for key, x in options.items() if x is not None}
    kind = _ALIASES.get(lower, lower)
    if kind == "seuclidean" and "V" not in options:
        options["V"] = np.var(np.concatenate(points, axis=0), axis=0, ddof=1)
    if kind == "mahalanobis" and "VI" not in options:
        options["VI"] = np.linalg.inv(np.cov(np.concatenate(points, axis=0).T)).T
    return options


@of_scipy(scipy_distance.pdist)
def pdist(X: Any, metric: Any = "euclidean", **options: Any) -> Array:
    X = inexact(X)
    if len(X.shape) != 2:
        raise ValueError("A 2-dimensional array must be passed.")
    rows, columns = np.triu_indices(X.shape[0], 1)
    distance = _metric("scipy.spatial.distance.pdist", metric, _options(metric, options, X))
    return distance(np.take(X, rows, axis=0), np.take(X, columns, axis=0))


@of_scipy(scipy_distance.cdist)
def cdist(XA: Any, XB: Any, metric: Any = "euclidean", **options: Any) -> Array:
    XA, XB = inexact(XA), inexact(XB)
    if len(XA.shape) != 2 or len(XB.shape) != 2:
        raise ValueError("XA and XB must be 2-dimensional arrays.")
    if XA.shape[1] != XB.shape[1]:
        raise ValueError("XA and XB must have the same number of columns (i.e. feature dimension.)")
    distance = _metric("scipy.spatial.distance.cdist", metric, _options(metric, options, XA, XB))
    return distance(XA[:, None, :], XB[None, :, :])


@of_scipy(scipy_distance.squareform, ignored=("checks",))
def squareform(X: Any, force: str = "no") -> Array:
    return rearranged(lambda places: scipy_distance.squareform(places, force, checks=False), array(X))


def _of_vectors(code: Callable[..., Array], function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(code)
    def between(u: Any, v: Any, *rest: Any, **options: Any) -> Array:
        parts = [array(x) if isinstance(x, (list, tuple)) else x for x in rest]
        return code(inexact(u), inexact(v), *parts, **options)

    return of_scipy(function)(between)


braycurtis: Callable[..., Any] = _of_vectors(_braycurtis, scipy_distance.braycurtis)
canberra: Callable[..., Any] = _of_vectors(_canberra, scipy_distance.canberra)
chebyshev: Callable[..., Any] = _of_vectors(_chebyshev, scipy_distance.chebyshev)
cityblock: Callable[..., Any] = _of_vectors(_cityblock, scipy_distance.cityblock)
correlation: Callable[..., Any] = _of_vectors(_correlation, scipy_distance.correlation)
cosine: Callable[..., Any] = _of_vectors(_cosine, scipy_distance.cosine)
euclidean: Callable[..., Any] = _of_vectors(_euclidean, scipy_distance.euclidean)
mahalanobis: Callable[..., Any] = _of_vectors(_mahalanobis, scipy_distance.mahalanobis)
minkowski: Callable[..., Any] = _of_vectors(_minkowski, scipy_distance.minkowski)
seuclidean: Callable[..., Any] = _of_vectors(_seuclidean, scipy_distance.seuclidean)
sqeuclidean: Callable[..., Any] = _of_vectors(_sqeuclidean, scipy_distance.sqeuclidean)


@of_scipy(scipy_distance.jensenshannon)
def jensenshannon(p: Any, q: Any, base: float | None = None, *, axis: int = 0, keepdims: bool = False) -> Array:
    p, q = np.moveaxis(inexact(p), axis, -1), np.moveaxis(inexact(q), axis, -1)
    distances = _jensenshannon(p, q, base)
    return np.expand_dims(distances, axis) if keepdims else distances


__getattr__: Callable[[str], Any] = rest_of("scipy.spatial.distance", globals())

__all__ = [
    "braycurtis", "canberra", "cdist", "chebyshev", "cityblock", "correlation", "cosine", "euclidean", "jensenshannon",
    "mahalanobis", "minkowski", "pdist", "seuclidean", "sqeuclidean", "squareform",
]  # fmt: skip
