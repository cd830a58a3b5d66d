"""NumPy programs as textbooks print them. Nothing here knows of adinterface, or of any engine."""

import numpy as np
from scipy.special import ndtr

rng = np.random.default_rng(5)


# Optimization test functions
# -----------------------------------------------------------------------------------------


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


# Probabilities
# ------------------------------------------------------------------------------------------------


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
        total += -0.5 * (
            residual @ np.linalg.solve(S, residual) + logdet + len(y) * np.log(2 * np.pi)
        )
    return total


def black_scholes(spot, strike, rate, volatility, maturity):
    """The price of a European call."""
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * maturity) / (
        volatility * np.sqrt(maturity)
    )
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


# Physics
# ------------------------------------------------------------------------------------------------


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
            potential -= (
                masses[i] * masses[j] / np.sqrt(np.sum((positions[i] - positions[j]) ** 2) + 0.01)
            )
    return kinetic + potential


# Signals and fits
# ------------------------------------------------------------------------------------------------


def low_pass(signal, cutoff):
    frequencies = np.fft.rfftfreq(len(signal))
    response = 1 / (1 + (frequencies / cutoff) ** 4)
    return np.sum(np.fft.irfft(np.fft.rfft(signal) * response, n=len(signal)) ** 2)


def ridge_regression(X, y, penalty):
    weights = np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ y)
    return np.mean((y - X @ weights) ** 2) + penalty * np.linalg.norm(weights) ** 2


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


def robust_location(x):
    spread = np.percentile(x, 75) - np.percentile(x, 25)
    z = (x - np.median(x)) / spread
    return np.sum(np.where(np.abs(z) < 1.5, z**2 / 2, 1.5 * np.abs(z) - 1.125))


_X = rng.normal(size=(7, 2))
#: Each program with its arguments; those after None are constants.
PROGRAMS = {
    rosenbrock: (np.array([1.3, 0.7, 0.8, 1.9, 1.2]),),
    kalman_filter_log_likelihood: (
        np.array([[0.9, 0.2], [-0.1, 0.8]]), np.array([[1.0, 0.3]]), np.eye(2) * 0.3,
        np.eye(1) * 0.2, rng.normal(size=(6, 1)),
    ),
    black_scholes: (
        np.array([95.0, 100.0, 107.0]), np.array([100.0, 101.0, 99.0]), np.array(0.03),
        np.array([0.2, 0.25, 0.3]), np.array(0.75),
    ),
    gaussian_process_log_marginal_likelihood: (_X, np.sin(_X[:, 0]), np.array(0.8), np.array(1.2), np.array(0.3)),
    hidden_markov_log_likelihood: (
        rng.normal(size=3), rng.normal(size=(3, 3)), np.array([-1.0, 0.2, 1.4]), None,
        rng.normal(size=8),
    ),
    n_body_energy: (rng.normal(size=(3, 3)), rng.normal(size=(3, 3)), np.array([1.0, 0.5, 0.8])),
    low_pass: (rng.normal(size=15), np.array(0.2)),
    ridge_regression: (rng.normal(size=(8, 3)), rng.normal(size=8), np.array(0.5)),
    network: (
        rng.normal(size=(4, 5)), rng.normal(size=5), rng.normal(size=(5, 3)), rng.normal(size=3),
        None, rng.normal(size=(6, 4)), np.array([0, 2, 1, 1, 0, 2]),
    ),
    attention: (rng.normal(size=(3, 4)), rng.normal(size=(5, 4)), rng.normal(size=(5, 2))),
    robust_location: (rng.normal(size=9),),
}  # fmt: skip
