"""Matrix equations as rules: each derivative solves an equation of the same kind.

Source: Kao and Hennequin, Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati equations, 2020.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from ...rules.rule import rule
from ..arrays import Array, adjoint, alike, real_like
from ..dispatch import of_scipy


@rule(host=lambda a, b, q: q)
def sylvester(a: Any, b: Any, q: Any) -> Any:
    """The x with a x + x b = q."""
    dtype = np.result_type(a, b, q)
    if q.ndim == 2:
        return np.asarray(scipy.linalg.solve_sylvester(a, b, q), dtype)
    stacks = [np.broadcast_to(x, (*q.shape[:-2], *x.shape[-2:])).reshape(-1, *x.shape[-2:]) for x in (a, b, q)]
    return np.asarray([scipy.linalg.solve_sylvester(*parts) for parts in zip(*stacks)], dtype).reshape(q.shape)


@sylvester.pushforward
def _(tangents: Any, value: Any, a: Any, b: Any, q: Any) -> Any:
    da, db, dq = tangents
    return sylvester(a, b, dq - da @ value - value @ db)


@sylvester.pullback
def _(cotangent: Any, value: Any, a: Any, b: Any, q: Any) -> Any:
    weights = sylvester(adjoint(a), adjoint(b), cotangent)
    back = adjoint(value)
    return -weights @ back, -back @ weights, weights


sylvester._definition.name = "scipy.linalg.solve_sylvester"


@of_scipy(scipy.linalg.solve_sylvester)
def solve_sylvester(a: Any, b: Any, q: Any) -> Array:
    return sylvester(*alike(a, b, q))


@of_scipy(scipy.linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov(a: Any, q: Any) -> Array:
    a, q = alike(a, q)
    return sylvester(a, adjoint(a), q)


@rule(host=lambda a, q: q)
def _discrete(a: Any, q: Any) -> Any:
    """The x with a x a^H - x + q = 0."""
    return np.asarray(scipy.linalg.solve_discrete_lyapunov(a, q), np.result_type(a, q))


@_discrete.pushforward
def _(tangents: Any, value: Any, a: Any, q: Any) -> Any:
    da, dq = tangents
    return _discrete(a, dq + da @ value @ adjoint(a) + a @ value @ adjoint(da))


@_discrete.pullback
def _(cotangent: Any, value: Any, a: Any, q: Any) -> Any:
    weights = _discrete(adjoint(a), cotangent)
    return weights @ a @ adjoint(value) + adjoint(weights) @ a @ value, weights


_discrete._definition.name = "scipy.linalg.solve_discrete_lyapunov"


@of_scipy(scipy.linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> Array:
    return _discrete(*alike(a, q))


@rule(host=lambda a, b, q, r: a)
def _continuous_riccati(a: Any, b: Any, q: Any, r: Any) -> Any:
    """The stabilizing x with a^H x + x a - x b r^-1 b^H x + q = 0."""
    return np.asarray(scipy.linalg.solve_continuous_are(a, b, q, r), np.result_type(a, b, q, r))


@_continuous_riccati.pushforward
def _(tangents: Any, value: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    da, db, dq, dr = tangents
    gain = np.linalg.solve(r, adjoint(b) @ value)
    closed = a - b @ gain
    moved = adjoint(da - db @ gain) @ value
    source = moved + adjoint(moved) + adjoint(gain) @ dr @ gain + dq
    return -sylvester(adjoint(closed), closed, source)


@_continuous_riccati.pullback
def _(cotangent: Any, value: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    gain = np.linalg.solve(r, adjoint(b) @ value)
    closed = a - b @ gain
    weights = -sylvester(closed, adjoint(closed), cotangent)
    by_a = value @ (weights + adjoint(weights))
    return by_a, -by_a @ adjoint(gain), weights, gain @ weights @ adjoint(gain)


_continuous_riccati._definition.name = "scipy.linalg.solve_continuous_are"


@of_scipy(scipy.linalg.solve_continuous_are, ignored=("balanced",))
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any) -> Array:
    a, b, q, r = alike(a, b, q, r)
    return _continuous_riccati(a, b, _hermitian(q), _hermitian(r))


@rule(host=lambda a, b, q, r: a)
def _discrete_riccati(a: Any, b: Any, q: Any, r: Any) -> Any:
    """The stabilizing x with a^H x a - x - a^H x b (r + b^H x b)^-1 b^H x a + q = 0."""
    return np.asarray(scipy.linalg.solve_discrete_are(a, b, q, r), np.result_type(a, b, q, r))


@_discrete_riccati.pushforward
def _(tangents: Any, value: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    da, db, dq, dr = tangents
    gain = np.linalg.solve(r + adjoint(b) @ value @ b, adjoint(b) @ value @ a)
    closed = a - b @ gain
    moved = adjoint(da - db @ gain) @ value @ closed
    return _discrete(adjoint(closed), moved + adjoint(moved) + adjoint(gain) @ dr @ gain + dq)


@_discrete_riccati.pullback
def _(cotangent: Any, value: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
    gain = np.linalg.solve(r + adjoint(b) @ value @ b, adjoint(b) @ value @ a)
    closed = a - b @ gain
    weights = _discrete(closed, cotangent)
    by_a = value @ closed @ (weights + adjoint(weights))
    return by_a, -by_a @ adjoint(gain), weights, gain @ weights @ adjoint(gain)


_discrete_riccati._definition.name = "scipy.linalg.solve_discrete_are"


@of_scipy(scipy.linalg.solve_discrete_are, ignored=("balanced",))
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any) -> Array:
    a, b, q, r = alike(a, b, q, r)
    return _discrete_riccati(a, b, _hermitian(q), _hermitian(r))


def _hermitian(a: Array) -> Array:
    """SciPy refuses other matrices, so the derivative is along Hermitian directions."""
    return (a + adjoint(a)) / 2


__all__ = ["real_like", "sylvester"]
