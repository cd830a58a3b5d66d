"""Orthogonal polynomials. Source: NIST Digital Library of Mathematical Functions, 18.9."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from .ruled import enter

_WHAT = "degree or parameter"


def _lower(function: Any, n: Any, *rest: Any) -> Any:
    """The function of one degree less, which need be no integer; zero where a polynomial of degree zero has no slope."""
    none = (n == 0) | (n == -1)
    return np.where(none, 0.0, function(np.where(none, 0, n - 1), *rest))


# Below a degree in the middle functions come again: P_n = P_(-n-1), T_n = T_(-n), U_n = -U_(-n-2).


def _legendre_slope(n: Any, x: Any) -> Any:
    return _lower(special.eval_gegenbauer, np.maximum(n, -n - 1), 1.5, x)


def _chebyt_slope(n: Any, x: Any) -> Any:
    return np.abs(n) * _lower(special.eval_chebyu, np.abs(n), x)


def _chebyu_slope(n: Any, x: Any) -> Any:
    return np.where(n < -1, -2.0, 2.0) * _lower(special.eval_gegenbauer, np.maximum(n, -n - 2), 2.0, x)


enter(
    "eval_jacobi", lambda y, n, a, b, x: (n + a + b + 1) / 2 * _lower(special.eval_jacobi, n, a + 1, b + 1, x),
    orders=3, what=_WHAT,
)  # fmt: skip
enter("eval_gegenbauer", lambda y, n, a, x: 2 * a * _lower(special.eval_gegenbauer, n, a + 1, x), orders=2, what=_WHAT)
enter("eval_legendre", lambda y, n, x: _legendre_slope(n, x), orders=1, what=_WHAT)
enter("eval_chebyt", lambda y, n, x: _chebyt_slope(n, x), orders=1, what=_WHAT)
enter("eval_chebyu", lambda y, n, x: _chebyu_slope(n, x), orders=1, what=_WHAT)
enter("eval_hermite", lambda y, n, x: 2 * n * _lower(special.eval_hermite, n, x), orders=1, what=_WHAT)
enter("eval_hermitenorm", lambda y, n, x: n * _lower(special.eval_hermitenorm, n, x), orders=1, what=_WHAT)
enter("eval_laguerre", lambda y, n, x: -_lower(special.eval_genlaguerre, n, 1.0, x), orders=1, what=_WHAT)
enter("eval_genlaguerre", lambda y, n, a, x: -_lower(special.eval_genlaguerre, n, a + 1, x), orders=2, what=_WHAT)
enter("eval_sh_legendre", lambda y, n, x: 2 * _legendre_slope(n, 2 * x - 1), orders=1, what=_WHAT)
enter("eval_sh_chebyt", lambda y, n, x: 2 * _chebyt_slope(n, 2 * x - 1), orders=1, what=_WHAT)
enter("eval_sh_chebyu", lambda y, n, x: 2 * _chebyu_slope(n, 2 * x - 1), orders=1, what=_WHAT)
# C_n(x) = 2 T_n(x / 2), S_n(x) = U_n(x / 2).
enter("eval_chebyc", lambda y, n, x: _chebyt_slope(n, x / 2), orders=1, what=_WHAT)
enter("eval_chebys", lambda y, n, x: _chebyu_slope(n, x / 2) / 2, orders=1, what=_WHAT)
# Jacobi's polynomial, shifted and divided by a binomial coefficient, so that its leading coefficient is 1.
enter("eval_sh_jacobi", lambda y, n, p, q, x: n * _lower(special.eval_sh_jacobi, n, p + 2, q + 1, x), orders=3, what=_WHAT)
