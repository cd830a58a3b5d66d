"""Functions whose derivatives are sparse, dense to the other laws: bands, an arrow, a grid, blocks,
rows without entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from adinterface_conformance.scenario import Scenario
from adinterface_conformance.scenarios.building import Array, some

from adinterface import ValueAndJacobian, array_namespace, hessian, jacobian, value_and_jacobian

from ..sparse_problems import arrow, banded, blocks, brusselator, laplacian, surface, tridiagonal


def _tridiagonal(x: Array) -> Array:
    return np.diag(3 - 4 * x) - np.eye(x.size, k=-1) - 2 * np.eye(x.size, k=1)


def _arrow(x: Array) -> Array:
    found = np.zeros((x.size, x.size))
    found[0] = 2 * x
    found[1:, 0] = x[1:]
    found[1:, 1:] = np.diag(x[0] + np.cos(x[1:]))
    return found


def _laplacian(x: Array) -> Array:
    side = round(x.size**0.5)
    line = np.eye(side, k=1) + np.eye(side, k=-1)
    around = np.kron(np.eye(side), line) + np.kron(line, np.eye(side))
    return np.diag(4 - np.exp(x) / side**2) - around


def holes(x: Any) -> Any:
    """Results without inputs, and inputs without results."""
    xp = array_namespace(x)
    return xp.concat([xp.zeros_like(x[:2]), x[3:] ** 2, x[1:2] * x[3:4]])


def _holes(x: Array) -> Array:
    found = np.zeros((x.size, x.size))
    found[2 : x.size - 1, 3:] = np.diag(2 * x[3:])
    found[-1, 1], found[-1, 3] = x[3], x[1]
    return found


def cases(x: Any) -> Any:
    """Another pattern on either side of zero."""
    return x * x[0] if x[1] > 0 else x * x


_X, _GRID = some(7, seed=31), some(9, seed=32)

SCENARIOS: tuple[Scenario, ...] = (
    Scenario("sparse/tridiagonal", jacobian, tridiagonal, (_X,), (_tridiagonal(_X),)),
    Scenario("sparse/banded", jacobian, banded, (some(12, seed=33),)),
    Scenario("sparse/arrow", jacobian, arrow, (_X,), (_arrow(_X),)),
    Scenario("sparse/laplacian", jacobian, laplacian, (_GRID,), (_laplacian(_GRID),)),
    Scenario("sparse/brusselator", jacobian, brusselator, (some(18, seed=34),)),
    Scenario("sparse/blocks", jacobian, blocks, (_GRID,)),
    Scenario("sparse/holes", value_and_jacobian, holes, (_X,),
        ValueAndJacobian(holes(_X), (_holes(_X),))),
    Scenario("sparse/minimal-surface", hessian, surface, (_GRID,),
        tags=frozenset({"second-order"})),
    Scenario("sparse/branch", jacobian, cases, (_X,), tags=frozenset({"value-dependent",
        "control-flow"})),
)  # fmt: skip
