"""Seven classical programs that write in place, as textbooks print them.

Nothing here knows of adinterface or of an engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def thomas(a: Array, b: Array, c: Array, d: Array) -> Array:
    """The solution of a tridiagonal system, weighed. Thomas's algorithm."""
    n = len(d)
    cp, dp, x = np.zeros(n), np.zeros_like(d), np.empty(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        if i < n - 1:
            cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.sum(x * np.cos(np.arange(n)))


def gauss(A: Array, b: Array) -> Array:
    """A linear system by elimination with pivoting."""
    A, b = A.copy(), b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        A[[k, p]] = A[[p, k]]
        b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            factor = A[i, k] / A[k, k]
            A[i, k:] -= factor * A[k, k:]
            b[i] -= factor * b[k]
    x = np.zeros(n)
    for k in range(n - 1, -1, -1):
        x[k] = (b[k] - A[k, k + 1 :] @ x[k + 1 :]) / A[k, k]
    return np.sum(x * np.arange(1, n + 1))


def gauss_seidel(u0: Array, f: Array) -> Array:
    """Red and black sweeps of a Poisson problem, through views."""
    u = u0.copy()
    red, black = u[1:-1:2], u[2:-1:2]
    for _ in range(3):
        red[...] = 0.5 * (u[:-2:2][: len(red)] + u[2::2][: len(red)] + f[1:-1:2])
        black[...] = 0.5 * (u[1:-2:2][: len(black)] + u[3::2][: len(black)] + f[2:-1:2])
    red *= 0.9
    return np.sum(u**2)


def lu(A: Array) -> Array:
    """Doolittle's decomposition, in the memory of the matrix.

    The logarithm of the determinant and a sum of L.
    """
    LU = np.array(A)
    n = len(LU)
    for k in range(n - 1):
        LU[k + 1 :, k] /= LU[k, k]
        LU[k + 1 :, k + 1 :] -= np.outer(LU[k + 1 :, k], LU[k, k + 1 :])
    return np.sum(np.log(np.abs(np.diagonal(LU)))) + np.sum(np.tril(LU, -1))


def butterfly(x: Array) -> Array:
    """Cooley and Tukey's transform in place, and the power at each frequency, weighed."""
    n = len(x)
    y = np.zeros(n, dtype=complex)
    bits = n.bit_length() - 1
    for i in range(n):
        y[int(format(i, f"0{bits}b")[::-1], 2)] = x[i]
    size = 2
    while size <= n:
        half = size // 2
        twiddle = np.exp(-2j * np.pi * np.arange(half) / size)
        blocks = y.reshape(n // size, size)
        odd = twiddle * blocks[:, half:]
        blocks[:, half:] = blocks[:, :half] - odd
        blocks[:, :half] += odd
        size *= 2
    return np.sum(np.abs(y) ** 2 * np.arange(1, n + 1))


def ray_march(density: Array, absorption: Array) -> Array:
    """Light along rays through a medium, stopped where little is left: masks and `where=`."""
    steps, rays = density.shape
    light, colour = np.ones(rays), np.zeros(rays)
    for s in range(steps):
        alive = light > 0.3
        opacity = np.zeros(rays)
        opacity[alive] = 1.0 - np.exp(-absorption * density[s, alive])
        np.add(colour, light * opacity, out=colour, where=alive)
        light *= 1.0 - opacity
    return np.sum(colour * np.arange(1, rays + 1))


def deposit(positions: Array, charges: Array) -> Array:
    """Particles in cells: the charge of each is spread over the two nodes about it."""
    rho = np.zeros(6)
    cell = np.floor(positions).astype(int)
    share = positions - cell
    np.add.at(rho, cell, charges * (1.0 - share))
    np.add.at(rho, cell + 1, charges * share)
    rho[-1] += rho[0]
    rho[0] = rho[-1]
    return np.sum(rho**2)


def _arguments() -> dict[str, tuple[Any, ...]]:
    rng = np.random.default_rng(19)
    uniform, normal = rng.uniform, rng.normal
    return {
        "thomas": (uniform(0.1, 0.4, 5), uniform(1, 2, 5), uniform(0.1, 0.4, 5), normal(size=5)),
        "gauss": (normal(size=(4, 4)), normal(size=4)),
        "gauss_seidel": (normal(size=8), normal(size=8)),
        "lu": (normal(size=(4, 4)) + 4 * np.eye(4),),
        "butterfly": (normal(size=8),),
        "ray_march": (uniform(0.2, 1.5, (4, 5)), 0.9),
        "deposit": (np.array([0.3, 1.7, 1.2, 3.9, 4.4]), uniform(0.5, 1.5, 5)),
    }


#: By name: the arguments, all of which are differentiated.
ARGUMENTS = _arguments()
PROGRAMS = {name: globals()[name] for name in ARGUMENTS}
