"""A physics-informed net: a boundary value problem, u'' + u = 0.5 x^3, solved by a net that is
fitted to the equation itself.

Method: M. Raissi, P. Perdikaris and G. E. Karniadakis (2019). The second derivative by x stands
inside the loss, whose gradient by the weights is taken with the same engine: three derivatives
inside one another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adinterface import AutoBackend, array_namespace, pushforward
from adinterface.fit import least_squares

TITLE = "Physics-informed net"
#: Differences of differences of differences are refused where a step of the solver asks for more
#: than they have.
REFUSED = ("AutoFiniteDifferences",)
POINTS = np.linspace(0.0, 3.0, 25)


def exact(x: Any) -> Any:
    """The solution with u(0) = 1 and u(3) = 0."""
    particular = 0.5 * x**3 - 3.0 * x
    end = 0.5 * 27.0 - 9.0
    return particular + np.cos(x) - (end + np.cos(3.0)) / np.sin(3.0) * np.sin(x)


def net(model: Any, x: Any) -> Any:
    """u at the points x, with the values at both ends built in."""
    hidden = array_namespace(x).tanh(x[:, None] * model["w"] + model["b"])
    return (1.0 - x / 3.0) + x * (3.0 - x) * (hidden @ model["v"])


def residuals_with(backend: AutoBackend) -> Any:
    def slope(f: Any) -> Any:
        # Each point moves alone, so one direction gives the derivative at all of them.
        return lambda x: pushforward(f, backend, (x,), (array_namespace(x).ones_like(x),)).tangent

    def residuals(model: Any, x: Any) -> Any:
        def u(x: Any) -> Any:
            return net(model, x)

        return slope(slope(u))(x) + u(x) - 0.5 * x**3

    return residuals


def solve(backend: AutoBackend, steps: int = 60) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    start = {
        "w": 2.0 * rng.normal(size=8),
        "b": 2.0 * rng.normal(size=8),
        "v": 0.1 * rng.normal(size=8),
    }
    result = least_squares(residuals_with(backend), backend, start, POINTS, max_nfev=steps)
    fine = np.linspace(0.0, 3.0, 61)
    u = np.asarray(net(result.x, fine))
    return {"cost": result.cost, "error": np.max(np.abs(u - exact(fine))), "u": u}


def draw(axes: Any, found: dict[str, Any]) -> None:
    fine = np.linspace(0.0, 3.0, 61)
    axes.plot(fine, exact(fine), color="0.7", linewidth=4, label="exact")
    axes.plot(fine, found["u"], "--", label="net")
    axes.legend()
    axes.set(xlabel="x", ylabel="u(x)")
