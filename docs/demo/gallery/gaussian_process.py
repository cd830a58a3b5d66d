"""A Gaussian process whose length scales say which measurements matter: the diabetes data, ten per
patient.

Data: B. Efron et al., Least Angle Regression (2004), from scikit-learn. Method: C. E. Rasmussen and
C. K. I. Williams, Gaussian Processes for Machine Learning (2006), equation 5.8 maximized, with a
length scale for each input (section 5.1).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes

from adinterface import AutoBackend, array_namespace
from adinterface.fit import minimize

TITLE = "Gaussian process, length scales"
PATIENTS = 80


def patients() -> tuple[Any, Any, list[str]]:
    """Inputs and outputs in units of their spread, and the names of the inputs."""
    found = load_diabetes()
    x, y = found.data[:PATIENTS], found.target[:PATIENTS]
    return (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std(), list(found.feature_names)


def loss(model: Any, x: Any, y: Any) -> Any:
    """The negative log marginal likelihood of `{"relevance": (10,), "signal": (), "noise": ()}`,
    all logarithms.
    """
    xp = array_namespace(model["relevance"])
    z = x * xp.exp(model["relevance"])
    squares = xp.sum((z[:, None, :] - z[None, :, :]) ** 2, axis=-1)
    eye = xp.asarray(np.eye(len(y)))
    covariance = xp.exp(2.0 * model["signal"] - 0.5 * squares) + xp.exp(2.0 * model["noise"]) * eye
    lower = xp.linalg.cholesky(covariance)
    white = xp.linalg.solve(lower, y[:, None])
    return (
        0.5 * xp.sum(white**2)
        + xp.sum(xp.log(xp.linalg.diagonal(lower)))
        + 0.5 * len(y) * np.log(2 * np.pi)
    )


def solve(backend: AutoBackend) -> dict[str, Any]:
    x, y, _ = patients()
    start = {"relevance": np.full(x.shape[1], -1.5), "signal": 0.0, "noise": -0.5}
    bounds = ({"relevance": np.full(x.shape[1], -6.0), "signal": -3.0, "noise": -3.0}, 3.0)
    result = minimize(
        loss,
        backend,
        start,
        x,
        y,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-12, "gtol": 1e-6},
    )
    return {
        "evidence": -result.fun,
        "relevance": np.exp(result.x["relevance"]),
        "noise": np.exp(result.x["noise"]),
    }


def draw(axes: Any, found: dict[str, Any]) -> None:
    names = patients()[2]
    axes.bar(names, found["relevance"])
    axes.set(ylabel="1 / length scale", xlabel="measurement")
