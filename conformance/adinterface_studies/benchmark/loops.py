"""Long loops, written once with `scan`: a filter, a fitted differential equation, a recurrent network.

`scan` is an argument, so that each is compared with the loop that a user of the engine writes by hand.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from adinterface_conformance.benchmark.problems import Problem

import adinterface

#: `scan(f, init, xs)` gives the last carry and what was stacked.
Scan = Callable[[Callable[[Any, Any], tuple[Any, Any]], Any, Any], tuple[Any, Any]]


def by_hand(engine: str, xp: Any) -> Scan:
    """The loop as it is written with the engine of this name alone."""
    if engine == "jax":
        scan: Scan = importlib.import_module("jax").lax.scan
        return scan

    def loop(f: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any) -> tuple[Any, Any]:
        carry, results = init, []
        for x in xs:
            carry, result = f(carry, x)
            results.append(result)
        return carry, xp.stack(results)

    return loop


def kalman_filter(n: int, xp: Any, scan: Scan) -> Problem:
    """The negative log-likelihood of n positions in the plane under a model of constant velocity with friction.

    Kalman (1960). x: the logarithms of the variances of the process and of the observations, and the friction.
    """
    observe, unit = np.eye(4)[:2], np.eye(4)
    moving = np.kron(np.array([[0.0, 0.1], [0.0, 0.0]]), np.eye(2))
    noise = np.kron(np.array([[0.1**3 / 3, 0.1**2 / 2], [0.1**2 / 2, 0.1]]), np.eye(2))
    braking = np.diag([0.0, 0.0, 1.0, 1.0])

    def f(x: Any, series: Any) -> Any:
        h, identity, m, q, b = (xp.asarray(part) for part in (observe, unit, moving, noise, braking))
        transition = identity + m - x[2] * b
        process, observed = xp.exp(x[0]) * q, xp.exp(x[1]) * (h @ h.T)

        def step(carry: Any, seen: Any) -> tuple[Any, Any]:
            mean, covariance = carry
            mean, covariance = transition @ mean, transition @ covariance @ transition.T + process
            innovation, spread = seen - h @ mean, h @ covariance @ h.T + observed
            determinant = spread[0, 0] * spread[1, 1] - spread[0, 1] * spread[1, 0]
            gain = xp.linalg.solve(spread, h @ covariance).T
            likelihood = xp.log(determinant) + innovation @ xp.linalg.solve(spread, innovation)
            return (mean + gain @ innovation, covariance - gain @ h @ covariance), likelihood

        _, likelihoods = scan(step, (0.0 * transition[0], 0.0 * transition + identity), series)
        return 0.5 * xp.sum(likelihoods)

    series = np.cumsum(np.random.default_rng(0).normal(size=(n, 2)), 0)
    return Problem(f, f, np.array([-1.0, 0.2, 0.05]), None, (series,))


def runge_kutta(n: int, xp: Any, scan: Scan) -> Problem:
    """The squared distance of n steps of the fourth-order Runge-Kutta method from observed hares and lynxes.

    x: the four rates of Lotka and Volterra, and where they start.
    """
    width = 20.0 / n

    def f(x: Any, series: Any) -> Any:
        def slope(state: Any) -> Any:
            hares, lynxes = state[0], state[1]
            return xp.stack([hares * (x[0] - x[1] * lynxes), lynxes * (x[2] * hares - x[3])])

        def step(state: Any, seen: Any) -> tuple[Any, Any]:
            first = slope(state)
            second = slope(state + 0.5 * width * first)
            third = slope(state + 0.5 * width * second)
            fourth = slope(state + width * third)
            state = state + width / 6 * (first + 2 * second + 2 * third + fourth)
            return state, state - seen

        _, errors = scan(step, x[4:], series)
        return xp.sum(errors**2)

    series = np.stack([np.sin(np.linspace(0, 20, n)), np.cos(np.linspace(0, 20, n))], 1) + 2.0
    return Problem(f, f, np.array([1.1, 0.4, 0.1, 0.4, 2.0, 1.0]), None, (series,))


def recurrent_network(n: int, xp: Any, scan: Scan) -> Problem:
    """The squared error with which a long short-term memory of 32 cells foretells a series of n + 1 values.

    Hochreiter and Schmidhuber (1997), with the forget gate of Gers, Schmidhuber and Cummins (2000).
    """
    inputs, hidden = 3, 32

    def sigmoid(z: Any) -> Any:
        return 0.5 * (1 + xp.tanh(0.5 * z))

    def f(x: Any, series: Any) -> Any:
        def step(carry: Any, seen: Any) -> tuple[Any, Any]:
            output, cell = carry
            gates = x["from_input"] @ seen + x["from_output"] @ output + x["bias"]
            enter, forget, leave, new = (gates[i * hidden : (i + 1) * hidden] for i in range(4))
            cell = sigmoid(forget) * cell + sigmoid(enter) * xp.tanh(new)
            output = sigmoid(leave) * xp.tanh(cell)
            return (output, cell), x["to_series"] @ output

        start = 0.0 * x["bias"][:hidden]
        _, foretold = scan(step, (start, start), series[:-1])
        return xp.sum((foretold - series[1:]) ** 2) / n

    rng = np.random.default_rng(0)
    shapes = {
        "from_input": (4 * hidden, inputs),
        "from_output": (4 * hidden, hidden),
        "bias": (4 * hidden,),
        "to_series": (inputs, hidden),
    }
    x = {name: 0.2 * rng.normal(size=shape) for name, shape in shapes.items()}
    return Problem(f, f, x, None, (rng.normal(size=(n + 1, inputs)),))


def chain(n: int, xp: Any, *, checkpoint: int | bool | None) -> Problem:
    """A loop of n steps on 1,000 numbers, whose memory is that of what the steps leave behind."""

    def f(x: Any) -> Any:
        last, _ = adinterface.loops.scan(lambda c, _: (xp.sin(c * x) + x, None), x, length=n, checkpoint=checkpoint)
        return xp.sum(last)

    return Problem(f, f, np.linspace(0.1, 0.9, 1000))


__all__ = ["Scan", "by_hand", "chain", "kalman_filter", "recurrent_network", "runge_kutta"]
