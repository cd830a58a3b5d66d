"""Orthogonal polynomials. Source: NIST Digital Library of Mathematical Functions, 18.9."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from .ruled import enter

_WHAT = "degree or parameter"


def _lower(function: Any, n: Any, *rest: Any) -> Any:
    """The polynomial of one degree less; zero below degree zero."""
    return np.where(n > 0, function(np.maximum(n - 1, 0), *rest), 0.0)


enter(
    "eval_jacobi", lambda y, n, a, b, x: (n + a + b + 1) / 2 * _lower(special.eval_jacobi, n, a + 1, b + 1, x),
    orders=3, what=_WHAT,
)  # fmt: skip
enter("eval_gegenbauer", lambda y, n, a, x: 2 * a * _lower(special.eval_gegenbauer, n, a + 1, x), orders=2, what=_WHAT)
enter("eval_legendre", lambda y, n, x: _lower(special.eval_gegenbauer, n, 1.5, x), orders=1, what=_WHAT)
enter("eval_chebyt", lambda y, n, x: n * _lower(special.eval_chebyu, n, x), orders=1, what=_WHAT)
enter("eval_chebyu", lambda y, n, x: 2 * _lower(special.eval_gegenbauer, n, 2.0, x), orders=1, what=_WHAT)
enter("eval_hermite", lambda y, n, x: 2 * n * _lower(special.eval_hermite, n, x), orders=1, what=_WHAT)
enter("eval_hermitenorm", lambda y, n, x: n * _lower(special.eval_hermitenorm, n, x), orders=1, what=_WHAT)
enter("eval_laguerre", lambda y, n, x: -_lower(special.eval_genlaguerre, n, 1.0, x), orders=1, what=_WHAT)
enter("eval_genlaguerre", lambda y, n, a, x: -_lower(special.eval_genlaguerre, n, a + 1, x), orders=2, what=_WHAT)
enter("eval_sh_legendre", lambda y, n, x: 2 * _lower(special.eval_gegenbauer, n, 1.5, 2 * x - 1), orders=1, what=_WHAT)
enter("eval_sh_chebyt", lambda y, n, x: 2 * n * _lower(special.eval_chebyu, n, 2 * x - 1), orders=1, what=_WHAT)
