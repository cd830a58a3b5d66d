"""scipy.special on the arrays of any engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from ...numpy_code import numpy_function
from ..dispatch import is_engines, rest_of
from .on_engines import of_complex as of_complex
from .on_engines import on_engine as on_engine
from .orthogonal_polynomials import assoc_legendre_p_all
from .python_functions import (
    comb,
    diric,
    factorial,
    lambertw,
    log_softmax,
    logsumexp,
    multigammaln,
    perm,
    polygamma,
    softmax,
    spherical_in,
    spherical_jn,
    spherical_kn,
    spherical_yn,
    zeta,
)

_rest = rest_of("scipy.special", globals())


def __getattr__(name: str) -> Any:
    """A SciPy ufunc that takes engine arrays too; other attributes come from `rest_of`."""
    ufunc = getattr(scipy.special, name, None)
    if not isinstance(ufunc, np.ufunc):
        return _rest(name)
    code = numpy_function(ufunc)

    def call(*args: Any, **keywords: Any) -> Any:
        return code(*args, **keywords) if is_engines(*args) else ufunc(*args, **keywords)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"scipy.special.{name}, of NumPy's arrays or an engine's."
    globals()[name] = call
    return call


__all__ = [
    "assoc_legendre_p_all", "comb", "diric", "factorial", "lambertw", "log_softmax", "logsumexp", "multigammaln", "perm",
    "polygamma", "softmax", "spherical_in", "spherical_jn", "spherical_kn", "spherical_yn", "zeta",
]  # fmt: skip
