"""Private compiled functions of scipy.stats.

Sources: NIST Digital Library of Mathematical Functions, 10.29, 10.35; McNeil, Frey and Embrechts,
Quantitative risk management, 2005, of generalized hyperbolic and inverse Gaussian distributions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special
from scipy.stats import _stats

from .arrays import Array, inexact
from .dispatch import of_scipy
from .special.ufunc_rules import ruled

#: So many terms of a Fourier series are taken, which are enough for concentrations up to 600.
_TERMS, _LARGEST = 200, 600.0


def _by_concentration(kappa: Array, x: Array) -> Array:
    """The derivative of x / 2 pi + sum over n of I_n(kappa) / I_0(kappa) sin(n x) / (n pi)."""
    kappa, x = np.broadcast_arrays(kappa, x)
    orders = np.reshape(np.arange(_TERMS + 2.0), (-1, *[1] * len(np.shape(x))))
    ratios = special.ive(orders, kappa) / special.i0e(kappa)
    slopes = (ratios[:-2] + ratios[2:]) / 2 - ratios[1:-1] * ratios[1]
    n = orders[1:-1]
    return np.where(
        kappa < _LARGEST, np.sum(slopes * np.sin(n * x) / (n * math.pi), axis=0), np.nan
    )


_von_mises = ruled(
    "von_mises_cdf",
    _stats.von_mises_cdf,
    lambda y, kappa, x: (
        lambda: _by_concentration(kappa, x),
        lambda: np.exp(kappa * special.cosm1(x)) / (2 * math.pi * special.i0e(kappa)),
    ),
)


@of_scipy(_stats.von_mises_cdf)
def von_mises_cdf(k_obj: Any, x_obj: Any) -> Array:
    return _von_mises(inexact(k_obj), inexact(x_obj))


@of_scipy(_stats.genhyperbolic_logpdf)
def genhyperbolic_logpdf(x: Any, p: Any, a: Any, b: Any) -> Array:
    x, p, a, b = [inexact(value) for value in (x, p, a, b)]
    root, distance = np.sqrt(a * a - b * b), np.sqrt(1 + x * x)
    norm = (
        p * np.log(root)
        - math.log(2 * math.pi) / 2
        - (p - 0.5) * np.log(a)
        - np.log(special.kve(p, root))
        + root
    )
    return (
        norm
        + (p - 0.5) * np.log(distance)
        + np.log(special.kve(p - 0.5, a * distance))
        - a * distance
        + b * x
    )


@of_scipy(_stats.genhyperbolic_pdf)
def genhyperbolic_pdf(x: Any, p: Any, a: Any, b: Any) -> Array:
    return np.exp(genhyperbolic_logpdf(x, p, a, b))


@of_scipy(_stats.geninvgauss_logpdf)
def geninvgauss_logpdf(x: Any, p: Any, b: Any) -> Array:
    x, p, b = [inexact(value) for value in (x, p, b)]
    inside = x > 0
    at = np.where(inside, x, 1.0)
    norm = b - math.log(2) - np.log(special.kve(p, b))
    return np.where(inside, norm + (p - 1) * np.log(at) - b * (at + 1 / at) / 2, -np.inf)


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
