"""`python -m adinterface_studies ipopt`: `adinterface.integrations.problem` under pounce, which is Ipopt in Rust.

Without a flag, one problem compared with callbacks written by hand: the first equality constrained problem of Lukšan and Vlček
(Sparse and partially separable test problems for unconstrained and equality constrained optimization, 1999). With
`--problems`, the constrained CUTEst problems of sif2jax compared with pounce's own functions for JAX.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from adinterface_conformance.installed import installed_backends
from adinterface_conformance.runner import backend_from

from adinterface import AutoBackend, AutoFiniteDifferences, array_namespace
from adinterface.integrations.problem import Problem

from .progress import steps

#: By how much the objectives of two optima may differ, relative to their size.
TOLERANCE = 1e-6
#: The last line of a problem that was being run when the process ended: it was beyond the limit of time.
UNFINISHED = {"end": "unfinished", "theirs": None, "ours": None, "why": "beyond the limit of processor time"}
Array = np.ndarray[Any, Any]


def main(argv: Sequence[str]) -> int:
    """The exit status: 0, 1 if fewer than 95 % of the optima are reached, 2 for a wrong command line."""
    options = _parser().parse_args(argv)
    wanted = ("pounce", "sif2jax") if options.problems else ("pounce",)
    missing = [name for name in wanted if importlib.util.find_spec(name) is None]
    if missing:
        names = " ".join("pounce-solver" if name == "pounce" else name for name in missing)
        print(f"This study needs packages that are not installed: pip install {names}", file=sys.stderr)
        return 2
    if options.problems:
        return _problems(options)
    try:
        backends = [backend_from(text) for text in options.backend] or [
            backend for backend in installed_backends() if type(backend) is not AutoFiniteDifferences
        ]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return _beside(options, backends)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m adinterface_studies ipopt", description=__doc__)
    parser.add_argument(
        "--backend", action="append", default=[], metavar="VALUE", help="AutoJax(), for instance: all that are installed"
    )
    parser.add_argument("--variables", type=int, default=0, metavar="N", help="of the problem: 2,000; at most: 1,000")
    parser.add_argument("--rounds", type=int, default=30, metavar="N", help="solutions of which the median is taken: 30")
    parser.add_argument("--problems", action="store_true", help="the constrained problems of sif2jax instead")
    parser.add_argument("--seconds", type=float, default=60.0, metavar="S", help="for one solution of a problem: 60")
    parser.add_argument(
        "--limit", type=int, default=300, metavar="S", help="processor seconds for a problem, with compilation: 300"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="the results, a line for each; those in it are not run again")
    parser.add_argument("--most", type=int, metavar="N", help="how many problems to run at most")
    return parser


# One problem and callbacks written by hand ----------------------------------------------------------------------------


def objective(x: Any) -> Any:
    return (100 * (x[:-1] ** 2 - x[1:]) ** 2 + (x[:-1] - 1) ** 2).sum()


def constraint(x: Any) -> Any:
    xp = array_namespace(x)
    a, b, c = x[:-2], x[1:-1], x[2:]
    return 3 * b**3 + 2 * c - 5 + xp.sin(b - c) * xp.sin(b + c) + 4 * b - a * xp.exp(a - b) - 3


class ByFormula:
    """The callbacks in NumPy, with derivatives by formula."""

    def __init__(self, n: int):
        rows, self.n = np.arange(n - 2), n
        self.jacobian_places = np.tile(rows, 3), np.concatenate([rows, rows + 1, rows + 2])
        places = np.arange(n)
        self.hessian_places = np.concatenate([places, places[1:]]), np.concatenate([places, places[:-1]])

    def objective(self, x: Array) -> float:
        return float(objective(x))

    def gradient(self, x: Array) -> Array:
        inner, found = x[:-1] ** 2 - x[1:], np.zeros_like(x)
        found[:-1] = 400 * inner * x[:-1] + 2 * (x[:-1] - 1)
        found[1:] -= 200 * inner
        return found

    def constraints(self, x: Array) -> Array:
        a, b, c = x[:-2], x[1:-1], x[2:]
        found: Array = 3 * b**3 + 2 * c - 5 + np.sin(b - c) * np.sin(b + c) + 4 * b - a * np.exp(a - b) - 3
        return found

    def jacobianstructure(self) -> tuple[Array, Array]:
        return self.jacobian_places

    def jacobian(self, x: Array) -> Array:
        a, b, c = x[:-2], x[1:-1], x[2:]
        decay = np.exp(a - b)
        return np.concatenate([-(1 + a) * decay, 9 * b * b + np.sin(2 * b) + 4 + a * decay, 2 - np.sin(2 * c)])

    def hessianstructure(self) -> tuple[Array, Array]:
        return self.hessian_places

    def hessian(self, x: Array, lagrange: Array, obj_factor: float) -> Array:
        diagonal, beside = np.zeros(self.n), -obj_factor * 400 * x[:-1]
        diagonal[:-1] = obj_factor * (1200 * x[:-1] ** 2 - 400 * x[1:] + 2)
        diagonal[1:] += obj_factor * 200
        a, b, c = x[:-2], x[1:-1], x[2:]
        decay = np.exp(a - b)
        diagonal[:-2] -= lagrange * (2 + a) * decay
        diagonal[1:-1] += lagrange * (18 * b + 2 * np.cos(2 * b) - a * decay)
        diagonal[2:] -= lagrange * 2 * np.cos(2 * c)
        beside[:-1] += lagrange * (1 + a) * decay
        return np.concatenate([diagonal, beside])


class ByJax(ByFormula):
    """The callbacks compiled by JAX, with three products each for the Jacobian and the Hessian, whose pattern is known."""

    def __init__(self, n: int):
        super().__init__(n)
        import jax

        _with_64_bits()
        seeds = (np.arange(n) % 3 == np.arange(3)[:, None]).astype(float)

        def products(f: Any, x: Any, places: tuple[Array, Array]) -> Any:
            return jax.vmap(lambda seed: jax.jvp(f, (x,), (seed,))[1])(seeds)[places[1] % 3, places[0]]

        def lagrangian(x: Any, lagrange: Any, factor: Any) -> Any:
            return factor * objective(x) + lagrange @ constraint(x)

        self._value, self._gradient, self._constraint = jax.jit(objective), jax.jit(jax.grad(objective)), jax.jit(constraint)
        self._jacobian = jax.jit(lambda x: products(constraint, x, self.jacobian_places))
        self._hessian = jax.jit(
            lambda x, lagrange, factor: products(lambda x: jax.grad(lagrangian)(x, lagrange, factor), x, self.hessian_places)
        )

    def objective(self, x: Array) -> float:
        return float(self._value(x))

    def gradient(self, x: Array) -> Array:
        return np.asarray(self._gradient(x))

    def constraints(self, x: Array) -> Array:
        return np.asarray(self._constraint(x))

    def jacobian(self, x: Array) -> Array:
        return np.asarray(self._jacobian(x))

    def hessian(self, x: Array, lagrange: Array, obj_factor: float) -> Array:
        return np.asarray(self._hessian(x, lagrange, obj_factor))


def _beside(options: argparse.Namespace, backends: Sequence[AutoBackend]) -> int:
    n = options.variables or 2000
    start = np.where(np.arange(n) % 2 == 0, -1.2, 1.0)
    ours = {repr(backend): Problem(objective, backend, start, constraint=constraint) for backend in backends}
    limits = next(iter(ours.values())).limits
    ways: dict[str, Any] = {"NumPy by formula": ByFormula(n)}
    if importlib.util.find_spec("jax") is not None:
        ways["JAX by hand"] = ByJax(n)
    ways |= ours
    times: dict[str, list[float]] = {name: [] for name in ways}
    ends: dict[str, Any] = {}
    for number in range(options.rounds + 2):
        for name, way in ways.items():
            begin = time.process_time()
            ends[name] = _solved(way, limits, start, options.seconds)
            if number > 1:  # the first ones compile
                times[name].append(time.process_time() - begin)
    print(f"n = {n:,}, m = {n - 2:,}; milliseconds of the processor for a solution, and beside the callbacks by hand")
    print(
        f"{'callbacks':20} {'ms':>8} {'fastest':>8}  {' '.join(f'{name:>18}' for name in ways if name not in ours)}  objective"
    )
    for name, seconds in times.items():
        ratios = [
            f"{statistics.median(a / b for a, b in zip(seconds, times[other])):18.2f}" for other in ways if other not in ours
        ]
        print(
            f"{name:20} {1e3 * statistics.median(seconds):8.1f} {1e3 * min(seconds):8.1f}  {' '.join(ratios)}  "
            f"{ends[name]['obj_val']:.9g} after {ends[name]['iter_count']} steps"
        )
    return 0


def _solved(callbacks: Any, limits: dict[str, Any], start: Array, seconds: float) -> dict[str, Any]:
    import pounce

    problem = pounce.Problem(problem_obj=callbacks, **limits)
    return _run(problem, start, seconds)


def _run(problem: Any, start: Array, seconds: float) -> dict[str, Any]:
    problem.add_option("print_level", 0)
    problem.add_option("max_wall_time", float(seconds))
    info: dict[str, Any] = problem.solve(x0=start)[1]
    return info


def _with_64_bits() -> None:
    import jax

    config: Any = jax.config
    config.update("jax_enable_x64", True)


# The problems of sif2jax -------------------------------------------------------------------------------------------------


def _problems(options: argparse.Namespace) -> int:
    import sif2jax

    _with_64_bits()

    most = options.variables or 1000
    lists = (sif2jax.constrained_minimisation_problems, sif2jax.constrained_quadratic_problems)
    problems = [problem for group in lists for problem in group if problem.num_variables() <= most]
    problems = sorted(problems, key=lambda problem: problem.num_variables())[: options.most]
    known = _known(options.json)
    with steps(len(problems), "problems") as advance:
        for problem in problems:
            if problem.name not in known:
                _note(options.json, problem.name, UNFINISHED)
                _limit_processor_time(options.limit)
                known[problem.name] = _compared(problem, options.seconds)
                _note(options.json, problem.name, known[problem.name])
            advance(f"{Counter(result['end'] for result in known.values())}")
    results = [known[problem.name] for problem in problems]
    ends = Counter(result["end"] for result in results)
    theirs = sum(result["theirs"] is not None for result in results)
    reached = ends["same"] + ends["lower"]
    print(f"{len(problems)} constrained problems of at most {most:,} variables; pounce's own functions for JAX solve {theirs}.")
    print(
        f"Of these we reach {reached}, {ends['lower']} of them with a lower objective: {100 * reached / max(theirs, 1):.1f} %."
    )
    print(f"We alone solve {ends['ours alone']}; neither, {ends['neither']}.")
    for problem, result in zip(problems, results):
        if result["end"] in ("higher", "theirs alone"):
            print(f"  {problem.name:12} {result['end']:12} theirs {result['theirs']}, ours {result['ours']}: {result['why']}")
    return int(reached < 0.95 * theirs)


def _note(path: Path | None, name: str, result: dict[str, Any]) -> None:
    if path is not None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, **result}) + "\n")


def _limit_processor_time(seconds: int) -> None:
    """Let the system end this process after so much more time of the processor."""
    import resource  # Unix alone has it

    used = resource.getrusage(resource.RUSAGE_SELF)
    limit = int(used.ru_utime + used.ru_stime) + 1 + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _known(path: Path | None) -> dict[str, dict[str, Any]]:
    if path is None or not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {line.pop("name"): line for line in lines}


def _compared(problem: Any, seconds: float) -> dict[str, Any]:
    theirs, _ = _end(_theirs, problem, seconds)
    ours, why = _end(_ours, problem, seconds)
    if theirs is None or ours is None:
        end = "neither" if theirs is ours else "ours alone" if theirs is None else "theirs alone"
    elif abs(ours - theirs) <= TOLERANCE * max(1.0, abs(theirs)):
        end = "same"
    else:
        end = "lower" if ours < theirs else "higher"
    return {"end": end, "theirs": theirs, "ours": ours, "why": why}


def _end(way: Any, problem: Any, seconds: float) -> tuple[float | None, str]:
    """The objective where it ends, None where that is no optimum, and why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            info = way(problem, seconds)
        except Exception as error:  # whatever a problem of others ends with is what is measured
            return None, f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    solved = info["status_msg"] in ("Solve_Succeeded", "Solved_To_Acceptable_Level")
    return (float(info["obj_val"]) if solved else None), info["status_msg"]


def _upper(value: Any) -> Any:
    """The upper limits of (equations, inequalities), each zero or more."""
    import jax
    import jax.numpy as jnp

    equal, above = value
    return jax.tree.map(jnp.zeros_like, equal), jax.tree.map(lambda leaf: jnp.full_like(leaf, jnp.inf), above)


def _ours(problem: Any, seconds: float) -> dict[str, Any]:
    from adinterface import AutoJax

    ours = Problem(
        lambda y: problem.objective(y, problem.args),
        AutoJax(),
        problem.y0,
        constraint=problem.constraint,
        upper=_upper(problem.constraint(problem.y0)),
        bounds=problem.bounds,
    )
    return _solved(ours, ours.limits, ours.x0, seconds)


def _theirs(problem: Any, seconds: float) -> dict[str, Any]:
    from jax.flatten_util import ravel_pytree
    from pounce.jax import from_jax

    start, unravel = ravel_pytree(problem.y0)
    value = problem.constraint(problem.y0)
    lower, upper = np.zeros(ravel_pytree(value)[0].size), np.asarray(ravel_pytree(_upper(value))[0])
    bounds = (None, None) if problem.bounds is None else [np.asarray(ravel_pytree(side)[0]) for side in problem.bounds]
    theirs = from_jax(
        lambda x: problem.objective(unravel(x), problem.args),
        lambda x: ravel_pytree(problem.constraint(unravel(x)))[0],
        n=start.size,
        m=lower.size,
        lb=bounds[0],
        ub=bounds[1],
        cl=lower,
        cu=upper,
        x0=np.asarray(start),
    )
    return _run(theirs, np.asarray(start), seconds)
