"""Logistic regression by Newton's method: 569 tumours, 30 measurements each, benign or malignant.

Data: W. N. Street, W. H. Wolberg and O. L. Mangasarian (1993), from scikit-learn. The loss is
convex, so Newton's method needs a handful of steps, each from one call that gives value, gradient
and Hessian.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

from adinterface import AutoBackend, Constant, array_namespace, value_gradient_and_hessian

TITLE = "Logistic regression, Newton"
PENALTY = 1.0


def tumours() -> tuple[Any, Any]:
    """Measurements in units of their spread, with a column of ones, (569, 31).

    1 for benign and -1 for malignant, (569,).
    """
    found = load_breast_cancer()
    x = (found.data - found.data.mean(0)) / found.data.std(0)
    return np.hstack([x, np.ones((len(x), 1))]), 2.0 * found.target - 1.0


def loss(weights: Any, x: Any, signs: Any) -> Any:
    """The penalized negative log-likelihood; log(1 + exp(-m)) without overflow."""
    xp = array_namespace(weights)
    return xp.sum(xp.logaddexp(0.0 * signs, -signs * (x @ weights))) + 0.5 * PENALTY * xp.sum(
        weights**2
    )


def solve(backend: AutoBackend) -> dict[str, Any]:
    x, signs = tumours()
    weights, sizes = np.zeros(x.shape[1]), []
    for _ in range(11):
        _, slope, hessian = value_gradient_and_hessian(
            loss, backend, weights, Constant(x), Constant(signs)
        )
        sizes.append(np.linalg.norm(slope))
        weights = weights - np.linalg.solve(hessian, slope)
    return {
        "weights": weights,
        "accuracy": np.mean(np.sign(x @ weights) == signs),
        "gradients": np.array(sizes),
    }


def draw(axes: Any, found: dict[str, Any]) -> None:
    axes.semilogy(found["gradients"], "o-")
    axes.set(xlabel="step", ylabel="norm of the gradient")
    axes.text(
        0.95, 0.9, f"{100 * found['accuracy']:.1f} % right", transform=axes.transAxes, ha="right"
    )
