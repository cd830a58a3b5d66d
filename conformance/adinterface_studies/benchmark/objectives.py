"""Two objectives with Python structure inside, of the kind that ADBench and GradBench compare tools by.

ADBench: Šrajer, Kukelova, Fitzgibbon, "A Benchmark of Selected Algorithmic Differentiation Tools on Some Problems in
Computer Vision and Machine Learning", Optimization Methods and Software 33 (2018). Each is written from its formulas, with
loops, lists and single numbers, at small sizes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from adinterface_conformance.benchmark.problems import Problem


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


# Geometry -------------------------------------------------------------------------------------------------------------


def _rotated(rotation: Any, point: Any, xp: Any) -> Any:
    """A point turned by a vector's length about its direction: Rodrigues' formula."""
    angle = xp.sqrt(xp.sum(rotation**2))
    axis = rotation / angle
    cross = xp.stack([
        axis[1] * point[2] - axis[2] * point[1],
        axis[2] * point[0] - axis[0] * point[2],
        axis[0] * point[1] - axis[1] * point[0],
    ])  # fmt: skip
    return point * xp.cos(angle) + cross * xp.sin(angle) + axis * xp.sum(axis * point) * (1 - xp.cos(angle))


def bundle_adjustment(n: int, xp: Any) -> Problem:
    """Residuals of n weighted observations: reprojection, with radial distortion, and one minus the squared weight.

    ADBench, section 4.2, after Triggs, McLauchlan, Hartley, Fitzgibbon, "Bundle Adjustment: A Modern Synthesis" (1999). A
    camera has eleven numbers: rotation, center, focal length, principal point and two coefficients of distortion.
    """
    cameras = 2
    points = -(-n // cameras)

    def project(camera: Any, point: Any) -> Any:
        seen = _rotated(camera[0:3], point - camera[3:6], xp)
        flat = seen[0:2] / seen[2]
        square = xp.sum(flat**2)
        distorted = flat * (1 + camera[9] * square + camera[10] * square**2)
        return distorted * camera[6] + camera[7:9]

    def residuals(x: Any, features: Any) -> Any:
        found = []
        for i in range(n):
            weight = x["weights"][i]
            projected = project(x["cameras"][i % cameras], x["points"][i // cameras])
            found.append(weight * (projected - features[i]))
        return xp.concatenate([*found, 1 - x["weights"] ** 2])

    def f(x: Any, features: Any) -> Any:
        return xp.sum(residuals(x, features) ** 2)

    rng = _rng()
    shapes = {"cameras": (cameras, 11), "points": (points, 3), "weights": (n,)}
    x, v = ({name: 0.3 * rng.normal(size=shape) for name, shape in shapes.items()} for _ in range(2))
    x["points"][:, 2] += 5.0
    return Problem(f, residuals, x, v, (rng.normal(size=(n, 2)),))


# Time -----------------------------------------------------------------------------------------------------------------


def ode(n: int, xp: Any) -> Problem:
    """y_0' = x_0, y_i' = x_i y_{i-1} from y = 0, by the classical Runge-Kutta method: the `ode` of cmpad and GradBench."""
    count, time = 6, 2.0

    def slope(x: Any, y: Any) -> Any:
        return xp.concatenate([x[0:1], x[1:] * y[:-1]])

    def final(x: Any) -> Any:
        h, y = time / count, 0.0 * x
        for _ in range(count):
            first = slope(x, y)
            second = slope(x, y + 0.5 * h * first)
            third = slope(x, y + 0.5 * h * second)
            fourth = slope(x, y + h * third)
            y = y + h / 6 * (first + 2 * second + 2 * third + fourth)
        return y

    rng = _rng()
    return Problem(lambda x: xp.sum(final(x) ** 2), final, rng.uniform(0.5, 1.5, size=n), rng.normal(size=n))
