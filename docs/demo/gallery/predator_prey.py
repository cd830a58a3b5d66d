"""A differential equation fitted to data: hares and lynxes by the pelts of the Hudson's Bay
Company, 1900 to 1920.

Data: as published by J. Howard, Modeling Basics (2009). Model: Lotka and Volterra; the errors are
those of logarithms, as in B. Carpenter, Predator-Prey Population Dynamics (2018), whose posterior
means are 0.55, 0.028, 0.80 and 0.024. The equation is integrated by the classical Runge-Kutta
method, through which the derivatives go.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adinterface import AutoBackend, array_namespace
from adinterface.fit import least_squares
from adinterface.loops import scan

TITLE = "Differential equation, fitted"
HARES = (
    "30 47.2 70.2 77.4 36.3 20.6 18.1 21.4 22 25.4 27.1 40.3 57 76.6 52.3 19.5 11.2 7.6 14.6 16.2"
    " 24.7"
)
LYNXES = "4 6.1 9.8 35.2 59.4 41.7 19 13 8.3 9.1 7.4 8 12.3 19.5 45.7 51.1 29.7 15.8 9.7 10.1 8.6"
PELTS = np.array([HARES.split(), LYNXES.split()], dtype=float).T  # thousands, (21, 2)
STEPS = 5  # a year


def populations(model: Any, years: int, steps: int = STEPS) -> Any:
    """Both populations at the end of each step, (years * steps, 2), of `{"rates": (4,), "start":
    (2,)}`, all logarithms.
    """
    xp = array_namespace(model["rates"])
    a, b, c, d = (xp.exp(model["rates"])[n] for n in range(4))

    def change(x: Any) -> Any:
        return xp.stack([(a - b * x[1]) * x[0], (d * x[0] - c) * x[1]])

    def step(x: Any, _: Any) -> Any:
        h = 1.0 / steps
        one = change(x)
        two = change(x + 0.5 * h * one)
        three = change(x + 0.5 * h * two)
        x = x + h / 6.0 * (one + 2.0 * two + 2.0 * three + change(x + h * three))
        return x, x

    return scan(step, xp.exp(model["start"]), length=years * steps)[1]


def residuals(model: Any, pelts: Any, steps: int) -> Any:
    xp = array_namespace(model["rates"])
    after = populations(model, len(pelts) - 1, steps)[steps - 1 :: steps]
    first = model["start"] - xp.log(xp.asarray(pelts[0]))
    return first, xp.log(after) - xp.log(xp.asarray(pelts[1:]))


def solve(backend: AutoBackend, steps: int = STEPS) -> dict[str, Any]:
    start = {"rates": np.log([0.5, 0.02, 0.9, 0.03]), "start": np.log(PELTS[0])}
    result = least_squares(
        residuals, backend, start, PELTS, steps, xtol=1e-12, ftol=1e-12, gtol=1e-12
    )
    return {
        "rates": np.exp(result.x["rates"]),
        "cost": result.cost,
        "curve": np.asarray(populations(result.x, 20, steps)),
    }


def draw(axes: Any, found: dict[str, Any]) -> None:
    years = np.linspace(1900, 1920, len(found["curve"]) + 1)[1:]
    for n, name in enumerate(["hares", "lynxes"]):
        line = axes.plot(years, found["curve"][:, n], label=name)[0]
        axes.plot(1900 + np.arange(21), PELTS[:, n], "o", color=line.get_color(), markersize=3)
    axes.legend()
    axes.set(xlabel="year", ylabel="pelts, thousands")
