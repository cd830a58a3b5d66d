"""Motion, energies and fields: loops over time, pairs of bodies, differences in space."""

from __future__ import annotations

from typing import Any

import numpy as np
from adinterface_conformance.scenarios.building import (
    Array,
    array,
    array_to_array,
    array_to_number,
    of_a_number,
    scalar,
    scenario,
    signed,
    some,
)

from adinterface import (
    Constant,
    array_namespace,
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

from .complex_step import complex_step_gradient, complex_step_slope

# Energies ------------------------------------------------------------------------------------------------------------


def lennard_jones(r: Any) -> Any:
    return 4 * (r**-12 - r**-6)


def gravity(positions: Any, masses: Any) -> Any:
    """The potential energy of bodies in a plane."""
    xp = array_namespace(positions, masses)
    energy = 0.0
    for i in range(masses.shape[0]):
        for j in range(i):
            apart = positions[i] - positions[j]
            energy = energy - masses[i] * masses[j] / xp.sqrt(apart @ apart)
    return energy


def cluster(positions: Any) -> Any:
    """Lennard-Jones over all pairs."""
    energy = 0.0
    for i in range(positions.shape[0]):
        for j in range(i):
            apart = positions[i] - positions[j]
            energy = energy + lennard_jones((apart @ apart) ** 0.5)
    return energy


def springs(x: Any) -> Any:
    """A chain between two walls."""
    xp = array_namespace(x)
    return 0.5 * (xp.sum((x[1:] - x[:-1]) ** 2) + x[0] ** 2 + x[-1] ** 2)


def double_well(x: Any) -> Any:
    return array_namespace(x).sum((x**2 - 1) ** 2)


def pendulum_energy(state: Any, length: Any) -> Any:
    xp = array_namespace(state["angle"], length)
    return 0.5 * (length * state["speed"]) ** 2 + 9.81 * length * (1 - xp.cos(state["angle"]))


def _pair_sum(positions: Array, force: Any) -> Array:
    """The gradient of a sum over pairs of u(r), given i, j, r -> u'(r)."""
    slope = np.zeros_like(positions)
    for i in range(len(positions)):
        for j in range(len(positions)):
            if i != j:
                apart = positions[i] - positions[j]
                r = np.linalg.norm(apart)
                slope[i] += force(i, j, r) * apart / r
    return slope


_BODIES, _MASSES = signed(3, 2, seed=1) * 2, some(3, seed=2)
_PAIRS = [(i, j) for i in range(3) for j in range(i)]
_TRIANGLE = array([0, 0], [1.1, 0.1], [0.4, 1.2])


def _gravity(positions: Array, masses: Array) -> float:
    return float(-sum(masses[i] * masses[j] / np.linalg.norm(positions[i] - positions[j]) for i, j in _PAIRS))


_FORCES = _pair_sum(_BODIES, lambda i, j, r: _MASSES[i] * _MASSES[j] / r**2)
_BY_MASS = np.array([-sum(_MASSES[j] / np.linalg.norm(_BODIES[i] - _BODIES[j]) for j in range(3) if j != i) for i in range(3)])
_CHAIN = 2 * np.eye(4) - np.eye(4, k=1) - np.eye(4, k=-1)
_X = signed(4, seed=3)
_ANGLE = {"angle": 0.8, "speed": 0.5}
_ENERGY_SLOPES = ({"angle": float(9.81 * 1.5 * np.sin(0.8)), "speed": 1.5**2 * 0.5}, 1.5 * 0.25 + 9.81 * (1 - np.cos(0.8)))

_energies = [
    *of_a_number(
        "physics/lennard-jones",
        lennard_jones,
        1.2,
        value=4 * (1.2**-12 - 1.2**-6),
        slope=4 * (-12 * 1.2**-13 + 6 * 1.2**-7),
        curve=4 * (156 * 1.2**-14 - 42 * 1.2**-8),
    ),
    scenario(
        "physics/gravity",
        gradient,
        gravity,
        (_BODIES, Constant(_MASSES)),
        (_FORCES, None),
        tags={"control-flow"},
    ),
    scenario(
        "physics/gravity-also-by-the-masses",
        value_and_gradient,
        gravity,
        (_BODIES, _MASSES),
        (scalar(_gravity(_BODIES, _MASSES)), (_FORCES, _BY_MASS)),
        tags={"control-flow"},
    ),
    scenario(
        "physics/lennard-jones-cluster",
        gradient,
        cluster,
        (_TRIANGLE,),
        (_pair_sum(_TRIANGLE, lambda i, j, r: 4 * (-12 * r**-13 + 6 * r**-7)),),
        tags={"control-flow"},
    ),
    scenario("physics/lennard-jones-cluster-by-hvp", hvp, cluster, (_TRIANGLE, _TRIANGLE), tags={"control-flow"}),
    *array_to_number(
        "physics/springs",
        springs,
        _X,
        value=0.5 * _X @ _CHAIN @ _X,
        slope=_CHAIN @ _X,
        curve=_CHAIN,
        operators=(gradient, gradient_and_hvp, hessian),
    ),
    *array_to_number(
        "physics/double-well",
        double_well,
        _X,
        value=np.sum((_X**2 - 1) ** 2),
        slope=4 * _X * (_X**2 - 1),
        curve=np.diag(12 * _X**2 - 4),
        operators=(hvp, value_gradient_and_hessian),
    ),
    scenario(
        "physics/pendulum-energy",
        gradient,
        pendulum_energy,
        (_ANGLE, 1.5),
        (_ENERGY_SLOPES[0], float(_ENERGY_SLOPES[1])),
        tags={"tree"},
    ),
    scenario(
        "physics/pendulum-stiffness",
        hessian,
        pendulum_energy,
        (_ANGLE, Constant(1.5)),
        {
            "angle": {"angle": float(9.81 * 1.5 * np.cos(0.8)), "speed": 0.0},
            "speed": {"angle": 0.0, "speed": 2.25},
        },
        tags={"tree"},
    ),
]

# Steps in time -------------------------------------------------------------------------------------------------------


def oscillator(state: Any) -> Any:
    """Ten steps of the leapfrog method; they are one linear map."""
    xp = array_namespace(state)
    x, v = state[0], state[1]
    for _ in range(10):
        v = v - 0.1 * x
        x = x + 0.1 * v
    return xp.stack([x, v])


def swinging(state: Any, length: Any) -> Any:
    """Four steps of Runge and Kutta's method for a pendulum: the angle at the end."""
    xp = array_namespace(state, length)

    def rate(y: Any) -> Any:
        return xp.stack([y[1], -9.81 / length * xp.sin(y[0])])

    for _ in range(4):
        k1 = rate(state)
        k2 = rate(state + 0.05 * k1)
        k3 = rate(state + 0.05 * k2)
        k4 = rate(state + 0.1 * k3)
        state = state + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state[0]


def lorenz(state: Any) -> Any:
    x, y, z = state[0], state[1], state[2]
    return array_namespace(state).stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])


def hunters_and_prey(rates: Any, numbers: Any) -> Any:
    """Lotka and Volterra, five steps of Euler's method."""
    prey, hunters = numbers
    for _ in range(5):
        prey, hunters = (
            prey + 0.1 * (rates["birth"] * prey - rates["catch"] * prey * hunters),
            hunters + 0.1 * (rates["gain"] * prey * hunters - rates["death"] * hunters),
        )
    return prey * hunters


def logistic_map(r: Any) -> Any:
    x = 0.4
    for _ in range(3):
        x = r * x * (1 - x)
    return x


_LEAP = np.linalg.matrix_power(array([0.99, 0.1], [-0.1, 1.0]), 10)
_START, _MOVE = array(0.9, -0.3), array(0.5, 1.0)
_L, _SIGNS = array(1, 2, 3), array([-10, 10, 0], [25, -1, -1], [2, 1, -8 / 3])
_RATES, _NUMBERS = {"birth": 0.7, "catch": 0.5, "gain": 0.3, "death": 0.4}, (1.0, 0.8)


def _logistic_map(r: float) -> tuple[float, float]:
    """The value and its slope, by the product rule along the loop."""
    x, slope = 0.4, 0.0
    for _ in range(3):
        x, slope = r * x * (1 - x), x * (1 - x) + r * (1 - 2 * x) * slope
    return x, slope


_motions = [
    *array_to_array("physics/oscillator", oscillator, _START, value=_LEAP @ _START, slope=_LEAP, tags={"control-flow"}),
    scenario(
        "physics/swinging",
        value_and_gradient,
        swinging,
        (_START, 1.5),
        (scalar(swinging(_START, 1.5)), complex_step_gradient(swinging, _START, 1.5)),
        tags={"control-flow"},
    ),
    scenario(
        "physics/swinging-by-pushforward",
        pushforward,
        swinging,
        (_START, 1.5),
        (scalar(swinging(_START, 1.5)), scalar(complex_step_slope(swinging, (_START, 1.5), (_MOVE, 0.5)))),
        tangents=(_MOVE, 0.5),
        tags={"control-flow"},
    ),
    *array_to_array(
        "physics/lorenz",
        lorenz,
        _L,
        value=array(10, 2 * 0 + 1 * 25 - 2, 2 - 8),
        slope=_SIGNS,
        operators=(jacobian, value_and_jacobian, pullback),
    ),
    scenario(
        "physics/hunters-and-prey",
        gradient,
        hunters_and_prey,
        (_RATES, _NUMBERS),
        complex_step_gradient(hunters_and_prey, _RATES, _NUMBERS),
        tags={"tree", "control-flow"},
    ),
    scenario(
        "physics/logistic-map",
        value_and_gradient,
        logistic_map,
        (3.2,),
        (_logistic_map(3.2)[0], (_logistic_map(3.2)[1],)),
        tags={"control-flow"},
    ),
]

# Fields --------------------------------------------------------------------------------------------------------------


def heat_step(u: Any) -> Any:
    """One explicit step with fixed ends."""
    xp = array_namespace(u)
    return xp.concat([u[:1], u[1:-1] + 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])


def heat(u: Any) -> Any:
    for _ in range(4):
        u = heat_step(u)
    return u


def burgers_step(u: Any) -> Any:
    """One step in a ring, upwind."""
    xp = array_namespace(u)
    left = xp.concat([u[-1:], u[:-1]])
    return u - 0.1 * u * (u - left)


_ROD = np.eye(5) + 0.2 * (np.eye(5, k=1) - 2 * np.eye(5) + np.eye(5, k=-1)) * np.array([0, 1, 1, 1, 0])[:, None]
_U, _RING = signed(5, seed=5), some(4, seed=6)
_LEFT = np.roll(_RING, 1)
_FOUR_STEPS = np.linalg.matrix_power(_ROD, 4)

_fields = [
    *array_to_array("physics/heat-step", heat_step, _U, value=_ROD @ _U, slope=_ROD, operators=(jacobian, linearize)),
    *array_to_array(
        "physics/heat",
        heat,
        _U,
        value=_FOUR_STEPS @ _U,
        slope=_FOUR_STEPS,
        operators=(pullback, pushforward),
        tags={"control-flow"},
    ),
    *array_to_array(
        "physics/burgers-step",
        burgers_step,
        _RING,
        value=_RING - 0.1 * _RING * (_RING - _LEFT),
        slope=np.diag(1 - 0.1 * (2 * _RING - _LEFT)) + 0.1 * np.diag(_RING) @ np.roll(np.eye(4), 1, axis=0),
        operators=(value_and_jacobian,),
    ),
]

SCENARIOS = [*_energies, *_motions, *_fields]
