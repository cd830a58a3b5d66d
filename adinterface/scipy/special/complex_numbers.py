"""Special functions of complex numbers, which engines have for real ones alone: SciPy's, with their derivatives.

Source: NIST Digital Library of Mathematical Functions, 5.2, 5.5, 7.2, 7.10.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ...numpy_code.engine import Engine
from .ruled import PARTIALS, natively, own_ufunc, ruled

_ROOT_PI = math.sqrt(math.pi)

#: From the value and the arguments to the derivatives by these. None: SciPy has none that takes complex numbers.
_DERIVATIVES: dict[str, Callable[..., Any] | None] = {
    "erf": lambda y, z: 2 / _ROOT_PI * np.exp(-z * z),
    "erfc": lambda y, z: -2 / _ROOT_PI * np.exp(-z * z),
    "erfcx": lambda y, z: 2 * z * y - 2 / _ROOT_PI,
    "log_ndtr": lambda y, z: np.exp(-z * z / 2 - y) / math.sqrt(2 * math.pi),
    "gamma": lambda y, z: y * special.psi(z),
    "loggamma": lambda y, z: special.psi(z),
    "rgamma": lambda y, z: -y * special.psi(z),
    "psi": None,
    "digamma": None,
    "xlogy": lambda y, x, z: (np.log(z), x / z),
    "xlog1py": lambda y, x, z: (np.log1p(z), x / (1 + z)),
}
#: Those whose derivatives are the same for real numbers, for which some engine has its own.
_ALIKE = ("dawsn", "elliprc", "ndtr", "spence")


@functools.cache
def _form(name: str) -> Callable[..., Any]:
    derivatives = PARTIALS[name] if name in _ALIKE else _DERIVATIVES[name]
    return ruled(name, own_ufunc(name), derivatives)


def of_complex(name: str, engine: Engine) -> Callable[..., Any] | None:
    """A function on an engine's complex arrays; None where there is none."""
    return natively(_form(name), engine) if name in _ALIKE or name in _DERIVATIVES else None
