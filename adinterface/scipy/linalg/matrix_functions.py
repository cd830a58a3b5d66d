"""Functions of matrices, as rules around SciPy functions.

The derivative of a function of a matrix, along a direction, is a block of the function of a larger
matrix. Source: Higham, Functions of Matrices, 2008, theorem 3.6; for the square root, the Sylvester
equation of section 6.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ...core.contract.errors import NumpyCodeError
from ...rules.rule import Rule
from ..arrays import Array, adjoint, inexact, is_complex, real_like, scipy_rule
from ..dispatch import of_scipy
from .equations import sylvester


def _of_a_matrix(name: str) -> Rule[[Any], Any]:
    """A function of a matrix, with its derivatives in both modes."""
    function = scipy_rule(f"scipy.linalg.{name}", lambda a: a)(lambda a: _computed(name, a))

    def along(a: Any, direction: Any) -> Any:
        n = a.shape[-1]
        return function(_doubled(a, direction))[..., :n, n:]

    function.pushforward(lambda tangents, value, a: along(a, tangents[0]))
    function.pullback(lambda cotangent, value, a: along(adjoint(a), cotangent))
    return function


def _doubled(a: Any, direction: Any) -> Any:
    rows = [np.concatenate([a, direction], axis=-1), np.concatenate([np.zeros_like(a), a], axis=-1)]
    return np.concatenate(rows, axis=-2)


def _computed(name: str, a: Any) -> Any:
    """The function of each matrix of a stack, in the dtype of the matrices."""
    if not a.size:
        return a
    result = np.stack(
        [getattr(scipy.linalg, name)(x) for x in a.reshape(-1, *a.shape[-2:])]
    ).reshape(a.shape)
    if not is_complex(a) and is_complex(result):
        if np.max(np.abs(result.imag)) > 1e3 * np.finfo(a.dtype).eps * np.max(np.abs(result)):
            raise NumpyCodeError(
                f"scipy.linalg.{name} of this real matrix is complex, which an engine must know"
                f" beforehand: write {name}(a + 0j)."
            )
        result = result.real
    return np.asarray(result, a.dtype)


_expm = _of_a_matrix("expm")
_logm = _of_a_matrix("logm")


@scipy_rule("scipy.linalg.sqrtm", lambda a: a)
def _sqrtm(a: Any) -> Any:
    return _computed("sqrtm", a)


@_sqrtm.pushforward
def _(tangents: Any, value: Any, a: Any) -> Any:
    return sylvester(value, value, tangents[0])


@_sqrtm.pullback
def _(cotangent: Any, value: Any, a: Any) -> Any:
    return sylvester(adjoint(value), adjoint(value), cotangent)


expm: Callable[..., Array] = of_scipy(scipy.linalg.expm)(lambda A: _expm(_square(A)))
logm: Callable[..., Array] = of_scipy(scipy.linalg.logm)(lambda A: _logm(_square(A)))
sqrtm: Callable[..., Array] = of_scipy(scipy.linalg.sqrtm)(lambda A: _sqrtm(_square(A)))


@of_scipy(scipy.linalg.fractional_matrix_power)
def fractional_matrix_power(A: Any, t: Any) -> Array:
    A = _square(A)
    if isinstance(t, (int, np.integer)):
        return np.linalg.matrix_power(A, int(t))
    return _expm(t * _logm(A))


@of_scipy(scipy.linalg.expm_frechet)
def expm_frechet(A: Any, E: Any, method: str | None = None, compute_expm: bool = True) -> Any:
    A, E = _square(A), _square(E)
    n = A.shape[-1]
    both = _expm(_doubled(A, E))
    return (both[..., :n, :n], both[..., :n, n:]) if compute_expm else both[..., :n, n:]


def _square(a: Any) -> Array:
    a = inexact(a)
    if len(a.shape) < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("expected a square matrix")
    return a


def _half(A: Any, unit: complex, sign: int) -> Array:
    """Half the sum or the difference of exp(unit A) and exp(-unit A)."""
    A = _square(A)
    return (_expm(unit * A) + sign * _expm(-unit * A)) / 2


cosm: Callable[..., Array] = of_scipy(scipy.linalg.cosm)(
    lambda A: real_like(_half(A, 1j, 1), inexact(A))
)
sinm: Callable[..., Array] = of_scipy(scipy.linalg.sinm)(
    lambda A: real_like(_half(A, 1j, -1) / 1j, inexact(A))
)
tanm: Callable[..., Array] = of_scipy(scipy.linalg.tanm)(
    lambda A: np.linalg.solve(cosm(A), sinm(A))
)
coshm: Callable[..., Array] = of_scipy(scipy.linalg.coshm)(lambda A: _half(A, 1, 1))
sinhm: Callable[..., Array] = of_scipy(scipy.linalg.sinhm)(lambda A: _half(A, 1, -1))
tanhm: Callable[..., Array] = of_scipy(scipy.linalg.tanhm)(
    lambda A: np.linalg.solve(coshm(A), sinhm(A))
)
