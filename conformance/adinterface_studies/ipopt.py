"""`python -m adinterface_studies ipopt`: `adinterface.integrations.problem` under pounce, which is Ipopt in Rust.

The problem is the first equality constrained one of Lukšan and Vlček (Sparse and partially separable test problems for
unconstrained and equality constrained optimization, 1999). The time is compared with callbacks written for JAX by hand.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from adinterface import array_namespace
from adinterface.integrations.problem import Problem

from . import options as studies

Array = np.ndarray[Any, Any]


def main(argv: Sequence[str]) -> int:
    """The exit status: 0, or 2 for a wrong command line."""
    parser = studies.parser("ipopt", __doc__)
    parser.add_argument("--variables", type=int, default=2000, metavar="N", help="of the problem")
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="solutions of which the median is taken")
    options = parser.parse_args(argv)
    if importlib.util.find_spec("pounce") is None:
        parser.error("pounce is not installed: pip install pounce-solver")
    start = np.where(np.arange(options.variables) % 2 == 0, -1.2, 1.0)
    ways: dict[str, Any] = {"JAX by hand": ByHand(options.variables)}
    for backend in studies.backends(options.backend, reverse=True):
        ways[repr(backend)] = Problem(objective, backend, start, constraint=constraint)
        limits = ways[repr(backend)].limits
    times: dict[str, list[float]] = {name: [] for name in ways}
    ends: dict[str, Any] = {}
    for number in range(options.rounds + 2):
        for name, way in ways.items():
            begin = time.process_time()
            ends[name] = _solved(way, limits, start)
            if number > 1:  # the first ones compile
                times[name].append(time.process_time() - begin)
    print(f"{'callbacks':20} {'ms':>8} {'fastest':>8} {'by hand':>8}  objective")
    for name, seconds in times.items():
        ratio = statistics.median(a / b for a, b in zip(seconds, times["JAX by hand"]))
        print(
            f"{name:20} {1e3 * statistics.median(seconds):8.1f} {1e3 * min(seconds):8.1f} {ratio:8.2f}  "
            f"{ends[name]['obj_val']:.9g} after {ends[name]['iter_count']} steps"
        )
    return 0


def objective(x: Any) -> Any:
    return (100 * (x[:-1] ** 2 - x[1:]) ** 2 + (x[:-1] - 1) ** 2).sum()


def constraint(x: Any) -> Any:
    xp = array_namespace(x)
    a, b, c = x[:-2], x[1:-1], x[2:]
    return 3 * b**3 + 2 * c - 5 + xp.sin(b - c) * xp.sin(b + c) + 4 * b - a * xp.exp(a - b) - 3


class ByHand:
    """The callbacks compiled by JAX, with three products each for the Jacobian and the Hessian, whose pattern is known."""

    def __init__(self, n: int):
        import jax

        config: Any = jax.config
        config.update("jax_enable_x64", True)
        rows, places = np.arange(n - 2), np.arange(n)
        self._rows = np.tile(rows, 3), np.concatenate([rows, rows + 1, rows + 2])
        self._lower = np.concatenate([places, places[1:]]), np.concatenate([places, places[:-1]])
        seeds = (places % 3 == np.arange(3)[:, None]).astype(float)

        def products(f: Any, x: Any, places: tuple[Array, Array]) -> Any:
            return jax.vmap(lambda seed: jax.jvp(f, (x,), (seed,))[1])(seeds)[places[1] % 3, places[0]]

        def lagrangian(x: Any, lagrange: Any, factor: Any) -> Any:
            return factor * objective(x) + lagrange @ constraint(x)

        self._value, self._gradient, self._constraint = jax.jit(objective), jax.jit(jax.grad(objective)), jax.jit(constraint)
        self._jacobian = jax.jit(lambda x: products(constraint, x, self._rows))
        self._hessian = jax.jit(
            lambda x, lagrange, factor: products(lambda x: jax.grad(lagrangian)(x, lagrange, factor), x, self._lower)
        )

    def objective(self, x: Array) -> float:
        return float(self._value(x))

    def gradient(self, x: Array) -> Array:
        return np.asarray(self._gradient(x))

    def constraints(self, x: Array) -> Array:
        return np.asarray(self._constraint(x))

    def jacobianstructure(self) -> tuple[Array, Array]:
        return self._rows

    def jacobian(self, x: Array) -> Array:
        return np.asarray(self._jacobian(x))

    def hessianstructure(self) -> tuple[Array, Array]:
        return self._lower

    def hessian(self, x: Array, lagrange: Array, obj_factor: float) -> Array:
        return np.asarray(self._hessian(x, lagrange, obj_factor))


def _solved(callbacks: Any, limits: dict[str, Any], start: Array) -> dict[str, Any]:
    import pounce

    problem = pounce.Problem(problem_obj=callbacks, **limits)
    problem.add_option("print_level", 0)
    info: dict[str, Any] = problem.solve(x0=start)[1]
    return info
