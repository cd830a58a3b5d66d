"""Published functions whose Jacobians or Hessians are sparse, written for any size and every engine: what tests compare.

The names are CUTEst's (Gould, Orban and Toint 2015), with the number of the problem where Moré, Garbow and Hillstrom (1981)
have it; those of stiff equations are of the Test Set for IVP Solvers (Mazzia and Magherini 2008), and of SciPy's tests and
cookbook.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from adinterface import array_namespace

Array = np.ndarray[Any, Any]


class Published(NamedTuple):
    """A function of one vector, to a vector, or with `scalar` to a number."""

    name: str
    f: Callable[[Any], Any]
    #: Of how many numbers its argument consists.
    size: int
    #: How many entries of its derivative are other than zero, counted by hand.
    entries: int
    scalar: bool = False
    #: How many more there are whose terms cancel, wherever x is: only numbers show that.
    cancelled: int = 0

    def x(self) -> Array:
        """A point without special values."""
        return np.random.default_rng(7).uniform(0.6, 1.4, self.size)


# Sums, whose Hessians are sparse ---------------------------------------------------------------------------------------


def arwhead(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum((x[:-1] ** 2 + x[-1] ** 2) ** 2 - 4 * x[:-1] + 3)


def nondia(x: Any) -> Any:
    xp = array_namespace(x)
    return (x[0] - 1) ** 2 + xp.sum(100 * (x[0] - x[:-1] ** 2) ** 2)


def tridia(x: Any) -> Any:
    xp = array_namespace(x)
    weights = xp.asarray(np.arange(2.0, x.shape[0] + 1))
    return (x[0] - 1) ** 2 + xp.sum(weights * (2 * x[1:] - x[:-1]) ** 2)


def engval1(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum((x[:-1] ** 2 + x[1:] ** 2) ** 2 - 4 * x[:-1] + 3)


def edensch(x: Any) -> Any:
    xp = array_namespace(x)
    return 16 + xp.sum((x[:-1] - 2) ** 4 + (x[:-1] * x[1:] - 2 * x[1:]) ** 2 + (x[1:] + 1) ** 2)


def dqdrtic(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.sum(x[:-2] ** 2 + 100 * x[1:-1] ** 2 + 100 * x[2:] ** 2)


def powellsg(x: Any) -> Any:
    """Powell's singular function, extended (22)."""
    xp = array_namespace(x)
    a, b, c, d = (x[k::4] for k in range(4))
    return xp.sum((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)


def woods(x: Any) -> Any:
    """Wood's function, extended (14)."""
    xp = array_namespace(x)
    a, b, c, d = (x[k::4] for k in range(4))
    first = 100 * (b - a**2) ** 2 + (1 - a) ** 2 + 90 * (d - c**2) ** 2 + (1 - c) ** 2
    return xp.sum(first + 10 * (b + d - 2) ** 2 + 0.1 * (b - d) ** 2)


def cragglvy(x: Any) -> Any:
    xp = array_namespace(x)
    a, b, c, d = x[:-2:2], x[1:-2:2], x[2::2], x[3::2]
    return xp.sum((xp.exp(a) - b) ** 4 + 100 * (b - c) ** 6 + (xp.tan(c - d) + c - d) ** 4 + a**8 + (d - 1) ** 2)


def bdqrtic(x: Any) -> Any:
    xp = array_namespace(x)
    inner = x[:-4] ** 2 + 2 * x[1:-3] ** 2 + 3 * x[2:-2] ** 2 + 4 * x[3:-1] ** 2 + 5 * x[-1] ** 2
    return xp.sum((3 - 4 * x[:-4]) ** 2 + inner**2)


def broydn7d(x: Any) -> Any:
    xp = array_namespace(x)
    none, half = xp.zeros_like(x[:1]), x.shape[0] // 2
    inner = (3 - 2 * x) * x - xp.concat([none, x[:-1]]) - 2 * xp.concat([x[1:], none]) + 1
    return xp.sum(xp.abs(inner) ** (7 / 3)) + xp.sum(xp.abs(x[:half] + x[half:]) ** (7 / 3))


def sparsqur(x: Any) -> Any:
    """Squares of sums of variables whose numbers are multiples of one another."""
    xp = array_namespace(x)
    n = x.shape[0]
    numbers = np.arange(1, n + 1)
    total = x**2
    for k in (2, 3, 5, 7, 11):
        total = total + xp.take(x, xp.asarray((k * numbers - 1) % n)) ** 2
    return xp.sum(xp.asarray(numbers / 8.0) * total**2)


def dixmaanb(x: Any) -> Any:
    xp = array_namespace(x)
    m = x.shape[0] // 3
    square = 1 + xp.sum(x**2)
    near = xp.sum(x[:-1] ** 2 * (x[1:] + x[1:] ** 2) ** 2)
    return square + 0.0625 * near + 0.0625 * xp.sum(x[: 2 * m] ** 2 * x[m:] ** 4) + 0.0625 * xp.sum(x[:m] * x[2 * m :])


def schmvett(x: Any) -> Any:
    xp = array_namespace(x)
    a, b, c = x[:-2], x[1:-1], x[2:]
    return xp.sum(-1 / (1 + (a - b) ** 2) - xp.sin((np.pi * b + c) / 2) - xp.exp(-(((a + c) / b - 2) ** 2)))


def morebv(x: Any) -> Any:
    """The squares of the discrete boundary value function (28)."""
    xp = array_namespace(x)
    return xp.sum(boundary(x) ** 2)


def _meeting(n: int) -> int:
    """Of how many pairs of variables both stand in one of SPARSQUR's squares."""
    squares = [{i, *[(k * (i + 1) - 1) % n for k in (2, 3, 5, 7, 11)]} for i in range(n)]
    return len({(i, j) for square in squares for i in square for j in square})


# Systems, whose Jacobians are sparse -----------------------------------------------------------------------------------


def boundary(x: Any) -> Any:
    """The discrete boundary value function (28)."""
    xp = array_namespace(x)
    none, h = xp.zeros_like(x[:1]), 1 / (x.shape[0] + 1)
    t = xp.asarray(h * np.arange(1, x.shape[0] + 1))
    return 2 * x - xp.concat([none, x[:-1]]) - xp.concat([x[1:], none]) + h**2 * (x + t + 1) ** 3 / 2


def broydnbd(x: Any) -> Any:
    """Broyden's banded function (31)."""
    xp = array_namespace(x)
    none, n = xp.zeros_like(x[:5]), x.shape[0]
    wide = xp.concat([none, x * (1 + x), none[:1]])
    total = x * (2 + 5 * x**2) + 1
    for k in (0, 1, 2, 3, 4, 6):
        total = total - wide[k : k + n]
    return total


def cbratu2d(x: Any) -> Any:
    """Bratu's equation of a complex number, by real and imaginary parts, on a square grid."""
    xp = array_namespace(x)
    side = round((x.shape[0] // 2) ** 0.5)
    u, v = (xp.reshape(part, (side, side)) for part in (x[: side * side], x[side * side :]))

    def laplacian(w: Any) -> Any:
        row, column = xp.zeros_like(w[:1, :]), xp.zeros_like(w[:, :1])
        beside = xp.concat([w[:, 1:], column], axis=1) + xp.concat([column, w[:, :-1]], axis=1)
        return xp.concat([w[1:, :], row]) + xp.concat([row, w[:-1, :]]) + beside - 4 * w

    h = 1 / (side + 1)
    real = laplacian(u) + h**2 * xp.exp(u) * xp.cos(v)
    imaginary = laplacian(v) + h**2 * xp.exp(u) * xp.sin(v)
    return xp.reshape(xp.stack([real, imaginary]), (-1,))


def hires(y: Any) -> Any:
    """High irradiance responses in plants: eight reactions."""
    xp = array_namespace(y)
    a, b, c, d, e, f, g, h = (y[k] for k in range(8))
    return xp.stack([
        -1.71 * a + 0.43 * b + 8.32 * c + 0.0007,
        1.71 * a - 8.75 * b,
        -10.03 * c + 0.43 * d + 0.035 * e,
        8.32 * b + 1.71 * c - 1.12 * d,
        -1.745 * e + 0.43 * f + 0.43 * g,
        -280 * f * h + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g,
        280 * f * h - 1.81 * g,
        -280 * f * h + 1.81 * g,
    ])  # fmt: skip


def medakzo(y: Any) -> Any:
    """Penetration of antibodies into a tissue (Medical Akzo Nobel), the larger stiff problem of SciPy's own tests."""
    xp = array_namespace(y)
    n, k, c = y.shape[0] // 2, 100.0, 4.0
    u, v = y[::2], y[1::2]
    grid = np.arange(1, n + 1) / n
    alpha, beta = xp.asarray(2 * (grid - 1) ** 3 / c**2), xp.asarray((grid - 1) ** 4 / c**2)
    before, after = xp.concat([2.0 * xp.ones_like(u[:1]), u[:-1]]), xp.concat([u[1:], u[-1:]])
    first = alpha * (after - before) * n / 2 + beta * (before - 2 * u + after) * n**2 - k * u * v
    return xp.reshape(xp.stack([first, -k * u * v], axis=1), (-1,))


def lorenz96(x: Any) -> Any:
    """Lorenz's atmosphere on a circle (1996)."""
    xp = array_namespace(x)
    return (xp.roll(x, -1) - xp.roll(x, 2)) * xp.roll(x, 1) - x + 8.0


#: Which camera sees which point.
SIGHTS = np.array([(camera, point) for camera in range(3) for point in range(6) if (camera + point) % 3])


def bundle(x: Any) -> Any:
    """Bundle adjustment, as in SciPy's cookbook: where cameras of nine numbers see points (Agarwal et al. 2010)."""
    xp = array_namespace(x)
    cameras, points = xp.reshape(x[:27], (3, 9)), xp.reshape(x[27:], (6, 3))
    camera = xp.take(cameras, xp.asarray(SIGHTS[:, 0]), axis=0)
    point = xp.take(points, xp.asarray(SIGHTS[:, 1]), axis=0)
    turn, shift, lens = camera[:, :3], camera[:, 3:6], camera[:, 6:]
    angle = xp.sqrt(xp.sum(turn**2, axis=1, keepdims=True))
    axis = turn / angle
    across = xp.stack([
        axis[:, 1] * point[:, 2] - axis[:, 2] * point[:, 1],
        axis[:, 2] * point[:, 0] - axis[:, 0] * point[:, 2],
        axis[:, 0] * point[:, 1] - axis[:, 1] * point[:, 0],
    ], axis=1)  # fmt: skip
    along = xp.sum(axis * point, axis=1, keepdims=True) * axis
    seen = xp.cos(angle) * point + xp.sin(angle) * across + (1 - xp.cos(angle)) * along + shift
    flat = -seen[:, :2] / seen[:, 2:]
    square = xp.sum(flat**2, axis=1, keepdims=True)
    return xp.reshape(lens[:, :1] * (1 + lens[:, 1:2] * square + lens[:, 2:] * square**2) * flat, (-1,))


PUBLISHED = (
    Published("ARWHEAD", arwhead, 12, 12 + 2 * 11, scalar=True),
    Published("NONDIA", nondia, 12, 12 + 2 * 10 - 1, scalar=True),
    Published("TRIDIA", tridia, 12, 34, scalar=True),
    Published("ENGVAL1", engval1, 12, 34, scalar=True),
    Published("EDENSCH", edensch, 12, 34, scalar=True),
    Published("DQDRTIC", dqdrtic, 12, 12, scalar=True),
    Published("POWELLSG", powellsg, 12, 3 * 12, scalar=True),
    Published("WOODS", woods, 12, 3 * 10, scalar=True),
    Published("CRAGGLVY", cragglvy, 12, 34, scalar=True),
    Published("BDQRTIC", bdqrtic, 14, 14 + 2 * (12 + 11 + 10 + 13), scalar=True),
    Published("BROYDN7D", broydn7d, 12, 12 + 2 * (11 + 10) + 2 * 6, scalar=True),
    Published("SPARSQUR", sparsqur, 30, _meeting(30), scalar=True),
    Published("DIXMAANB", dixmaanb, 15, 15 + 2 * (14 + 10 + 5), scalar=True),
    Published("SCHMVETT", schmvett, 12, 12 + 2 * (11 + 10), scalar=True),
    Published("MOREBV", morebv, 12, 12 + 2 * (11 + 10), scalar=True),
    Published("discrete boundary value", boundary, 12, 34),
    Published("BROYDNBD", broydnbd, 14, sum(min(13, i + 1) - max(0, i - 5) + 1 for i in range(14))),
    Published("CBRATU2D", cbratu2d, 32, 2 * (16 + 4 * 12) + 2 * 16),
    Published("HIRES", hires, 8, 25),
    Published("Medical Akzo Nobel", medakzo, 16, 3 + 5 * 4 + 3 + 2 + 8 * 2, cancelled=1),
    Published("Lorenz 96", lorenz96, 12, 4 * 12),
    Published("bundle adjustment", bundle, 45, 2 * 12 * SIGHTS.shape[0]),
)
