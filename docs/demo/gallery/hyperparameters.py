"""An implicit layer: a ridge regression inside a loss, whose ten penalties are fitted to patients
that it has not seen.

Data: the diabetes data of B. Efron et al. (2004), from scikit-learn. The weights are the root of
the penalized problem's gradient; the derivative by the penalties is that of the implicit function:
Y. Bengio, Gradient-Based Optimization of Hyperparameters (2000).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes

from adinterface import AutoBackend, array_namespace
from adinterface.fit import minimize
from adinterface.rules import root

TITLE = "Implicit layer, penalties"


def patients() -> tuple[Any, ...]:
    """Inputs and outputs of 300 patients to fit and 142 to judge by, in units of their spread."""
    found = load_diabetes()
    x, y = found.data / found.data.std(0), (found.target - found.target.mean()) / found.target.std()
    return x[:300], y[:300], x[300:], y[300:]


def fitted(penalties: Any, x: Any, y: Any) -> Any:
    """The weights of the penalized least squares."""

    def slope(weights: Any, penalties: Any, x: Any, y: Any) -> Any:
        return (
            x.T @ (x @ weights - y) / len(y) + array_namespace(penalties).exp(penalties) * weights
        )

    def solver(f: Any, start: Any) -> Any:
        """Newton's method, exact in one step: the equation is linear."""
        matrix = np.stack([f(column) - f(start) for column in np.eye(len(start))], axis=1)
        return start - np.linalg.solve(matrix, f(start))

    return root(slope, np.zeros(x.shape[1]), penalties, x, y, solver=solver)


def loss(penalties: Any, x: Any, y: Any, unseen: Any, target: Any) -> Any:
    return array_namespace(penalties).mean((unseen @ fitted(penalties, x, y) - target) ** 2)


def solve(backend: AutoBackend) -> dict[str, Any]:
    start, data = np.full(10, -4.0), patients()
    result = minimize(loss, backend, start, *data, method="L-BFGS-B", bounds=(-8.0, 4.0))
    return {"before": float(loss(start, *data)), "after": result.fun, "penalties": result.x}


def draw(axes: Any, found: dict[str, Any]) -> None:
    axes.bar(load_diabetes().feature_names, np.exp(found["penalties"]))
    axes.set(yscale="log", ylabel="penalty", xlabel="measurement")
