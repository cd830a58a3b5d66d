"""Functions of matrices, as rules around SciPy functions.

The derivative of a function of a matrix, along a direction, is a block of the function of a larger matrix. Source: Higham,
Functions of Matrices, 2008, theorem 3.6; for the square root, the Sylvester equation of section 6.1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ...core.contract.errors import NumpyCodeError
from ...rules.rule import Rule, rule
from ..arrays import Array, adjoint, inexact, is_complex, real_like
from ..dispatch import of_scipy
from .equations import sylvester


def _of_a_matrix(name: str, of_one: Callable[..., Any]) -> Rule[[Any], Any]:
    """A function of a matrix, with its derivatives in both modes."""

    @rule(host=lambda a: a)
    def function(a: Any) -> Any:
        return _like(name, _each(of_one, a), a)

    def along(a: Any, direction: Any) -> Any:
        n = a.shape[-1]
        rows = [np.concatenate([a, direction], axis=-1), np.concatenate([np.zeros_like(a), a], axis=-1)]
        return function(np.concatenate(rows, axis=-2))[..., :n, n:]

    function.pushforward(lambda tangents, value, a: along(a, tangents[0]))
    function.pullback(lambda cotangent, value, a: along(adjoint(a), cotangent))
    function._definition.name = f"scipy.linalg.{name}"
    return function


def _each(of_one: Callable[..., Any], a: Any) -> Any:
    if not a.size:
        return a
    return np.stack([of_one(x) for x in a.reshape(-1, *a.shape[-2:])]).reshape(a.shape)


def _like(name: str, result: Any, a: Any) -> Any:
    """A result in the dtype of the matrix."""
    if not is_complex(a) and is_complex(result):
        if np.max(np.abs(result.imag), initial=0.0) > 1e3 * np.finfo(a.dtype).eps * np.max(np.abs(result), initial=0.0):
            raise NumpyCodeError(
                f"scipy.linalg.{name} of this real matrix is complex, which an engine must know beforehand: write "
                f"{name}(a + 0j)."
            )
        result = result.real
    return np.asarray(result, a.dtype)


_expm = _of_a_matrix("expm", scipy.linalg.expm)
_logm = _of_a_matrix("logm", scipy.linalg.logm)


@of_scipy(scipy.linalg.expm)
def expm(A: Any) -> Array:
    return _expm(_square(A))


@of_scipy(scipy.linalg.logm)
def logm(A: Any) -> Array:
    return _logm(_square(A))


@rule(host=lambda a: a)
def _sqrtm(a: Any) -> Any:
    return _like("sqrtm", _each(scipy.linalg.sqrtm, a), a)


@_sqrtm.pushforward
def _(tangents: Any, value: Any, a: Any) -> Any:
    return sylvester(value, value, tangents[0])


@_sqrtm.pullback
def _(cotangent: Any, value: Any, a: Any) -> Any:
    return sylvester(adjoint(value), adjoint(value), cotangent)


_sqrtm._definition.name = "scipy.linalg.sqrtm"


@of_scipy(scipy.linalg.sqrtm)
def sqrtm(A: Any) -> Array:
    return _sqrtm(_square(A))


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
    rows = [np.concatenate([A, E], axis=-1), np.concatenate([0 * A, A], axis=-1)]
    both = _expm(np.concatenate(rows, axis=-2))
    return (both[..., :n, :n], both[..., :n, n:]) if compute_expm else both[..., :n, n:]


def _square(a: Any) -> Array:
    a = inexact(a)
    if len(a.shape) < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("expected a square matrix")
    return a


@of_scipy(scipy.linalg.cosm)
def cosm(A: Any) -> Array:
    A = _square(A)
    return real_like((_expm(1j * A) + _expm(-1j * A)) / 2, A)


@of_scipy(scipy.linalg.sinm)
def sinm(A: Any) -> Array:
    A = _square(A)
    return real_like((_expm(1j * A) - _expm(-1j * A)) / 2j, A)


@of_scipy(scipy.linalg.tanm)
def tanm(A: Any) -> Array:
    return np.linalg.solve(cosm(A), sinm(A))


@of_scipy(scipy.linalg.coshm)
def coshm(A: Any) -> Array:
    A = _square(A)
    return (_expm(A) + _expm(-A)) / 2


@of_scipy(scipy.linalg.sinhm)
def sinhm(A: Any) -> Array:
    A = _square(A)
    return (_expm(A) - _expm(-A)) / 2


@of_scipy(scipy.linalg.tanhm)
def tanhm(A: Any) -> Array:
    return np.linalg.solve(coshm(A), sinhm(A))
