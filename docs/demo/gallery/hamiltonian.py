"""Hamiltonian Monte Carlo: the eight schools, whose effects borrow strength from one another.

Data and model: D. B. Rubin (1981) and A. Gelman et al., Bayesian Data Analysis, section 5.5,
written without centres. Method: R. M. Neal, MCMC using Hamiltonian dynamics (2011), figure 2. All
engines draw the same random numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adinterface import AutoBackend, Constant, array_namespace, prepare, tree, value_and_gradient

TITLE = "Hamiltonian Monte Carlo"
EFFECT = np.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
ERROR = np.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])
DRAWS, STEPS, SIZE = 250, 10, 0.3


def energy(model: Any, effect: Any, error: Any) -> Any:
    """The negative log density of `{"mean": (), "scale": log of the spread, "z": (8,)}`.

    A priori the mean is N(0, 5), the spread half-Cauchy(0, 5).
    """
    xp = array_namespace(model["z"])
    spread = xp.exp(model["scale"])
    misfit = (model["mean"] + spread * model["z"] - effect) / error
    prior = 0.5 * (model["mean"] / 5.0) ** 2 + xp.log(1.0 + (spread / 5.0) ** 2) - model["scale"]
    return 0.5 * xp.sum(misfit**2) + 0.5 * xp.sum(model["z"] ** 2) + prior


def solve(backend: AutoBackend, draws: int = DRAWS) -> dict[str, Any]:
    model = {"mean": np.array(5.0), "scale": np.array(1.0), "z": np.zeros(8)}
    data = Constant(EFFECT), Constant(ERROR)
    slope = prepare(value_and_gradient, energy, backend, model, *data)
    rng = np.random.default_rng(0)
    (value, (force, *_)), drawn, accepted = slope(model, *data), [], 0
    for _ in range(draws):
        momentum = tree.map(lambda x: rng.normal(size=x.shape), model)
        before = value + 0.5 * tree.vdot(momentum, momentum)
        trial, pull = model, force
        for _ in range(STEPS):  # leapfrog
            momentum = tree.axpy(-SIZE / 2, pull, momentum)
            trial = tree.axpy(SIZE, momentum, trial)
            height, (pull, *_) = slope(trial, *data)
            momentum = tree.axpy(-SIZE / 2, pull, momentum)
        if np.log(rng.uniform()) < before - height - 0.5 * tree.vdot(momentum, momentum):
            model, value, force, accepted = trial, height, pull, accepted + 1
        drawn.append([float(model["mean"]), float(np.exp(model["scale"]))])
    means, spreads = np.array(drawn).T
    return {
        "mean": means.mean(),
        "spread": spreads.mean(),
        "accepted": accepted / draws,
        "drawn": np.array(drawn),
    }


def draw(axes: Any, found: dict[str, Any]) -> None:
    axes.semilogy(*found["drawn"].T, ".", markersize=3)
    axes.set(xlabel="mean effect", ylabel="spread of the schools")
