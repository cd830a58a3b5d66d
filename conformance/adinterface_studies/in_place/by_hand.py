"""The twenty programs as one writes them for an engine that has no writes: lists, `stack`, `concat` and `where`.

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


def viterbi(xp: Any, log_transition: Array, log_emission: Array) -> Array:
    score = log_emission[0, :]
    for t in range(1, log_emission.shape[0]):
        score = xp.max(score[:, None] + log_transition, axis=0) + log_emission[t, :]
    return xp.max(score)


def verlet(xp: Any, x0: Array, v0: Array) -> Array:
    def force(y: Array) -> Array:
        stretch, wall = y[1:] - y[:-1] - 1.0, xp.zeros_like(y[:1])
        return xp.concat([stretch, wall]) - xp.concat([wall, stretch])

    x, v = [x0], [v0]
    for _ in range(5):
        a = force(x[-1])
        x.append(x[-1] + 0.1 * v[-1] + 0.005 * a)
        v.append(v[-1] + 0.05 * (a + force(x[-1])))
    return xp.sum(xp.stack(v) ** 2) + xp.sum(x[-1] ** 2)


def runge_kutta(xp: Any, y0: Array, mu: Array) -> Array:
    A = np.array([[0.0, 0, 0, 0], [1 / 3, 0, 0, 0], [-1 / 3, 1, 0, 0], [1, -1, 1, 0]])
    b = np.array([1.0, 3.0, 3.0, 1.0]) / 8
    y = y0
    for _ in range(5):
        k: list[Any] = []
        for s in range(4):
            u = y
            for j in range(s):
                u = u + 0.1 * float(A[s, j]) * k[j]
            k.append(xp.stack([u[1], mu * (1 - u[0] ** 2) * u[1] - u[0]]))
        for s in range(4):
            y = y + 0.1 * float(b[s]) * k[s]
    return y[0] ** 2 + y[1]


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


def levinson(xp: Any, r: Array) -> Array:
    n = r.shape[0] - 1
    a, reflections, error = xp.ones_like(r[:1]), [], r[0]
    for i in range(1, n + 1):
        k = -xp.sum(a * xp.flip(r[1 : i + 1])) / error
        grown = xp.concat([a, xp.zeros_like(r[:1])])
        a = grown + k * xp.flip(grown)
        reflections.append(k)
        error = error * (1 - k * k)
    return error + xp.sum(xp.stack(reflections) ** 2) + xp.sum(a)


def b_spline(xp: Any, t: Array, coefficients: Array) -> Array:
    knots = np.arange(10) / 3.0
    values = []
    for i in range(t.shape[0]):
        k = int(xp.sum(t[i] >= _weights(xp, knots, t))) - 1
        d = [coefficients[k - 3 + j] for j in range(4)]
        for r in range(1, 4):
            for j in range(3, r - 1, -1):
                alpha = (t[i] - float(knots[j + k - 3])) / float(knots[j + 1 + k - r] - knots[j + k - 3])
                d[j] = (1.0 - alpha) * d[j - 1] + alpha * d[j]
        values.append(d[3])
    return xp.sum(xp.stack(values) ** 2)


def matrix_chain(xp: Any, sizes: Array) -> Array:
    n = sizes.shape[0] - 1
    cost = {(i, i): xp.zeros_like(sizes[0]) for i in range(n)}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            ways = [cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1] for k in range(i, j)]
            cost[i, j] = xp.min(xp.stack(ways))
    return cost[0, n - 1]


def ray_march(xp: Any, density: Array, absorption: Array) -> Array:
    steps, rays = density.shape
    light, colour = xp.ones_like(density[0, :]), xp.zeros_like(density[0, :])
    for s in range(steps):
        opacity = xp.where(light > 0.3, 1.0 - xp.exp(-absorption * density[s, :]), xp.zeros_like(light))
        colour = colour + light * opacity
        light = light * (1.0 - opacity)
    return xp.sum(colour * _weights(xp, np.arange(1, rays + 1), density))


def horner(xp: Any, coefficients: Array, x: Array) -> Array:
    n = coefficients.shape[0]
    row, ends = [coefficients[i] for i in range(n)], []
    for _ in range(3):
        new = [row[0]]
        for j in range(1, len(row)):
            new.append(new[-1] * x + row[j])
        ends.append(new[-1])
        row = new[:-1]
    return ends[0] + ends[1] + 2 * ends[2]


def deposit(xp: Any, positions: Array, charges: Array) -> Array:
    base = xp.floor(positions)
    share = positions - base
    nodes = xp.arange(6, dtype=positions.dtype)[:, None]
    left = xp.where(nodes == base, charges * (1.0 - share), xp.zeros_like(share))
    right = xp.where(nodes == base + 1.0, charges * share, xp.zeros_like(share))
    rho = xp.sum(left + right, axis=1)
    both = rho[-1] + rho[0]
    return xp.sum(rho[1:-1] ** 2) + 2 * both**2


def automaton(xp: Any, cells: Array, rate: Array) -> Array:
    generations = [cells]
    for _ in range(3):
        old = generations[-1]
        both = xp.concat([old[-1:], old[:-1]]) + xp.concat([old[1:], old[:1]])
        generations.append(xp.tanh(0.5 * both) + rate * old)
    return xp.sum(generations[-1] ** 2) + xp.sum(xp.stack([each[0] for each in generations]))
