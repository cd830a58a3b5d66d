"""Likelihoods and losses, most with the gradient and Hessian that textbooks give."""

from __future__ import annotations

from typing import Any

import numpy as np
from adinterface_conformance.scenarios.building import Array, array_to_array, array_to_number, scalar, scenario, signed, some

from adinterface import (
    Constant,
    array_namespace,
    diagonal_hessian,
    gradient,
    gradient_and_hvp,
    hessian,
    hvp,
    jacobian,
    linearize,
    pullback,
    pushforward,
    value_and_gradient,
    value_and_jacobian,
    value_gradient_and_hessian,
)

from .complex_step import complex_step_gradient

_X, _W = signed(5, 3, seed=1), signed(3, seed=2)
_LABELS, _COUNTS = np.array([1.0, 0, 0, 1, 1]), np.array([2.0, 0, 1, 3, 1])

# Smooth maximum and its relatives ------------------------------------------------------------------------------------


def logsumexp(x: Any) -> Any:
    xp = array_namespace(x)
    largest = xp.max(x)
    return largest + xp.log(xp.sum(xp.exp(x - largest)))


def softmax(x: Any) -> Any:
    xp = array_namespace(x)
    return xp.exp(x - logsumexp(x))


def entropy(p: Any) -> Any:
    xp = array_namespace(p)
    return -xp.sum(p * xp.log(p))


_P = np.exp(_W) / np.sum(np.exp(_W))
_S = np.diag(_P) - np.outer(_P, _P)
_TWO = np.array([3.0, 1.0, 2.0])

# Regressions: the loss of the weights, data as Python captures --------------------------------------------------------


def logistic_regression(w: Any) -> Any:
    xp = array_namespace(w)
    z = xp.asarray(_X) @ w
    return xp.sum(xp.log1p(xp.exp(z)) - xp.asarray(_LABELS) * z)


def poisson_regression(w: Any) -> Any:
    xp = array_namespace(w)
    z = xp.asarray(_X) @ w
    return xp.sum(xp.exp(z) - xp.asarray(_COUNTS) * z)


def ridge_regression(w: Any) -> Any:
    xp = array_namespace(w)
    rest = xp.asarray(_X) @ w - xp.asarray(_COUNTS)
    return 0.5 * (rest @ rest) + 0.3 * (w @ w)


def student_likelihood(w: Any) -> Any:
    """Student's t with 4 degrees of freedom."""
    xp = array_namespace(w)
    rest = xp.asarray(_COUNTS) - xp.asarray(_X) @ w
    return xp.sum(2.5 * xp.log1p(rest**2 / 4))


def _logistic(w: Array) -> dict[str, Any]:
    z = _X @ w
    p = 1 / (1 + np.exp(-z))
    value = -np.sum(_LABELS * np.log(p) + (1 - _LABELS) * np.log(1 - p))
    return {"value": value, "slope": _X.T @ (p - _LABELS), "curve": _X.T @ np.diag(p * (1 - p)) @ _X}


def _poisson(w: Array) -> dict[str, Any]:
    rate = np.exp(_X @ w)
    return {
        "value": np.sum(rate) - _COUNTS @ np.log(rate),
        "slope": _X.T @ (rate - _COUNTS),
        "curve": _X.T @ np.diag(rate) @ _X,
    }


def _ridge(w: Array) -> dict[str, Any]:
    rest = _X @ w - _COUNTS
    return {
        "value": 0.5 * np.sum(rest**2) + 0.3 * np.sum(w**2),
        "slope": _X.T @ rest + 0.6 * w,
        "curve": _X.T @ _X + 0.6 * np.eye(3),
    }


def _student(w: Array) -> dict[str, Any]:
    rest = _COUNTS - _X @ w
    curve = _X.T @ np.diag(5 * (4 - rest**2) / (4 + rest**2) ** 2) @ _X
    return {"value": np.sum(2.5 * np.log(1 + rest**2 / 4)), "slope": -_X.T @ (5 * rest / (4 + rest**2)), "curve": curve}


_one_vector = [
    *array_to_number(
        "statistics/logsumexp",
        logsumexp,
        _W,
        value=np.log(np.sum(np.exp(_W))),
        slope=_P,
        curve=_S,
        operators=(gradient, value_and_gradient, pushforward, gradient_and_hvp, hessian, diagonal_hessian),
    ),
    *array_to_array("statistics/softmax", softmax, _W, value=_P, slope=_S, operators=(jacobian, pullback, linearize)),
    *array_to_number(
        "statistics/entropy",
        entropy,
        _TWO,
        value=-np.sum(_TWO * np.log(_TWO)),
        slope=-np.log(_TWO) - 1,
        curve=np.diag(-1 / _TWO),
        operators=(gradient, diagonal_hessian),
    ),
    *array_to_number(
        "statistics/logistic-regression",
        logistic_regression,
        _W,
        **_logistic(_W),
        operators=(value_and_gradient, hessian),
    ),
    *array_to_number(
        "statistics/poisson-regression", poisson_regression, _W, **_poisson(_W), operators=(gradient, gradient_and_hvp)
    ),
    *array_to_number(
        "statistics/ridge-regression", ridge_regression, _W, **_ridge(_W), operators=(pullback, value_gradient_and_hessian)
    ),
    *array_to_number("statistics/student-likelihood", student_likelihood, _W, **_student(_W), operators=(gradient, hvp)),
]

# Losses of several arguments -----------------------------------------------------------------------------------------


def cross_entropy(logits: Any, targets: Any) -> Any:
    xp = array_namespace(logits, targets)
    largest = xp.max(logits, axis=1, keepdims=True)
    normalizer = largest + xp.log(xp.sum(xp.exp(logits - largest), axis=1, keepdims=True))
    return xp.mean(xp.sum(targets * (normalizer - logits), axis=1))


def normal_likelihood(parameters: Any, y: Any) -> Any:
    xp = array_namespace(y, parameters["mean"])
    z = (y - parameters["mean"]) / xp.exp(parameters["log_width"])
    return xp.sum(0.5 * z**2 + parameters["log_width"])


def mixture_likelihood(parameters: Any, y: Any) -> Any:
    """Three normal distributions; the weights by a softmax of free numbers."""
    xp = array_namespace(y, parameters["means"])
    z = (y[:, None] - parameters["means"]) / xp.exp(parameters["log_widths"])
    terms = parameters["logits"] - logsumexp(parameters["logits"]) - parameters["log_widths"] - 0.5 * z**2
    largest = xp.max(terms, axis=1, keepdims=True)
    return xp.sum(largest[:, 0] + xp.log(xp.sum(xp.exp(terms - largest), axis=1)))


def kalman_likelihood(parameters: Any, y: Any) -> Any:
    """A random walk seen with noise: the filter's loop over the observations."""
    xp = array_namespace(y, parameters["log_drift"])
    mean, variance, total = 0.0, 1.0, 0.0
    for n in range(y.shape[0]):
        variance = variance + xp.exp(parameters["log_drift"])
        seen = variance + xp.exp(parameters["log_noise"])
        error = y[n] - mean
        total = total + 0.5 * (error**2 / seen + xp.log(seen))
        mean, variance = mean + variance / seen * error, variance * (1 - variance / seen)
    return total


def divergence_of_normals(mean: Any, log_width: Any) -> Any:
    """From N(mean, width) to N(0, 1)."""
    xp = array_namespace(mean, log_width)
    return xp.sum(0.5 * (xp.exp(2 * log_width) + mean**2 - 1) - log_width)


def correlation(a: Any, b: Any) -> Any:
    xp = array_namespace(a, b)
    a, b = a - xp.mean(a), b - xp.mean(b)
    return (a @ b) / xp.sqrt((a @ a) * (b @ b))


_LOGITS, _TARGETS = signed(4, 3, seed=3), np.eye(3)[[0, 2, 1, 2]]
_PROBABILITIES = np.exp(_LOGITS) / np.sum(np.exp(_LOGITS), axis=1, keepdims=True)
_Y = signed(5, seed=4)
_Z = (_Y - 0.2) / np.exp(-0.4)
_NORMAL = {"mean": 0.2, "log_width": -0.4}
_NORMAL_SLOPES = {"mean": float(-np.sum(_Z) / np.exp(-0.4)), "log_width": float(5 - np.sum(_Z**2))}
_MIXTURE = {"means": signed(3, seed=5), "log_widths": signed(3, seed=6), "logits": signed(3, seed=7)}
_WALK = {"log_drift": -0.5, "log_noise": 0.3}
_A, _B = signed(4, seed=8), signed(4, seed=9)

_several = [
    scenario(
        "statistics/cross-entropy",
        gradient,
        cross_entropy,
        (_LOGITS, Constant(_TARGETS)),
        ((_PROBABILITIES - _TARGETS) / 4, None),
    ),
    scenario(
        "statistics/cross-entropy-also-by-its-targets",
        value_and_gradient,
        cross_entropy,
        (_LOGITS, _TARGETS),
        (
            scalar(-np.sum(_TARGETS * np.log(_PROBABILITIES)) / 4),
            ((_PROBABILITIES - _TARGETS) / 4, -np.log(_PROBABILITIES) / 4),
        ),
    ),
    scenario(
        "statistics/normal-likelihood",
        value_and_gradient,
        normal_likelihood,
        (_NORMAL, Constant(_Y)),
        (float(np.sum(0.5 * _Z**2) - 5 * 0.4), (_NORMAL_SLOPES, None)),
        tags={"tree"},
    ),
    scenario(
        "statistics/mixture-likelihood",
        gradient,
        mixture_likelihood,
        (_MIXTURE, _Y),
        complex_step_gradient(mixture_likelihood, _MIXTURE, _Y),
        tags={"tree"},
    ),
    scenario(
        "statistics/mixture-likelihood-by-hvp", hvp, mixture_likelihood, (_MIXTURE, _MIXTURE, Constant(_Y)), tags={"tree"}
    ),
    scenario(
        "statistics/kalman-likelihood",
        gradient,
        kalman_likelihood,
        (_WALK, Constant(_Y)),
        (complex_step_gradient(kalman_likelihood, _WALK, _Y)[0], None),
        tags={"tree", "control-flow"},
    ),
    scenario(
        "statistics/divergence-of-normals",
        gradient,
        divergence_of_normals,
        (_A, _B),
        (_A, np.exp(2 * _B) - 1),
    ),
    scenario(
        "statistics/divergence-of-normals-by-diagonal-hessian",
        diagonal_hessian,
        divergence_of_normals,
        (_A, _B),
        (np.ones(4), 2 * np.exp(2 * _B)),
    ),
    scenario("statistics/correlation", gradient, correlation, (_A, _B), complex_step_gradient(correlation, _A, _B)),
]

# Matrices ------------------------------------------------------------------------------------------------------------


def diagonal(matrix: Any) -> Any:
    xp = array_namespace(matrix)
    return xp.sum(matrix * xp.asarray(np.eye(matrix.shape[0])), axis=1)


def process_likelihood(parameters: Any, kernel: Any, y: Any) -> Any:
    """A Gaussian process with covariance e^a K + e^b 1, by Cholesky."""
    xp = array_namespace(parameters, kernel)
    covariance = xp.exp(parameters[0]) * kernel + xp.exp(parameters[1]) * xp.asarray(np.eye(y.shape[0]))
    factor = xp.linalg.cholesky(covariance)
    white = xp.linalg.solve(factor, y[:, None])
    return xp.sum(0.5 * white**2) + xp.sum(xp.log(diagonal(factor)))


def determinant_likelihood(weight: Any, y: Any) -> Any:
    """A linear flow: the density of y = W^-1 z for normal z."""
    xp = array_namespace(weight, y)
    z = weight @ y
    return 0.5 * (z @ z) - xp.linalg.slogdet(weight)[1]


_POINTS = np.linspace(0, 1, 4)
_KERNEL = np.exp(-((_POINTS[:, None] - _POINTS) ** 2) / 0.1)
_PAIR = np.array([0.3, -0.5])
_PARTS = (np.exp(0.3) * _KERNEL, np.exp(-0.5) * np.eye(4))
_INVERSE = np.linalg.inv(_PARTS[0] + _PARTS[1])
_SOLVED = _INVERSE @ _B
_PROCESS_SLOPE = np.array([0.5 * np.trace(_INVERSE @ part) - 0.5 * _SOLVED @ part @ _SOLVED for part in _PARTS])
_PROCESS_VALUE = scalar(0.5 * _B @ _SOLVED - 0.5 * np.linalg.slogdet(_INVERSE)[1])
_FLOW = some(3, 3, seed=1) + np.eye(3)

_matrices = [
    scenario(
        "statistics/process-likelihood",
        value_and_gradient,
        process_likelihood,
        (_PAIR, Constant(_KERNEL), Constant(_B)),
        (_PROCESS_VALUE, (_PROCESS_SLOPE, None, None)),
    ),
    scenario("statistics/process-likelihood-by-hvp", hvp, process_likelihood, (_PAIR, _PAIR, Constant(_KERNEL), Constant(_B))),
    scenario(
        "statistics/determinant-likelihood",
        gradient,
        determinant_likelihood,
        (_FLOW, Constant(_W)),
        (np.outer(_FLOW @ _W, _W) - np.linalg.inv(_FLOW).T, None),
    ),
    scenario(
        "statistics/least-squares-solution",
        value_and_jacobian,
        lambda y, x: array_namespace(y).linalg.solve(x.T @ x, (x.T @ y)[:, None])[:, 0],
        (_COUNTS, Constant(_X)),
        (np.linalg.pinv(_X) @ _COUNTS, (np.linalg.pinv(_X), None)),
    ),
]

SCENARIOS = [*_one_vector, *_several, *_matrices]
