"""Nonlinear least squares by Gauss and Newton: NIST's reference problem Misra1a, dental research,
with its certified result.

Data and certified values: NIST Statistical Reference Datasets, Misra1a (D. Misra, 1978): b1 =
238.94212918 and b2 = 5.5015643181e-4 from the far start (500, 1e-4). Steps that do not help are
halved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adinterface import AutoBackend, Constant, array_namespace, prepare, value_and_jacobian

TITLE = "Least squares, Gauss-Newton"
CERTIFIED = np.array([2.3894212918e02, 5.5015643181e-04])
VOLUME = np.array(
    [
        10.07,
        14.73,
        17.94,
        23.93,
        29.61,
        35.18,
        40.02,
        44.82,
        50.76,
        55.05,
        61.01,
        66.40,
        75.47,
        81.78,
    ]
)
PRESSURE = np.array(
    [
        77.6,
        114.9,
        141.1,
        190.8,
        239.9,
        289.0,
        332.8,
        378.4,
        434.8,
        477.3,
        536.8,
        593.1,
        689.1,
        760.0,
    ]
)


def curve(b: Any, x: Any) -> Any:
    return b[0] * (1.0 - array_namespace(b).exp(-b[1] * x))


def residuals(b: Any, x: Any, y: Any) -> Any:
    return curve(b, x) - y


def solve(backend: AutoBackend) -> dict[str, Any]:
    b, errors = np.array([500.0, 1e-4]), []
    data = Constant(PRESSURE), Constant(VOLUME)
    linearized = prepare(value_and_jacobian, residuals, backend, b, *data)
    for _ in range(15):
        misfit, (slopes, *_) = linearized(b, *data)
        errors.append(np.max(np.abs(b / CERTIFIED - 1)))
        step = np.linalg.lstsq(slopes, misfit)[0]
        while np.sum(residuals(b - step, PRESSURE, VOLUME) ** 2) > np.sum(misfit**2) * (1 + 1e-9):
            step = step / 2
        b = b - step
    return {"b": b, "errors": np.array(errors)}


def draw(axes: Any, found: dict[str, Any]) -> None:
    axes.semilogy(np.maximum(found["errors"], 1e-16), "o-")
    axes.set(xlabel="step", ylabel="relative error to NIST's values")
