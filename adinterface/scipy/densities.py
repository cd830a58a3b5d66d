"""Private compiled functions of scipy.stats: the estimates of `gaussian_kde`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.stats import _stats

from .arrays import Array
from .dispatch import of_scipy


@of_scipy(_stats.gaussian_kernel_estimate)
def gaussian_kernel_estimate(
    points: Any, values: Any, xi: Any, cho_cov: Any, dtype: Any = None
) -> Array:
    """The sums (m, p) of Gaussian densities around n points (n, d) with values (n, p), at m others
    (m, d).
    """
    return np.exp(_log_kernels(points, xi, cho_cov)).T @ values


@of_scipy(_stats.gaussian_kernel_estimate_log)
def gaussian_kernel_estimate_log(
    points: Any, values: Any, xi: Any, cho_cov: Any, dtype: Any = None
) -> Array:
    terms = _log_kernels(points, xi, cho_cov)[:, :, None] + np.log(values)[:, None]
    top = np.max(terms, axis=0)
    return top + np.log(np.sum(np.exp(terms - top), axis=0))


def _log_kernels(points: Any, xi: Any, cho_cov: Any) -> Array:
    inverse = np.linalg.inv(np.tril(cho_cov)).T
    distances = (points @ inverse)[:, None] - (xi @ inverse)[None]
    norm = np.sum(np.log(np.diagonal(cho_cov))) + 0.5 * np.shape(points)[1] * math.log(2 * math.pi)
    return -0.5 * np.sum(distances**2, -1) - norm
