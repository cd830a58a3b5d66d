"""NumPy programs as textbooks print them. Nothing here knows of adinterface, or of any engine."""

import numpy as np
from scipy.special import log_ndtr, ndtr

rng = np.random.default_rng(12)


# Optimization test functions -----------------------------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


def ackley(x):
    n = len(x)
    return -20 * np.exp(-0.2 * np.sqrt(np.sum(x**2) / n)) - np.exp(np.sum(np.cos(2 * np.pi * x)) / n) + 20 + np.e


def himmelblau(x):
    a, b = x
    return (a**2 + b - 11) ** 2 + (a + b**2 - 7) ** 2


# Probabilities -------------------------------------------------------------------------------------------------------


def kalman_filter_log_likelihood(F, H, Q, R, observations):
    """A linear Gaussian state-space model, from state zero with the identity for its covariance."""
    state, covariance = np.zeros(F.shape[0]), np.eye(F.shape[0])
    total = 0.0
    for y in observations:
        state = F @ state
        covariance = F @ covariance @ F.T + Q
        residual = y - H @ state
        S = H @ covariance @ H.T + R
        gain = covariance @ H.T @ np.linalg.inv(S)
        state = state + gain @ residual
        covariance = (np.eye(len(state)) - gain @ H) @ covariance
        _, logdet = np.linalg.slogdet(S)
        total += -0.5 * (residual @ np.linalg.solve(S, residual) + logdet + len(y) * np.log(2 * np.pi))
    return total


def black_scholes(spot, strike, rate, volatility, maturity):
    """The price of a European call."""
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * maturity) / (volatility * np.sqrt(maturity))
    d2 = d1 - volatility * np.sqrt(maturity)
    return np.sum(spot * ndtr(d1) - strike * np.exp(-rate * maturity) * ndtr(d2))


def gaussian_process_log_marginal_likelihood(X, y, length_scale, signal, noise):
    """Rasmussen and Williams, Gaussian Processes for Machine Learning, algorithm 2.1."""
    distances = np.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=-1)
    K = signal**2 * np.exp(-0.5 * distances / length_scale**2) + noise**2 * np.eye(len(X))
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return -0.5 * y.dot(alpha) - np.log(np.diag(L)).sum() - len(X) / 2 * np.log(2 * np.pi)


def hidden_markov_log_likelihood(initial, transitions, means, observations):
    """The forward algorithm, scaled."""
    initial = np.exp(initial) / np.exp(initial).sum()
    A = np.exp(transitions) / np.exp(transitions).sum(axis=1, keepdims=True)
    alpha = initial
    total = 0.0
    for t, y in enumerate(observations):
        if t > 0:
            alpha = alpha @ A
        alpha = alpha * np.exp(-0.5 * (y - means) ** 2) / np.sqrt(2 * np.pi)
        scale = alpha.sum()
        alpha = alpha / scale
        total += np.log(scale)
    return total


def probit_regression(weights, X, labels):
    return np.sum(log_ndtr(np.where(labels, 1.0, -1.0) * (X @ weights)))


def gaussian_mixture(logits, means, log_scales, points):
    z = (points[:, None] - means) / np.exp(log_scales)
    terms = logits - np.log(np.sum(np.exp(logits))) - 0.5 * z**2 - log_scales - 0.5 * np.log(2 * np.pi)
    top = terms.max(axis=1, keepdims=True)
    return np.sum(np.squeeze(top, axis=1) + np.log(np.exp(terms - top).sum(axis=1)))


# Physics -------------------------------------------------------------------------------------------------------------


def n_body_energy(positions, velocities, masses, dt=0.01, steps=5):
    """Leapfrog with softened gravity; the total energy after some steps."""

    def accelerations(positions):
        found = []
        for i in range(len(masses)):
            total = np.zeros(3)
            for j in range(len(masses)):
                if i != j:
                    r = positions[j] - positions[i]
                    total = total + masses[j] * r / (np.sum(r**2) + 0.01) ** 1.5
            found.append(total)
        return np.stack(found)

    acceleration = accelerations(positions)
    for _ in range(steps):
        velocities = velocities + 0.5 * dt * acceleration
        positions = positions + dt * velocities
        acceleration = accelerations(positions)
        velocities = velocities + 0.5 * dt * acceleration
    kinetic = 0.5 * np.sum(masses[:, None] * velocities**2)
    potential = 0.0
    for i in range(len(masses)):
        for j in range(i):
            potential -= masses[i] * masses[j] / np.sqrt(np.sum((positions[i] - positions[j]) ** 2) + 0.01)
    return kinetic + potential


def lotka_volterra(parameters, start, h=0.05, steps=6):
    """Classical Runge-Kutta of fourth order."""
    a, b, c, d = parameters

    def f(state):
        prey, predators = state
        return np.stack([a * prey - b * prey * predators, d * prey * predators - c * predators])

    state = start
    for _ in range(steps):
        k1 = f(state)
        k2 = f(state + h / 2 * k1)
        k3 = f(state + h / 2 * k2)
        k4 = f(state + h * k3)
        state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state.sum()


def heat_equation(u, diffusivity, steps=4):
    for _ in range(steps):
        laplacian = np.roll(u, 1, axis=0) + np.roll(u, -1, axis=0) + np.roll(u, 1, axis=1) + np.roll(u, -1, axis=1) - 4 * u
        u = u + 0.1 * diffusivity * laplacian
    return np.sum(u**3)


def ising_mean_field(magnetization, coupling, field):
    m = magnetization
    for _ in range(8):
        m = np.tanh(coupling @ m + field)
    entropy = -np.sum((1 + m) / 2 * np.log((1 + m) / 2) + (1 - m) / 2 * np.log((1 - m) / 2))
    return -0.5 * np.einsum("i,ij,j->", m, coupling, m) - field @ m - entropy


# Signals and fits ----------------------------------------------------------------------------------------------------


def spectral_flatness(signal):
    power = np.abs(np.fft.rfft(signal * np.hanning(len(signal)))) ** 2 + 1e-3
    return np.exp(np.mean(np.log(power))) / np.mean(power)


def low_pass(signal, cutoff):
    frequencies = np.fft.rfftfreq(len(signal))
    response = 1 / (1 + (frequencies / cutoff) ** 4)
    return np.sum(np.fft.irfft(np.fft.rfft(signal) * response, n=len(signal)) ** 2)


def ridge_regression(X, y, penalty):
    weights = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ y)
    return np.mean((y - X @ weights) ** 2) + penalty * np.linalg.norm(weights) ** 2


def principal_components(X):
    centred = X - X.mean(axis=0)
    _, S, _ = np.linalg.svd(centred, full_matrices=False)
    return np.sum(S[:2] ** 2) / np.sum(S**2)


def network(w1, b1, w2, b2, inputs, labels):
    """Cross-entropy of a network with one hidden layer."""
    hidden = np.maximum(inputs @ w1 + b1, 0)
    logits = hidden @ w2 + b2
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    log_probabilities = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_probabilities[np.arange(len(labels)), labels])


def attention(queries, keys, values):
    scores = np.einsum("qd,kd->qk", queries, keys) / np.sqrt(queries.shape[-1])
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.sum(np.tanh(weights @ values))


def calibration_curve(knots, points):
    heights = np.cumsum(np.exp(knots))
    return np.sum(np.interp(points, np.linspace(0, 1, len(knots)), heights / heights[-1]) ** 2)


def robust_location(x):
    spread = np.percentile(x, 75) - np.percentile(x, 25)
    z = (x - np.median(x)) / spread
    return np.sum(np.where(np.abs(z) < 1.5, z**2 / 2, 1.5 * np.abs(z) - 1.125))


_X = rng.normal(size=(7, 2))
_coupling = rng.normal(size=(4, 4)) * 0.3
#: Each program with its arguments; those after None are constants.
PROGRAMS = {
    rosenbrock: (np.array([1.3, 0.7, 0.8, 1.9, 1.2]),),
    ackley: (np.array([0.4, -1.1, 0.6]),),
    himmelblau: (np.array([1.5, -0.5]),),
    kalman_filter_log_likelihood: (
        np.array([[0.9, 0.2], [-0.1, 0.8]]), np.array([[1.0, 0.3]]), np.eye(2) * 0.3, np.eye(1) * 0.2, rng.normal(size=(6, 1)),
    ),
    black_scholes: (
        np.array([95.0, 100.0, 107.0]), np.array([100.0, 101.0, 99.0]), np.array(0.03), np.array([0.2, 0.25, 0.3]),
        np.array(0.75),
    ),
    gaussian_process_log_marginal_likelihood: (_X, np.sin(_X[:, 0]), np.array(0.8), np.array(1.2), np.array(0.3)),
    hidden_markov_log_likelihood: (
        rng.normal(size=3), rng.normal(size=(3, 3)), np.array([-1.0, 0.2, 1.4]), None, rng.normal(size=8),
    ),
    probit_regression: (rng.normal(size=3), rng.normal(size=(9, 3)), None, rng.random(9) > 0.5),
    gaussian_mixture: (rng.normal(size=3), rng.normal(size=3), rng.normal(size=3) * 0.2, rng.normal(size=11)),
    n_body_energy: (rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), np.array([1.0, 0.5, 0.8])),
    lotka_volterra: (np.array([1.1, 0.4, 0.4, 0.1]), np.array([10.0, 5.0])),
    heat_equation: (rng.normal(size=(5, 6)), np.array(0.7)),
    ising_mean_field: (rng.normal(size=4) * 0.1, _coupling + _coupling.T, rng.normal(size=4) * 0.2),
    spectral_flatness: (rng.normal(size=16),),
    low_pass: (rng.normal(size=15), np.array(0.2)),
    ridge_regression: (rng.normal(size=(8, 3)), rng.normal(size=8), np.array(0.5)),
    principal_components: (rng.normal(size=(9, 4)),),
    network: (
        rng.normal(size=(4, 5)), rng.normal(size=5), rng.normal(size=(5, 3)), rng.normal(size=3), None,
        rng.normal(size=(6, 4)), np.array([0, 2, 1, 1, 0, 2]),
    ),
    attention: (rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 2))),
    calibration_curve: (rng.normal(size=5), None, rng.random(6)),
    robust_location: (rng.normal(size=9),),
}  # fmt: skip
