"""The twelve programs as one writes them for an engine that has no writes: lists, `stack`, `concat` and `where`.

Each takes the engine's namespace first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def _weights(xp: Any, values: Any, like: Array) -> Array:
    return xp.asarray(np.asarray(values, dtype=float), dtype=like.dtype)


def thomas(xp: Any, a: Array, b: Array, c: Array, d: Array) -> Array:
    n = d.shape[0]
    cp, dp = [c[0] / b[0]], [d[0] / b[0]]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i - 1]
        cp.append(c[i] / m)
        dp.append((d[i] - a[i] * dp[i - 1]) / m)
    x = [dp[-1]]
    for i in range(n - 2, -1, -1):
        x.append(dp[i] - cp[i] * x[-1])
    return xp.sum(xp.stack(x[::-1]) * _weights(xp, np.cos(np.arange(n)), d))


def gauss(xp: Any, A: Array, b: Array) -> Array:
    n = b.shape[0]
    rows = [xp.concat([A[i, :], b[i : i + 1]]) for i in range(n)]
    for k in range(n):
        column = xp.stack([xp.abs(row[k]) for row in rows[k:]])
        below = xp.stack(rows[k:])
        pivot = xp.argmax(column)
        chosen = xp.sum(xp.where((xp.arange(n - k) == pivot)[:, None], below, xp.zeros_like(below)), axis=0)
        first = rows[k]
        swapped = [xp.where(pivot == i - k, first, rows[i]) for i in range(k + 1, n)]
        rows[k:] = [chosen, *swapped]
        for i in range(k + 1, n):
            rows[i] = rows[i] - rows[i][k] / rows[k][k] * rows[k]
    x: list[Any] = []
    for k in range(n - 1, -1, -1):
        known = sum((rows[k][n - 1 - j] * x[j] for j in range(len(x))), 0.0)
        x.append((rows[k][n] - known) / rows[k][k])
    return xp.sum(xp.stack(x[::-1]) * _weights(xp, np.arange(1, n + 1), b))


def gauss_seidel(xp: Any, u0: Array, f: Array) -> Array:
    u = [u0[i] for i in range(u0.shape[0])]
    n = len(u)
    for _ in range(3):
        for first in (1, 2):
            new = {i: 0.5 * (u[i - 1] + u[i + 1] + f[i]) for i in range(first, n - 1, 2)}
            u = [new.get(i, u[i]) for i in range(n)]
    return xp.sum(xp.stack([0.9 * u[i] if i % 2 and i < n - 1 else u[i] for i in range(n)]) ** 2)


def fdtd(xp: Any, eps: Array, amplitude: Array) -> Array:
    n = eps.shape[0]
    E, H, out = xp.zeros_like(eps), xp.zeros_like(eps), []
    source = _weights(xp, np.arange(n) == 2, eps)
    for t in range(8):
        H = xp.concat([H[:-1] + 0.5 * (E[1:] - E[:-1]), H[-1:]])
        E = xp.concat([E[:1], E[1:] + 0.5 / eps[1:] * (H[1:] - H[:-1])])
        E = E + source * (amplitude * np.exp(-0.1 * (t - 3.0) ** 2))
        E = xp.concat([xp.zeros_like(E[:1]), E[1:-1], E[-2:-1]])
        out.append(E[n // 2] ** 2)
    return xp.sum(xp.stack(out))


def soft_dtw(xp: Any, x: Array, y: Array) -> Array:
    n, m = x.shape[0], y.shape[0]
    far = xp.zeros_like(x[0]) + 1e6
    D = {(i, j): far for i in range(n + 1) for j in range(m + 1)}
    D[0, 0] = xp.zeros_like(x[0])
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            r = xp.stack([D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]]) / -0.3
            s = xp.max(r)
            D[i, j] = (x[i - 1] - y[j - 1]) ** 2 - 0.3 * (xp.log(xp.sum(xp.exp(r - s))) + s)
    return D[n, m]


def kalman(xp: Any, q: Array, r: Array, z: Array) -> Array:
    n = z.shape[0]
    F, unit = _weights(xp, [[1.0, 0.3], [0.0, 1.0]], z), _weights(xp, [1.0, 0.0], z)
    x, P = xp.zeros_like(z[:2]), _weights(xp, 1.3 * np.eye(2), z)
    Q = q * _weights(xp, np.diag([1.0, 0.5]), z)
    xs, Ps, likelihood = [], [], []
    for t in range(n):
        x = F @ x
        P = F @ P @ F.T + Q
        S = P[0, 0] + r
        K = P @ unit / S
        e = z[t] - x[0]
        x = x + K * e
        P = P - K[:, None] * K[None, :] * S
        xs.append(x)
        Ps.append(P[0, 0] + P[1, 1])
        likelihood.append(-0.5 * (xp.log(S) + e * e / S))
    return xp.sum(xp.stack(likelihood)) + xp.sum(xp.stack(xs) ** 2) + xp.mean(xp.stack(Ps))


def heat(xp: Any, u0: Array, kappa: Array) -> Array:
    u = u0
    for _ in range(4):
        inner = u[1:-1, 1:-1]
        inner = inner + kappa * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * inner)
        u = xp.concat([xp.ones_like(u[:1, :]), xp.concat([u[1:-1, :1], inner, u[1:-1, -1:]], axis=1), u[-1:, :]], axis=0)
        u = xp.concat([u[:, :-1], u[:, -2:-1]], axis=1)
    return xp.sum(u**2)


def lu(xp: Any, A: Array) -> Array:
    n = A.shape[0]
    rest, logarithms, lower = A, [], []
    for k in range(n):
        logarithms.append(xp.log(xp.abs(rest[0, 0])))
        if k < n - 1:
            column = rest[1:, 0] / rest[0, 0]
            lower.append(xp.sum(column))
            rest = rest[1:, 1:] - column[:, None] * rest[0, 1:][None, :]
    return xp.sum(xp.stack(logarithms)) + xp.sum(xp.stack(lower))


def householder(xp: Any, A: Array) -> Array:
    m, n = A.shape
    R, Q = A, _weights(xp, np.eye(m), A)
    for k in range(n):
        column = R[k:, k]
        sign = xp.where(column[0] >= 0, xp.ones_like(column[0]), -xp.ones_like(column[0]))
        head = column[0] + sign * xp.sqrt(xp.sum(column**2))
        v = xp.concat([xp.zeros_like(R[:k, k]), xp.reshape(head, (1,)), column[1:]])
        v = v / xp.sqrt(xp.sum(v**2))
        R = R - 2.0 * v[:, None] * (v @ R)[None, :]
        Q = Q - 2.0 * (Q @ v)[:, None] * v[None, :]
    weights = np.triu(np.arange(1.0, m * n + 1).reshape(m, n))
    return xp.sum(R * _weights(xp, weights, A)) + xp.sum(Q[:, 0])


def butterfly(xp: Any, x: Array) -> Array:
    n = x.shape[0]
    bits = n.bit_length() - 1
    re = xp.stack([x[int(format(i, f"0{bits}b")[::-1], 2)] for i in range(n)])
    im = xp.zeros_like(re)
    size = 2
    while size <= n:
        half = size // 2
        angle = 2 * np.pi * np.arange(half) / size
        c, s = _weights(xp, np.cos(angle), x), _weights(xp, -np.sin(angle), x)
        re, im = xp.reshape(re, (n // size, size)), xp.reshape(im, (n // size, size))
        odd_re = c * re[:, half:] - s * im[:, half:]
        odd_im = c * im[:, half:] + s * re[:, half:]
        re = xp.reshape(xp.concat([re[:, :half] + odd_re, re[:, :half] - odd_re], axis=1), (n,))
        im = xp.reshape(xp.concat([im[:, :half] + odd_im, im[:, :half] - odd_im], axis=1), (n,))
        size *= 2
    return xp.sum((re**2 + im**2) * _weights(xp, np.arange(1, n + 1), x))


def ray_march(xp: Any, density: Array, absorption: Array) -> Array:
    steps, rays = density.shape
    light, colour = xp.ones_like(density[0, :]), xp.zeros_like(density[0, :])
    for s in range(steps):
        opacity = xp.where(light > 0.3, 1.0 - xp.exp(-absorption * density[s, :]), xp.zeros_like(light))
        colour = colour + light * opacity
        light = light * (1.0 - opacity)
    return xp.sum(colour * _weights(xp, np.arange(1, rays + 1), density))


def deposit(xp: Any, positions: Array, charges: Array) -> Array:
    base = xp.floor(positions)
    share = positions - base
    nodes = xp.arange(6, dtype=positions.dtype)[:, None]
    left = xp.where(nodes == base, charges * (1.0 - share), xp.zeros_like(share))
    right = xp.where(nodes == base + 1.0, charges * share, xp.zeros_like(share))
    rho = xp.sum(left + right, axis=1)
    both = rho[-1] + rho[0]
    return xp.sum(rho[1:-1] ** 2) + 2 * both**2
