"""Matrix equations as rules: each derivative solves an equation of the same kind.

Source: Kao and Hennequin, Automatic differentiation of Sylvester, Lyapunov, and algebraic Riccati
equations, 2020.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ..arrays import Array, adjoint, alike, scipy_rule
from ..dispatch import of_scipy


@scipy_rule("scipy.linalg.solve_sylvester", lambda a, b, q: q)
def sylvester(a: Any, b: Any, q: Any) -> Any:
    """The x with a x + x b = q."""
    dtype = np.result_type(a, b, q)
    stacks = [
        np.broadcast_to(x, (*q.shape[:-2], *x.shape[-2:])).reshape(-1, *x.shape[-2:])
        for x in (a, b, q)
    ]
    return np.asarray(
        [scipy.linalg.solve_sylvester(*parts) for parts in zip(*stacks)], dtype
    ).reshape(q.shape)


@sylvester.pushforward
def _(tangents: Any, value: Any, a: Any, b: Any, q: Any) -> Any:
    da, db, dq = tangents
    return sylvester(a, b, dq - da @ value - value @ db)


@sylvester.pullback
def _(cotangent: Any, value: Any, a: Any, b: Any, q: Any) -> Any:
    weights = sylvester(adjoint(a), adjoint(b), cotangent)
    back = adjoint(value)
    return -weights @ back, -back @ weights, weights


@of_scipy(scipy.linalg.solve_sylvester)
def solve_sylvester(a: Any, b: Any, q: Any) -> Array:
    return sylvester(*alike(a, b, q))


@of_scipy(scipy.linalg.solve_continuous_lyapunov)
def solve_continuous_lyapunov(a: Any, q: Any) -> Array:
    a, q = alike(a, q)
    return sylvester(a, adjoint(a), q)


@scipy_rule("scipy.linalg.solve_discrete_lyapunov", lambda a, q: q)
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


@of_scipy(scipy.linalg.solve_discrete_lyapunov)
def solve_discrete_lyapunov(a: Any, q: Any, method: str | None = None) -> Array:
    return _discrete(*alike(a, q))


def _riccati(
    name: str,
    gain_of: Callable[..., Any],
    front: Callable[..., Any],
    linear: Callable[[Any, Any], Any],
) -> Callable[..., Array]:
    """The stabilizing solution x of an equation of a, b, q and r.

    gain_of: the gain, from x, a, b and r. front: from x and the closed loop a - b gain, what a
        change of that is multiplied by.
    linear: the solution of the equation for the derivative, from the adjoint of the closed loop,
        and the source.
    """

    @scipy_rule(f"scipy.linalg.{name}", lambda a, b, q, r: a)
    def solution(a: Any, b: Any, q: Any, r: Any) -> Any:
        return np.asarray(getattr(scipy.linalg, name)(a, b, q, r), np.result_type(a, b, q, r))

    @solution.pushforward
    def _(tangents: Any, value: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
        da, db, dq, dr = tangents
        gain = gain_of(value, a, b, r)
        closed = a - b @ gain
        moved = adjoint(da - db @ gain) @ front(value, closed)
        return linear(adjoint(closed), moved + adjoint(moved) + adjoint(gain) @ dr @ gain + dq)

    @solution.pullback
    def _(cotangent: Any, value: Any, a: Any, b: Any, q: Any, r: Any) -> Any:
        gain = gain_of(value, a, b, r)
        closed = a - b @ gain
        weights = linear(closed, cotangent)
        by_a = front(value, closed) @ (weights + adjoint(weights))
        return by_a, -by_a @ adjoint(gain), weights, gain @ weights @ adjoint(gain)

    @of_scipy(getattr(scipy.linalg, name), ignored=("balanced",))
    def solve(a: Any, b: Any, q: Any, r: Any) -> Array:
        a, b, q, r = alike(a, b, q, r)
        # SciPy refuses matrices q and r that are not Hermitian, so the derivative is along
        # Hermitian directions.
        return solution(a, b, (q + adjoint(q)) / 2, (r + adjoint(r)) / 2)

    return solve


#: a^H x + x a - x b r^-1 b^H x + q = 0.
solve_continuous_are: Callable[..., Array] = _riccati(
    "solve_continuous_are",
    lambda x, a, b, r: np.linalg.solve(r, adjoint(b) @ x),
    lambda x, closed: x,
    lambda a, q: -sylvester(a, adjoint(a), q),
)
#: a^H x a - x - a^H x b (r + b^H x b)^-1 b^H x a + q = 0.
solve_discrete_are: Callable[..., Array] = _riccati(
    "solve_discrete_are",
    lambda x, a, b, r: np.linalg.solve(r + adjoint(b) @ x @ b, adjoint(b) @ x @ a),
    lambda x, closed: x @ closed,
    _discrete,
)
