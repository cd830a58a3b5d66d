"""Orthogonal polynomials. Source: NIST Digital Library of Mathematical Functions, 18.9."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special


def _one_degree_less(function: Any, n: Any, *rest: Any) -> Any:
    """The function of one degree less, for any real degree. Zero for a polynomial of degree zero."""
    none = (n == 0) | (n == -1)
    return np.where(none, 0.0, function(np.where(none, 0, n - 1), *rest))


# Below a degree in the middle functions come again: P_n = P_(-n-1), T_n = T_(-n), U_n = -U_(-n-2).


def legendre_slope(n: Any, x: Any) -> Any:
    return _one_degree_less(special.eval_gegenbauer, np.maximum(n, -n - 1), 1.5, x)


def chebyt_slope(n: Any, x: Any) -> Any:
    return np.abs(n) * _one_degree_less(special.eval_chebyu, np.abs(n), x)


def chebyu_slope(n: Any, x: Any) -> Any:
    return np.where(n < -1, -2.0, 2.0) * _one_degree_less(special.eval_gegenbauer, np.maximum(n, -n - 2), 2.0, x)


def jacobi_slope(y: Any, n: Any, a: Any, b: Any, x: Any) -> Any:
    return (n + a + b + 1) / 2 * _one_degree_less(special.eval_jacobi, n, a + 1, b + 1, x)


def shifted_jacobi_slope(y: Any, n: Any, p: Any, q: Any, x: Any) -> Any:
    """Of the shifted polynomial, divided by a binomial coefficient so that its leading coefficient is 1."""
    return n * _one_degree_less(special.eval_sh_jacobi, n, p + 2, q + 1, x)


def gegenbauer_slope(y: Any, n: Any, a: Any, x: Any) -> Any:
    return 2 * a * _one_degree_less(special.eval_gegenbauer, n, a + 1, x)


def hermite_slope(y: Any, n: Any, x: Any) -> Any:
    return 2 * n * _one_degree_less(special.eval_hermite, n, x)


def normalized_hermite_slope(y: Any, n: Any, x: Any) -> Any:
    return n * _one_degree_less(special.eval_hermitenorm, n, x)


def laguerre_slope(y: Any, n: Any, x: Any) -> Any:
    return -_one_degree_less(special.eval_genlaguerre, n, 1.0, x)


def generalized_laguerre_slope(y: Any, n: Any, a: Any, x: Any) -> Any:
    return -_one_degree_less(special.eval_genlaguerre, n, a + 1, x)
