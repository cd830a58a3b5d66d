"""Functions with sparse Jacobians, of any size, for every engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adinterface import array_namespace

Array = np.ndarray[Any, Any]


class SparseProblem(NamedTuple):
    """A function from a vector to a vector, or with `scalar` to a number, whose Hessian is
    sparse.
    """

    name: str
    f: Callable[[Any], Any]
    #: Of how many numbers its argument consists, of about the size asked for.
    size: Callable[[int], int]
    scalar: bool = False

    def x(self, size: int) -> Array:
        """A point without special values."""
        return np.random.default_rng(0).uniform(0.5, 1.5, self.size(size))


def tridiagonal(x: Any) -> Any:
    """Broyden's tridiagonal function (Moré, Garbow and Hillstrom 1981, problem 30)."""
    xp = array_namespace(x)
    none = xp.zeros_like(x[:1])
    return (3 - 2 * x) * x - xp.concat([none, x[:-1]]) - 2 * xp.concat([x[1:], none]) + 1


def banded(x: Any) -> Any:
    """Eleven diagonals: each result is made of five numbers on either side."""
    xp = array_namespace(x)
    none = xp.zeros_like(x[:5])
    wide = xp.concat([none, x, none])
    n = x.shape[0]
    total = x**3
    for k in range(11):
        if k != 5:
            total = total + xp.sin(wide[k : k + n]) / (k + 1)
    return total


def laplacian(x: Any) -> Any:
    """Bratu's equation on a square grid with five points: -Laplacian(u) = exp(u)."""
    xp = array_namespace(x)
    side = round(x.shape[0] ** 0.5)
    u = xp.reshape(x, (side, side))
    row, column = xp.zeros_like(u[:1, :]), xp.zeros_like(u[:, :1])
    around = (
        xp.concat([u[1:, :], row])
        + xp.concat([row, u[:-1, :]])
        + xp.concat([u[:, 1:], column], axis=1)
        + xp.concat([column, u[:, :-1]], axis=1)
    )
    return xp.reshape(4 * u - around - xp.exp(u) / side**2, (-1,))


def brusselator(x: Any) -> Any:
    """The Brusselator with diffusion on a periodic square grid, two kinds (Hairer and Wanner 1996,
    section IV.10).
    """
    xp = array_namespace(x)
    side = round((x.shape[0] // 2) ** 0.5)
    u, v = xp.reshape(x[: side * side], (side, side)), xp.reshape(x[side * side :], (side, side))

    def diffused(w: Any) -> Any:
        return (
            xp.roll(w, 1, axis=0)
            + xp.roll(w, -1, axis=0)
            + xp.roll(w, 1, axis=1)
            + xp.roll(w, -1, axis=1)
            - 4 * w
        )

    du = 1 + u * u * v - 4.4 * u + 0.1 * diffused(u)
    dv = 3.4 * u - u * u * v + 0.1 * diffused(v)
    return xp.concat([xp.reshape(du, (-1,)), xp.reshape(dv, (-1,))])


def blocks(x: Any) -> Any:
    """Blocks of 3 by 3: the reactions of Robertson's problem in many cells (Hairer and Wanner 1996,
    section IV.10).
    """
    xp = array_namespace(x)
    y = xp.reshape(x, (-1, 3))
    a, b, c = y[:, 0], y[:, 1], y[:, 2]
    slow, fast = -0.04 * a + 1e4 * b * c, 3e7 * b * b
    return xp.reshape(xp.stack([slow, -slow - fast, fast], axis=1), (-1,))


def arrow(x: Any) -> Any:
    """A full row and a full column with the diagonal."""
    xp = array_namespace(x)
    return xp.concat([xp.reshape(xp.sum(x**2), (1,)), x[0] * x[1:] + xp.sin(x[1:])])


def rosenbrock(x: Any) -> Any:
    """The chained Rosenbrock function, whose Hessian is tridiagonal (Moré, Garbow and Hillstrom
    1981, problem 21, chained).
    """
    xp = array_namespace(x)
    return xp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def surface(x: Any) -> Any:
    """The area of a surface over a square grid, whose Hessian couples neighbours (MINPACK-2's
    minimal surface, MSA).
    """
    xp = array_namespace(x)
    side = round(x.shape[0] ** 0.5)
    u = xp.reshape(x, (side, side))
    across, along = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    return xp.sum(xp.sqrt(1 / side**2 + across**2 + along**2))


def _any(size: int) -> int:
    return size


def _square(size: int) -> int:
    side: int = max(2, round(size**0.5))
    return side * side


PROBLEMS = (
    SparseProblem("tridiagonal", tridiagonal, _any),
    SparseProblem("banded, 11 diagonals", banded, _any),
    SparseProblem("Laplacian", laplacian, _square),
    SparseProblem("Brusselator", brusselator, lambda size: 2 * _square(size // 2)),
    SparseProblem("3 x 3 blocks", blocks, lambda size: 3 * max(1, size // 3)),
    SparseProblem("arrow", arrow, _any),
    SparseProblem("chained Rosenbrock", rosenbrock, _any, scalar=True),
    SparseProblem("minimal surface", surface, _square, scalar=True),
)
