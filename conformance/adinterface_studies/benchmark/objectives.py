"""Objectives with Python structure inside, of the kind that ADBench and GradBench compare tools by.

ADBench: Šrajer, Kukelova, Fitzgibbon, "A Benchmark of Selected Algorithmic Differentiation Tools on Some Problems in
Computer Vision and Machine Learning", Optimization Methods and Software 33 (2018). Each is written from its formulas, with
loops, lists and single numbers, at small sizes. Such code is written before anybody thinks of an engine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from adinterface_conformance.benchmark.problems import Problem


def _rng() -> np.random.Generator:
    return np.random.default_rng(0)


# Statistics -----------------------------------------------------------------------------------------------------------


def gaussian_mixture(n: int, xp: Any) -> Problem:
    """The log-likelihood of n points under a mixture of Gaussians, with a Wishart prior on the precisions.

    ADBench, section 4.1: the inverse covariance of component k is Q_k^T Q_k, Q_k lower triangular with diagonal exp(q_k).
    The result is `sum_i logsumexp_k(a_k + sum(q_k) - |Q_k (x_i - mu_k)|^2 / 2) - n logsumexp(a)`, plus the logarithm of the
    prior's density, with Wishart parameters gamma = 1 and m = 0.
    """
    components, dimension, gamma, m = 3, 3, 1.0, 0

    def log_sum_exp(values: Any) -> Any:
        largest = xp.amax(values, 0)
        return largest + xp.log(xp.sum(xp.exp(values - largest), 0))

    def f(x: Any, points: Any) -> Any:
        logarithms, prior = [], 0.0
        for k in range(components):
            q, below = x["diagonals"][k], x["below"][k]
            centered = points - x["means"][k]
            squares, position = 0.0, 0
            for i in range(dimension):
                row = xp.exp(q[i]) * centered[:, i]
                for j in range(i):
                    row = row + below[position] * centered[:, j]
                    position += 1
                squares = squares + row**2
            logarithms.append(x["weights"][k] + xp.sum(q) - 0.5 * squares)
            norm = xp.sum(xp.exp(q) ** 2) + xp.sum(below**2)
            prior = prior + 0.5 * gamma**2 * norm - m * xp.sum(q)
        likelihood = xp.sum(log_sum_exp(xp.stack(logarithms))) - n * log_sum_exp(x["weights"])
        return likelihood + prior + constant

    freedom = dimension + m + 1
    log_gamma = dimension * (dimension - 1) / 4 * math.log(math.pi)
    log_gamma += sum(math.lgamma(0.5 * (freedom - j)) for j in range(dimension))
    constant = -n * dimension * 0.5 * math.log(2 * math.pi)
    constant -= components * (freedom * dimension * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma)
    rng = _rng()
    x = {
        "weights": rng.normal(size=components),
        "means": rng.normal(size=(components, dimension)),
        "diagonals": 0.3 * rng.normal(size=(components, dimension)),
        "below": 0.3 * rng.normal(size=(components, dimension * (dimension - 1) // 2)),
    }
    return Problem(f, f, x, None, (rng.normal(size=(n, dimension)),))


def k_means(n: int, xp: Any) -> Problem:
    """The sum over n points of the squared distance to the nearest of five centers (Lloyd, 1982)."""

    def f(centers: Any, points: Any) -> Any:
        squares = [xp.sum((points - centers[k]) ** 2, 1) for k in range(5)]
        return xp.sum(xp.amin(xp.stack(squares), 0))

    rng = _rng()
    return Problem(f, f, rng.normal(size=(5, 4)), None, (rng.normal(size=(n, 4)),))


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


def hand_tracking(n: int, xp: Any) -> Problem:
    """Squared distances of n vertices of a hand, posed by linear blend skinning, to where they were measured.

    ADBench, section 4.3, after Taylor et al., "User-Specific Hand Modeling from Monocular Depth Sequences" (2014), on a
    palm with three fingers of two bones. Each bone turns about its joint by three angles, and its parent carries it; a
    vertex follows its bones with weights.
    """
    parents = (None, 0, 1, 0, 3, 0, 5)

    def turn(angles: Any) -> Any:
        cosines, sines = xp.cos(angles), xp.sin(angles)
        a, b, c = cosines[0], cosines[1], cosines[2]
        p, q, r = sines[0], sines[1], sines[2]
        return xp.stack([
            xp.stack([c * b, c * q * p - r * a, c * q * a + r * p]),
            xp.stack([r * b, r * q * p + c * a, r * q * a - c * p]),
            xp.stack([-q, b * p, b * a]),
        ])  # fmt: skip

    def posed(x: Any, joints: Any, vertices: Any, weights: Any, targets: Any) -> Any:
        turns: list[Any] = []
        places: list[Any] = []
        result = 0.0
        for bone, parent in enumerate(parents):
            own = turn(x["angles"][bone])
            if parent is None:
                turns.append(own)
                places.append(x["position"])
            else:
                turns.append(turns[parent] @ own)
                places.append(places[parent] + turns[parent] @ (joints[bone] - joints[parent]))
            moved = (vertices - joints[bone]) @ turns[bone].T + places[bone]
            result = result + weights[:, bone : bone + 1] * moved
        return result - targets

    def f(*args: Any) -> Any:
        return xp.sum(posed(*args) ** 2)

    rng = _rng()
    x = {"position": rng.normal(size=3), "angles": 0.3 * rng.normal(size=(len(parents), 3))}
    weights = rng.uniform(size=(n, len(parents)))
    joints, vertices, targets = (rng.normal(size=(size, 3)) for size in (len(parents), n, n))
    return Problem(f, posed, x, None, (joints, vertices, weights / weights.sum(axis=1, keepdims=True), targets))


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


def lstm(n: int, xp: Any) -> Problem:
    """The squared error with which a long short-term memory foretells the next of n values of a series.

    Hochreiter and Schmidhuber (1997), with the forget gate of Gers, Schmidhuber and Cummins (2000).
    """
    inputs, hidden = 3, 8

    def sigmoid(z: Any) -> Any:
        return 1 / (1 + xp.exp(-z))

    def f(x: Any, series: Any) -> Any:
        output = cell = 0.0 * x["bias"][:hidden]
        error = 0.0
        for step in range(n - 1):
            gates = x["from_input"] @ series[step] + x["from_output"] @ output + x["bias"]
            enter, forget, leave, new = (gates[i * hidden : (i + 1) * hidden] for i in range(4))
            cell = sigmoid(forget) * cell + sigmoid(enter) * xp.tanh(new)
            output = sigmoid(leave) * xp.tanh(cell)
            error = error + xp.sum((x["to_series"] @ output - series[step + 1]) ** 2)
        return error / (n - 1)

    rng = _rng()
    shapes: dict[str, Sequence[int]] = {
        "from_input": (4 * hidden, inputs),
        "from_output": (4 * hidden, hidden),
        "bias": (4 * hidden,),
        "to_series": (inputs, hidden),
    }
    return Problem(
        f, f, {name: 0.4 * rng.normal(size=shape) for name, shape in shapes.items()}, None, (rng.normal(size=(n, inputs)),)
    )


__all__ = ["bundle_adjustment", "gaussian_mixture", "hand_tracking", "k_means", "lstm", "ode"]
