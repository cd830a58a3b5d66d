"""Laplace's approximation: how likely a seal of the Challenger was to fail on the cold morning of
its last flight.

Data: S. R. Dalal, E. B. Fowlkes and B. Hoadley (1989), 23 flights before it. The posterior of a
logistic regression is replaced by a normal distribution with the Hessian at its maximum; D. MacKay,
Information Theory, chapter 27.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adinterface import AutoBackend, Constant, array_namespace, hessian
from adinterface.fit import minimize

TITLE = "Laplace approximation"
FLIGHTS = (
    "66:0 70:1 69:0 68:0 67:0 72:0 73:0 70:0 57:1 63:1 70:1 78:0 67:0 53:1 67:0 75:0 70:0 81:0 76:0"
    " 79:0 75:1 76:0 58:1"
)
TEMPERATURE, FAILED = np.array([flight.split(":") for flight in FLIGHTS.split()], dtype=float).T
#: The spread of the normal prior: all but flat, so that the maximum is at the published estimates
#: 15.043 and -0.2322.
PRIOR = 1e4


def energy(model: Any, temperature: Any, failed: Any) -> Any:
    """The negative log posterior of `{"a": intercept, "b": slope per degree Fahrenheit}`, but for a
    constant.
    """
    xp = array_namespace(temperature)
    score = model["a"] + model["b"] * (temperature - 70.0)
    likelihood = xp.sum(failed * score - xp.logaddexp(0.0 * score, score))
    return (model["a"] ** 2 + model["b"] ** 2) / (2.0 * PRIOR**2) - likelihood


def solve(backend: AutoBackend) -> dict[str, Any]:
    data = TEMPERATURE, FAILED
    model = minimize(
        energy, backend, {"a": 0.0, "b": 0.0}, *data, method="trust-exact", options={"gtol": 1e-10}
    ).x
    second = hessian(energy, backend, model, *map(Constant, data))
    matrix = np.array([[float(second[row][column]) for column in "ab"] for row in "ab"])
    covariance = np.linalg.inv(matrix)
    at = np.arange(30.0, 85.0)
    features = np.stack([np.ones_like(at), at - 70.0], axis=1)
    score, spread = (
        features @ [model["a"], model["b"]],
        np.sqrt(np.sum(features @ covariance * features, axis=1)),
    )
    band = [1 / (1 + np.exp(-(score + sign * 1.64 * spread))) for sign in (-1, 0, 1)]
    return {
        "intercept": model["a"] - 70.0 * model["b"],
        "slope": model["b"],
        "covariance": covariance,
        "band": np.array(band),
    }


def draw(axes: Any, found: dict[str, Any]) -> None:
    at = np.arange(30.0, 85.0)
    axes.plot(TEMPERATURE, FAILED, "o", color="0.5", markersize=4)
    axes.plot(at, found["band"][1])
    axes.fill_between(at, found["band"][0], found["band"][2], alpha=0.25)
    axes.axvline(31, linestyle=":", color="0.3")
    axes.set(xlabel="degrees Fahrenheit (dotted: the last flight)", ylabel="a seal fails")
